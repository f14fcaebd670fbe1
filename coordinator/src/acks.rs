//! Who has confirmed one change: counting for every consistency level, and hints for those that haven't. It knows neither
//! the change nor its messages, so that a write, a commit of Paxos and what a counter's leader replicates are counted alike.
//! Answers to Cassandra's `AbstractWriteResponseHandler` and its kin.
//!
//! | a replica is | then | and becomes |
//! |---|---|---|
//! | unasked: alive at the start | is asked | asked |
//! | asked | confirms | confirmed |
//! | asked | fails, or the deadline passes | missed; failed if no hint is kept for it |
//! | missed: also who is down at the start | a hint is given away | hinting |
//! | missed | confirms late | confirmed |
//! | hinting | the hint is kept, or refused | hinted, or lost |
//!
//! Everything else is ignored: second answers, answers of others, late ones of who is hinted.

use std::time::Instant;

use helenus_core::Consistency;
use helenus_core::message::WriteType;
use smallvec::SmallVec;

use crate::failure::{Failure, FailureReason, FailureReasonMap};
use crate::node::NodeId;
use crate::plan::WritePlan;

/// What is to be done for one replica, or what all of it came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send the change; its answer is told by this number.
    Send(u32, NodeId),
    /// Keep a hint; whether it is kept is told by this number.
    Hint(u32, NodeId),
    /// Enough have confirmed, or never will. Given once.
    Done(Result<(), Failure>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unasked,
    Asked,
    Confirmed,
    Failed,
    Missed,
    Hinting,
    Hinted,
    Lost,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    node: NodeId,
    reason: Option<FailureReason>,
    quota: Option<u8>,
    state: State,
    was_asked: bool,
}

/// Whether hints are kept for replicas that miss the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hints {
    Kept,
    None,
}

/// The confirmations of one change.
#[derive(Debug)]
pub(crate) struct Acks {
    parts: SmallVec<[Part; 5]>,
    /// How many confirmations each quota lacks.
    lacking: SmallVec<[u16; 2]>,
    level: Consistency,
    local: NodeId,
    required: u16,
    received: u16,
    /// The parts before it have been asked, if they were to be.
    next: u16,
    /// How many parts are missed.
    missed: u16,
    hints: Hints,
    has_failures: bool,
    expired: bool,
    told: bool,
}

impl Acks {
    pub(crate) fn new(plan: &WritePlan, hints: Hints) -> Acks {
        let mut acks = Acks {
            parts: SmallVec::new(),
            lacking: plan.quotas.clone(),
            level: plan.level,
            local: plan.local,
            required: plan.required,
            received: 0,
            next: 0,
            missed: 0,
            hints,
            has_failures: false,
            expired: false,
            told: false,
        };
        for replica in &plan.targets {
            let state = match (replica.alive, hints) {
                (true, _) => State::Unasked,
                (false, Hints::Kept) => State::Missed,
                (false, Hints::None) => State::Failed,
            };
            acks.missed += u16::from(state == State::Missed);
            acks.parts.push(Part {
                node: replica.node,
                reason: None,
                quota: replica.quota,
                state,
                was_asked: false,
            });
        }
        acks
    }

    /// What to do next, if anything.
    pub(crate) fn poll(&mut self, write_type: &WriteType) -> Option<Step> {
        while let Some(part) = self.parts.get_mut(usize::from(self.next)) {
            let number = u32::from(self.next) * 2;
            self.next += 1;
            if part.state == State::Unasked {
                part.state = State::Asked;
                part.was_asked = true;
                return Some(Step::Send(number, part.node));
            }
        }
        // At ANY a hint is an answer to the client: it is asked for before there is one.
        let first = !self.told && self.level == Consistency::ANY && !self.is_reached();
        if first && let Some(hint) = self.poll_hint() {
            return Some(hint);
        }
        if !self.told
            && let Some(verdict) = self.verdict(write_type)
        {
            self.told = true;
            return Some(Step::Done(verdict));
        }
        self.poll_hint()
    }

    fn poll_hint(&mut self) -> Option<Step> {
        if self.missed == 0 {
            return None;
        }
        let missed = |part: &Part| part.state == State::Missed;
        let index = self.parts.iter().position(missed)?;
        self.missed -= 1;
        let part = self.parts.get_mut(index)?;
        part.state = State::Hinting;
        Some(Step::Hint(index as u32 * 2 + 1, part.node))
    }

