//! What the caller and the replicas say, and which stage it is said to.

use std::time::Instant;

use super::{Decision, Next, Paxos, PaxosStep, Stage, Whose};
use crate::failure::FailureReason;
#[cfg(doc)]
use crate::machine::Action;
use crate::machine::CallId;
use crate::message::Reply;
use crate::model::Model;
use crate::node::NodeId;
use crate::votes::Vote;

/// How many bits of a call's number are its stage's own.
const OWN: u32 = 40;

impl<M: Model> Paxos<M> {
    /// What to do about the data of [`Action::Decide`]. At any other time it is ignored.
    pub fn decided(&mut self, now: Instant, decision: Decision<M>) {
        self.clock.set(now);
        if !matches!(self.stage, Stage::Decide(None)) {
            return;
        }
        match decision {
            Decision::Apply(mutation) => {
                self.trace(PaxosStep::Met);
                self.propose(Some(mutation), Next::Commit(Whose::Own));
            }
            Decision::Reject(data) => {
                self.trace(PaxosStep::NotMet);
                self.propose(None, Next::Refuse(data));
            }
        }
    }

    pub(super) fn take(
        &mut self,
        from: NodeId,
        number: u64,
        reply: Result<Reply<M>, FailureReason>,
    ) {
        let index = u32::try_from(number).unwrap_or(u32::MAX);
        let vote = self.vote(&reply);
        match &mut self.stage {
            Stage::Prepare(votes, promises) => {
                if !votes.take(index, from, vote) {
                    return;
                }
                if let Ok(Reply::Promise(promise)) = reply {
                    match promise.promised {
                        Ok(()) => promises.add(from, promise),
                        Err(later) => self.floor = self.floor.max(later.micros),
                    }
                }
                self.after_promise();
            }
            Stage::Propose(votes, ..) => {
                if !votes.take(index, from, vote) {
                    return;
                }
                if let Ok(Reply::Accepted(Err(later))) = reply {
                    self.floor = self.floor.max(later.micros);
                }
                self.after_acceptance();
            }
            Stage::CatchUp(votes, ..) => {
                if !votes.take(index, from, vote) {
                    return;
                }
                self.after_catching_up();
            }
            Stage::Commit(acks, ..) => acks.answered(index, from, reply.and_then(Reply::done)),
            _ => {}
        }
    }

    /// What a reply means in the present stage; one to something else is one that can't be read.
    fn vote(&self, reply: &Result<Reply<M>, FailureReason>) -> Vote {
        let yes = match (&self.stage, reply) {
            (_, Err(reason)) => return Vote::Failed(*reason),
            (Stage::Prepare(..), Ok(Reply::Promise(promise))) => promise.promised.is_ok(),
            (Stage::Propose(..), Ok(Reply::Accepted(accepted))) => accepted.is_ok(),
            (Stage::CatchUp(..), Ok(Reply::Done)) => true,
            _ => return Vote::Failed(FailureReason::UNKNOWN),
        };
        if yes { Vote::Yes } else { Vote::No }
    }

    /// The number that a call has within its stage, if that is the present one.
    pub(super) fn own_number(&self, call: CallId) -> Option<u64> {
        let own = call.0 & ((1 << OWN) - 1);
        (call.0 >> OWN == u64::from(self.stages)).then_some(own)
    }

    pub(super) fn call(&self, number: impl Into<u64>) -> CallId {
        CallId(u64::from(self.stages) << OWN | number.into())
    }
}
