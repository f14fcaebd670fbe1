//! The mutations of a batch, each with its own replicas. Looks only at those for which something may be to do.

use std::collections::VecDeque;

use helenus_core::message::WriteType;

use crate::acks::{Acks, Hints, Step};
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId};
use crate::message::Request;
use crate::model::Model;
use crate::node::NodeId;
use crate::plan::WritePlan;

/// What polling came to.
pub(super) enum Stepped<M: Model> {
    /// This is to be done.
    Action(Action<M>),
    /// A mutation has met its level, or never will.
    Done(Result<(), Failure>),
}

#[derive(Debug)]
pub(super) struct Parts<M: Model> {
    parts: Vec<(Acks, M::Mutation)>,
    /// From this one on, all have something to do.
    next: usize,
    /// Others that may have.
    ready: VecDeque<u32>,
    expired: bool,
}

impl<M: Model> Parts<M> {
    pub(super) fn new(mutations: Vec<(WritePlan, M::Mutation)>) -> Self {
        let acked = |(plan, mutation)| (Acks::new(&plan, Hints::Kept), mutation);
        Parts {
            parts: mutations.into_iter().map(acked).collect(),
            next: 0,
            ready: VecDeque::new(),
            expired: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn mutations(&self) -> Vec<M::Mutation> {
        self.parts
            .iter()
            .map(|(_, mutation)| mutation.clone())
            .collect()
    }

    pub(super) fn poll(&mut self, write_type: &WriteType) -> Option<Stepped<M>> {
        loop {
            let from_queue = self.ready.front().copied();
            let index = from_queue.map_or(self.next, |index| index as usize);
            let (acks, mutation) = self.parts.get_mut(index)?;
            let call = |number| CallId((index as u64 + 1) << 32 | u64::from(number));
            let mutation = || mutation.clone();
            return Some(match acks.poll(write_type) {
                Some(Step::Send(number, to)) => Stepped::Action(Action::Send {
                    to,
                    call: call(number),
                    request: Request::Write {
                        mutation: mutation(),
                    },
                }),
                Some(Step::Hint(number, to)) => Stepped::Action(Action::Hint {
                    to,
                    call: call(number),
                    mutation: mutation(),
                }),
                Some(Step::Done(result)) => Stepped::Done(result),
                None => {
                    if self.ready.pop_front().is_none() {
                        self.next += 1;
                    }
                    continue;
                }
            });
        }
    }

    pub(super) fn answered(
        &mut self,
        call: CallId,
        from: NodeId,
        answer: Result<(), FailureReason>,
    ) {
        let Some(index) = (call.0 >> 32).checked_sub(1) else {
            return;
        };
        let Ok(ready) = u32::try_from(index) else {
            return;
        };
        if let Some((acks, _)) = self.parts.get_mut(ready as usize) {
            acks.answered(call.0 as u32, from, answer);
            if self.next > ready as usize && self.ready.back() != Some(&ready) {
                self.ready.push_back(ready);
            }
        }
    }

    pub(super) fn expire(&mut self) {
        if !self.expired {
            self.expired = true;
            self.parts.iter_mut().for_each(|(acks, _)| acks.expire());
            self.ready.clear();
            self.next = 0;
        }
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expired
    }

    pub(super) fn are_settled(&self) -> bool {
        self.parts.iter().all(|(acks, _)| acks.is_settled())
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.expired && !self.are_settled()
    }

    /// How many mutations all their replicas have, or will be given by hints.
    pub(super) fn everywhere(&self) -> usize {
        let everywhere = self.parts.iter();
        everywhere.filter(|(acks, _)| acks.is_everywhere()).count()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }
}
