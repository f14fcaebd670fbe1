//! [`FullRead`]: data in full from as many replicas as the level needs, reconciled, and replicas that lack some of it
//! repaired before the answer. Answers to Cassandra's `DataResolver`, `ShortReadProtection` and `BlockingReadRepair`.
//!
//! | state | what comes | what follows |
//! |---|---|---|
//! | asking | enough answers, nothing lacks | answer |
//! | | enough answers, some cut too short | *further* |
//! | | enough answers, replicas lack something | *repairing* |
//! | | a failure, or the time to speculate | ask one more, if the plan allows |
//! | | too many failures; the deadline | fail |
//! | further | the last of those asked further | as for enough answers |
//! | | a failure; the deadline | fail |
//! | repairing | every lack confirmed, by its node or the one in its place | answer |
//! | | a failure, or the time to speculate | send to another one in its place |
//! | | a lack that nobody is left to confirm; the deadline | fail |
//! | ended | anything | nothing |

mod outcome;

use std::time::Instant;

use smallvec::SmallVec;

use crate::calls::{Calls, State};
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;
use crate::options::ReadOptions;
use crate::plan::ReadPlan;
use crate::read_repair::Lacks;
use crate::speculation::Speculation;
use crate::steps::Steps;

/// A read of data in full: of a range of tokens or through an index, and what a read of a partition becomes when digests
/// differ.
#[derive(Debug)]
pub struct FullRead<M: Model> {
    command: M::Command,
    plan: ReadPlan,
    options: ReadOptions,
    clock: Clock,
    /// When to do something about who hasn't answered; nothing if that is done.
    speculate: Option<Instant>,
    /// Whether digests differed before.
    mismatch: bool,
    calls: Calls<Asked>,
    steps: Steps<Step>,
    state: Phase<M>,
    answers: Answers<M>,
}

/// Who answered with which data.
pub(crate) type Answers<M> = SmallVec<[(NodeId, <M as Model>::Data); 2]>;

#[derive(Debug)]
enum Phase<M: Model> {
    Asking,
    /// With whom is asked what.
    Further(Vec<(NodeId, M::Command)>),
    /// With the answer and what replicas lack of it.
    Repairing(M::Data, Lacks<M>),
    Ending(Result<M::Data, Failure>),
    Ended,
}

/// Indices are those of [`Phase`]'s lists.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Full,
    Further(u32),
    Repair(u32),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The call of this index.
    Send(u32),
    Trace(Event),
    Done,
}

impl<M: Model> FullRead<M> {
    /// A read that begins now.
    #[must_use]
    pub fn new(now: Instant, command: M::Command, plan: ReadPlan, options: ReadOptions) -> Self {
        Self::numbered(now, command, plan, options, 0, Event::ReadingData)
    }

    /// A read whose calls are numbered from `first` on, and whose requests are told as `event`.
    pub(crate) fn numbered(
        now: Instant,
        command: M::Command,
        plan: ReadPlan,
        options: ReadOptions,
        first: u64,
        event: fn(NodeId) -> Event,
    ) -> Self {
        let mut read = Self::idle(now, command, plan, options, first);
        for index in 0..read.plan.contacts {
            read.ask(usize::from(index), event);
        }
        read
    }

    /// What a read becomes when digests differ: those that it asked are asked for their data, unless it is there.
    pub(crate) fn after_mismatch(
        now: Instant,
        command: M::Command,
        plan: ReadPlan,
        options: ReadOptions,
        first: u64,
        answers: Answers<M>,
    ) -> Self {
        let mut read = Self::idle(now, command, plan, options, first);
        read.mismatch = true;
        read.answers = answers;
        if read.answers.len() >= usize::from(read.plan.required) {
            read.resolve();
            return read;
        }
        for index in 0..usize::from(read.plan.contacts) {
            let node = read.plan.candidates.get(index);
            if !read.answers.iter().any(|(from, _)| Some(from) == node) {
                read.ask(index, Event::ReadingFull);
            }
        }
        read
    }

