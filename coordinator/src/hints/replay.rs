//! The replay of hints to a node that is back: one window of them at a time.
//!
//! | state | on | next |
//! |---|---|---|
//! | open | its first polls | sends all hints of the window |
//! | open | all confirmed | done: written |
//! | open | all answered, one with a failure; the deadline | done: a failure; those that failed stay for the next time |
//!
//! Which were confirmed stands in [`HintReplay::confirmed`] in any case; they are to be removed. A hint that comes twice
//! does no harm: mutations keep their timestamps.

use std::time::Instant;

use helenus_core::Consistency;
use helenus_core::message::WriteType;

use super::HintId;
use crate::clock::Clock;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;

/// A window of hints on its way to the node that missed them.
#[derive(Debug)]
pub struct HintReplay<M: Model> {
    to: NodeId,
    hints: Vec<(HintId, M::Mutation)>,
    answered: Vec<bool>,
    sent: usize,
    open: usize,
    confirmed: Vec<HintId>,
    clock: Clock,
    deadline: Instant,
    expired: bool,
    told: bool,
}

impl<M: Model> HintReplay<M> {
    /// Sends these hints, a [batch](super::Hints::batch), to a node; ends with `deadline`.
    #[must_use]
    pub fn new(
        to: NodeId,
        hints: Vec<(HintId, M::Mutation)>,
        now: Instant,
        deadline: Instant,
    ) -> HintReplay<M> {
        HintReplay {
            to,
            answered: vec![false; hints.len()],
            sent: 0,
            open: hints.len(),
            confirmed: Vec::new(),
            hints,
            clock: Clock::new(now),
            deadline,
            expired: false,
            told: false,
        }
    }

    /// The hints that the node has confirmed so far.
    #[must_use]
    pub fn confirmed(&self) -> &[HintId] {
        &self.confirmed
    }

    fn take(&mut self, from: NodeId, call: CallId, answer: Result<(), FailureReason>) {
        let Ok(index) = usize::try_from(call.0) else {
            return;
        };
        if from != self.to || index >= self.sent || self.told {
            return;
        }
        if let Some(answered @ false) = self.answered.get_mut(index) {
            *answered = true;
            self.open -= 1;
            if let (Ok(()), Some((id, _))) = (answer, self.hints.get(index)) {
                self.confirmed.push(*id);
            }
        }
    }
}

impl<M: Model> Machine<M> for HintReplay<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        if self.told {
            return None;
        }
        if !self.expired
            && let Some((_, mutation)) = self.hints.get(self.sent)
        {
            let call = CallId(self.sent as u64);
            self.sent += 1;
            return Some(Action::Send {
                to: self.to,
                call,
                request: Request::Write {
                    mutation: mutation.clone(),
                },
            });
        }
        if self.open > 0 && !self.expired {
            return None;
        }
        self.told = true;
        if self.confirmed.len() == self.hints.len() {
            return Some(Action::Done(Ok(Outcome::Written)));
        }
        Some(Action::Done(Err(Failure::WriteTimeout {
            level: Consistency::ONE,
            received: 0,
            required: 1,
            write_type: WriteType::SIMPLE,
            contentions: None,
        })))
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
        if self.clock.set(now) >= self.deadline {
            self.expired = true;
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (!self.told).then_some(self.deadline)
    }

    fn is_finished(&self) -> bool {
        self.told
    }
}
