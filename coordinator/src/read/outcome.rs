//! What a read makes of its answers: they agree, they don't, or there are too few.

use super::{FULL_READ, Phase, Read, Step};
use crate::calls::State;
use crate::event::Event;
use crate::failure::Failure;
use crate::full_read::{Answers, FullRead};
use crate::model::Model;
use crate::node::{NodeId, Nodes};
use crate::options::ReadRepair;
use crate::speculation::Speculation;

impl<M: Model> Read<M> {
    /// Ends, or goes on with data in full, if there are data and enough answers.
    pub(super) fn compare(&mut self) {
        let [first, others @ ..] = self.answers.as_slice() else {
            return;
        };
        if self.received() < self.plan.required {
            return;
        }
        let waits = self.calls.waiting() > 0 && self.options.repair == ReadRepair::Blocking;
        let mut agreed = None;
        if waits || self.received() > 1 {
            let digest = M::digest(&first.1);
            let digests = self.digests.iter().copied();
            let mut all = digests.chain(others.iter().map(|(_, data)| M::digest(data)));
            if all.any(|other| other != digest) {
                return self.resolve();
            }
            agreed = Some(digest).filter(|_| waits);
        }
        self.outcome = Some(Ok(self.answers.swap_remove(0).1));
        self.steps.push(Step::Done);
        self.state = agreed.map_or(Phase::Ended, Phase::Late);
    }

    /// Goes on with data in full.
    fn resolve(&mut self) {
        self.trace(Event::DigestMismatch);
        let answers = std::mem::take(&mut self.answers);
        self.state = Phase::Resolving(Box::new(self.full_read(answers)));
    }

    fn full_read(&self, answers: Answers<M>) -> FullRead<M> {
        FullRead::after_mismatch(
            self.clock.now(),
            self.command.clone(),
            self.plan.clone(),
            self.options,
            FULL_READ,
            answers,
        )
    }

    /// A replica is behind that answered late, or those are that answered in time: all that answered are asked for
    /// their data, which makes them the same.
    pub(super) fn heal(&mut self, late: NodeId) {
        let answered = self.calls.iter();
        let answered = answered.filter(|call| call.state == State::Answered);
        let mut nodes: Nodes = answered.map(|call| call.node).collect();
        if !nodes.contains(&late) {
            nodes.push(late);
        }
        self.plan.required = nodes.len() as u16;
        self.plan.contacts = self.plan.required;
        self.plan.candidates = nodes;
        self.plan.speculation = Speculation::Never;
        self.trace(Event::DigestMismatch);
        self.state = Phase::Healing(Box::new(self.full_read(Answers::<M>::new())));
    }

    pub(super) fn fail(&mut self) {
        let level = self.plan.level;
        let required = self.plan.required;
        let received = self.received();
        let data_present = !self.answers.is_empty();
        let reasons = self.calls.failures(|_| true);
        self.trace(Event::ReadEnded {
            failed: !reasons.is_empty(),
            received,
            required,
            data_present,
        });
        let failure = Failure::of_read(level, (received, required), data_present, reasons);
        self.outcome = Some(Err(failure));
        self.steps.push(Step::Done);
        self.state = Phase::Ended;
    }
}
