//! A partition: its deletion, its static row, its rows and the deletions of ranges of them.

use super::range_tombstones::RangeTombstones;
use super::reconcile::CellKind;
use super::sorted::{Range, Sorted};
use super::stored_row::StoredRow;
use super::{ClusteringBound, ClusteringKey, DeletionTime, Mutation, RangeTombstone, Row};

/// Rows side by side.
pub(crate) type Rows<'a> = Range<'a, ClusteringKey, StoredRow>;

/// A partition, or what one memtable or run has of it.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    deletion: Option<DeletionTime>,
    /// Boxed: few tables have one.
    static_row: Option<Box<StoredRow>>,
    rows: Sorted<ClusteringKey, StoredRow>,
    range_tombstones: RangeTombstones,
    /// No timestamp in the partition is less.
    min_timestamp: i64,
}

impl Partition {
    pub(crate) fn new(deletion: Option<DeletionTime>) -> Self {
        Self {
            deletion,
            static_row: None,
            rows: Sorted::default(),
            range_tombstones: RangeTombstones::default(),
            min_timestamp: deletion.map_or(i64::MAX, |deletion| deletion.timestamp),
        }
    }

    pub(crate) fn deletion(&self) -> Option<DeletionTime> {
        self.deletion
    }

    pub(crate) fn static_row(&self) -> Option<&StoredRow> {
        self.static_row.as_deref()
    }

