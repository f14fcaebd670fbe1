//! What a read asks of a shard, and how far it came.

use std::sync::Arc;

use crate::schema::Table;
use crate::storage::{ClusteringBound, DecoratedKey, Token};

use super::Position;

/// A read of one table: which partitions, which rows of each, in which order.
#[derive(Debug, Clone)]
pub struct ReadCommand {
    /// The table.
    pub table: Arc<Table>,
    /// The partitions.
    pub range: PartitionRange,
    /// The rows of each partition. The static row is always read.
    pub slices: Slices,
    /// Rows of each partition in descending order. Partitions come in ascending order either way.
    pub reversed: bool,
    /// Seconds from 1970; what expires up to this moment is gone.
    pub now_seconds: i64,
    /// Continue strictly after this position.
    pub resume: Option<Position>,
    /// How much an answer to another node may hold. A read into a consumer goes on until that says stop.
    pub limit: ReadLimit,
}

/// How much one answer to a read holds.
///
/// Limits count what is alive, in the [normal form](crate::replica) of answers. One is exceeded by as much as the last
/// row has, and none keeps an answer from going beyond the place it begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadLimit {
    /// So many rows are enough for now: the answer ends with the last of them, and who wants more reads on. A partition
    /// of which only the static row is alive counts as one.
    pub rows: u32,
    /// No more rows than this are wanted of each partition, now or later.
    pub per_partition: u32,
    /// About so many bytes are enough for now, dead or alive.
    pub bytes: u32,
}

impl ReadLimit {
    /// As many rows as there are, in answers of a mebibyte.
    pub const NONE: Self = Self {
        rows: u32::MAX,
        per_partition: u32::MAX,
        bytes: 1 << 20,
    };
}

impl Default for ReadLimit {
    /// [`NONE`](Self::NONE).
    fn default() -> Self {
        Self::NONE
    }
}

/// A set of partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionRange {
    /// One partition.
    Key(DecoratedKey),
    /// All partitions between two places of the ring. Empty if `start` isn't before `end`: a range doesn't wrap.
    Tokens {
        /// Where it begins.
        start: RingBound,
        /// Where it ends.
        end: RingBound,
    },
}

impl PartitionRange {
    /// The whole ring.
    pub const ALL: Self = Self::Tokens {
        start: RingBound::Start,
        end: RingBound::End,
    };
}

/// A place between partitions on the ring. Orders along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RingBound {
    /// Before every partition.
    Start,
    /// Before the partitions of this token and all above: `token(k) >= t` begins and `token(k) < t` ends here.
    Before(Token),
    /// After the partitions of this token and all below: `token(k) > t` begins and `token(k) <= t` ends here.
    After(Token),
    /// After every partition.
    End,
}

impl RingBound {
    /// Whether the partitions of a token lie before this place.
    pub fn is_after(self, token: Token) -> bool {
        match self {
            Self::Start => false,
            Self::Before(bound) => token < bound,
            Self::After(bound) => token <= bound,
            Self::End => true,
        }
    }
}

/// A set of rows within a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slices {
    /// Every row.
    All,
    /// The rows between the two bounds of each pair: ascending and disjoint. Empty pairs are allowed.
    Ranges(Arc<[(ClusteringBound, ClusteringBound)]>),
}

/// How a read ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadProgress {
    /// Everything was read.
    Finished,
    /// The consumer said stop; the fragment that it stopped at counts as consumed.
    Stopped(Position),
    /// The budget was used up. The position lies beyond the one the read began at, so a read that is resumed
    /// often enough finishes whatever its budget.
    Yielded(Position),
}
