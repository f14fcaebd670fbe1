//! A write: sent to every live replica, answered when the level is met, hints kept for those that miss it.
//!
//! | state | on | does |
//! |---|---|---|
//! | open | its first polls | sends to every live replica |
//! | open | enough confirmations (ANY: or a hint) | done: written |
//! | open | too many failures | done: WriteFailure; WriteTimeout if all of them were timeouts |
//! | open | the deadline | done: WriteTimeout |
//! | open or done | a failure | gives a hint away |
//! | done | the deadline | gives hints away for who hasn't answered; finished when all is known |
//!
//! What a replica is in between stands in [`acks`](crate::acks). Where Cassandra counts dead replicas as ones that may yet
//! answer and so lets a client wait for its timeout, this fails as soon as too few are left.

use std::time::Instant;

use helenus_core::message::WriteType;

use crate::acks::{Acks, Hints, Step};
use crate::clock::Clock;
use crate::failure::FailureReason;
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;
use crate::plan::WritePlan;

/// One mutation on its way to its replicas.
#[derive(Debug)]
pub struct Write<M: Model> {
    mutation: M::Mutation,
    acks: Acks,
    write_type: WriteType,
    clock: Clock,
    deadline: Instant,
}

impl<M: Model> Write<M> {
    /// A write by this plan that is answered by `deadline`. Its errors name `write_type`.
    #[must_use]
    pub fn new(
        plan: &WritePlan,
        mutation: M::Mutation,
        write_type: WriteType,
        now: Instant,
        deadline: Instant,
    ) -> Write<M> {
        Write {
            mutation,
            acks: Acks::new(plan, Hints::Kept),
            write_type,
            clock: Clock::new(now),
            deadline,
        }
    }
}

impl<M: Model> Machine<M> for Write<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        Some(match self.acks.poll(&self.write_type)? {
            Step::Send(number, to) => Action::Send {
                to,
                call: CallId(number.into()),
                request: Request::Write {
                    mutation: self.mutation.clone(),
                },
            },
            Step::Hint(number, to) => Action::Hint {
                to,
                call: CallId(number.into()),
                mutation: self.mutation.clone(),
            },
            Step::Done(result) => Action::Done(result.map(|()| Outcome::Written)),
        })
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.clock.set(now);
        self.acks.answered(call.number(), from, reply.done());
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.clock.set(now);
        self.acks.answered(call.number(), from, Err(reason));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.clock.set(now) >= self.deadline {
            self.acks.expire();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.acks.poll_timeout(self.deadline)
    }

    fn is_finished(&self) -> bool {
        self.acks.is_settled()
    }
}

#[cfg(test)]
mod tests;