    fn idle(
        now: Instant,
        command: M::Command,
        plan: ReadPlan,
        options: ReadOptions,
        first: u64,
    ) -> Self {
        Self {
            speculate: plan.speculates_at(now),
            command,
            plan,
            options,
            clock: Clock::new(now),
            mismatch: false,
            calls: Calls::new(first),
            steps: Steps::new(),
            state: Phase::Asking,
            answers: Answers::<M>::new(),
        }
    }

    fn trace(&mut self, event: Event) {
        if self.options.traced {
            self.steps.push(Step::Trace(event));
        }
    }

    fn send(&mut self, node: NodeId, asked: Asked, event: Event) {
        self.trace(event);
        let call = self.calls.open(node, asked);
        self.steps.push(Step::Send(call));
    }

    fn ask(&mut self, candidate: usize, event: fn(NodeId) -> Event) {
        if let Some(node) = self.plan.candidates.get(candidate).copied() {
            self.send(node, Asked::Full, event(node));
        }
    }

    /// Asks the next candidate; false if there is none.
    fn ask_another(&mut self) -> bool {
        let next = usize::from(self.plan.contacts);
        if self.plan.speculation == Speculation::Never || next >= self.plan.candidates.len() {
            return false;
        }
        self.plan.contacts += 1;
        self.ask(next, Event::ReadingFullSpeculatively);
        true
    }

    fn is_over(&self) -> bool {
        matches!(self.state, Phase::Ending(_) | Phase::Ended)
    }
}

impl<M: Model> Machine<M> for FullRead<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        loop {
            let (id, call) = match self.steps.pop()? {
                Step::Trace(event) => return Some(Action::Trace(event)),
                Step::Done => match std::mem::replace(&mut self.state, Phase::Ended) {
                    Phase::Ending(result) => return Some(Action::Done(result.map(Outcome::Data))),
                    _ => continue,
                },
                Step::Send(index) => self.calls.get(index)?,
            };
            let request = match (call.asked, &self.state) {
                (Asked::Full, _) => Request::Read {
                    command: self.command.clone(),
                    digest: false,
                },
                (Asked::Further(index), Phase::Further(further)) => Request::Read {
                    command: further.get(index as usize)?.1.clone(),
                    digest: false,
                },
                (Asked::Repair(index), Phase::Repairing(_, lacks)) => Request::Repair {
                    mutation: lacks.get(index)?.mutation.clone(),
                },
                // It ended before that was sent.
                _ => continue,
            };
            return Some(Action::Send {
                to: call.node,
                call: id,
                request,
            });
        }
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.handle_timeout(now);
        if self.is_over() {
            return;
        }
        let Some(asked) = self.calls.close(from, call, State::Answered) else {
            return;
        };
        match (asked, reply) {
            (Asked::Full | Asked::Further(_), Reply::Data(data)) => {
                self.on_answer(from, asked, data);
            }
            (Asked::Repair(index), Reply::Done) => {
                if let Phase::Repairing(_, lacks) = &mut self.state {
                    lacks.confirm(index);
                    if lacks.are_confirmed()
                        && let Phase::Repairing(data, _) =
                            std::mem::replace(&mut self.state, Phase::Ended)
                    {
                        self.end(Some(data));
                    }
                }
            }
            // Not what was asked for.
            _ => {
                self.calls.fail(call, FailureReason::UNKNOWN);
                self.on_failure(from, asked);
            }
        }
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.handle_timeout(now);
        if self.is_over() {
            return;
        }
        if let Some(asked) = self.calls.close(from, call, State::Failed(reason)) {
            self.on_failure(from, asked);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        if self.is_over() {
            return;
        }
        if now >= self.options.deadline {
            self.fail();
        } else if self.speculate.is_some_and(|at| at <= now) {
            self.speculate = None;
            match self.state {
                Phase::Asking => {
                    self.ask_another();
                }
                Phase::Repairing(..) => self.repair_elsewhere(None),
                _ => {}
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let deadline = self.options.deadline;
        Some(self.speculate.map_or(deadline, |at| at.min(deadline)))
    }

    fn is_finished(&self) -> bool {
        matches!(self.state, Phase::Ended) && self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests;
