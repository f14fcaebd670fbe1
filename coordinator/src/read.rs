//! [`Read`]: a read of one partition. One replica is asked for data, the others for digests of theirs; what they say is
//! the answer if they agree. Answers to Cassandra's `AbstractReadExecutor`, `ReadCallback` and `DigestResolver`.
//!
//! | state | what comes | what follows |
//! |---|---|---|
//! | asking | data and enough answers, all the same | answer, and *late* if others still may |
//! | | data and enough answers that differ | *resolving* |
//! | | a failure, or the time to speculate | ask one more, if the plan allows |
//! | | too many failures; the deadline | fail |
//! | resolving | the outcome of a [`FullRead`] | answer or fail |
//! | late | an answer that differs from what was given | *healing* |
//! | | the last answer; the deadline | *ended* |
//! | healing | the outcome of a [`FullRead`], which nobody waits for | *ended* |
//! | ended | anything | nothing |

mod outcome;

use std::time::Instant;

use smallvec::SmallVec;

use crate::calls::{Calls, State};
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::full_read::{Answers, FullRead};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;
use crate::options::ReadOptions;
use crate::plan::ReadPlan;
use crate::speculation::Speculation;
use crate::steps::Steps;

/// Where the numbers of a [`FullRead`]'s calls begin; a read itself asks each replica once.
const FULL_READ: u64 = 1 << 32;

/// A read of one partition.
#[derive(Debug)]
pub struct Read<M: Model> {
    command: M::Command,
    plan: ReadPlan,
    options: ReadOptions,
    clock: Clock,
    /// When to ask one more; nothing if that is done.
    speculate: Option<Instant>,
    calls: Calls<Asked>,
    steps: Steps<Step>,
    state: Phase<M>,
    /// In full; the first is the answer if all agree.
    answers: Answers<M>,
    digests: SmallVec<[M::Digest; 4]>,
    /// What the client will be told next.
    outcome: Option<Result<M::Data, Failure>>,
}

#[derive(Debug)]
enum Phase<M: Model> {
    Asking,
    Resolving(Box<FullRead<M>>),
    /// The answer is out; this is its digest.
    Late(M::Digest),
    Healing(Box<FullRead<M>>),
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Data,
    Digest,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The call of this index.
    Send(u32),
    Trace(Event),
    Done,
}

impl<M: Model> Read<M> {
    /// A read that begins now.
    #[must_use]
    pub fn new(now: Instant, command: M::Command, plan: ReadPlan, options: ReadOptions) -> Self {
        // One that always asks one more has two chances of data.
        let data = 1 + u16::from(plan.speculation == Speculation::Always);
        let mut read = Self {
            speculate: plan.speculates_at(now),
            command,
            plan,
            options,
            clock: Clock::new(now),
            calls: Calls::new(0),
            steps: Steps::new(),
            state: Phase::Asking,
            answers: Answers::<M>::new(),
            digests: SmallVec::new(),
            outcome: None,
        };
        for index in 0..read.plan.contacts {
            let asked = if index < data {
                Asked::Data
            } else {
                Asked::Digest
            };
            read.ask(index, asked, None);
        }
        read
    }

    fn trace(&mut self, event: Event) {
        if self.options.traced {
            self.steps.push(Step::Trace(event));
        }
    }

    fn ask(&mut self, candidate: u16, asked: Asked, event: Option<fn(NodeId) -> Event>) {
        let Some(node) = self.plan.candidates.get(usize::from(candidate)).copied() else {
            return;
        };
        self.trace(match (event, asked) {
            (Some(event), _) => event(node),
            (None, Asked::Data) => Event::ReadingData(node),
            (None, Asked::Digest) => Event::ReadingDigest(node),
        });
        let call = self.calls.open(node, asked);
        self.steps.push(Step::Send(call));
    }

    /// Asks the next candidate; false if there is none.
    fn ask_another(&mut self) -> bool {
        let next = self.plan.contacts;
        let exhausted = usize::from(next) >= self.plan.candidates.len();
        if self.plan.speculation == Speculation::Never || exhausted {
            return false;
        }
        self.plan.contacts += 1;
        let asked = if self.answers.is_empty() {
            Asked::Data
        } else {
            Asked::Digest
        };
        self.ask(next, asked, Some(Event::Speculating));
        true
    }

