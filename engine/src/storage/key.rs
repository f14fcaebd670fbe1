//! Keys: where a partition lives on the ring and where a row lives in its partition.

use std::cmp::Ordering;

use bytes::Bytes;

/// A place on the Murmur3 ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

/// A partition key with its token. Orders by token, then by key bytes, as partitions are stored and read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DecoratedKey {
    /// The token of `key`.
    pub token: Token,
    /// The serialized partition key: the value itself for one column, else each value as `[short bytes]` and a
    /// zero byte (Cassandra's `CompositeType`).
    pub key: Bytes,
}

impl PartialOrd for DecoratedKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // Searching does little else: nearly always the tokens differ.
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.token < other.token || self.token == other.token && self.key < other.key
    }
}

impl Ord for DecoratedKey {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let tokens = self.token.cmp(&other.token);
        tokens.then_with(|| self.key.cmp(&other.key))
    }
}

impl DecoratedKey {
    /// A key with its token computed.
    pub fn new(key: Bytes) -> Self {
        Self {
            token: Token::of(&key),
            key,
        }
    }
}

/// The place of a row in its partition. Equality and order are those of `sort` alone. Empty for a table without
/// clustering columns.
#[derive(Debug, Clone, Default)]
pub struct ClusteringKey {
    /// The clustering values in a form whose bytes compare as the columns' types and orders do (see
    /// `types::comparable`). Each value's form delimits itself, so that rows that share leading values share a
    /// prefix of bytes, and only they.
    pub sort: Bytes,
    /// The values as they are on the wire, each as `[bytes]`, one after the other.
    pub values: Bytes,
}

impl PartialEq for ClusteringKey {
    fn eq(&self, other: &Self) -> bool {
        self.sort == other.sort
    }
}

impl Eq for ClusteringKey {}

impl PartialOrd for ClusteringKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ClusteringKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort.cmp(&other.sort)
    }
}

/// The place of an element in a collection or user type that isn't frozen. Orders by `sort` alone.
#[derive(Debug, Clone)]
pub struct CellPath {
    /// The form whose bytes compare as the elements do.
    pub sort: Bytes,
    /// The serialized set element or map key; a time UUID for lists; a field's index as a big-endian `i16` for user types.
    pub value: Bytes,
}

impl PartialEq for CellPath {
    fn eq(&self, other: &Self) -> bool {
        self.sort == other.sort
    }
}

impl Eq for CellPath {}

impl PartialOrd for CellPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CellPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort.cmp(&other.sort)
    }
}

/// An end of a range of rows: before or after every row whose
/// [`ClusteringKey::sort`] begins with the given bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClusteringBound {
    /// Before the first row of the partition.
    Start,
    /// Before all rows that begin with these bytes.
    Before(Bytes),
    /// After all rows that begin with these bytes.
    After(Bytes),
    /// After the last row of the partition.
    End,
}

impl ClusteringBound {
    /// Where this bound lies relative to the row of these sort bytes; never `Equal`.
    pub fn cmp_row(&self, sort: &[u8]) -> Ordering {
        let (prefix, side) = match self {
            Self::Start => return Ordering::Less,
            Self::Before(prefix) => (prefix, Ordering::Less),
            Self::After(prefix) => (prefix, Ordering::Greater),
            Self::End => return Ordering::Greater,
        };
        let common = prefix.len().min(sort.len());
        let order = prefix.get(..common).cmp(&sort.get(..common));
        // A row whose bytes are a proper prefix of the bound's comes before it.
        order.then(if common == prefix.len() {
            side
        } else {
            Ordering::Greater
        })
    }

    /// The bound's bytes, and the side of the rows that begin with them on which it lies.
    fn parts(&self) -> Option<(&[u8], Ordering)> {
        match self {
            Self::Before(prefix) => Some((prefix, Ordering::Less)),
            Self::After(prefix) => Some((prefix, Ordering::Greater)),
            Self::Start | Self::End => None,
        }
    }
}

impl PartialOrd for ClusteringBound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Bounds order along the partition.
impl Ord for ClusteringBound {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |bound: &Self| match bound {
            Self::Start => 0,
            Self::Before(_) | Self::After(_) => 1,
            Self::End => 2,
        };
        match (self.parts(), other.parts()) {
            (Some((a, side)), Some((b, other_side))) if a == b => side.cmp(&other_side),
            (Some((a, side)), Some((b, _))) if b.starts_with(a) => side,
            (Some((a, _)), Some((b, side))) if a.starts_with(b) => side.reverse(),
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_enclose_the_rows_of_their_prefix() {
        let bytes = Bytes::from_static;
        let ascending = [
            ClusteringBound::Start,
            ClusteringBound::Before(bytes(b"")),
            ClusteringBound::Before(bytes(b"a")),
            ClusteringBound::Before(bytes(b"ab")),
            ClusteringBound::After(bytes(b"ab")),
            ClusteringBound::After(bytes(b"a")),
            ClusteringBound::Before(bytes(b"b")),
            ClusteringBound::After(bytes(b"")),
            ClusteringBound::End,
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        let places: Vec<_> = ascending
            .iter()
            .map(|bound| bound.cmp_row(b"abc").is_lt())
            .collect();
        assert_eq!(
            places,
            [true, true, true, true, false, false, false, false, false]
        );
    }
}
