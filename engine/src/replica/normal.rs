//! The normal form of a row: what is left of it under the deletions around it, with what has expired turned to
//! tombstones, and without what may be forgotten or belongs to columns that are no more.

use std::borrow::Cow;

use crate::readers::ReadCommand;
use crate::schema::ColumnId;
use crate::storage::{Cell, CellPath, ColumnData, DeletionTime, Purge, Row, StoredRow};

/// How rows of one read are brought to their normal form.
#[derive(Debug)]
pub(super) struct Normal {
    purge: Purge,
    /// Ids of the columns there are, ascending; `None` if none was ever dropped.
    columns: Option<Box<[ColumnId]>>,
}

impl Normal {
    pub(super) fn new(command: &ReadCommand) -> Self {
        let table = &command.table;
        let now_seconds = command.now_seconds;
        let was_dropped = table.next_column_id as usize != table.columns.len();
        Self {
            purge: Purge {
                now_seconds,
                gc_before: now_seconds.saturating_sub(table.gc_grace_seconds.into()),
                below_timestamp: i64::MAX,
            },
            columns: was_dropped.then(|| {
                let mut ids: Box<[_]> = table.columns.iter().map(|column| column.id).collect();
                ids.sort_unstable();
                ids
            }),
        }
    }

    /// A deletion, unless it may be forgotten.
    pub(super) fn deletion(&self, deletion: Option<DeletionTime>) -> Option<DeletionTime> {
        deletion.filter(|deletion| !self.purge.forgets(*deletion))
    }

    /// What is left of a row, and whether that is alive; `None` if nothing is.
    pub(super) fn row<'r>(
        &self,
        row: &'r StoredRow,
        shadow: Option<DeletionTime>,
    ) -> Option<(Cow<'r, Row>, bool)> {
        if row.is_alive(shadow, self.purge.now_seconds) && self.is_normal(row.row()) {
            return Some((Cow::Borrowed(row.row()), true));
        }
        let mut row = row.clone();
        row.shadow(shadow);
        let mut row = row.into_row();
        row.purge(&self.purge);
        row.columns.retain(|(id, _)| self.knows(*id));
        if row.is_empty() {
            return None;
        }
        let is_live = is_live(&row, self.purge.now_seconds);
        Some((Cow::Owned(row), is_live))
    }

    /// Whether nothing of a row that is alive as a whole has to go.
    fn is_normal(&self, row: &Row) -> bool {
        let has_deletion = |data: &ColumnData| {
            matches!(
                data,
                ColumnData::Complex {
                    deletion: Some(_),
                    ..
                }
            )
        };
        row.deletion.is_none()
            && row
                .columns
                .iter()
                .all(|(id, data)| !has_deletion(data) && self.knows(*id))
    }

    fn knows(&self, id: ColumnId) -> bool {
        self.columns
            .as_ref()
            .is_none_or(|columns| columns.binary_search(&id).is_ok())
    }
}

/// Whether its liveness or a cell is alive.
pub(super) fn is_live(row: &Row, now_seconds: i64) -> bool {
    row.liveness
        .is_some_and(|liveness| liveness.is_live(now_seconds))
        || row.columns.iter().any(|(_, data)| match data {
            ColumnData::Simple(cell) => cell.is_live(now_seconds),
            ColumnData::Complex { cells, .. } => {
                cells.iter().any(|(_, cell)| cell.is_live(now_seconds))
            }
        })
}

/// About how many bytes a deletion takes.
pub(super) const DELETION_BYTES: usize = 16;

/// About how many bytes a row takes, the same wherever it is kept.
pub(super) fn row_bytes(row: &Row) -> usize {
    const EACH: usize = 16;
    let of_cell = |cell: &Cell| EACH + cell.value.as_ref().map_or(0, bytes::Bytes::len);
    let of_element = |(path, cell): &(CellPath, Cell)| path.value.len() + of_cell(cell);
    let cells = row.columns.iter().map(|(_, data)| match data {
        ColumnData::Simple(cell) => of_cell(cell),
        ColumnData::Complex { cells, .. } => EACH + cells.iter().map(of_element).sum::<usize>(),
    });
    EACH + cells.sum::<usize>()
}
