//! The replica's side of Paxos: what one replica has promised, accepted and learned about one partition, as plain data.
//! Answers to Cassandra's `PaxosState` and `system.paxos`.
//!
//! | asked to | if | answers | keeps |
//! |---|---|---|---|
//! | prepare | the ballot is later than all it has seen | promised, with what it accepted and learned | the promise |
//! | prepare | otherwise | the latest ballot it has seen | nothing new |
//! | propose | no later ballot was seen | accepted | the proposal |
//! | propose | it was accepted before: the request came twice | accepted | nothing new |
//! | propose | it wasn't | the latest ballot it has seen | nothing new |
//! | propose | that is too long ago to know | nothing | nothing new |
//! | commit | always | done, when the mutation is applied | the later of this and what it had learned |
//!
//! "Later" is by time alone for a promise: of two ballots of one microsecond at most one is promised by a majority, even
//! if they are the same, so that what a later round writes has a greater timestamp than what it overwrites. Who asks a
//! second time is refused, therefore; its first answer counts.
//!
//! A refusal says that the proposal was never accepted here, and never will be: a coordinator that hears it from all
//! replicas proposes anew, and what it wrote would be there twice if one had accepted it, and refused it when it came again.

use smallvec::SmallVec;

use crate::message::{Ballot, Promise, Proposal};
use crate::model::Model;

/// What a replica knows of the rounds about one partition. Nothing at all is [`Acceptor::default`].
#[derive(Debug, Clone)]
pub struct Acceptor<M: Model> {
    /// No ballot before this one is to be accepted.
    pub promised: Option<Ballot>,
    /// The last proposal that was accepted; none once it is known to be committed.
    pub accepted: Option<Proposal<M>>,
    /// The last proposal that is known to be committed.
    pub committed: Option<Proposal<M>>,
    /// The ballots that were accepted last, in their order.
    pub recent: SmallVec<[Ballot; 4]>,
}

/// How many ballots of accepted proposals are remembered.
const RECENT: usize = 4;

/// An answer, and what has to be durable before it may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what is to be kept has to be durable before the answer is sent"]
pub struct Answer<T> {
    /// What to answer.
    pub reply: T,
    /// What has changed.
    pub keep: Keep,
}

/// Which part of an [`Acceptor`] has changed: it must survive a crash that comes after the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// [`Acceptor::promised`].
    Promise,
    /// [`Acceptor::accepted`] and [`Acceptor::recent`].
    Accepted,
    /// [`Acceptor::committed`] and with it [`Acceptor::accepted`]. It may be lost if the mutation isn't: then the commit
    /// is asked for again.
    Committed,
}

impl<M: Model> Default for Acceptor<M> {
    fn default() -> Self {
        Acceptor {
            promised: None,
            accepted: None,
            committed: None,
            recent: SmallVec::new(),
        }
    }
}

impl<M: Model> Acceptor<M> {
    /// The latest ballot that was seen.
    fn latest(&self) -> Option<Ballot> {
        let accepted = self.accepted.as_ref().map(|proposal| proposal.ballot);
        let committed = self.committed.as_ref().map(|proposal| proposal.ballot);
        self.promised.max(accepted).max(committed)
    }

    /// Promises to accept nothing before this ballot, unless a later one was seen.
    pub fn prepare(&mut self, ballot: Ballot) -> Answer<Promise<M>> {
        let (promised, keep) = match self.latest() {
            Some(latest) if latest.micros >= ballot.micros => (Err(latest), Keep::Nothing),
            _ => {
                self.promised = Some(ballot);
                (Ok(()), Keep::Promise)
            }
        };
        let reply = Promise {
            promised,
            accepted: self.accepted.clone(),
            committed: self.committed.clone(),
        };
        Answer { reply, keep }
    }

    /// Accepts a proposal, unless a later ballot was seen. Without a reply there is nothing to answer, or a failure: it may
    /// have been accepted before.
    pub fn propose(&mut self, proposal: Proposal<M>) -> Answer<Option<Result<(), Ballot>>> {
        let ballot = proposal.ballot;
        let committed = self.committed.as_ref().map(|proposal| proposal.ballot);
        let (reply, keep) = if self.recent.contains(&ballot) || committed == Some(ballot) {
            (Some(Ok(())), Keep::Nothing)
        } else if let Some(latest) = self.latest().filter(|latest| *latest > ballot) {
            let is_forgotten = self.recent.len() == RECENT && self.recent.first() > Some(&ballot);
            ((!is_forgotten).then_some(Err(latest)), Keep::Nothing)
        } else {
            if self.recent.len() == RECENT {
                self.recent.remove(0);
            }
            self.recent.push(ballot);
            self.accepted = Some(proposal);
            (Some(Ok(())), Keep::Accepted)
        };
        Answer { reply, keep }
    }

    /// Learns that a proposal was agreed on. The reply is the mutation, to be applied before the commit is answered: also
    /// if a later one is known, for it may change other cells.
    pub fn commit(&mut self, proposal: Proposal<M>) -> Answer<Option<M::Mutation>> {
        let reply = proposal.mutation.clone();
        let known = self.committed.as_ref();
        if known.is_some_and(|known| known.ballot >= proposal.ballot) {
            let keep = Keep::Nothing;
            return Answer { reply, keep };
        }
        let is_over = |accepted: &Proposal<M>| accepted.ballot <= proposal.ballot;
        if self.accepted.as_ref().is_some_and(is_over) {
            self.accepted = None;
        }
        self.committed = Some(proposal);
        Answer {
            reply,
            keep: Keep::Committed,
        }
    }
}

#[cfg(test)]
mod tests;
