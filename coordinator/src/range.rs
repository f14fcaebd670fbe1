//! [`RangeRead`]: a read of the partitions in a range of tokens, stretch by stretch, several at once. Answers to
//! Cassandra's `RangeCommandIterator`.
//!
//! | state | what comes | what follows |
//! |---|---|---|
//! | reading | the data of the next stretch in token order | its rows are taken; answer if they are enough, or cut |
//! | | the failure of the next stretch in token order | fail |
//! | | the last stretch of those being read | as many more as the rows so far suggest, or answer |
//! | ended | anything | nothing |
//!
//! A stretch that fails or ends out of turn waits for those before it, which may be enough.

use std::collections::VecDeque;
use std::time::Instant;

use crate::clock::Clock;
use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::full_read::FullRead;
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::Reply;
use crate::model::Model;
use crate::node::NodeId;
use crate::options::ReadOptions;
use crate::steps::Steps;

mod concurrency;
mod plan;

use concurrency::Concurrency;
pub use concurrency::RangeOptions;
pub use plan::RangePlan;

/// A read of the partitions in a range of tokens.
#[derive(Debug)]
pub struct RangeRead<M: Model> {
    command: M::Command,
    plan: RangePlan,
    options: ReadOptions,
    clock: Clock,
    concurrency: Concurrency,
    /// The first stretch that isn't being read yet.
    next: usize,
    /// The stretches that are being read, in token order.
    active: VecDeque<Stretch<M>>,
    /// How many were taken off the front of `active`.
    taken: u32,
    steps: Steps<Step>,
    /// Which of them has something to say.
    polled: Option<u32>,
    /// All rows so far.
    data: Option<M::Data>,
    outcome: Option<Result<M::Data, Failure>>,
    ended: bool,
}

#[derive(Debug)]
enum Stretch<M: Model> {
    Reading(Box<FullRead<M>>),
    Read(Result<M::Data, Failure>),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The stretch of this index, counted from the first ever, may have something to say.
    Poll(u32),
    Trace(Event),
    Done,
}

/// Each stretch numbers its calls from here on, times its index.
const CALLS: u64 = 1 << 32;

impl<M: Model> RangeRead<M> {
    /// A read that begins now.
    #[must_use]
    pub fn new(
        now: Instant,
        command: M::Command,
        plan: RangePlan,
        options: ReadOptions,
        range: RangeOptions,
    ) -> Self {
        let concurrency = Concurrency::new(range, plan.ranges());
        let mut read = Self {
            command,
            options,
            clock: Clock::new(now),
            concurrency,
            next: 0,
            active: VecDeque::new(),
            polled: None,
            taken: 0,
            steps: Steps::new(),
            data: None,
            outcome: None,
            ended: false,
            plan,
        };
        read.trace(Event::ReadingRanges {
            ranges: read.plan.ranges(),
            concurrency: read.concurrency.at_once(),
        });
        read.submit();
        read
    }

    fn trace(&mut self, event: Event) {
        if self.options.traced {
            self.steps.push(Step::Trace(event));
        }
    }

    /// Begins to read as many stretches as may be read at once.
    fn submit(&mut self) {
        let mut ranges = 0;
        while ranges < self.concurrency.at_once()
            && let Some(piece) = self.plan.pieces.get(self.next)
        {
            let index = self.next as u32;
            ranges += piece.ranges;
            self.next += 1;
            let stretch = match &piece.plan {
                Ok(plan) => {
                    let rows = self.concurrency.rows_left();
                    let command = M::narrow(&self.command, piece.range, rows);
                    Stretch::Reading(Box::new(FullRead::numbered(
                        self.clock.now(),
                        command,
                        plan.clone(),
                        self.options,
                        u64::from(index) * CALLS,
                        Event::ReadingRange,
                    )))
                }
                Err(failure) => Stretch::Read(Err(failure.clone())),
            };
            self.active.push_back(stretch);
            self.steps.push(Step::Poll(index));
        }
        self.concurrency.submitted(ranges);
        self.trace(Event::RangesSubmitted(self.active.len() as u32));
    }

