//! What a read of data in full makes of its answers: an answer, further questions, repairs, or a failure.

use smallvec::SmallVec;

use super::{Asked, FullRead, Phase, Step};
use crate::calls::{Call, State};
use crate::event::Event;
use crate::failure::Failure;
use crate::model::Model;
use crate::node::NodeId;
use crate::options::ReadRepair;
use crate::read_repair::{Lack, Lacks};
use crate::speculation::Speculation;

impl<M: Model> FullRead<M> {
    /// Makes one of as many answers as there had to be.
    pub(super) fn resolve(&mut self) {
        if let [_] = self.answers.as_slice() {
            let only = self.answers.pop();
            return self.end(only.map(|(_, data)| data));
        }
        let reconciled = M::reconcile(&self.command, &self.answers);
        if !reconciled.short.is_empty() {
            for (index, (node, _)) in reconciled.short.iter().enumerate() {
                let asked = Asked::Further(index as u32);
                self.send(*node, asked, Event::ReadingFurther(*node));
            }
            self.state = Phase::Further(reconciled.short);
            return;
        }
        if reconciled.repairs.is_empty() || self.options.repair == ReadRepair::None {
            return self.end(Some(reconciled.data));
        }
        let lacks = Lacks::new(reconciled.repairs);
        for (index, Lack { node, .. }) in lacks.iter().enumerate() {
            let (node, asked) = (*node, Asked::Repair(index as u32));
            self.send(node, asked, Event::Repairing(node));
        }
        self.speculate = self.plan.speculates_at(self.clock.now());
        self.state = Phase::Repairing(reconciled.data, lacks);
    }

    /// Sends what nodes lack that haven't confirmed it to others in their place: all of them, or one that failed.
    pub(super) fn repair_elsewhere(&mut self, failed: Option<NodeId>) {
        let Phase::Repairing(_, lacks) = &mut self.state else {
            return;
        };
        if self.plan.speculation == Speculation::Never {
            return;
        }
        let mut places: SmallVec<[(NodeId, u32); 5]> = SmallVec::new();
        let mut next = usize::from(self.plan.contacts);
        for node in lacks.unconfirmed(failed) {
            let Some(place) = self.plan.candidates.get(next).copied() else {
                break;
            };
            next += 1;
            places.extend(lacks.replace(node).map(|index| (place, index)));
        }
        self.plan.contacts = next as u16;
        for (node, index) in places {
            let event = Event::RepairingSpeculatively(node);
            self.send(node, Asked::Repair(index), event);
        }
    }

    pub(super) fn end(&mut self, data: Option<M::Data>) {
        // There is always an answer where one is taken.
        if let Some(data) = data {
            self.state = Phase::Ending(Ok(data));
            self.steps.push(Step::Done);
        }
    }

    pub(super) fn fail(&mut self) {
        let level = self.plan.level;
        let reasons = self.calls.failures(|asked| match self.state {
            Phase::Asking => matches!(asked, Asked::Full),
            Phase::Further(_) => matches!(asked, Asked::Further(_)),
            _ => matches!(asked, Asked::Repair(_)),
        });
        let (received, required, data_present) = match &self.state {
            Phase::Asking if self.mismatch && reasons.is_empty() => (
                self.plan.required.saturating_sub(1),
                self.plan.required,
                true,
            ),
            Phase::Asking => {
                let received = self.answers.len() as u16;
                (received, self.plan.required, received > 0)
            }
            // All answered, but one not to the end.
            Phase::Further(_) => (
                self.plan.required.saturating_sub(1),
                self.plan.required,
                true,
            ),
            Phase::Repairing(_, lacks) => {
                let (received, required) = lacks.confirmed();
                (received, required, true)
            }
            Phase::Ending(_) | Phase::Ended => return,
        };
        self.trace(match &self.state {
            Phase::Repairing(..) => Event::RepairTimedOut { required },
            _ => Event::ReadEnded {
                failed: !reasons.is_empty(),
                received,
                required,
                data_present,
            },
        });
        let failure = Failure::of_read(level, (received, required), data_present, reasons);
        self.state = Phase::Ending(Err(failure));
        self.steps.push(Step::Done);
    }

    pub(super) fn on_failure(&mut self, node: NodeId, asked: Asked) {
        match (&mut self.state, asked) {
            (Phase::Asking, Asked::Full) => {
                let lost = self.calls.failures(|_| true).len();
                let waits = lost + usize::from(self.plan.required) <= self.calls.len();
                let asks = self.ask_another();
                if !asks && !waits {
                    self.fail();
                }
            }
            (Phase::Further(_), Asked::Further(_)) => self.fail(),
            (Phase::Repairing(_, lacks), Asked::Repair(index)) => {
                lacks.lost(index);
                self.repair_elsewhere(Some(node));
                if let Phase::Repairing(_, lacks) = &self.state
                    && lacks.is_hopeless()
                {
                    self.fail();
                }
            }
            _ => {}
        }
    }

    pub(super) fn on_answer(&mut self, from: NodeId, asked: Asked, data: M::Data) {
        match (&self.state, asked) {
            (Phase::Asking, Asked::Full) => {
                self.answers.push((from, data));
                if self.answers.len() >= usize::from(self.plan.required) {
                    self.resolve();
                }
            }
            (Phase::Further(_), Asked::Further(_)) => {
                let mut answers = self.answers.iter_mut();
                if let Some((_, known)) = answers.find(|(node, _)| *node == from) {
                    M::append(known, data);
                }
                let further = |call: &&Call<Asked>| {
                    call.state == State::Waiting && matches!(call.asked, Asked::Further(_))
                };
                if self.calls.iter().find(further).is_none() {
                    self.resolve();
                }
            }
            _ => {}
        }
    }
}
