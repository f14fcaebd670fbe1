//! Cells and rows: what a mutation carries and what storage keeps.

use bytes::Bytes;

use super::CellPath;
use crate::schema::ColumnId;

/// The `expires_at` of what never expires.
pub const NO_EXPIRY: i64 = i64::MAX;

/// A deletion: everything with a timestamp up to `timestamp` is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionTime {
    /// Microseconds.
    pub timestamp: i64,
    /// When it happened, seconds from 1970 by the replica's clock; decides when it may be forgotten.
    pub local_seconds: i64,
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

/// A cell: a value, a tombstone or a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Microseconds.
    pub timestamp: i64,
    /// Seconds; 0 is none.
    pub ttl: u32,
    /// Seconds from 1970: when the value expires, or when a tombstone was written; [`NO_EXPIRY`] for a value that stays.
    pub expires_at: i64,
    /// The serialized value; `None` is a tombstone. In a mutation, a counter's cell holds the difference to add as
    /// a big-endian `i64`; in storage, the sum.
    pub value: Option<Bytes>,
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
