//! Conditional writes and serial reads: Paxos over the replicas of one partition, as Cassandra's first variant does it.
//!
//! | stage | on | next |
//! |---|---|---|
//! | prepare | a majority's promises | propose what was accepted before and may not be committed; or catch up, if a replica missed the last commit; or read (a serial read: propose nothing) |
//! | | promises that can't become a majority | back off |
//! | catch up | those replicas' confirmations | as if nothing had been missed |
//! | | a failure, or 100 ms | prepare |
//! | read | the data | decide; a serial read: done |
//! | decide | the caller's decision | propose it; nothing, if the condition isn't met |
//! | propose | a majority accepts | commit; nothing was proposed: done, not applied, or read |
//! | | all refuse | back off |
//! | | too few accept | done: CasWriteUnknown; back off, if it was found or is nothing |
//! | commit | the level is met | done: written; prepare, if it was found |
//! | back off | up to 100 ms | prepare, with a later ballot; done: WriteTimeout, if patience is over |
//! | any | the deadline | done: WriteTimeout; of a serial read: ReadTimeout |
//!
//! Each stage has numbers of its own for its calls, so that replies to earlier ones are ignored.
//!
//! Where this differs from Cassandra: one refused promise doesn't end a round that a majority may still promise; replicas
//! that missed a commit are waited for, not asked to promise again; an empty proposal that too few accept is tried again,
//! since nothing can come of it; what was found keeps its timestamps; a round that too many failures have ended is over
//! at once; too few live replicas for the commit are Unavailable before anything is proposed.

use std::time::{Duration, Instant};

use crate::acks::Acks;
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Ballot, Proposal, Reply};
use crate::model::Model;
use crate::node::NodeId;
use crate::options::ReadOptions;
use crate::random::Random;
use crate::read::Read;
use crate::steps::Steps;
use crate::votes::Votes;

mod actions;
mod errors;
mod plan;
mod promises;
mod replies;
mod stages;
mod trace;

pub use plan::PaxosPlan;
pub use trace::PaxosStep;

use promises::Promises;

/// The longest that a round waits for another one to end.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Time and randomness that a request begins with.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// When it begins.
    pub now: Instant,
    /// The same as microseconds since 1970: where its ballots begin.
    pub micros: i64,
    /// From when on it begins no other round: Cassandra's `cas_contention_timeout`.
    pub patience: Instant,
    /// Chooses how long it backs off, and tells its ballots from others of the same microsecond.
    pub random: u64,
}

/// What a conditional write does, now that the data is known.
#[derive(Debug)]
pub enum Decision<M: Model> {
    /// The condition is met: this is to be written, with the ballot's time as its timestamp.
    Apply(M::Mutation),
    /// It isn't; the data comes back in [`Outcome::NotApplied`].
    Reject(M::Data),
}

/// A conditional write, or a serial read.
#[derive(Debug)]
pub struct Paxos<M: Model> {
    partition: M::Partition,
    command: M::Command,
    purpose: Purpose,
    plan: PaxosPlan,
    /// Of the reads; its deadline is for all.
    options: ReadOptions,
    start: Start,
    clock: Clock,
    random: Random,
    ballot: Ballot,
    /// No ballot up to this time is promised.
    floor: i64,
    contentions: u16,
    /// How many stages there were.
    stages: u32,
    stage: Stage<M>,
    traces: Steps<PaxosStep>,
    /// What is to be told next.
    end: Option<Result<Outcome<M>, Failure>>,
    told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Write,
    Read,
}

#[derive(Debug)]
enum Stage<M: Model> {
    Prepare(Votes, Promises<M>),
    CatchUp(Votes, Proposal<M>, Instant),
    Read(Box<Read<M>>),
    /// None while the caller decides.
    Decide(Option<M::Data>),
    Propose(Votes, Proposal<M>, Next<M>),
    Commit(Acks, Proposal<M>, Whose),
    BackOff(Instant),
    Over,
}

