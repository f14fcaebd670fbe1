//! Reconciliation: which of two writes stands. Timestamps decide; the rules for equal ones make the outcome the
//! same on every replica, in whatever order the writes arrive (Cassandra's `Cells.reconcile`, `LivenessInfo.supersedes`).

use std::cmp::Ordering;

use bytes::Bytes;

use super::counter::{self, plain};
use super::{Cell, CellPath, ColumnData, DeletionTime, Liveness, NO_EXPIRY, Row};
use crate::schema::ColumnId;

/// How the cells of a table are reconciled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// The newer stands.
    Regular,
    /// Both add up, or each node's share by itself.
    Counter,
}

impl CellKind {
    pub(crate) fn of(is_counter: bool) -> Self {
        if is_counter {
            Self::Counter
        } else {
            Self::Regular
        }
    }
}

impl Row {
    /// Takes away what `deletion` deletes, older deletions included.
    pub(crate) fn shadow(&mut self, deletion: DeletionTime) {
        self.liveness = self
            .liveness
            .filter(|liveness| !deletion.deletes(liveness.timestamp));
        self.deletion = self.deletion.filter(|own| *own > deletion);
        self.columns.retain_mut(|(_, data)| match data {
            ColumnData::Simple(cell) => !deletion.deletes(cell.timestamp),
            ColumnData::Complex {
                deletion: own,
                cells,
            } => {
                *own = own.filter(|own| *own > deletion);
                cells.retain(|(_, cell)| !deletion.deletes(cell.timestamp));
                own.is_some() || !cells.is_empty()
            }
        });
    }

    /// Merges a change, or another version, into this row. Neither order nor uniqueness of the columns and cells of
    /// `update` is taken for granted.
    pub(crate) fn merge(&mut self, update: &Self, kind: CellKind) {
        if update.deletion > self.deletion
            && let Some(deletion) = update.deletion
        {
            self.shadow(deletion);
            self.deletion = Some(deletion);
        }
        let row_deletion = self.deletion;
        let deleted = |timestamp| row_deletion.is_some_and(|deletion| deletion.deletes(timestamp));
        if let Some(new) = update.liveness
            && !deleted(new.timestamp)
            && self.liveness.is_none_or(|old| supersedes(&new, &old))
        {
            self.liveness = Some(new);
        }
        if self.columns.is_empty() {
            self.columns.reserve_exact(update.columns.len());
        }
        for (id, data) in &update.columns {
            match data {
                ColumnData::Simple(cell) if deleted(cell.timestamp) => {}
                ColumnData::Simple(cell) => self.merge_simple(*id, cell, kind),
                ColumnData::Complex { deletion, cells } => {
                    self.merge_complex(*id, *deletion, cells, kind);
                }
            }
        }
    }

