//! What readers yield inside: the content of partitions with its deletions, in the order of the read.

use std::ops::{ControlFlow, Deref};

use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, StoredRow};

/// A piece of a partition as it is stored. `'a` is the storage's and the command's: a fragment outlives the reader's
/// next step.
#[derive(Debug)]
pub(crate) enum MutationFragment<'a> {
    /// A partition begins, under a deletion of the whole of it.
    PartitionStart(&'a DecoratedKey, Option<DeletionTime>),
    /// The static row.
    StaticRow(RowRef<'a>),
    /// From this bound on, in the direction of the read, another deletion of a range counts, or none.
    TombstoneChange(&'a ClusteringBound, Option<DeletionTime>),
    /// A row.
    Row(&'a ClusteringKey, RowRef<'a>),
    /// The partition that began is over.
    PartitionEnd,
}

/// A row that storage lends, or that was merged from several.
#[derive(Debug)]
pub(crate) enum RowRef<'a> {
    Lent(&'a StoredRow),
    /// Boxed, so that fragments stay small.
    Merged(Box<StoredRow>),
}

impl Deref for RowRef<'_> {
    type Target = StoredRow;

    fn deref(&self) -> &StoredRow {
        match self {
            Self::Lent(row) => row,
            Self::Merged(row) => row,
        }
    }
}

impl RowRef<'_> {
    pub(crate) fn into_boxed(self) -> Box<StoredRow> {
        match self {
            Self::Lent(row) => Box::new(row.clone()),
            Self::Merged(row) => row,
        }
    }

    pub(crate) fn into_owned(self) -> StoredRow {
        match self {
            Self::Lent(row) => row.clone(),
            Self::Merged(row) => *row,
        }
    }
}

/// Yields the fragments of partitions in ring order, each partition's from its start to its end.
pub(crate) trait MutationReader<'a> {
    /// The next fragment; `None` at the end, and from then on.
    fn next(&mut self) -> Option<MutationFragment<'a>>;

    /// Feeds a consumer until it says where it paused, or to the end.
    fn consume_pausable<C: MutationConsumer<'a>>(
        &mut self,
        consumer: &mut C,
    ) -> ControlFlow<C::Pause> {
        while let Some(fragment) = self.next() {
            consumer.consume(fragment)?;
        }
        ControlFlow::Continue(())
    }
}

/// Takes what a [`MutationReader`] yields.
pub(crate) trait MutationConsumer<'a> {
    /// Why and where it pauses.
    type Pause;

    /// Takes one fragment; `Break` pauses just after it.
    fn consume(&mut self, fragment: MutationFragment<'a>) -> ControlFlow<Self::Pause>;
}