    /// Takes an answer by the number of its step; what it knows nothing of is ignored.
    pub(crate) fn answered(
        &mut self,
        number: u32,
        from: NodeId,
        answer: Result<(), FailureReason>,
    ) {
        let Some(part) = self.parts.get_mut(number as usize / 2) else {
            return;
        };
        if part.node != from {
            return;
        }
        let of_hint = number % 2 == 1;
        match (part.state, of_hint, answer) {
            (State::Asked, false, Ok(())) => {
                part.state = State::Confirmed;
                let quota = part.quota;
                self.count(quota);
            }
            (State::Missed, false, Ok(())) if part.was_asked => {
                part.state = State::Confirmed;
                self.missed -= 1;
                let quota = part.quota;
                self.count(quota);
            }
            (State::Asked, false, Err(reason)) => {
                part.reason = Some(reason);
                self.has_failures = true;
                self.miss(number as usize / 2);
            }
            (State::Hinting, true, Ok(())) => {
                part.state = State::Hinted;
                if self.level == Consistency::ANY {
                    let quota = part.quota;
                    self.count(quota);
                }
            }
            (State::Hinting, true, Err(_)) => {
                part.state = State::Lost;
                self.has_failures = true;
            }
            _ => {}
        }
    }

    /// This node has the change already.
    pub(crate) fn confirm_local(&mut self) {
        let local = self.local;
        if let Some(part) = self.parts.iter_mut().find(|part| part.node == local) {
            part.state = State::Confirmed;
            let quota = part.quota;
            self.count(quota);
        }
    }

    /// The deadline passed: who was asked and hasn't answered misses the change.
    pub(crate) fn expire(&mut self) {
        if self.expired {
            return;
        }
        self.expired = true;
        for index in 0..self.parts.len() {
            if matches!(self.parts[index].state, State::Asked | State::Unasked) {
                self.miss(index);
            }
        }
    }

    /// When to [expire](Acks::expire), if there is anything to wait for.
    pub(crate) fn poll_timeout(&self, deadline: Instant) -> Option<Instant> {
        (!self.expired && !self.is_settled()).then_some(deadline)
    }

    /// Whether nothing is left to do or to wait for.
    pub(crate) fn is_settled(&self) -> bool {
        let open = |part: &Part| {
            matches!(
                part.state,
                State::Unasked | State::Asked | State::Missed | State::Hinting
            )
        };
        self.told && (self.expired && self.missed == 0 || !self.parts.iter().any(open))
    }

    /// Whether enough replicas have confirmed.
    pub(crate) fn is_reached(&self) -> bool {
        self.lacking.iter().all(|lacking| *lacking == 0)
    }

    /// Whether every replica has the change, or will be given it by a hint.
    pub(crate) fn is_everywhere(&self) -> bool {
        let safe = |part: &Part| matches!(part.state, State::Confirmed | State::Hinted);
        self.parts.iter().all(safe)
    }

    fn count(&mut self, quota: Option<u8>) {
        let Some(lacking) = quota.and_then(|quota| self.lacking.get_mut(usize::from(quota))) else {
            return;
        };
        *lacking = lacking.saturating_sub(1);
        self.received += 1;
    }

    fn miss(&mut self, index: usize) {
        let Some(part) = self.parts.get_mut(index) else {
            return;
        };
        // A node keeps no hint for itself: it is alive, and will fail again.
        let hinted = self.hints == Hints::Kept && part.node != self.local;
        part.state = if hinted { State::Missed } else { State::Failed };
        self.missed += u16::from(hinted);
    }

    fn verdict(&self, write_type: &WriteType) -> Option<Result<(), Failure>> {
        if self.is_reached() {
            return Some(Ok(()));
        }
        if self.expired {
            return Some(Err(self.timeout(write_type)));
        }
        self.is_hopeless().then(|| Err(self.failure(write_type)))
    }

    /// Whether a quota lacks more than may still come.
    fn is_hopeless(&self) -> bool {
        let any = self.level == Consistency::ANY;
        let may_come = |part: &&Part| match part.state {
            State::Unasked | State::Asked => true,
            State::Missed | State::Hinting => any,
            _ => false,
        };
        self.has_failures
            && self.lacking.iter().enumerate().any(|(quota, lacking)| {
                let parts = self.parts.iter();
                let parts = parts.filter(|part| part.quota.map(usize::from) == Some(quota));
                usize::from(*lacking) > parts.filter(may_come).count()
            })
    }

    fn timeout(&self, write_type: &WriteType) -> Failure {
        Failure::WriteTimeout {
            level: self.level,
            // One data centre may have confirmed more often than it had to; as many as required would look like success.
            received: self.received.min(self.required.saturating_sub(1)),
            required: self.required,
            write_type: write_type.clone(),
            contentions: None,
        }
    }

    fn failure(&self, write_type: &WriteType) -> Failure {
        let failed = |part: &Part| Some((part.node, part.reason?));
        let reasons: FailureReasonMap = self.parts.iter().filter_map(failed).collect();
        if let Some(lost) = self.parts.iter().find(|part| part.state == State::Lost)
            && reasons.is_empty()
        {
            return Failure::Overloaded { node: lost.node };
        }
        if reasons
            .iter()
            .all(|(_, reason)| *reason == FailureReason::TIMEOUT)
        {
            return self.timeout(write_type);
        }
        Failure::WriteFailure {
            level: self.level,
            received: self.received,
            required: self.required,
            write_type: write_type.clone(),
            reasons,
        }
    }
}
