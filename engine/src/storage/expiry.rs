//! What time does to a row: reads leave out what is dead, merging runs forgets what has been dead for long.

use super::{Cell, ColumnData, DeletionTime, Row};

/// What merging may forget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purge {
    /// Seconds from 1970, the replica's clock.
    pub(crate) now_seconds: i64,
    /// Tombstones written before this second may go: `now_seconds` less the table's `gc_grace_seconds`.
    pub(crate) gc_before: i64,
    /// Only tombstones older than this timestamp may go: those of this age could still shadow something that isn't
    /// part of the merge.
    pub(crate) below_timestamp: i64,
}

impl Purge {
    /// Whether a deletion may be forgotten.
    pub(crate) fn forgets(&self, deletion: DeletionTime) -> bool {
        deletion.local_seconds < self.gc_before && deletion.timestamp < self.below_timestamp
    }

    fn forgets_cell(&self, cell: &Cell) -> bool {
        self.forgets(DeletionTime {
            timestamp: cell.timestamp,
            local_seconds: cell.expires_at,
        })
    }

    /// Turns an expired cell into the tombstone it has become; says whether to keep it.
    fn keep(&self, cell: &mut Cell) -> bool {
        if cell.is_live(self.now_seconds) {
            return true;
        }
        if cell.value.take().is_some() {
            cell.expires_at = cell.expires_at.saturating_sub(i64::from(cell.ttl));
            cell.ttl = 0;
        }
        !self.forgets_cell(cell)
    }
}

impl Row {
    /// Forgets what may be forgotten.
    pub(crate) fn purge(&mut self, purge: &Purge) {
        self.deletion = self.deletion.filter(|deletion| !purge.forgets(*deletion));
        self.liveness = self.liveness.filter(|liveness| {
            let expiry = DeletionTime {
                timestamp: liveness.timestamp,
                local_seconds: liveness.expires_at,
            };
            liveness.is_live(purge.now_seconds) || !purge.forgets(expiry)
        });
        self.columns.retain_mut(|(_, data)| match data {
            ColumnData::Simple(cell) => purge.keep(cell),
            ColumnData::Complex { deletion, cells } => {
                *deletion = deletion.filter(|deletion| !purge.forgets(*deletion));
                cells.retain_mut(|(_, cell)| purge.keep(cell));
                deletion.is_some() || !cells.is_empty()
            }
        });
    }

    /// How many tombstones a read of this row passes over, as Cassandra counts them: cells that are deleted or expired,
    /// or one for a row that is gone as a whole. Those that `shadow` covers don't count, nor those that may be forgotten
    /// since they happened before `gc_before`.
    pub(crate) fn tombstones(
        &self,
        shadow: Option<DeletionTime>,
        now_seconds: i64,
        gc_before: i64,
    ) -> usize {
        let outer = shadow;
        let shadow = shadow.max(self.deletion);
        let stands = |timestamp| shadow.is_none_or(|shadow| !shadow.deletes(timestamp));
        let mut cells = (0, 0);
        let mut count = |cell: &Cell| match stands(cell.timestamp) {
            true if cell.is_live(now_seconds) => cells.0 += 1,
            true if cell.expires_at >= gc_before => cells.1 += 1,
            _ => {}
        };
        for (_, data) in &self.columns {
            match data {
                ColumnData::Simple(cell) => count(cell),
                ColumnData::Complex { cells, .. } => cells.iter().for_each(|(_, cell)| count(cell)),
            }
        }
        let (alive, dead) = cells;
        if dead > 0 || alive > 0 {
            return dead;
        }
        let (mut exists, mut gone) = (false, false);
        if let Some(liveness) = self.liveness.filter(|liveness| stands(liveness.timestamp)) {
            exists = liveness.is_live(now_seconds);
            gone = !exists && liveness.expires_at >= gc_before;
        }
        let deletions = self.columns.iter().filter_map(|(_, data)| match data {
            ColumnData::Complex { deletion, .. } => *deletion,
            ColumnData::Simple(_) => None,
        });
        gone |= deletions.chain(self.deletion).any(|deletion| {
            deletion.local_seconds >= gc_before
                && outer.is_none_or(|outer| !outer.deletes(deletion.timestamp))
        });
        usize::from(gone && !exists)
    }

    /// Fills `out` with what is alive of this row under a deletion of its surroundings. Says whether the row exists:
    /// whether its liveness or any cell is alive.
    pub(crate) fn live_into(
        &self,
        shadow: Option<DeletionTime>,
        now_seconds: i64,
        out: &mut Self,
    ) -> bool {
        let shadow = shadow.max(self.deletion);
        let stands = |timestamp| shadow.is_none_or(|shadow| !shadow.deletes(timestamp));
        let lives = |cell: &Cell| cell.is_live(now_seconds) && stands(cell.timestamp);
        out.deletion = None;
        out.liveness = self
            .liveness
            .filter(|liveness| liveness.is_live(now_seconds) && stands(liveness.timestamp));
        out.columns.clear();
        for (id, data) in &self.columns {
            match data {
                ColumnData::Simple(cell) if lives(cell) => out.columns.push((*id, data.clone())),
                ColumnData::Simple(_) => {}
                ColumnData::Complex { cells, .. } => {
                    let cells: Vec<_> = cells
                        .iter()
                        .filter(|(_, cell)| lives(cell))
                        .cloned()
                        .collect();
                    if !cells.is_empty() {
                        out.columns.push((
                            *id,
                            ColumnData::Complex {
                                deletion: None,
                                cells,
                            },
                        ));
                    }
                }
            }
        }
        out.liveness.is_some() || !out.columns.is_empty()
    }
}