    /// Takes what is there in token order, and goes on.
    fn advance(&mut self) {
        while !self.ended {
            match self.active.front() {
                Some(Stretch::Reading(_)) => return,
                Some(Stretch::Read(_)) => {
                    self.taken += 1;
                    match self.active.pop_front() {
                        Some(Stretch::Read(Ok(data))) => self.take(data),
                        Some(Stretch::Read(Err(failure))) => self.end(Err(failure)),
                        _ => {}
                    }
                }
                None if self.next < self.plan.pieces.len() => {
                    if let Some(concurrency) = self.concurrency.adapt() {
                        self.trace(Event::NoRowsYet { concurrency });
                    }
                    self.submit();
                }
                // There are data, for a plan has one stretch at least.
                None => match self.data.take() {
                    Some(data) => self.end(Ok(data)),
                    None => self.ended = true,
                },
            }
        }
    }

    fn take(&mut self, data: M::Data) {
        self.concurrency.returned(M::rows(&data));
        let is_cut = M::is_cut(&data);
        match &mut self.data {
            Some(all) => M::append(all, data),
            None => self.data = Some(data),
        }
        if (self.concurrency.rows_left() == 0 || is_cut)
            && let Some(data) = self.data.take()
        {
            self.end(Ok(data));
        }
    }

    fn end(&mut self, outcome: Result<M::Data, Failure>) {
        self.outcome = Some(outcome);
        self.steps.clear();
        self.steps.push(Step::Done);
        self.active.clear();
        self.polled = None;
        self.ended = true;
    }

    /// The stretch of this index, if it is being read.
    fn reading(&mut self, index: u32) -> Option<&mut FullRead<M>> {
        let place = index.checked_sub(self.taken)?;
        match self.active.get_mut(place as usize)? {
            Stretch::Reading(read) => Some(read),
            Stretch::Read(_) => None,
        }
    }

    /// What the stretch of this index has to do.
    fn poll_stretch(&mut self, now: Instant, index: u32) -> Option<Action<M>> {
        match self.reading(index)?.poll_action(now)? {
            Action::Done(outcome) => {
                let outcome = match outcome {
                    Ok(Outcome::Data(data)) => Ok(data),
                    Err(failure) => Err(failure),
                    // A read gives data.
                    Ok(_) => return None,
                };
                let place = index.checked_sub(self.taken)?;
                if let Some(stretch) = self.active.get_mut(place as usize) {
                    *stretch = Stretch::Read(outcome);
                }
                None
            }
            action => Some(action),
        }
    }
}

/// Which stretch's call it is.
fn stretch_of(call: CallId) -> u32 {
    u32::try_from(call.0 / CALLS).unwrap_or(u32::MAX)
}

impl<M: Model> Machine<M> for RangeRead<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        loop {
            if let Some(index) = self.polled {
                if let Some(action) = self.poll_stretch(now, index) {
                    return Some(action);
                }
                self.polled = None;
            }
            match self.steps.pop() {
                Some(Step::Poll(index)) => self.polled = Some(index),
                Some(Step::Trace(event)) => return Some(Action::Trace(event)),
                Some(Step::Done) => {
                    let outcome = self.outcome.take()?;
                    return Some(Action::Done(outcome.map(Outcome::Data)));
                }
                None => {
                    self.advance();
                    if self.steps.is_empty() {
                        return None;
                    }
                }
            }
        }
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        let now = self.clock.set(now);
        let index = stretch_of(call);
        if let Some(read) = self.reading(index) {
            read.handle_reply(now, from, call, reply);
            self.steps.push(Step::Poll(index));
        }
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        let now = self.clock.set(now);
        let index = stretch_of(call);
        if let Some(read) = self.reading(index) {
            read.handle_failure(now, from, call, reason);
            self.steps.push(Step::Poll(index));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        for (place, stretch) in self.active.iter_mut().enumerate() {
            if let Stretch::Reading(read) = stretch
                && read.poll_timeout().is_some_and(|at| at <= now)
            {
                read.handle_timeout(now);
                self.steps.push(Step::Poll(self.taken + place as u32));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let timeouts = self.active.iter().filter_map(|stretch| match stretch {
            Stretch::Reading(read) => read.poll_timeout(),
            Stretch::Read(_) => None,
        });
        timeouts.min()
    }

    fn is_finished(&self) -> bool {
        self.ended && self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests;
