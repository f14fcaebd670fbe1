//! A row as storage keeps it: with a summary that lets a read hand it out as it is when nothing in it is dead.

use super::reconcile::CellKind;
use super::{Cell, ColumnData, DeletionTime, NO_EXPIRY, Row};

/// Rows of more cells than this have their summary widened by each change rather than made anew, so that a collection
/// of n elements isn't walked n times while it grows.
const EXACT_CELLS: usize = 64;

/// A row as storage keeps it: with a summary that spares most reads a look at its cells.
#[derive(Debug)]
pub struct StoredRow {
    row: Row,
    summary: Summary,
}

impl Clone for StoredRow {
    fn clone(&self) -> Self {
        Self {
            row: self.row.clone(),
            summary: self.summary,
        }
    }

    /// Keeps the memory of the columns, so that a row that is used again and again allocates nothing.
    fn clone_from(&mut self, other: &Self) {
        self.row.liveness = other.row.liveness;
        self.row.deletion = other.row.deletion;
        self.row.columns.clone_from(&other.row.columns);
        self.summary = other.summary;
    }
}

/// What can be said of a row without looking at it. Each figure errs on the safe side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    /// No timestamp in the row is less.
    pub(crate) min_timestamp: i64,
    /// Until this second, by the reader's clock, the row and all its cells are alive. `i64::MIN` for a row with a
    /// tombstone in it or without anything that makes it exist.
    pub(crate) alive_until: i64,
    /// About how many bytes of heap it takes.
    pub(crate) bytes: usize,
}

impl Default for StoredRow {
    fn default() -> Self {
        Self::new(Row::default())
    }
}

impl StoredRow {
    /// A row whose columns, and elements within them, ascend.
    pub fn new(row: Row) -> Self {
        let summary = Summary::of(&row);
        Self { row, summary }
    }

    /// The row.
    #[inline]
    pub fn row(&self) -> &Row {
        &self.row
    }

    pub(crate) fn summary(&self) -> Summary {
        self.summary
    }

    /// The row.
    pub fn into_row(self) -> Row {
        self.row
    }

    /// Whether the row may be handed out as it is under a deletion of its surroundings: whether it exists and nothing in
    /// it is deleted or expired. May say no of a row that is alive.
    pub fn is_alive(&self, shadow: Option<DeletionTime>, now_seconds: i64) -> bool {
        now_seconds < self.summary.alive_until && !self.is_touched_by(shadow)
    }

    /// Whether a deletion may delete something of it.
    #[inline]
    pub(crate) fn is_touched_by(&self, deletion: Option<DeletionTime>) -> bool {
        deletion.is_some_and(|deletion| deletion.deletes(self.summary.min_timestamp))
    }

    /// Takes away what a deletion deletes.
    pub(crate) fn shadow(&mut self, deletion: Option<DeletionTime>) {
        if self.is_touched_by(deletion)
            && let Some(deletion) = deletion
        {
            self.row.shadow(deletion);
            self.summary = Summary::of(&self.row);
        }
    }

    /// Merges a change or another version of the row.
    pub(crate) fn merge(&mut self, update: &Row, kind: CellKind) {
        let exact = update.deletion.is_some() || self.row.is_empty();
        self.row.merge(update, kind);
        self.summary = if exact || cells(&self.row) <= EXACT_CELLS {
            Summary::of(&self.row)
        } else {
            self.summary.widened(Summary::of(update))
        };
    }
}

fn cells(row: &Row) -> usize {
    row.columns
        .iter()
        .map(|(_, data)| match data {
            ColumnData::Simple(_) => 1,
            ColumnData::Complex { cells, .. } => cells.len(),
        })
        .sum()
}

impl Summary {
    pub(crate) fn of(row: &Row) -> Self {
        let mut summary = Self {
            min_timestamp: i64::MAX,
            alive_until: NO_EXPIRY,
            bytes: size_of_val(row.columns.as_slice()),
        };
        let mut exists = false;
        if let Some(liveness) = &row.liveness {
            summary.add(liveness.timestamp, liveness.expires_at);
            exists = true;
        }
        if let Some(deletion) = &row.deletion {
            summary.add(deletion.timestamp, NO_EXPIRY);
        }
        for (_, data) in &row.columns {
            match data {
                ColumnData::Simple(cell) => {
                    summary.add_cell(cell);
                    exists = true;
                }
                ColumnData::Complex { deletion, cells } => {
                    if let Some(deletion) = deletion {
                        summary.add(deletion.timestamp, NO_EXPIRY);
                    }
                    summary.bytes += size_of_val(cells.as_slice());
                    for (path, cell) in cells {
                        summary.bytes += path.sort.len() + path.value.len();
                        summary.add_cell(cell);
                    }
                    exists |= !cells.is_empty();
                }
            }
        }
        if !exists {
            summary.alive_until = i64::MIN;
        }
        summary
    }

    fn add(&mut self, timestamp: i64, expires_at: i64) {
        self.min_timestamp = self.min_timestamp.min(timestamp);
        self.alive_until = self.alive_until.min(expires_at);
    }

    fn add_cell(&mut self, cell: &Cell) {
        match &cell.value {
            Some(value) => {
                self.bytes += value.len();
                self.add(cell.timestamp, cell.expires_at);
            }
            None => self.add(cell.timestamp, i64::MIN),
        }
    }

    fn widened(self, other: Self) -> Self {
        Self {
            min_timestamp: self.min_timestamp.min(other.min_timestamp),
            alive_until: self.alive_until.min(other.alive_until),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}
