//! Updates of counters: one replica leads, applies the update to its own shard of the counter, and replicates what came of
//! it. Answers to Cassandra's `StorageProxy.mutateCounter`.
//!
//! | state | on | next |
//! |---|---|---|
//! | forwarding: another node leads | its confirmation | done: written |
//! | | its failure | done: WriteFailure; WriteTimeout if it was a timeout |
//! | applying: this node leads | what to replicate | replicating, confirmed by this node |
//! | | a failure | done: WriteFailure |
//! | replicating | the level is met, or can't be | done |
//! | | a replica's failure; the deadline | a hint of what is replicated |
//! | any | the deadline | done: WriteTimeout |
//!
//! An update is sent once and to one leader: who doesn't answer may have applied it. The write type is COUNTER; what a leader
//! doesn't answer is an error at ONE, whatever the level, for one answer was waited for. Where Cassandra draws the leader
//! by lot, a coordinator that is a replica leads itself, which spares a hop.

use std::time::Instant;

use helenus_core::Consistency;
use helenus_core::message::WriteType;

use crate::acks::{Acks, Hints, Step};
use crate::clock::Clock;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::{NodeId, Nodes};
use crate::plan::{Vantage, WritePlan};
use crate::random::Random;
use crate::ring::{Placement, Token};

/// An update of counters in one partition.
#[derive(Debug)]
pub struct Counter<M: Model> {
    state: State<M>,
    level: Consistency,
    clock: Clock,
    deadline: Instant,
    end: Option<Result<(), Failure>>,
}

#[derive(Debug)]
enum State<M: Model> {
    /// The update, until it is sent.
    Forwarding(NodeId, Option<M::Mutation>),
    /// The update, until it is given away.
    Applying(WritePlan, Option<M::Mutation>),
    /// What came of it.
    Replicating(Acks, M::Mutation),
    Over,
}

/// Who leads an update of counters, and whom to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterPlan {
    /// This node: by this plan.
    Lead(WritePlan),
    /// Another replica.
    Forward {
        /// Which.
        leader: NodeId,
        /// The level that it replicates at.
        level: Consistency,
    },
}

impl CounterPlan {
    /// The plan for a partition: this node leads if it is a replica; else a live one of this data centre that `random`
    /// chooses; else the first live one, unless the level is of this data centre alone.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if nobody can lead, or too few replicas are alive for the level.
    pub fn new(
        vantage: &Vantage<'_>,
        placement: &Placement,
        token: Token,
        level: Consistency,
        random: u64,
    ) -> Result<CounterPlan, Failure> {
        let alive = vantage.by_distance(placement.replicas(token));
        let here: Nodes = alive
            .iter()
            .copied()
            .filter(|node| vantage.is_here(*node))
            .collect();
        let leader = if here.contains(&vantage.local) {
            Some(vantage.local)
        } else {
            let chosen = Random::new(random).below(here.len() as u64) as usize;
            let away = alive.first().filter(|_| !level.is_datacenter_local());
            here.get(chosen).or(away).copied()
        };
        let Some(leader) = leader else {
            return Err(Failure::Unavailable {
                level,
                required: placement
                    .replication()
                    .required(vantage.ring, vantage.local, level),
                alive: 0,
                data_centre: None,
            });
        };
        let plan = WritePlan::new(vantage, placement, token, level)?;
        Ok(if leader == vantage.local {
            CounterPlan::Lead(plan)
        } else {
            CounterPlan::Forward { leader, level }
        })
    }
}

impl<M: Model> Counter<M> {
    /// An update by this plan that is answered by `deadline`: on the node that a client asked, and on the one that got it
    /// as [`Request::CounterWrite`] and leads. That one's outcome is its answer, and a timeout is none.
    #[must_use]
    pub fn new(plan: CounterPlan, mutation: M::Mutation, now: Instant, deadline: Instant) -> Self {
        let (level, state) = match plan {
            CounterPlan::Lead(plan) => (plan.level, State::Applying(plan, Some(mutation))),
            CounterPlan::Forward { leader, level } => {
                (level, State::Forwarding(leader, Some(mutation)))
            }
        };
        Counter {
            state,
            level,
            clock: Clock::new(now),
            deadline,
            end: None,
        }
    }

