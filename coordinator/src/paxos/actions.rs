//! What a stage wants done.

use helenus_core::message::WriteType;

use super::{Paxos, Purpose, Stage, Whose};
use crate::acks::Step;
use crate::machine::{Action, Machine, Outcome};
use crate::message::Request;
use crate::model::Model;

impl<M: Model> Paxos<M> {
    /// What the stage has to do next.
    pub(super) fn poll_stage(&mut self) -> Option<Action<M>> {
        let partition = self.partition.clone();
        let (to, number, request) = match &mut self.stage {
            Stage::Prepare(votes, _) => {
                let (number, to) = votes.ask()?;
                let ballot = self.ballot;
                (to, number, Request::Prepare { partition, ballot })
            }
            Stage::CatchUp(votes, commit, _) => {
                let (number, to) = votes.ask()?;
                let proposal = commit.clone();
                (
                    to,
                    number,
                    Request::Commit {
                        partition,
                        proposal,
                    },
                )
            }
            Stage::Propose(votes, proposal, _) => {
                let (number, to) = votes.ask()?;
                let proposal = proposal.clone();
                (
                    to,
                    number,
                    Request::Propose {
                        partition,
                        proposal,
                    },
                )
            }
            Stage::Commit(..) => return self.poll_commit(),
            Stage::Read(_) => return self.poll_read(),
            Stage::Decide(data) => {
                let data = data.take()?;
                return Some(Action::Decide {
                    ballot: self.ballot,
                    data,
                });
            }
            Stage::BackOff(_) | Stage::Over => return None,
        };
        let call = self.call(number);
        Some(Action::Send { to, call, request })
    }

    fn poll_commit(&mut self) -> Option<Action<M>> {
        let Stage::Commit(acks, proposal, whose) = &mut self.stage else {
            return None;
        };
        // Cassandra names the commit of one's own proposal a simple write: it is decided, and only not everywhere.
        let write_type = match whose {
            Whose::Own => WriteType::SIMPLE,
            Whose::Found => WriteType::CAS,
        };
        let whose = *whose;
        match acks.poll(&write_type)? {
            Step::Send(number, to) => {
                let request = Request::Commit {
                    partition: self.partition.clone(),
                    proposal: proposal.clone(),
                };
                let call = self.call(number);
                Some(Action::Send { to, call, request })
            }
            Step::Hint(number, to) => {
                let mutation = proposal.mutation.clone()?;
                let call = self.call(number);
                Some(Action::Hint { to, call, mutation })
            }
            Step::Done(Ok(())) if whose == Whose::Found => {
                self.try_again();
                None
            }
            Step::Done(result) => {
                let result = result.map_err(|failure| self.with_contentions(failure));
                self.finish(result.map(|()| Outcome::Written));
                None
            }
        }
    }

    fn poll_read(&mut self) -> Option<Action<M>> {
        let now = self.clock.now();
        let Stage::Read(read) = &mut self.stage else {
            return None;
        };
        match read.poll_action(now)? {
            Action::Send { to, call, request } => {
                let call = self.call(call.0);
                Some(Action::Send { to, call, request })
            }
            Action::Done(Ok(Outcome::Data(data))) if self.purpose == Purpose::Write => {
                self.enter(Stage::Decide(Some(data)));
                None
            }
            Action::Done(result) => {
                self.finish(result);
                None
            }
            action => Some(action),
        }
    }
}
