//! Compacts what a reader yields to what is alive, hands it to the consumer, and says where it paused.

use std::ops::ControlFlow;

use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, Row, StoredRow};

use super::{
    Consumer, Fragment, MutationConsumer, MutationFragment, Position, ReadCommand, ReadProgress,
};

/// Feeds a [`Consumer`] with what is alive. Everything read counts against the budget, dead or not.
///
/// It pauses its reader where the consumer says stop, or where the budget is used up, and says so as a [`ReadProgress`]
/// with the position to go on from.
#[derive(Debug)]
pub struct Compactor<'a, 'c, C> {
    consumer: &'c mut C,
    command: &'a ReadCommand,
    budget: usize,
    /// Whether the rows hold counters, of which the consumer learns what they stand at.
    counts: bool,
    /// The deletion of the whole partition.
    deletion: Option<DeletionTime>,
    /// The deletion of a range that counts here.
    active: Option<DeletionTime>,
    delivery: Delivery,
    /// Held back until a row follows.
    static_row: Option<Box<StoredRow>>,
    /// Where the live part of a row is put together when some of it is dead.
    scratch: Row,
}

/// What the consumer has got of the current partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// Nothing yet.
    Pending,
    /// Nothing yet, and nothing before a live row comes: its beginning was delivered by an earlier read.
    HeldBack,
    /// Its start.
    Started,
}

impl<'a, 'c, C: Consumer> Compactor<'a, 'c, C> {
    /// One that pauses after `budget` fragments. Its reader reads for `command`.
    pub fn new(command: &'a ReadCommand, budget: usize, consumer: &'c mut C) -> Self {
        Self {
            consumer,
            command,
            budget,
            counts: command.table.is_counter,
            deletion: None,
            active: None,
            delivery: Delivery::Pending,
            static_row: None,
            scratch: Row::default(),
        }
    }

    fn start_partition(&mut self, key: &DecoratedKey, deletion: Option<DeletionTime>) {
        self.deletion = deletion;
        self.active = None;
        self.static_row = None;
        self.delivery = match &self.command.resume {
            Some(position) if position.key == *key => match position {
                position if position.open => Delivery::Started,
                position if position.is_at_start(self.command.reversed) => Delivery::Pending,
                _ => Delivery::HeldBack,
            },
            _ => Delivery::Pending,
        };
    }

    fn static_row(&mut self, key: &DecoratedKey, row: &StoredRow) -> ControlFlow<ReadProgress> {
        match self.delivery {
            Delivery::Started => ControlFlow::Continue(()),
            Delivery::HeldBack => {
                self.static_row = Some(Box::new(row.clone()));
                ControlFlow::Continue(())
            }
            Delivery::Pending => self.deliver_static_row(key, row),
        }
    }

    fn deliver_static_row(
        &mut self,
        key: &DecoratedKey,
        row: &StoredRow,
    ) -> ControlFlow<ReadProgress> {
        let live = if self.lends(row, self.deletion) {
            row.row()
        } else if self.pass_tombstones_of(key, row, self.deletion).is_break() {
            return self.stop_before_rows(key);
        } else if self.put_live(row, self.deletion) {
            &self.scratch
        } else {
            return ControlFlow::Continue(());
        };
        if self.delivery != Delivery::Started {
            self.delivery = Delivery::Started;
            let start = Fragment::PartitionStart(key);
            if self.consumer.consume(start).is_break() {
                return self.stop_before_rows(key);
            }
        }
        if self.consumer.consume(Fragment::StaticRow(live)).is_break() {
            return self.stop_before_rows(key);
        }
        ControlFlow::Continue(())
    }

    fn row(
        &mut self,
        key: &DecoratedKey,
        place: &ClusteringKey,
        row: &StoredRow,
    ) -> ControlFlow<ReadProgress> {
        let shadow = self.deletion.max(self.active);
        let lend = self.lends(row, shadow);
        if !lend && self.pass_tombstones_of(key, row, shadow).is_break() {
            return self.stop_after_row(key, place);
        }
        if lend || self.put_live(row, shadow) {
            if self.delivery != Delivery::Started {
                self.begin(key)?;
                // What was held back may have gone through the scratch row.
                if !lend {
                    self.put_live(row, shadow);
                }
            }
            let live = if lend { row.row() } else { &self.scratch };
            if self.consumer.consume(Fragment::Row(place, live)).is_break() {
                return self.stop_after_row(key, place);
            }
        }
        self.spend(|reversed| Position::after_row(key.clone(), place.sort.clone(), reversed))
    }

    /// Whether the consumer may have a row as it is.
    fn lends(&self, row: &StoredRow, shadow: Option<DeletionTime>) -> bool {
        row.is_alive(shadow, self.command.now_seconds) && !(self.counts && row.row().has_shares())
    }

