//! Batches: several mutations in one request. A logged one is first kept by other nodes, so that it is applied whole in
//! the end even if its coordinator dies. Answers to Cassandra's `StorageProxy.mutateAtomically`.
//!
//! | state | on | next |
//! |---|---|---|
//! | logging | every node of the log has it | writing |
//! | | a failure | done: WriteFailure, BATCH_LOG at ONE or TWO |
//! | | the deadline | done: WriteTimeout, BATCH_LOG at ONE or TWO |
//! | writing | every mutation has met the level | done: written; removing |
//! | | one that can't | done: its failure; the log is kept and will be replayed |
//! | removing | | tells the log's nodes, and waits for nobody |
//!
//! An unlogged batch begins with writing. A batch of one mutation is a write like any other, and its errors say SIMPLE; but changes
//! of a view are logged in any case.
//! After it is done it goes on as a [`Write`](crate::Write) does: hints for who misses a mutation.

use std::time::Instant;

use helenus_core::Consistency;
use helenus_core::message::WriteType;

use crate::clock::Clock;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::{NodeId, Nodes};
use crate::plan::WritePlan;
use crate::votes::{Vote, Votes};

mod batch_log;
mod parts;
mod replay;

pub use batch_log::{BatchLog, batch_log_nodes};
pub use replay::BatchReplay;

use parts::{Parts, Stepped};

/// Calls from here on tell the log that a batch is applied; its other calls to the log are below.
const REMOVALS: u64 = 1 << 20;

/// Whether a batch is logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchKind {
    /// It is, under this id, by [these nodes](batch_log_nodes).
    Logged {
        /// The batch.
        id: u128,
        /// Who keeps it.
        log: Nodes,
    },
    /// It isn't.
    Unlogged,
    /// It is what a mutation changes in [views](crate::view_batch), kept under this id by the node that sends it.
    View {
        /// The batch.
        id: u128,
        /// This node.
        local: NodeId,
    },
}

/// A batch on its way.
#[derive(Debug)]
pub struct Batch<M: Model> {
    state: State,
    id: u128,
    log: Nodes,
    parts: Parts<M>,
    /// How many mutations have met their level.
    met: usize,
    write_type: WriteType,
    clock: Clock,
    deadline: Instant,
    end: Option<Result<(), Failure>>,
    told: bool,
}

#[derive(Debug)]
enum State {
    Logging(Votes),
    Writing,
    Removing(Votes),
    Over,
}

impl<M: Model> Batch<M> {
    /// A batch of mutations, each by its own plan, that is answered by `deadline`.
    #[must_use]
    pub fn new(
        kind: BatchKind,
        mutations: Vec<(WritePlan, M::Mutation)>,
        now: Instant,
        deadline: Instant,
    ) -> Self {
        let (id, log, write_type) = match kind {
            BatchKind::View { id, local } if !mutations.is_empty() => {
                (id, std::iter::once(local).collect(), WriteType::VIEW)
            }
            _ if mutations.len() <= 1 => (0, Nodes::new(), WriteType::SIMPLE),
            BatchKind::Logged { id, log } => (id, log, WriteType::BATCH),
            _ => (0, Nodes::new(), WriteType::UNLOGGED_BATCH),
        };
        let parts = Parts::new(mutations);
        Batch {
            state: if log.is_empty() {
                State::Writing
            } else {
                State::Logging(Votes::new(log.iter().copied()))
            },
            end: parts.is_empty().then_some(Ok(())),
            id,
            log,
            parts,
            met: 0,
            write_type,
            clock: Clock::new(now),
            deadline,
            told: false,
        }
    }

    fn take(&mut self, from: NodeId, call: CallId, answer: Result<(), FailureReason>) {
        match &mut self.state {
            State::Logging(votes) => {
                let vote = answer.map_or_else(Vote::Failed, |()| Vote::Yes);
                if !votes.take(call.number(), from, vote) {
                    return;
                }
                if let Err(reason) = answer {
                    self.end = Some(Err(match reason {
                        FailureReason::TIMEOUT => self.log_timed_out(),
                        _ => self.log_failed(from, reason),
                    }));
                    self.state = State::Over;
                } else if votes.yes() == votes.len() {
                    self.state = State::Writing;
                }
            }
            _ => self.parts.answered(call, from, answer),
        }
    }

    fn log_level(&self) -> (Consistency, u16) {
        match self.log.len() {
            1 => (Consistency::ONE, 1),
            _ => (Consistency::TWO, 2),
        }
    }

    fn log_received(&self) -> u16 {
        match &self.state {
            State::Logging(votes) => votes.yes(),
            _ => 0,
        }
    }

    fn log_timed_out(&self) -> Failure {
        let (level, required) = self.log_level();
        Failure::WriteTimeout {
            level,
            received: self.log_received(),
            required,
            write_type: WriteType::BATCH_LOG,
            contentions: None,
        }
    }

    fn log_failed(&self, node: NodeId, reason: FailureReason) -> Failure {
        let (level, required) = self.log_level();
        Failure::WriteFailure {
            level,
            received: self.log_received(),
            required,
            write_type: WriteType::BATCH_LOG,
            reasons: std::iter::once((node, reason)).collect(),
        }
    }

    fn poll_log(&mut self) -> Option<Action<M>> {
        let id = self.id;
        let (number, to, request) = match &mut self.state {
            State::Logging(votes) => {
                let (number, to) = votes.ask()?;
                let mutations = self.parts.mutations();
                (u64::from(number), to, Request::StoreBatch { id, mutations })
            }
            State::Removing(votes) => {
                let (number, to) = votes.ask()?;
                let number = u64::from(number) | REMOVALS;
                (number, to, Request::RemoveBatch { id })
            }
            _ => return None,
        };
        let call = CallId(number);
        Some(Action::Send { to, call, request })
    }
}

impl<M: Model> Machine<M> for Batch<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        loop {
            if let Some(end) = self.end.take() {
                self.told = true;
                return Some(Action::Done(end.map(|()| Outcome::Written)));
            }
            if let Some(action) = self.poll_log() {
                return Some(action);
            }
            if matches!(self.state, State::Logging(_) | State::Over) {
                return None;
            }
            match self.parts.poll(&self.write_type)? {
                Stepped::Action(action) => return Some(action),
                Stepped::Done(Err(failure)) if !self.told => {
                    self.end = Some(Err(failure));
                }
                Stepped::Done(Ok(())) => {
                    self.met += 1;
                    if self.met == self.parts.len() {
                        self.state = State::Removing(Votes::new(self.log.iter().copied()));
                        self.end = Some(Ok(()));
                    }
                }
                // The first failure was told.
                Stepped::Done(Err(_)) => {}
            }
        }
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
        if self.clock.set(now) < self.deadline {
            return;
        }
        match self.state {
            State::Logging(_) => {
                self.end = Some(Err(self.log_timed_out()));
                self.state = State::Over;
            }
            State::Writing | State::Removing(_) => self.parts.expire(),
            State::Over => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let waits = match self.state {
            State::Logging(_) => true,
            State::Writing | State::Removing(_) => self.parts.are_waiting(),
            State::Over => false,
        };
        waits.then_some(self.deadline)
    }

    fn is_finished(&self) -> bool {
        let settled = match &self.state {
            State::Logging(_) => false,
            State::Writing => self.parts.are_settled(),
            State::Removing(votes) => votes.is_asked() && self.parts.are_settled(),
            State::Over => true,
        };
        self.told && settled
    }
}

#[cfg(test)]
mod tests;
