//! What the replicas that promised know: what was left unfinished, and who has missed the last commit.

use smallvec::SmallVec;

use crate::message::{Ballot, Promise, Proposal};
use crate::model::Model;
use crate::node::{NodeId, Nodes};

/// The promises of one round.
#[derive(Debug)]
pub(crate) struct Promises<M: Model> {
    accepted: Option<Proposal<M>>,
    committed: Option<Proposal<M>>,
    known: SmallVec<[(NodeId, Option<Ballot>); 5]>,
}

/// What has to happen before a majority may be proposed anything new.
#[derive(Debug)]
pub(crate) enum Unfinished<M: Model> {
    /// Nothing.
    Nothing,
    /// A proposal that may have been agreed on has to be agreed on.
    Proposal(M::Mutation),
    /// These replicas have to learn the last commit.
    Commit(Proposal<M>, Nodes),
}

fn ballot_of<M: Model>(proposal: Option<&Proposal<M>>) -> Option<Ballot> {
    proposal.map(|proposal| proposal.ballot)
}

/// Keeps the later of both.
fn keep_later<M: Model>(kept: &mut Option<Proposal<M>>, other: Option<Proposal<M>>) {
    if ballot_of(other.as_ref()) > ballot_of(kept.as_ref()) {
        *kept = other;
    }
}

impl<M: Model> Promises<M> {
    pub(crate) fn new() -> Promises<M> {
        Promises {
            accepted: None,
            committed: None,
            known: SmallVec::new(),
        }
    }

    /// Takes the promise of a replica.
    pub(crate) fn add(&mut self, from: NodeId, promise: Promise<M>) {
        self.known
            .push((from, ballot_of(promise.committed.as_ref())));
        keep_later(&mut self.accepted, promise.accepted);
        keep_later(&mut self.committed, promise.committed);
    }

    /// What the promises leave to be done.
    ///
    /// The last accepted proposal is finished unless it is known to be committed. If it is empty it needn't be: who
    /// proposed it had asked a majority before, so whatever was accepted earlier and isn't committed wasn't agreed on.
    pub(crate) fn unfinished(self) -> Unfinished<M> {
        let last = ballot_of(self.committed.as_ref());
        if let Some(accepted) = self.accepted
            && Some(accepted.ballot) > last
            && let Some(mutation) = accepted.mutation
        {
            return Unfinished::Proposal(mutation);
        }
        let missing = self.known.iter().filter(|(_, known)| *known != last);
        let missing: Nodes = missing.map(|(node, _)| *node).collect();
        match self.committed {
            Some(commit) if !missing.is_empty() => Unfinished::Commit(commit, missing),
            _ => Unfinished::Nothing,
        }
    }
}