    fn received(&self) -> u16 {
        (self.answers.len() + self.digests.len()) as u16
    }

    fn on_answer(&mut self, from: NodeId, digest: M::Digest) {
        match self.state {
            Phase::Late(agreed) if agreed != digest => self.heal(from),
            Phase::Late(_) if self.calls.waiting() == 0 => self.state = Phase::Ended,
            _ => {}
        }
    }

    fn on_failure(&mut self) {
        match self.state {
            Phase::Asking => {
                let enough_left = || {
                    let lost = self.calls.failures(|_| true).len();
                    lost + usize::from(self.plan.required) <= self.calls.len()
                };
                let waits = enough_left();
                if !self.ask_another() && !waits {
                    self.fail();
                }
            }
            Phase::Late(_) if self.calls.waiting() == 0 => self.state = Phase::Ended,
            _ => {}
        }
    }
}

impl<M: Model> Machine<M> for Read<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        if let Some(step) = self.steps.pop() {
            match step {
                Step::Trace(event) => return Some(Action::Trace(event)),
                Step::Send(index) => {
                    let (id, call) = self.calls.get(index)?;
                    let request = Request::Read {
                        command: self.command.clone(),
                        digest: call.asked == Asked::Digest,
                    };
                    return Some(Action::Send {
                        to: call.node,
                        call: id,
                        request,
                    });
                }
                Step::Done => {
                    let outcome = self.outcome.take()?;
                    return Some(Action::Done(outcome.map(Outcome::Data)));
                }
            }
        }
        let (Phase::Resolving(read) | Phase::Healing(read)) = &mut self.state else {
            return None;
        };
        let action = read.poll_action(now);
        let resolved = matches!(self.state, Phase::Resolving(_));
        match action {
            Some(Action::Done(outcome)) => {
                self.state = Phase::Ended;
                resolved.then_some(Action::Done(outcome))
            }
            action => action,
        }
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.handle_timeout(now);
        if let Phase::Resolving(read) | Phase::Healing(read) = &mut self.state {
            return read.handle_reply(now, from, call, reply);
        }
        if matches!(self.state, Phase::Ended) {
            return;
        }
        let Some(asked) = self.calls.close(from, call, State::Answered) else {
            return;
        };
        match (asked, reply) {
            // Data where a digest would do is as good.
            (_, Reply::Data(data)) if matches!(self.state, Phase::Asking) => {
                self.answers.push((from, data));
                self.compare();
            }
            (_, Reply::Data(data)) => self.on_answer(from, M::digest(&data)),
            (Asked::Digest, Reply::Digest(digest)) if matches!(self.state, Phase::Asking) => {
                self.digests.push(digest);
                self.compare();
            }
            (Asked::Digest, Reply::Digest(digest)) => self.on_answer(from, digest),
            // Not what was asked for.
            _ => {
                self.calls.fail(call, FailureReason::UNKNOWN);
                self.on_failure();
            }
        }
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.handle_timeout(now);
        if let Phase::Resolving(read) | Phase::Healing(read) = &mut self.state {
            return read.handle_failure(now, from, call, reason);
        }
        if matches!(self.state, Phase::Ended) {
            return;
        }
        if self
            .calls
            .close(from, call, State::Failed(reason))
            .is_some()
        {
            self.on_failure();
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        match &mut self.state {
            Phase::Resolving(read) | Phase::Healing(read) => read.handle_timeout(now),
            Phase::Asking if now >= self.options.deadline => self.fail(),
            Phase::Asking if self.speculate.is_some_and(|at| at <= now) => {
                self.speculate = None;
                self.ask_another();
            }
            Phase::Late(_) if now >= self.options.deadline => self.state = Phase::Ended,
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.options.deadline;
        match &self.state {
            Phase::Asking => Some(self.speculate.map_or(deadline, |at| at.min(deadline))),
            Phase::Resolving(read) | Phase::Healing(read) => read.poll_timeout(),
            Phase::Late(_) => Some(deadline),
            Phase::Ended => None,
        }
    }

    fn is_finished(&self) -> bool {
        matches!(self.state, Phase::Ended) && self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests;
