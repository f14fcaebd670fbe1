//! TRUNCATE: every node drops the table's rows, and all of them have to be alive. Answers to Cassandra's
//! `StorageProxy.truncateBlocking` and `TruncateResponseHandler`.
//!
//! | state | on | next |
//! |---|---|---|
//! | open | every node's confirmation | done: truncated |
//! | | a node's failure | done: its address |
//! | | the deadline | done: how many have confirmed |
//!
//! All failures are TRUNCATE_ERROR. What nodes have dropped is gone, whatever the answer.

use std::marker::PhantomData;
use std::time::Instant;

use crate::clock::Clock;
use crate::failure::{Failure, FailureReason, TruncateFailure};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;
use crate::plan::Vantage;
use crate::votes::{Vote, Votes};

/// A table being truncated.
#[derive(Debug)]
pub struct Truncate<M: Model> {
    table: u128,
    votes: Votes,
    clock: Clock,
    deadline: Instant,
    end: Option<Result<(), TruncateFailure>>,
    told: bool,
    model: PhantomData<M>,
}

impl<M: Model> Truncate<M> {
    /// Truncates the table of this id on all nodes; answered by `deadline`.
    ///
    /// # Errors
    /// [`Failure::Truncate`] if a node isn't alive.
    pub fn new(
        vantage: &Vantage<'_>,
        table: u128,
        now: Instant,
        deadline: Instant,
    ) -> Result<Self, Failure> {
        if vantage.ring.ids().any(|node| !vantage.alive.contains(node)) {
            return Err(Failure::Truncate(TruncateFailure::Unavailable));
        }
        let votes = Votes::new(vantage.ring.ids());
        Ok(Self {
            table,
            end: (votes.len() == 0).then_some(Ok(())),
            votes,
            clock: Clock::new(now),
            deadline,
            told: false,
            model: PhantomData,
        })
    }

    fn take(&mut self, from: NodeId, call: CallId, answer: Result<(), FailureReason>) {
        let vote = answer.map_or_else(Vote::Failed, |()| Vote::Yes);
        if self.is_over() || !self.votes.take(call.number(), from, vote) {
            return;
        }
        if let Err(reason) = answer {
            self.end = Some(Err(match reason {
                FailureReason::TIMEOUT => TruncateFailure::Timeout {
                    received: self.votes.yes(),
                },
                _ => TruncateFailure::Replica(from),
            }));
        } else if self.votes.yes() == self.votes.len() {
            self.end = Some(Ok(()));
        }
    }

    fn is_over(&self) -> bool {
        self.told || self.end.is_some()
    }
}

impl<M: Model> Machine<M> for Truncate<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        if let Some(end) = self.end.take() {
            self.told = true;
            let end = end.map_err(Failure::Truncate);
            return Some(Action::Done(end.map(|()| Outcome::Truncated)));
        }
        if self.told {
            return None;
        }
        let (number, to) = self.votes.ask()?;
        let table = self.table;
        Some(Action::Send {
            to,
            call: CallId(number.into()),
            request: Request::Truncate { table },
        })
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.clock.set(now);
        self.take(from, call, reply.done());
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.clock.set(now);
        self.take(from, call, Err(reason));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.clock.set(now) >= self.deadline && !self.is_over() {
            let received = self.votes.yes();
            self.end = Some(Err(TruncateFailure::Timeout { received }));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (!self.is_over()).then_some(self.deadline)
    }

    fn is_finished(&self) -> bool {
        self.told
    }
}

#[cfg(test)]
mod tests;