/// What an accepted proposal is followed by.
#[derive(Debug)]
enum Next<M: Model> {
    Commit(Whose),
    /// It was empty, and put this write's refusal in its place among the rounds.
    Refuse(M::Data),
    /// It was empty, and put this read in its place.
    Read,
}

/// Whose proposal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Found,
}

impl<M: Model> Paxos<M> {
    /// A conditional write: `command` reads what its condition is about.
    #[must_use]
    pub fn write(
        plan: PaxosPlan,
        partition: M::Partition,
        command: M::Command,
        options: ReadOptions,
        start: Start,
    ) -> Self {
        Self::new(Purpose::Write, plan, partition, command, options, start)
    }

    /// A read at SERIAL or LOCAL_SERIAL.
    #[must_use]
    pub fn read(
        plan: PaxosPlan,
        partition: M::Partition,
        command: M::Command,
        options: ReadOptions,
        start: Start,
    ) -> Self {
        Self::new(Purpose::Read, plan, partition, command, options, start)
    }

    fn new(
        purpose: Purpose,
        plan: PaxosPlan,
        partition: M::Partition,
        command: M::Command,
        options: ReadOptions,
        start: Start,
    ) -> Self {
        let ballot = Ballot {
            micros: start.micros,
            node: plan.local,
            random: 0,
        };
        let mut paxos = Self {
            partition,
            command,
            purpose,
            plan,
            options,
            start,
            clock: Clock::new(start.now),
            random: Random::new(start.random),
            ballot,
            floor: i64::MIN,
            contentions: 0,
            stages: 0,
            stage: Stage::Over,
            traces: Steps::new(),
            end: None,
            told: false,
        };
        paxos.prepare();
        paxos
    }

    /// The ballot of the round: its time is the timestamp of what is written.
    #[must_use]
    pub fn ballot(&self) -> Ballot {
        self.ballot
    }

    /// How often another round came first.
    #[must_use]
    pub fn contentions(&self) -> u16 {
        self.contentions
    }
}

impl<M: Model> Machine<M> for Paxos<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        self.clock.set(now);
        loop {
            if let Some(step) = self.traces.pop() {
                return Some(Action::Trace(Event::Paxos(step)));
            }
            if let Some(end) = self.end.take() {
                return Some(Action::Done(end));
            }
            let stages = self.stages;
            let action = self.poll_stage();
            // A stage that ended without an action: the next one may have some.
            if action.is_some()
                || stages == self.stages && self.end.is_none() && self.traces.is_empty()
            {
                return action;
            }
        }
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        let now = self.clock.set(now);
        if let Some(number) = self.own_number(call) {
            match &mut self.stage {
                Stage::Read(read) => read.handle_reply(now, from, CallId(number), reply),
                _ => self.take(from, number, Ok(reply)),
            }
        }
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        let now = self.clock.set(now);
        if let Some(number) = self.own_number(call) {
            match &mut self.stage {
                Stage::Read(read) => read.handle_failure(now, from, CallId(number), reason),
                _ => self.take(from, number, Err(reason)),
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        if now >= self.options.deadline {
            return self.expire();
        }
        match &mut self.stage {
            Stage::Read(read) => read.handle_timeout(now),
            Stage::BackOff(until) if *until <= now => self.try_again(),
            Stage::CatchUp(_, _, until) if *until <= now => self.try_again(),
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.options.deadline;
        match &self.stage {
            Stage::Over => None,
            Stage::Read(read) => read.poll_timeout().or(Some(deadline)),
            Stage::BackOff(until) | Stage::CatchUp(_, _, until) => Some(deadline.min(*until)),
            Stage::Commit(acks, ..) => acks.poll_timeout(deadline),
            _ => Some(deadline),
        }
    }

    fn is_finished(&self) -> bool {
        let settled = match &self.stage {
            Stage::Over => true,
            Stage::Commit(acks, ..) => acks.is_settled(),
            _ => false,
        };
        settled && self.told && self.end.is_none() && self.traces.is_empty()
    }
}

#[cfg(test)]
mod tests;