    /// The rows between two bounds.
    pub(crate) fn rows_between(&self, start: &ClusteringBound, end: &ClusteringBound) -> Rows<'_> {
        let front = match start {
            ClusteringBound::Start => self.rows.start(),
            start => self.rows.seek(|key| start.cmp_row(&key.sort).is_gt()),
        };
        let back = match end {
            ClusteringBound::End => self.rows.end(),
            end => self
                .rows
                .seek_from(front, |key| end.cmp_row(&key.sort).is_gt()),
        };
        self.rows.range(front, back)
    }

    /// How many rows there are.
    pub(crate) fn rows_len(&self) -> usize {
        self.rows.len()
    }

    /// The row at a place.
    pub(crate) fn row(&self, key: &ClusteringKey) -> Option<&StoredRow> {
        self.rows.find(|other| other.cmp(key)).map(|(_, row)| row)
    }

    /// The row of these sort bytes.
    pub(crate) fn entry(&self, sort: &[u8]) -> Option<&(ClusteringKey, StoredRow)> {
        self.rows.find(|key| key.sort[..].cmp(sort))
    }

    pub(crate) fn range_tombstones(&self) -> &RangeTombstones {
        &self.range_tombstones
    }

    pub(crate) fn min_timestamp(&self) -> i64 {
        self.min_timestamp
    }

    /// Whether it says nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.deletion.is_none()
            && self.static_row.is_none()
            && self.rows.is_empty()
            && self.range_tombstones.is_empty()
    }

    /// Applies a mutation; gives the bytes of heap it takes, less those it frees.
    pub(crate) fn apply(&mut self, mutation: &Mutation, kind: CellKind) -> isize {
        let mut grown = 0;
        if mutation.partition_deletion > self.deletion
            && let Some(deletion) = mutation.partition_deletion
        {
            grown += self.delete(deletion);
        }
        for tombstone in &mutation.range_tombstones {
            if Some(tombstone.deletion) > self.deletion {
                self.range_tombstones.add(tombstone);
                self.note(tombstone.deletion.timestamp);
                grown += size_of::<RangeTombstone>().cast_signed();
            }
        }
        if let Some(row) = &mutation.static_row {
            grown += self.apply_static_row(row, kind);
        }
        for (key, row) in &mutation.rows {
            grown += self.apply_row(key, row, kind);
        }
        grown
    }

    /// Drops all that is older than a deletion.
    fn delete(&mut self, deletion: DeletionTime) -> isize {
        let mut grown = 0;
        if deletion.deletes(self.min_timestamp) {
            let mut oldest = i64::MAX;
            let mut keep = |row: &mut StoredRow| {
                grown -= row.summary().bytes.cast_signed();
                row.shadow(Some(deletion));
                grown += row.summary().bytes.cast_signed();
                oldest = oldest.min(row.summary().min_timestamp);
                !row.row().is_empty()
            };
            if let Some(row) = &mut self.static_row
                && !keep(row)
            {
                self.static_row = None;
            }
            self.rows.retain(|_, row| keep(row));
            self.range_tombstones.shadow(deletion);
            self.min_timestamp = oldest.min(self.range_tombstones.min_timestamp());
        }
        self.deletion = Some(deletion);
        self.note(deletion.timestamp);
        grown
    }

    fn note(&mut self, timestamp: i64) {
        self.min_timestamp = self.min_timestamp.min(timestamp);
    }

    fn apply_static_row(&mut self, update: &Row, kind: CellKind) -> isize {
        let mut row = self.static_row.take().unwrap_or_default();
        let grown = merge(&mut row, update, self.deletion, kind);
        self.note(row.summary().min_timestamp);
        self.static_row = Some(row).filter(|row| !row.row().is_empty());
        grown
    }

    fn apply_row(&mut self, key: &ClusteringKey, update: &Row, kind: CellKind) -> isize {
        let shadow = self.deletion.max(self.range_tombstones.covering(&key.sort));
        let (mut grown, mut oldest) = (0, i64::MAX);
        self.rows.upsert(key, |row| {
            let Some(row) = row else {
                let mut row = StoredRow::default();
                grown = merge(&mut row, update, shadow, kind) + row_bytes(key);
                oldest = row.summary().min_timestamp;
                return Some(row).filter(|row| !row.row().is_empty());
            };
            grown = merge(row, update, shadow, kind);
            oldest = row.summary().min_timestamp;
            None
        });
        self.note(oldest);
        grown
    }

    /// Sets the static row of a partition that is being built.
    pub(crate) fn set_static_row(&mut self, row: StoredRow) -> isize {
        let grown = row.summary().bytes.cast_signed();
        self.note(row.summary().min_timestamp);
        self.static_row = Some(Box::new(row));
        grown
    }

    /// Appends a row behind all others, to a partition that is being built.
    pub(crate) fn push_row(&mut self, key: ClusteringKey, row: StoredRow) -> isize {
        let grown = row.summary().bytes.cast_signed() + row_bytes(&key);
        self.note(row.summary().min_timestamp);
        self.rows.push(key, row);
        grown
    }

    /// Appends a range tombstone behind all others, to a partition that is being built.
    pub(crate) fn push_range_tombstone(&mut self, tombstone: RangeTombstone) -> isize {
        self.note(tombstone.deletion.timestamp);
        self.range_tombstones.push(tombstone);
        size_of::<RangeTombstone>().cast_signed()
    }

    /// Gives back what memory it doesn't need, when it is built.
    pub(crate) fn shrink(&mut self) {
        self.rows.shrink();
    }

    /// Takes the rows, to drop them piece by piece.
    pub(crate) fn into_rows(self) -> Sorted<ClusteringKey, StoredRow> {
        self.rows
    }
}

/// What a row's place takes.
fn row_bytes(key: &ClusteringKey) -> isize {
    (size_of::<(ClusteringKey, StoredRow)>() + key.sort.len() + key.values.len()).cast_signed()
}

/// Merges a change into a row under a deletion of its surroundings. What is deleted goes before, lest a counter add to
/// it, and after, lest the change bring it.
fn merge(row: &mut StoredRow, update: &Row, shadow: Option<DeletionTime>, kind: CellKind) -> isize {
    let before = row.summary().bytes;
    row.shadow(shadow);
    row.merge(update, kind);
    row.shadow(shadow);
    row.summary().bytes.cast_signed() - before.cast_signed()
}
