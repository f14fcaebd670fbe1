//! Keys: where a partition lives on the ring and where a row lives in its partition.

use std::cmp::Ordering;

use bytes::Bytes;

/// A place on the Murmur3 ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

/// A partition key with its token. Orders by token, then by key bytes, as partitions are stored and read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecoratedKey {
    /// The token of `key`.
    pub token: Token,
    /// The serialized partition key: the value itself for one column, else each value as `[short bytes]` and a
    /// zero byte (Cassandra's `CompositeType`).
    pub key: Bytes,
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
