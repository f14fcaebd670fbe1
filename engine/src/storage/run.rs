//! A table's partitions in one place: the memtable while it takes writes, a run once it no longer does.

use super::partition::Partition;
use super::sorted::{Range, Sorted};
use super::{CellKind, DecoratedKey, Mutation};

/// Partitions in ring order.
pub(crate) type Partitions = Sorted<DecoratedKey, Partition>;
/// Partitions side by side.
pub(crate) type PartitionsRange<'a> = Range<'a, DecoratedKey, Partition>;

/// What one memtable or run has of a table. A [`Shard`](super::Shard) keeps its own; one that stands alone is filled
/// with [`apply`](Self::apply) and read by a [`RunReader`](crate::readers::RunReader).
#[derive(Debug)]
pub struct Run {
    partitions: Partitions,
    bytes: usize,
    min_timestamp: i64,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            partitions: Partitions::default(),
            bytes: 0,
            min_timestamp: i64::MAX,
        }
    }
}

impl Run {
    pub(crate) fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    /// About how many bytes of heap it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// No timestamp in it is less.
    pub(crate) fn min_timestamp(&self) -> i64 {
        self.min_timestamp
    }

    /// The partition of a key.
    pub(crate) fn find(&self, key: &DecoratedKey) -> Option<&(DecoratedKey, Partition)> {
        self.partitions.find(|other| other.cmp(key))
    }

    /// Applies a mutation whole. All must be of one table.
    pub fn apply(&mut self, mutation: &Mutation) {
        let kind = CellKind::of(mutation.table.is_counter);
        let (mut grown, mut oldest) = (0, i64::MAX);
        self.partitions.upsert(&mutation.key, |partition| {
            let Some(partition) = partition else {
                let mut partition = Partition::new(None);
                grown = partition.apply(mutation, kind) + partition_bytes(&mutation.key);
                oldest = partition.min_timestamp();
                return Some(partition).filter(|partition| !partition.is_empty());
            };
            grown = partition.apply(mutation, kind);
            oldest = partition.min_timestamp();
            None
        });
        self.min_timestamp = self.min_timestamp.min(oldest);
        self.grow(grown);
    }

    /// Appends a partition behind all others.
    pub(crate) fn push(&mut self, key: DecoratedKey, mut partition: Partition) {
        partition.shrink();
        self.min_timestamp = self.min_timestamp.min(partition.min_timestamp());
        self.grow(partition_bytes(&key));
        self.partitions.push(key, partition);
    }

    /// Counts heap taken, or given back if negative.
    pub(crate) fn grow(&mut self, bytes: isize) {
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    /// Appends partitions that come behind all others.
    pub(crate) fn append(&mut self, other: Self) {
        self.min_timestamp = self.min_timestamp.min(other.min_timestamp);
        self.bytes += other.bytes;
        self.partitions.append(other.partitions);
    }

    pub(crate) fn into_partitions(self) -> Partitions {
        self.partitions
    }
}

fn partition_bytes(key: &DecoratedKey) -> isize {
    (size_of::<(DecoratedKey, Partition)>() + key.key.len()).cast_signed()
}
