//! The requests that a machine has open: who was asked for what, and who has answered.

use smallvec::SmallVec;

use crate::failure::{FailureReason, FailureReasonMap};
use crate::machine::CallId;
use crate::node::NodeId;

/// One request to one node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<K> {
    pub(crate) node: NodeId,
    /// What it was asked.
    pub(crate) asked: K,
    pub(crate) state: State,
}

/// What came of a request so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Answered,
    Failed(FailureReason),
}

/// Requests under consecutive ids.
#[derive(Debug)]
pub(crate) struct Calls<K> {
    first: u64,
    list: SmallVec<[Call<K>; 5]>,
}

impl<K: Copy> Calls<K> {
    /// None yet; they will be numbered from `first` on.
    pub(crate) fn new(first: u64) -> Calls<K> {
        Calls {
            first,
            list: SmallVec::new(),
        }
    }

    /// Adds a request and gives its index.
    #[inline]
    pub(crate) fn open(&mut self, node: NodeId, asked: K) -> u32 {
        self.list.push(Call {
            node,
            asked,
            state: State::Waiting,
        });
        (self.list.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<(CallId, Call<K>)> {
        let call = self.list.get(index as usize)?;
        Some((CallId(self.first + u64::from(index)), *call))
    }

    /// Notes what came of a request, and gives what was asked; nothing if it isn't one of these, was sent to another
    /// node, or something came of it before.
    #[inline]
    pub(crate) fn close(&mut self, from: NodeId, id: CallId, state: State) -> Option<K> {
        let index = usize::try_from(id.0.checked_sub(self.first)?).ok()?;
        let call = self.list.get_mut(index)?;
        if call.node != from || call.state != State::Waiting {
            return None;
        }
        call.state = state;
        Some(call.asked)
    }

    /// What a node answered turned out to be none.
    pub(crate) fn fail(&mut self, id: CallId, reason: FailureReason) {
        let index = id.0.checked_sub(self.first);
        let index = index.and_then(|index| usize::try_from(index).ok());
        if let Some(call) = index.and_then(|index| self.list.get_mut(index)) {
            call.state = State::Failed(reason);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Call<K>> {
        self.list.iter()
    }

    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        let waiting = self.list.iter();
        waiting.filter(|call| call.state == State::Waiting).count()
    }

    /// Who failed at what is counted, each with its first reason.
    pub(crate) fn failures(&self, counts: impl Fn(K) -> bool) -> FailureReasonMap {
        let mut reasons = FailureReasonMap::new();
        for call in self.list.iter().filter(|call| counts(call.asked)) {
            if let State::Failed(reason) = call.state
                && reasons.iter().all(|(node, _)| *node != call.node)
            {
                reasons.push((call.node, reason));
            }
        }
        reasons
    }
}