    /// Whether merging `other`, a version of this row whose columns ascend, would change nothing, where the newer cell
    /// stands. May say no where it wouldn't.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        if other.deletion.is_some() && other.deletion > self.deletion {
            return false;
        }
        if let Some(new) = &other.liveness
            && self.liveness.is_none_or(|old| supersedes(new, &old))
        {
            return false;
        }
        let mut columns = self.columns.iter();
        other.columns.iter().all(
            |(id, data)| match (columns.find(|(own, _)| own == id), data) {
                (Some((_, ColumnData::Simple(old))), ColumnData::Simple(new)) => {
                    !order(old, new).is_lt()
                }
                _ => false,
            },
        )
    }

    fn merge_simple(&mut self, id: ColumnId, cell: &Cell, kind: CellKind) {
        match self.columns.binary_search_by_key(&id, |(id, _)| *id) {
            Err(index) => self
                .columns
                .insert(index, (id, ColumnData::Simple(cell.clone()))),
            Ok(index) => {
                if let Some((_, ColumnData::Simple(old))) = self.columns.get_mut(index) {
                    reconcile(old, cell, kind);
                }
            }
        }
    }

    fn merge_complex(
        &mut self,
        id: ColumnId,
        new_deletion: Option<DeletionTime>,
        new_cells: &[(CellPath, Cell)],
        kind: CellKind,
    ) {
        let index = self
            .columns
            .binary_search_by_key(&id, |(id, _)| *id)
            .unwrap_or_else(|index| {
                let data = ColumnData::Complex {
                    deletion: None,
                    cells: Vec::new(),
                };
                self.columns.insert(index, (id, data));
                index
            });
        let Some((_, ColumnData::Complex { deletion, cells })) = self.columns.get_mut(index) else {
            return;
        };
        let replaces = new_deletion > *deletion && new_deletion > self.deletion;
        if replaces {
            *deletion = new_deletion;
        }
        let shadow = (*deletion).max(self.deletion);
        let deleted = |cell: &Cell| shadow.is_some_and(|shadow| shadow.deletes(cell.timestamp));
        if replaces {
            cells.retain(|(_, cell)| !deleted(cell));
        }
        if cells.is_empty() {
            cells.reserve_exact(new_cells.len());
        }
        for (path, cell) in new_cells.iter().filter(|(_, cell)| !deleted(cell)) {
            if cells.last().is_none_or(|(last, _)| last < path) {
                cells.push((path.clone(), cell.clone()));
                continue;
            }
            match cells.binary_search_by(|(old, _)| old.cmp(path)) {
                Err(index) => cells.insert(index, (path.clone(), cell.clone())),
                Ok(index) => {
                    if let Some((_, old)) = cells.get_mut(index) {
                        reconcile(old, cell, kind);
                    }
                }
            }
        }
        if deletion.is_none() && cells.is_empty() {
            self.columns.remove(index);
        }
    }
}

/// Whether `new` stands against `old`: the newer one, else the one that expires, else the one that does so later.
fn supersedes(new: &Liveness, old: &Liveness) -> bool {
    let expires_last = if old.expires_at == NO_EXPIRY || new.expires_at == NO_EXPIRY {
        new.expires_at < old.expires_at
    } else {
        (new.expires_at, new.ttl) > (old.expires_at, old.ttl)
    };
    match new.timestamp.cmp(&old.timestamp) {
        Ordering::Equal => expires_last,
        order => order.is_gt(),
    }
}

/// Leaves in `old` what stands of both.
fn reconcile(old: &mut Cell, new: &Cell, kind: CellKind) {
    match kind {
        CellKind::Regular if order(old, new).is_lt() => old.clone_from(new),
        CellKind::Regular => {}
        CellKind::Counter => add(old, new),
    }
}

/// The newer, else the one that is or becomes a tombstone, of these the one that is, else the one with the later local
/// time, else the one with the greater value, else the one with the greater time to live.
#[inline]
fn order(a: &Cell, b: &Cell) -> Ordering {
    let dies = |cell: &Cell| cell.expires_at != NO_EXPIRY;
    a.timestamp
        .cmp(&b.timestamp)
        .then_with(|| dies(a).cmp(&dies(b)))
        .then_with(|| a.value.is_none().cmp(&b.value.is_none()))
        .then_with(|| a.expires_at.cmp(&b.expires_at))
        .then_with(|| a.value.cmp(&b.value))
        .then_with(|| a.ttl.cmp(&b.ttl))
}

/// Counters add up, or of each node's share the newer stands. A deleted one stays so, whatever the timestamps
/// (CASSANDRA-7346). After a deletion of the row around it a counter begins anew; Cassandra promises nothing then, and may go
/// on from a sum it has cached.
fn add(old: &mut Cell, new: &Cell) {
    match (&old.value, &new.value) {
        (Some(left), Some(right)) => {
            old.timestamp = old.timestamp.max(new.timestamp);
            old.value = Some(match (plain(left), plain(right)) {
                (Some(left), Some(right)) => {
                    Bytes::copy_from_slice(&left.wrapping_add(right).to_be_bytes())
                }
                _ => counter::merge(left, right),
            });
        }
        (Some(_), None) => old.clone_from(new),
        (None, Some(_)) => {}
        (None, None) => {
            if order(old, new).is_lt() {
                old.clone_from(new);
            }
        }
    }
}

#[cfg(test)]
mod tests;
