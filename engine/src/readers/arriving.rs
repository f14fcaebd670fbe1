//! Fragments that arrive from elsewhere, a replica or another shard, in pieces: a reader that may have to wait.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, StoredRow};

use super::{MutationFragment, MutationReader, Step};

/// A [`MutationFragment`] that owns what it says.
#[derive(Debug, Clone)]
pub enum OwnedFragment {
    /// A partition begins.
    PartitionStart(DecoratedKey, Option<DeletionTime>),
    /// The static row.
    StaticRow(StoredRow),
    /// Another deletion counts from here.
    TombstoneChange(ClusteringBound, Option<DeletionTime>),
    /// A row.
    Row(ClusteringKey, StoredRow),
    /// The partition is over.
    PartitionEnd,
}

impl OwnedFragment {
    /// A copy of what a reader lends.
    pub fn copied(key: &DecoratedKey, fragment: MutationFragment<'_>) -> Self {
        match fragment {
            MutationFragment::PartitionStart(deletion) => {
                Self::PartitionStart(key.clone(), deletion)
            }
            MutationFragment::StaticRow(row) => Self::StaticRow(row.clone()),
            MutationFragment::TombstoneChange(bound, deletion) => {
                Self::TombstoneChange(bound.clone(), deletion)
            }
            MutationFragment::Row(place, row) => Self::Row(place.clone(), row.clone()),
            MutationFragment::PartitionEnd => Self::PartitionEnd,
        }
    }

    /// Lends it as a reader would.
    pub fn lend(&self) -> MutationFragment<'_> {
        match self {
            Self::PartitionStart(_, deletion) => MutationFragment::PartitionStart(*deletion),
            Self::StaticRow(row) => MutationFragment::StaticRow(row),
            Self::TombstoneChange(bound, deletion) => {
                MutationFragment::TombstoneChange(bound, *deletion)
            }
            Self::Row(place, row) => MutationFragment::Row(place, row),
            Self::PartitionEnd => MutationFragment::PartitionEnd,
        }
    }
}

/// Yields what was pushed. Has to wait while nothing is left and the end hasn't been announced.
///
/// Whoever drives it pushes what has arrived whenever the reader is pending, and knows from [`len`](Self::len) when it
/// has enough for now.
#[derive(Debug)]
pub struct Arriving {
    key: DecoratedKey,
    current: Option<OwnedFragment>,
    queue: VecDeque<OwnedFragment>,
    has_ended: bool,
}

impl Default for Arriving {
    fn default() -> Self {
        Self {
            key: DecoratedKey::new(Bytes::new()),
            current: None,
            queue: VecDeque::new(),
            has_ended: false,
        }
    }
}

impl Arriving {
    /// Appends what has arrived, in a reader's order.
    pub fn push(&mut self, fragment: OwnedFragment) {
        self.queue.push_back(fragment);
    }

    /// Says that no more will arrive.
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// How many fragments haven't been read.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether all that has arrived was read.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl MutationReader for Arriving {
    fn next(&mut self) -> Step<'_> {
        self.current = self.queue.pop_front();
        if let Some(OwnedFragment::PartitionStart(key, _)) = &self.current {
            self.key = key.clone();
        }
        match self.current() {
            Some((key, fragment)) => Step::Fragment(key, fragment),
            None if self.has_ended => Step::End,
            None => Step::Pending,
        }
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        Some((&self.key, self.current.as_ref()?.lend()))
    }
}
