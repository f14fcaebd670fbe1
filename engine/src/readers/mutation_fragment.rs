//! What readers yield: the content of partitions with its deletions, in the order of the read.

use crate::storage::{ClusteringBound, ClusteringKey, DeletionTime, StoredRow};

/// A piece of a partition as it is stored, dead or alive. Lent by its reader until the reader's next step.
#[derive(Debug, Clone, Copy)]
pub enum MutationFragment<'f> {
    /// A partition begins, under a deletion of the whole of it.
    PartitionStart(Option<DeletionTime>),
    /// The static row.
    StaticRow(&'f StoredRow),
    /// From this bound on, in the direction of the read, another deletion of a range counts, or none. Each that begins
    /// ends within its partition.
    TombstoneChange(&'f ClusteringBound, Option<DeletionTime>),
    /// A row.
    Row(&'f ClusteringKey, &'f StoredRow),
    /// The partition that began is over.
    PartitionEnd,
}
