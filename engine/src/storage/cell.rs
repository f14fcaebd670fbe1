//! Cells and rows: what a mutation carries and what storage keeps.

use bytes::Bytes;

use super::CellPath;
use crate::schema::ColumnId;

/// The `expires_at` of what never expires.
pub const NO_EXPIRY: i64 = i64::MAX;

/// A deletion: everything with a timestamp up to `timestamp` is gone. The greater of two deletions supersedes the
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeletionTime {
    /// Microseconds.
    pub timestamp: i64,
    /// When it happened, seconds from 1970 by the replica's clock; decides when it may be forgotten.
    pub local_seconds: i64,
}

impl DeletionTime {
    /// Whether what was written at `timestamp` is gone.
    pub fn deletes(&self, timestamp: i64) -> bool {
        timestamp <= self.timestamp
    }
}

/// The primary key's own liveness: what makes a row without cells exist (`INSERT` sets it, `UPDATE` doesn't).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// Microseconds.
    pub timestamp: i64,
    /// Seconds; 0 is none.
    pub ttl: u32,
    /// Seconds from 1970, or [`NO_EXPIRY`].
    pub expires_at: i64,
}

impl Liveness {
    /// Whether it hasn't expired.
    pub fn is_live(&self, now_seconds: i64) -> bool {
        now_seconds < self.expires_at
    }
}

/// A cell: a value, a tombstone or a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Microseconds.
    pub timestamp: i64,
    /// Seconds; 0 is none.
    pub ttl: u32,
    /// Seconds from 1970: when the value expires, or when a tombstone was written; [`NO_EXPIRY`] for a value that stays.
    pub expires_at: i64,
    /// The serialized value; `None` is a tombstone. A counter's cell holds what each node has counted, and behind that or
    /// instead of it a big-endian `i64`: in a mutation the difference to add, in storage the sum of such. What is read
    /// of it is what it stands at in all.
    pub value: Option<Bytes>,
}

impl Cell {
    /// Whether it has a value that hasn't expired.
    pub fn is_live(&self, now_seconds: i64) -> bool {
        self.value.is_some() && now_seconds < self.expires_at
    }
}

/// What a row has of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnData {
    /// One cell.
    Simple(Cell),
    /// The cells of a collection or user type that isn't frozen.
    Complex {
        /// A deletion of all older elements, which an assignment of the whole value carries.
        deletion: Option<DeletionTime>,
        /// Elements, ascending by path.
        cells: Vec<(CellPath, Cell)>,
    },
}

/// A row, or a change of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// The primary key's liveness.
    pub liveness: Option<Liveness>,
    /// A deletion of the whole row.
    pub deletion: Option<DeletionTime>,
    /// Columns by ascending id.
    pub columns: Vec<(ColumnId, ColumnData)>,
}

impl Row {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.liveness.is_none() && self.deletion.is_none() && self.columns.is_empty()
    }

    /// What it has of a column.
    pub fn column(&self, id: ColumnId) -> Option<&ColumnData> {
        let index = self.columns.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.columns.get(index).map(|(_, data)| data)
    }
}