    /// Puts together what the consumer gets of a row; says whether anything is alive.
    fn put_live(&mut self, row: &StoredRow, shadow: Option<DeletionTime>) -> bool {
        let now = self.command.now_seconds;
        let is_live = row.row().live_into(shadow, now, &mut self.scratch);
        if self.counts {
            self.scratch.total_counters();
        }
        is_live
    }

    /// Tells the consumer of what is dead in a row.
    fn pass_tombstones_of(
        &mut self,
        key: &DecoratedKey,
        row: &StoredRow,
        shadow: Option<DeletionTime>,
    ) -> ControlFlow<()> {
        let now = self.command.now_seconds;
        let gc_before = now.saturating_sub(self.command.table.gc_grace_seconds.into());
        match row.row().tombstones(shadow, now, gc_before) {
            0 => ControlFlow::Continue(()),
            count => self.consumer.pass_tombstones(key, count),
        }
    }

    /// Delivers the partition's start and the static row that was held back.
    fn begin(&mut self, key: &DecoratedKey) -> ControlFlow<ReadProgress> {
        self.delivery = Delivery::Started;
        let start = Fragment::PartitionStart(key);
        if self.consumer.consume(start).is_break() {
            return self.stop_before_rows(key);
        }
        match self.static_row.take() {
            Some(row) => self.deliver_static_row(key, &row),
            None => ControlFlow::Continue(()),
        }
    }

    fn stop_after_row(
        &self,
        key: &DecoratedKey,
        place: &ClusteringKey,
    ) -> ControlFlow<ReadProgress> {
        let sort = place.sort.clone();
        let position = Position::after_row(key.clone(), sort, self.command.reversed);
        ControlFlow::Break(ReadProgress::Stopped(position))
    }

    /// Stops where this read began to look at the partition's rows.
    fn stop_before_rows(&self, key: &DecoratedKey) -> ControlFlow<ReadProgress> {
        let position = match &self.command.resume {
            Some(position) if position.key == *key => position.clone(),
            _ => Position::at_start(key.clone(), self.command.reversed),
        };
        ControlFlow::Break(ReadProgress::Stopped(position))
    }

    fn tombstone_change(
        &mut self,
        key: &DecoratedKey,
        bound: &ClusteringBound,
        deletion: Option<DeletionTime>,
    ) -> ControlFlow<ReadProgress> {
        self.active = deletion;
        let position = || Position::new(key.clone(), bound.clone());
        if self.consumer.pass_tombstones(key, 1).is_break() {
            return ControlFlow::Break(ReadProgress::Stopped(position()));
        }
        // To yield where the read resumed would get nowhere; at the far end the partition's own end is due.
        let resumed = self.command.resume.as_ref();
        let far_end = match self.command.reversed {
            true => ClusteringBound::Start,
            false => ClusteringBound::End,
        };
        if *bound == far_end || resumed.is_some_and(|position| position.bound == *bound) {
            return ControlFlow::Continue(());
        }
        self.spend(|_| position())
    }

    fn end_partition(&mut self, key: &DecoratedKey) -> ControlFlow<ReadProgress> {
        let delivered = self.delivery == Delivery::Started;
        self.delivery = Delivery::Pending;
        if delivered && self.consumer.consume(Fragment::PartitionEnd).is_break() {
            let position = Position::after_partition(key.clone(), self.command.reversed);
            return ControlFlow::Break(ReadProgress::Stopped(position));
        }
        self.spend(|reversed| Position::after_partition(key.clone(), reversed))
    }

    /// Says that the read yields at a place where its source ends, though there is more.
    pub(crate) fn yield_at(&self, position: &Position) -> ReadProgress {
        ReadProgress::Yielded(Position {
            open: self.delivery == Delivery::Started,
            ..position.clone()
        })
    }

    /// Counts a fragment; yields when the budget is used up.
    fn spend(&mut self, position: impl FnOnce(bool) -> Position) -> ControlFlow<ReadProgress> {
        self.budget = self.budget.saturating_sub(1);
        if self.budget > 0 {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(ReadProgress::Yielded(Position {
            open: self.delivery == Delivery::Started,
            ..position(self.command.reversed)
        }))
    }
}

impl<C: Consumer> MutationConsumer for Compactor<'_, '_, C> {
    type Pause = ReadProgress;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<ReadProgress> {
        match fragment {
            MutationFragment::Row(place, row) => self.row(key, place, row),
            MutationFragment::PartitionStart(deletion) => {
                self.start_partition(key, deletion);
                ControlFlow::Continue(())
            }
            MutationFragment::StaticRow(row) => self.static_row(key, row),
            MutationFragment::TombstoneChange(bound, deletion) => {
                self.tombstone_change(key, bound, deletion)
            }
            MutationFragment::PartitionEnd => self.end_partition(key),
        }
    }
}
