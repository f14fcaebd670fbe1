//! Where a read stands, as a plain value that outlives the reader.

use bytes::Bytes;

use crate::storage::{ClusteringBound, DecoratedKey, Token};

use super::MutationFragment;

/// A place in the order in which a read delivers: everything before it has been consumed.
///
/// A read that yielded goes on from its position as if it hadn't. One that was stopped within a partition, or whose
/// position was decoded, begins anew: [`PartitionStart`](super::Fragment::PartitionStart) and
/// [`StaticRow`](super::Fragment::StaticRow) are delivered again before the next row, or not at all if none is left
/// alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The partition.
    pub key: DecoratedKey,
    /// Rows on the near side of this bound, in the direction of the read, are consumed. When nothing can lie on the
    /// far side (`End`, or `Start` of a reversed read), the partition as a whole is.
    pub bound: ClusteringBound,
    /// Whether the consumer has got the partition's start and waits for what follows.
    pub(super) open: bool,
}

impl Position {
    /// A place within a partition.
    pub fn new(key: DecoratedKey, bound: ClusteringBound) -> Self {
        Self {
            key,
            bound,
            open: false,
        }
    }

    /// Before the first row of a partition.
    pub fn at_start(key: DecoratedKey, reversed: bool) -> Self {
        let bound = if reversed {
            ClusteringBound::End
        } else {
            ClusteringBound::Start
        };
        Self::new(key, bound)
    }

    /// Just after the row of these sort bytes.
    pub fn after_row(key: DecoratedKey, sort: Bytes, reversed: bool) -> Self {
        Self::new(key, Self::behind(sort, reversed))
    }

    /// Just after the partition.
    pub fn after_partition(key: DecoratedKey, reversed: bool) -> Self {
        Self::new(key, Self::far_end(reversed))
    }

    /// The bound behind the row of these sort bytes.
    pub(crate) fn behind(sort: Bytes, reversed: bool) -> ClusteringBound {
        if reversed {
            ClusteringBound::Before(sort)
        } else {
            ClusteringBound::After(sort)
        }
    }

    /// The bound behind all rows of a partition.
    pub(crate) fn far_end(reversed: bool) -> ClusteringBound {
        if reversed {
            ClusteringBound::Start
        } else {
            ClusteringBound::End
        }
    }

    /// Just after a fragment of a partition. A reader that goes on from there begins with the partition's start and static
    /// row once more, and with a change of deletion if one counts there.
    pub fn after(key: DecoratedKey, fragment: MutationFragment<'_>, reversed: bool) -> Self {
        match fragment {
            MutationFragment::PartitionStart(_) | MutationFragment::StaticRow(_) => {
                Self::at_start(key, reversed)
            }
            MutationFragment::TombstoneChange(bound, _) => Self::new(key, bound.clone()),
            MutationFragment::Row(place, _) => Self::after_row(key, place.sort.clone(), reversed),
            MutationFragment::PartitionEnd => Self::after_partition(key, reversed),
        }
    }

    /// Whether the partition is done.
    pub fn is_after_partition(&self, reversed: bool) -> bool {
        self.bound == Self::far_end(reversed)
    }

    /// Whether it lies in this partition, of which more may follow.
    pub(crate) fn is_within(&self, key: &DecoratedKey, reversed: bool) -> bool {
        self.key == *key && !self.is_after_partition(reversed)
    }

    /// Whether it is the same place.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        (&self.key, &self.bound) == (&other.key, &other.bound)
    }

    /// Whether nothing of the partition's rows is consumed yet.
    pub fn is_at_start(&self, reversed: bool) -> bool {
        self.is_after_partition(!reversed)
    }

    /// Appends a form that [`decode`](Self::decode) reads back: a byte for the kind of bound, the length of the key as a
    /// big-endian `u32`, the key, then the bound's bytes to the end.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (kind, sort): (u8, &[u8]) = match &self.bound {
            ClusteringBound::Start => (0, &[]),
            ClusteringBound::Before(sort) => (1, sort),
            ClusteringBound::After(sort) => (2, sort),
            ClusteringBound::End => (3, &[]),
        };
        // A partition key is at most 65,535 bytes long.
        let key_len = u32::try_from(self.key.key.len()).unwrap_or(u32::MAX);
        out.push(kind);
        out.extend_from_slice(&key_len.to_be_bytes());
        out.extend_from_slice(&self.key.key);
        out.extend_from_slice(sort);
    }

    /// Reads what [`encode`](Self::encode) wrote; `None` for anything else. Allocates no more than `bytes` is long.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let (key, sort) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)?;
        let bound = match kind {
            0 if sort.is_empty() => ClusteringBound::Start,
            1 => ClusteringBound::Before(Bytes::copy_from_slice(sort)),
            2 => ClusteringBound::After(Bytes::copy_from_slice(sort)),
            3 if sort.is_empty() => ClusteringBound::End,
            _ => return None,
        };
        let key = DecoratedKey {
            token: Token::of(key),
            key: Bytes::copy_from_slice(key),
        };
        Some(Self::new(key, bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_survives_encoding() {
        let key = DecoratedKey::new(Bytes::from_static(b"k"));
        for bound in [
            ClusteringBound::Start,
            ClusteringBound::Before(Bytes::from_static(b"ab")),
            ClusteringBound::After(Bytes::new()),
            ClusteringBound::End,
        ] {
            let position = Position::new(key.clone(), bound);
            let mut bytes = Vec::new();
            position.encode(&mut bytes);
            assert_eq!(Position::decode(&bytes), Some(position));
        }
    }

    #[test]
    fn a_foreign_position_is_refused() {
        assert_eq!(Position::decode(&[]), None);
        assert_eq!(Position::decode(&[0, 0, 0, 0, 1]), None);
        assert_eq!(Position::decode(&[4, 0, 0, 0, 0]), None);
        assert_eq!(Position::decode(&[0, 0, 0, 0, 0, 7]), None);
        assert_eq!(Position::decode(&[1, 0xFF, 0xFF, 0xFF, 0xFF, 7]), None);
    }
}
