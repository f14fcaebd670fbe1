//! Compacts what a reader yields to what is alive, hands it to the consumer, and says where it paused.

use std::ops::ControlFlow;

use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, Row};

use super::{
    Consumer, Fragment, MutationConsumer, MutationFragment, Position, ReadCommand, ReadProgress,
    RowRef,
};

/// Feeds a [`Consumer`] with what is alive. Everything read counts against the budget, dead or not.
#[derive(Debug)]
pub(crate) struct Compactor<'a, 'c, C> {
    consumer: &'c mut C,
    command: &'a ReadCommand,
    budget: usize,
    key: Option<&'a DecoratedKey>,
    /// The deletion of the whole partition.
    deletion: Option<DeletionTime>,
    /// The deletion of a range that counts here.
    active: Option<DeletionTime>,
    delivery: Delivery,
    /// Held back until a row follows.
    static_row: Option<RowRef<'a>>,
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
    /// One that pauses after `budget` fragments.
    pub(crate) fn new(command: &'a ReadCommand, budget: usize, consumer: &'c mut C) -> Self {
        Self {
            consumer,
            command,
            budget,
            key: None,
            deletion: None,
            active: None,
            delivery: Delivery::Pending,
            static_row: None,
            scratch: Row::default(),
        }
    }

    fn start_partition(&mut self, key: &'a DecoratedKey, deletion: Option<DeletionTime>) {
        self.key = Some(key);
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

    fn static_row(&mut self, row: RowRef<'a>) -> ControlFlow<ReadProgress> {
        match self.delivery {
            Delivery::Started => ControlFlow::Continue(()),
            Delivery::HeldBack => {
                self.static_row = Some(row);
                ControlFlow::Continue(())
            }
            Delivery::Pending => self.deliver_static_row(&row),
        }
    }

    fn deliver_static_row(&mut self, row: &RowRef<'a>) -> ControlFlow<ReadProgress> {
        let now = self.command.now_seconds;
        let live = if row.is_alive(self.deletion, now) {
            row.row()
        } else if self.pass_tombstones_of(row, self.deletion).is_break() {
            return self.stop_before_rows();
        } else if row.row().live_into(self.deletion, now, &mut self.scratch) {
            &self.scratch
        } else {
            return ControlFlow::Continue(());
        };
        if self.delivery != Delivery::Started
            && let Some(key) = self.key
        {
            self.delivery = Delivery::Started;
            if self
                .consumer
                .consume(Fragment::PartitionStart(key))
                .is_break()
            {
                return self.stop_before_rows();
            }
        }
        if self.consumer.consume(Fragment::StaticRow(live)).is_break() {
            return self.stop_before_rows();
        }
        ControlFlow::Continue(())
    }

    fn row(&mut self, place: &'a ClusteringKey, row: &RowRef<'a>) -> ControlFlow<ReadProgress> {
        let shadow = self.deletion.max(self.active);
        let now = self.command.now_seconds;
        let lend = row.is_alive(shadow, now);
        if !lend && self.pass_tombstones_of(row, shadow).is_break() {
            return self.pause(ReadProgress::Stopped, |compactor, key| {
                Position::after_row(key, place.sort.clone(), compactor.command.reversed)
            });
        }
        if lend || row.row().live_into(shadow, now, &mut self.scratch) {
            if self.delivery != Delivery::Started {
                self.begin()?;
                // What was held back may have gone through the scratch row.
                if !lend {
                    row.row().live_into(shadow, now, &mut self.scratch);
                }
            }
            let live = if lend { row.row() } else { &self.scratch };
            if self.consumer.consume(Fragment::Row(place, live)).is_break() {
                return self.pause(ReadProgress::Stopped, |compactor, key| {
                    Position::after_row(key, place.sort.clone(), compactor.command.reversed)
                });
            }
        }
        self.spend(|compactor, key| {
            Position::after_row(key, place.sort.clone(), compactor.command.reversed)
        })
    }

    /// Tells the consumer of what is dead in a row.
    fn pass_tombstones_of(
        &mut self,
        row: &RowRef<'a>,
        shadow: Option<DeletionTime>,
    ) -> ControlFlow<()> {
        let Some(key) = self.key else {
            return ControlFlow::Continue(());
        };
        let now = self.command.now_seconds;
        let gc_before = now.saturating_sub(self.command.table.gc_grace_seconds.into());
        match row.row().tombstones(shadow, now, gc_before) {
            0 => ControlFlow::Continue(()),
            count => self.consumer.pass_tombstones(key, count),
        }
    }

    /// Delivers the partition's start and the static row that was held back.
    fn begin(&mut self) -> ControlFlow<ReadProgress> {
        self.delivery = Delivery::Started;
        if let Some(key) = self.key
            && self
                .consumer
                .consume(Fragment::PartitionStart(key))
                .is_break()
        {
            return self.stop_before_rows();
        }
        match self.static_row.take() {
            Some(row) => self.deliver_static_row(&row),
            None => ControlFlow::Continue(()),
        }
    }

    /// Stops where this read began to look at the partition's rows.
    fn stop_before_rows(&self) -> ControlFlow<ReadProgress> {
        self.pause(ReadProgress::Stopped, |compactor, key| {
            match &compactor.command.resume {
                Some(position) if position.key == key => position.clone(),
                _ => Position::at_start(key, compactor.command.reversed),
            }
        })
    }

    fn tombstone_change(
        &mut self,
        bound: &'a ClusteringBound,
        deletion: Option<DeletionTime>,
    ) -> ControlFlow<ReadProgress> {
        self.active = deletion;
        if let Some(key) = self.key
            && self.consumer.pass_tombstones(key, 1).is_break()
        {
            return self.pause(ReadProgress::Stopped, |_, key| {
                Position::new(key, bound.clone())
            });
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
        self.spend(|_, key| Position::new(key, bound.clone()))
    }

    fn end_partition(&mut self) -> ControlFlow<ReadProgress> {
        let delivered = self.delivery == Delivery::Started;
        self.delivery = Delivery::Pending;
        if delivered && self.consumer.consume(Fragment::PartitionEnd).is_break() {
            return self.pause(ReadProgress::Stopped, |compactor, key| {
                Position::after_partition(key, compactor.command.reversed)
            });
        }
        self.spend(|compactor, key| Position::after_partition(key, compactor.command.reversed))
    }

    /// Counts a fragment; yields when the budget is used up.
    fn spend(
        &mut self,
        position: impl FnOnce(&Self, DecoratedKey) -> Position,
    ) -> ControlFlow<ReadProgress> {
        self.budget = self.budget.saturating_sub(1);
        if self.budget > 0 {
            return ControlFlow::Continue(());
        }
        let open = self.delivery == Delivery::Started;
        self.pause(ReadProgress::Yielded, |compactor, key| Position {
            open,
            ..position(compactor, key)
        })
    }

    fn pause(
        &self,
        progress: fn(Position) -> ReadProgress,
        position: impl FnOnce(&Self, DecoratedKey) -> Position,
    ) -> ControlFlow<ReadProgress> {
        match self.key {
            Some(key) => ControlFlow::Break(progress(position(self, key.clone()))),
            None => ControlFlow::Continue(()),
        }
    }
}

impl<'a, C: Consumer> MutationConsumer<'a> for Compactor<'a, '_, C> {
    type Pause = ReadProgress;

    fn consume(&mut self, fragment: MutationFragment<'a>) -> ControlFlow<ReadProgress> {
        match fragment {
            MutationFragment::Row(key, row) => self.row(key, &row),
            MutationFragment::PartitionStart(key, deletion) => {
                self.start_partition(key, deletion);
                ControlFlow::Continue(())
            }
            MutationFragment::StaticRow(row) => self.static_row(row),
            MutationFragment::TombstoneChange(bound, deletion) => {
                self.tombstone_change(bound, deletion)
            }
            MutationFragment::PartitionEnd => self.end_partition(),
        }
    }
}