    /// What this node made of [`Action::ApplyCounter`]: the mutation to replicate. At any other time it is ignored.
    pub fn applied(&mut self, now: Instant, result: Result<M::Mutation, FailureReason>) {
        self.clock.set(now);
        let State::Applying(plan, None) = &self.state else {
            return;
        };
        match result {
            Ok(mutation) => {
                let mut acks = Acks::new(plan, Hints::Kept);
                acks.confirm_local();
                self.state = State::Replicating(acks, mutation);
            }
            Err(reason) => {
                let (node, required) = (plan.local, plan.required);
                self.fail(node, self.level, required, reason);
            }
        }
    }

    fn fail(&mut self, node: NodeId, level: Consistency, required: u16, reason: FailureReason) {
        self.end = Some(Err(if reason == FailureReason::TIMEOUT {
            timed_out(level, required)
        } else {
            Failure::WriteFailure {
                level,
                received: 0,
                required,
                write_type: WriteType::COUNTER,
                reasons: std::iter::once((node, reason)).collect(),
            }
        }));
        self.state = State::Over;
    }

    fn take(&mut self, from: NodeId, call: CallId, answer: Result<(), FailureReason>) {
        match &mut self.state {
            State::Forwarding(leader, None) if *leader == from && call == CallId(0) => match answer
            {
                Ok(()) => {
                    self.end = Some(Ok(()));
                    self.state = State::Over;
                }
                Err(reason) => self.fail(from, Consistency::ONE, 1, reason),
            },
            State::Replicating(acks, _) => acks.answered(call.number(), from, answer),
            _ => {}
        }
    }
}

fn timed_out(level: Consistency, required: u16) -> Failure {
    Failure::WriteTimeout {
        level,
        received: 0,
        required,
        write_type: WriteType::COUNTER,
        contentions: None,
    }
}

impl<M: Model> Machine<M> for Counter<M> {
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>> {
        let now = self.clock.set(now);
        if let Some(end) = self.end.take() {
            return Some(Action::Done(end.map(|()| Outcome::Written)));
        }
        match &mut self.state {
            State::Forwarding(leader, mutation) => Some(Action::Send {
                to: *leader,
                call: CallId(0),
                request: Request::CounterWrite {
                    mutation: mutation.take()?,
                    consistency: self.level,
                    timeout: self.deadline.saturating_duration_since(now),
                },
            }),
            State::Applying(_, mutation) => Some(Action::ApplyCounter {
                mutation: mutation.take()?,
            }),
            State::Replicating(acks, mutation) => Some(match acks.poll(&WriteType::COUNTER)? {
                Step::Send(number, to) => Action::Send {
                    to,
                    call: CallId(number.into()),
                    request: Request::Write {
                        mutation: mutation.clone(),
                    },
                },
                Step::Hint(number, to) => Action::Hint {
                    to,
                    call: CallId(number.into()),
                    mutation: mutation.clone(),
                },
                Step::Done(result) => Action::Done(result.map(|()| Outcome::Written)),
            }),
            State::Over => None,
        }
    }

    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>) {
        self.clock.set(now);
        self.take(from, call, reply.done());
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        self.clock.set(now);
        self.take(from, call, Err(reason));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.clock.set(now) < self.deadline {
            return;
        }
        let failure = match &mut self.state {
            State::Forwarding(..) => timed_out(Consistency::ONE, 1),
            State::Applying(plan, _) => timed_out(self.level, plan.required),
            State::Replicating(acks, _) => return acks.expire(),
            State::Over => return,
        };
        self.end = Some(Err(failure));
        self.state = State::Over;
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Replicating(acks, _) => acks.poll_timeout(self.deadline),
            State::Over => None,
            _ => Some(self.deadline),
        }
    }

    fn is_finished(&self) -> bool {
        match &self.state {
            State::Replicating(acks, _) => acks.is_settled(),
            State::Over => self.end.is_none(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
