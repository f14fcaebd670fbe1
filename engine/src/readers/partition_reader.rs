//! Reads one partition of one memtable or run: slices it by seeking, in either direction.

use std::ops::ControlFlow;

use crate::storage::{DecoratedKey, Partition, RangeTombstone, Rows};

use super::slices::{Slice, SliceCursor};
use super::{
    Consumed, MutationConsumer, MutationFragment, MutationReader, Place, ReadCommand, Step,
};

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
    /// What was yielded or consumed last.
    current: Option<MutationFragment<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    StaticRow,
    Rows,
    Done,
}

/// A consumer goes on, or pauses after a fragment.
type Fed<'a, P> = ControlFlow<(MutationFragment<'a>, P)>;

impl<'a> PartitionReader<'a> {
    /// A reader of `partition` for `command`; from the command's position, if that is in this partition.
    #[inline]
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
            current: None,
        }
    }

    /// As [`next`](MutationReader::next), of what outlives the reader.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<(&'a DecoratedKey, MutationFragment<'a>)> {
        self.current = self.step();
        Some((self.key, self.current?))
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

    #[inline]
    fn next_of_slice(&mut self) -> Option<MutationFragment<'a>> {
        if !self.tombstones.is_empty()
            && let Some(change) = self.next_tombstone_change()
        {
            return Some(change);
        }
        let (key, row) = self.rows.step(self.reversed)?;
        Some(MutationFragment::Row(key, row))
    }

    /// The next change of deletion, if it comes before the next row.
    #[inline(never)]
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

    fn step(&mut self) -> Option<MutationFragment<'a>> {
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
                    return Some(MutationFragment::PartitionStart(self.partition.deletion()));
                }
                Stage::StaticRow => {
                    self.stage = Stage::Rows;
                    if let Some(row) = self.partition.static_row() {
                        return Some(MutationFragment::StaticRow(row));
                    }
                }
                Stage::Done => return None,
            }
        }
    }

    /// Feeds all that is left. What a `Break` tells is the fragment that was taken last.
    fn feed<C: MutationConsumer>(&mut self, consumer: &mut C) -> Fed<'a, C::Pause> {
        if self.stage == Stage::Start {
            self.stage = Stage::StaticRow;
            let start = MutationFragment::PartitionStart(self.partition.deletion());
            self.give(start, consumer)?;
        }
        if self.stage == Stage::StaticRow {
            self.stage = Stage::Rows;
            if let Some(row) = self.partition.static_row() {
                self.give(MutationFragment::StaticRow(row), consumer)?;
            }
        }
        if self.stage == Stage::Rows {
            while self.slice.is_some() || self.open_slice() {
                while !self.tombstones.is_empty()
                    && let Some(fragment) = self.next_of_slice()
                {
                    self.give(fragment, consumer)?;
                }
                self.feed_rows(consumer)?;
                self.slice = None;
            }
            self.stage = Stage::Done;
            self.give(MutationFragment::PartitionEnd, consumer)?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn give<C: MutationConsumer>(
        &self,
        fragment: MutationFragment<'a>,
        consumer: &mut C,
    ) -> Fed<'a, C::Pause> {
        consumer
            .consume(self.key, fragment)
            .map_break(|pause| (fragment, pause))
    }

    /// Feeds what is left of the rows of a slice without tombstones.
    #[inline]
    fn feed_rows<C: MutationConsumer>(&mut self, consumer: &mut C) -> Fed<'a, C::Pause> {
        let partition = self.key;
        self.rows.consume(self.reversed, |(key, row)| {
            let fragment = MutationFragment::Row(key, row);
            consumer
                .consume(partition, fragment)
                .map_break(|pause| (fragment, pause))
        })
    }
}

impl MutationReader for PartitionReader<'_> {
    #[inline]
    fn next(&mut self) -> Step<'_> {
        match self.advance() {
            Some((key, fragment)) => Step::Fragment(key, fragment),
            None => Step::End,
        }
    }

    #[inline]
    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        Some((self.key, self.current?))
    }

    fn consume_pausable<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause> {
        match self.feed(consumer) {
            ControlFlow::Break((fragment, pause)) => {
                self.current = Some(fragment);
                Consumed::Paused(pause)
            }
            ControlFlow::Continue(()) => {
                self.current = None;
                Consumed::Finished
            }
        }
    }

    fn consume_before<C: MutationConsumer>(
        &mut self,
        limit: Place<'_>,
        reversed: bool,
        consumer: &mut C,
    ) -> Consumed<Option<C::Pause>> {
        let is_before = |sort: &[u8]| Place::Row(sort).order(limit, reversed).is_lt();
        if self.tombstones.is_empty() {
            let far_end = self.rows.narrow(reversed, |key| is_before(&key.sort));
            let flow = self.feed_rows(consumer);
            self.rows.widen(reversed, far_end);
            if let ControlFlow::Break((fragment, pause)) = flow {
                self.current = Some(fragment);
                return Consumed::Paused(Some(pause));
            }
        }
        // Of a slice with tombstones rows are compared one by one.
        loop {
            let Some(fragment) = self.step() else {
                self.current = None;
                return Consumed::Finished;
            };
            self.current = Some(fragment);
            match fragment {
                MutationFragment::Row(place, _) if is_before(&place.sort) => {
                    if let ControlFlow::Break(pause) = consumer.consume(self.key, fragment) {
                        return Consumed::Paused(Some(pause));
                    }
                }
                _ => return Consumed::Paused(None),
            }
        }
    }
}
