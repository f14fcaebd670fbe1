//! The replay of a batch whose coordinator didn't see it through. Answers to Cassandra's `BatchlogManager`.
//!
//! | state | on | next |
//! |---|---|---|
//! | writing | every mutation is at all its replicas, or kept as a hint | done: written; the entry may be removed |
//! | | one can be neither | done: a failure; the entry stays for the next time |
//! | | the deadline | hints for who hasn't answered; then one of the above |
//!
//! A replay may come twice, or after the batch was applied: mutations keep their timestamps.

use std::time::Instant;

use helenus_core::Consistency;
use helenus_core::message::WriteType;

use super::parts::{Parts, Stepped};
use crate::clock::Clock;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::Reply;
use crate::model::Model;
use crate::node::NodeId;
use crate::plan::WritePlan;

/// A batch being replayed by a node that kept it.
#[derive(Debug)]
pub struct BatchReplay<M: Model> {
    parts: Parts<M>,
    clock: Clock,
    deadline: Instant,
    told: bool,
}

impl<M: Model> BatchReplay<M> {
    /// Replays these mutations, each by its own plan at level ANY; ends with `deadline`. Hints have to be answered before it
    /// is polled again, or those that were asked for at the deadline don't count.
    #[must_use]
    pub fn new(
        mutations: Vec<(WritePlan, M::Mutation)>,
        now: Instant,
        deadline: Instant,
    ) -> BatchReplay<M> {
        BatchReplay {
            parts: Parts::new(mutations),
            clock: Clock::new(now),
            deadline,
            told: false,
        }
    }

    fn end(&self) -> Option<Result<Outcome<M>, Failure>> {
        let (received, required) = (self.parts.everywhere(), self.parts.len());
        if received == required {
            return Some(Ok(Outcome::Written));
        }
        let over = self.parts.has_expired() || self.parts.are_settled();
        let count = |n| u16::try_from(n).unwrap_or(u16::MAX);
        over.then(|| {
            Err(Failure::WriteTimeout {
                level: Consistency::ANY,
                received: count(received),
                required: count(required),
                write_type: WriteType::BATCH,
                contentions: None,
            })
        })
    }
}

impl<M: Model> Machine<M> for BatchReplay<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        while !self.told {
            match self.parts.poll(&WriteType::BATCH) {
                Some(Stepped::Action(action)) => return Some(action),
                Some(Stepped::Done(_)) => {}
                None => {
                    let end = self.end()?;
                    self.told = true;
                    return Some(Action::Done(end));
                }
            }
        }
        None
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.clock.set(now);
        self.parts.answered(call, from, reply.done());
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.clock.set(now);
        self.parts.answered(call, from, Err(reason));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.clock.set(now) >= self.deadline {
            self.parts.expire();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (!self.told).then_some(self.deadline)
    }

    fn is_finished(&self) -> bool {
        self.told
    }
}
