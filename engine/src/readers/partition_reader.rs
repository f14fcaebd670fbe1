//! Reads one partition of one memtable or run: slices it by seeking, in either direction.

use crate::storage::{DecoratedKey, Partition, RangeTombstone, Rows};

use super::slices::{Slice, SliceCursor};
use super::{MutationFragment, MutationReader, ReadCommand, RowRef};

/// Yields a partition's start, its static row, the rows and tombstone changes of the command's slices, its end.
#[derive(Debug)]
pub(crate) struct PartitionReader<'a> {
    key: &'a DecoratedKey,
    partition: &'a Partition,
    slices: SliceCursor<'a>,
    reversed: bool,
    stage: Stage,
    /// What is left of the current slice.
    slice: Option<Slice<'a>>,
    rows: Rows<'a>,
    tombstones: &'a [RangeTombstone],
    /// Whether the next of `tombstones` has been opened.
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    StaticRow,
    Rows,
    Done,
}

impl<'a> PartitionReader<'a> {
    /// A reader of `partition` for `command`; from the command's position, if that is in this partition.
    pub(crate) fn new(
        command: &'a ReadCommand,
        key: &'a DecoratedKey,
        partition: &'a Partition,
    ) -> Self {
        let from = match &command.resume {
            Some(position) if position.key == *key => Some(&position.bound),
            _ => None,
        };
        Self {
            key,
            partition,
            slices: SliceCursor::new(&command.slices, command.reversed, from),
            reversed: command.reversed,
            stage: Stage::Start,
            slice: None,
            rows: Rows::default(),
            tombstones: &[],
            open: false,
        }
    }

    fn open_slice(&mut self) -> bool {
        self.slice = self.slices.next();
        let Some(Slice { start, end }) = self.slice else {
            return false;
        };
        self.rows = self.partition.rows_between(start, end);
        self.tombstones = if self.partition.range_tombstones().is_empty() {
            &[]
        } else {
            self.partition.range_tombstones().overlapping(start, end)
        };
        true
    }

    fn next_of_slice(&mut self) -> Option<MutationFragment<'a>> {
        if !self.tombstones.is_empty()
            && let Some(change) = self.next_tombstone_change()
        {
            return Some(change);
        }
        let (key, row) = self.rows.step(self.reversed)?;
        Some(MutationFragment::Row(key, RowRef::Lent(row)))
    }

    /// The next change of deletion, if it comes before the next row.
    fn next_tombstone_change(&mut self) -> Option<MutationFragment<'a>> {
        let slice = self.slice?;
        let tombstone = if self.reversed {
            self.tombstones.last()
        } else {
            self.tombstones.first()
        }?;
        let bound = if self.reversed == self.open {
            (&tombstone.start).max(slice.start)
        } else {
            (&tombstone.end).min(slice.end)
        };
        if let Some((key, _)) = self.rows.peek(self.reversed)
            && bound.cmp_row(&key.sort).is_gt() != self.reversed
        {
            return None;
        }
        self.open = !self.open;
        if self.open {
            return Some(MutationFragment::TombstoneChange(
                bound,
                Some(tombstone.deletion),
            ));
        }
        let rest = if self.reversed {
            self.tombstones.split_last().map(|(_, rest)| rest)
        } else {
            self.tombstones.split_first().map(|(_, rest)| rest)
        };
        self.tombstones = rest.unwrap_or_default();
        Some(MutationFragment::TombstoneChange(bound, None))
    }
}

impl<'a> MutationReader<'a> for PartitionReader<'a> {
    fn next(&mut self) -> Option<MutationFragment<'a>> {
        loop {
            match self.stage {
                Stage::Rows => {
                    if let Some(fragment) = self.next_of_slice() {
                        return Some(fragment);
                    }
                    if !self.open_slice() {
                        self.stage = Stage::Done;
                        return Some(MutationFragment::PartitionEnd);
                    }
                }
                Stage::Start => {
                    self.stage = Stage::StaticRow;
                    let deletion = self.partition.deletion();
                    return Some(MutationFragment::PartitionStart(self.key, deletion));
                }
                Stage::StaticRow => {
                    self.stage = Stage::Rows;
                    if let Some(row) = self.partition.static_row() {
                        return Some(MutationFragment::StaticRow(RowRef::Lent(row)));
                    }
                }
                Stage::Done => return None,
            }
        }
    }
}
