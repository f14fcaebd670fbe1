//! Where in a partition a fragment belongs.

use std::cmp::Ordering;

use crate::storage::ClusteringBound;

use super::MutationFragment;

/// The place of a fragment within its partition.
#[derive(Debug, Clone, Copy)]
pub enum Place<'f> {
    /// The static row's, before all others.
    StaticRow,
    /// That of a change of deletion.
    Bound(&'f ClusteringBound),
    /// That of a row of these [`sort`](crate::storage::ClusteringKey::sort) bytes.
    Row(&'f [u8]),
    /// Behind all others.
    End,
}

impl<'f> Place<'f> {
    /// Where a fragment belongs. The start of a partition lies at the end of the one before.
    #[inline]
    pub fn of(fragment: MutationFragment<'f>) -> Self {
        match fragment {
            MutationFragment::Row(key, _) => Self::Row(&key.sort),
            MutationFragment::TombstoneChange(bound, _) => Self::Bound(bound),
            MutationFragment::StaticRow(_) => Self::StaticRow,
            MutationFragment::PartitionEnd | MutationFragment::PartitionStart(_) => Self::End,
        }
    }

    /// Which of two comes first in a read that is reversed or isn't.
    #[inline]
    pub fn order(self, other: Self, reversed: bool) -> Ordering {
        match (self, other) {
            (Self::Row(a), Self::Row(b)) if reversed => b.cmp(a),
            (Self::Row(a), Self::Row(b)) => a.cmp(b),
            _ => self.order_with_bounds(other, reversed),
        }
    }

    fn order_with_bounds(self, other: Self, reversed: bool) -> Ordering {
        let ascending = match (self, other) {
            (Self::Bound(a), Self::Bound(b)) => a.cmp(b),
            (Self::Bound(bound), Self::Row(sort)) => bound.cmp_row(sort),
            (Self::Row(sort), Self::Bound(bound)) => bound.cmp_row(sort).reverse(),
            (a, b) => return a.rank().cmp(&b.rank()),
        };
        if reversed {
            ascending.reverse()
        } else {
            ascending
        }
    }

    fn rank(self) -> u8 {
        match self {
            Self::StaticRow => 0,
            Self::Bound(_) | Self::Row(_) => 1,
            Self::End => 2,
        }
    }
}
