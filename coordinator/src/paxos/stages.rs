//! From one stage to the next.

use super::promises::{Promises, Unfinished};
use super::{BACK_OFF, Next, Paxos, PaxosStep, Purpose, Stage, Whose};
use crate::acks::{Acks, Hints};
use crate::failure::Failure;
use crate::machine::{Machine, Outcome};
use crate::message::{Ballot, Proposal};
use crate::model::Model;
use crate::read::Read;
use crate::votes::Votes;

impl<M: Model> Paxos<M> {
    pub(super) fn trace(&mut self, step: PaxosStep) {
        if self.options.traced {
            self.traces.push(step);
        }
    }

    pub(super) fn enter(&mut self, stage: Stage<M>) {
        self.stages += 1;
        self.stage = stage;
    }

    /// Begins a round, with a ballot that hasn't been refused.
    pub(super) fn prepare(&mut self) {
        let now = self.clock.now();
        let passed = now.saturating_duration_since(self.start.now).as_micros();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let micros = self.start.micros.saturating_add(passed);
        self.ballot = Ballot {
            micros: micros.max(self.floor.saturating_add(1)),
            node: self.plan.local,
            random: self.random.next() as u16,
        };
        self.floor = self.ballot.micros;
        self.trace(PaxosStep::Preparing);
        let votes = Votes::new(self.plan.contacts.iter().copied());
        self.enter(Stage::Prepare(votes, Promises::new()));
    }

    /// Begins another round, unless patience is over.
    pub(super) fn try_again(&mut self) {
        if self.clock.now() < self.start.patience {
            return self.prepare();
        }
        let failure = self.timed_out(0, self.plan.required);
        self.finish(Err(failure));
    }

    /// Another round came first: gives it time to end.
    pub(super) fn back_off(&mut self, step: PaxosStep) {
        self.trace(step);
        self.contentions = self.contentions.saturating_add(1);
        let wait = self.random.below(BACK_OFF.as_micros() as u64);
        let until = self.clock.now() + std::time::Duration::from_micros(wait);
        self.enter(Stage::BackOff(until));
    }

    /// Tells the end; a stage that only has hints left goes on.
    pub(super) fn finish(&mut self, end: Result<Outcome<M>, Failure>) {
        if !self.told {
            self.told = true;
            match &end {
                Ok(Outcome::Written) => self.trace(PaxosStep::Applied),
                Ok(Outcome::NotApplied(_)) => self.trace(PaxosStep::NotApplied),
                _ => {}
            }
            self.end = Some(match self.purpose {
                Purpose::Write => end,
                Purpose::Read => end.map_err(|failure| self.as_read(failure)),
            });
        }
        if !matches!(self.stage, Stage::Commit(_, _, Whose::Own)) {
            self.enter(Stage::Over);
        }
    }

    pub(super) fn after_promise(&mut self) {
        let Stage::Prepare(votes, promises) = &mut self.stage else {
            return;
        };
        if votes.yes() >= self.plan.required {
            let promises = std::mem::replace(promises, Promises::new());
            return match promises.unfinished() {
                Unfinished::Proposal(mutation) => {
                    self.trace(PaxosStep::Finishing);
                    self.propose(Some(mutation), Next::Commit(Whose::Found));
                }
                Unfinished::Commit(commit, missing) => {
                    self.trace(PaxosStep::CatchingUp);
                    let until = self.clock.now() + BACK_OFF;
                    self.enter(Stage::CatchUp(Votes::new(missing), commit, until));
                }
                Unfinished::Nothing => self.after_preparation(),
            };
        }
        if votes.yes() + votes.open() >= self.plan.required {
            return;
        }
        if votes.answered() > votes.yes() {
            return self.back_off(PaxosStep::Refused);
        }
        let (received, failures) = (votes.yes(), votes.failures());
        let failure = self.failed(received, failures);
        self.finish(Err(failure));
    }

    pub(super) fn after_catching_up(&mut self) {
        let Stage::CatchUp(votes, ..) = &self.stage else {
            return;
        };
        if votes.yes() == votes.len() {
            self.after_preparation();
        } else if votes.open() == 0 {
            // Others may promise in the place of who can't learn it: a round later, lest this turn in a circle.
            let until = self.clock.now() + BACK_OFF;
            self.enter(Stage::BackOff(until));
        }
    }

    /// A majority has promised, and has nothing left from before.
    fn after_preparation(&mut self) {
        match self.purpose {
            Purpose::Write => {
                self.trace(PaxosStep::Reading);
                self.begin_read();
            }
            Purpose::Read => self.propose(None, Next::Read),
        }
    }

    fn begin_read(&mut self) {
        let now = self.clock.now();
        let read = Read::new(
            now,
            self.command.clone(),
            self.plan.read.clone(),
            self.options,
        );
        self.enter(Stage::Read(Box::new(read)));
    }

    pub(super) fn propose(&mut self, mutation: Option<M::Mutation>, next: Next<M>) {
        let ballot = self.ballot;
        let votes = Votes::new(self.plan.contacts.iter().copied());
        self.enter(Stage::Propose(votes, Proposal { ballot, mutation }, next));
    }

    pub(super) fn after_acceptance(&mut self) {
        let Stage::Propose(votes, _, next) = &self.stage else {
            return;
        };
        if votes.yes() >= self.plan.required {
            return self.after_proposal();
        }
        if votes.yes() + votes.open() >= self.plan.required {
            return;
        }
        if !matches!(next, Next::Commit(Whose::Own)) {
            return self.back_off(PaxosStep::Refused);
        }
        // Whether anybody accepted it matters: then another coordinator may finish it.
        if votes.open() > 0 {
            return;
        }
        let (received, failures) = (votes.yes(), votes.failures());
        if received == 0 && failures.is_empty() {
            return self.back_off(PaxosStep::NotAccepted);
        }
        let failure = self.unknown(received, &failures);
        self.finish(Err(failure));
    }

    fn after_proposal(&mut self) {
        let Stage::Propose(_, proposal, next) = std::mem::replace(&mut self.stage, Stage::Over)
        else {
            return;
        };
        match next {
            Next::Commit(whose) => {
                let acks = match whose {
                    Whose::Own => Acks::new(&self.plan.commit, Hints::Kept),
                    Whose::Found => Acks::new(&self.plan.finish, Hints::None),
                };
                self.enter(Stage::Commit(acks, proposal, whose));
            }
            Next::Refuse(data) => self.finish(Ok(Outcome::NotApplied(data))),
            Next::Read => self.begin_read(),
        }
    }

    /// The deadline: the present stage says what didn't come.
    pub(super) fn expire(&mut self) {
        let (received, required) = match &mut self.stage {
            Stage::Over => return,
            Stage::Commit(acks, ..) => return acks.expire(),
            Stage::Read(read) => {
                read.handle_timeout(self.clock.now());
                return;
            }
            Stage::Prepare(votes, ..) => (votes.yes(), self.plan.required),
            // As Cassandra has it: of all that were asked, and whatever they said.
            Stage::Propose(votes, ..) => (votes.answered(), votes.len()),
            Stage::CatchUp(..) | Stage::Decide(_) | Stage::BackOff(_) => (0, self.plan.required),
        };
        let failure = self.timed_out(received, required);
        self.finish(Err(failure));
    }
}
