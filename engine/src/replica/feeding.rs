//! What feeds a builder: a reader's fragments, up to a budget.

use std::ops::ControlFlow;

use super::DataBuilder;
use super::sink::Sink;
use crate::readers::{MutationConsumer, MutationFragment, Position, ReadCommand, ReadProgress};
use crate::storage::{ClusteringBound, DecoratedKey};

/// Rows of a partition that has as many as are wanted are passed over one by one up to here; then the read goes on behind
/// the partition.
const PASSED_OVER: usize = 128;

/// Feeds a builder in one go.
#[derive(Debug)]
pub(crate) struct Feeding<'a, 'b, S> {
    builder: &'b mut DataBuilder<S>,
    command: &'a ReadCommand,
    budget: usize,
}

impl<'a, 'b, S: Sink> Feeding<'a, 'b, S> {
    /// One that pauses after `budget` fragments.
    pub(crate) fn new(
        builder: &'b mut DataBuilder<S>,
        command: &'a ReadCommand,
        budget: usize,
    ) -> Self {
        Self {
            builder,
            command,
            budget,
        }
    }

    /// Where a limit ended the answer.
    pub(crate) fn stopped(&self) -> Option<ReadProgress> {
        self.builder.end().cloned().map(ReadProgress::Stopped)
    }

    /// Counts a fragment behind which a read can go on, at a bound of the partition.
    fn spend(
        &mut self,
        key: &DecoratedKey,
        bound: impl FnOnce() -> ClusteringBound,
    ) -> ControlFlow<ReadProgress> {
        self.budget = self.budget.saturating_sub(1);
        let passed_over = self
            .builder
            .partition()
            .and_then(|partition| partition.full);
        if passed_over.is_some_and(|passed_over| passed_over > PASSED_OVER) {
            let behind = Position::after_partition(key.clone(), self.command.reversed);
            return ControlFlow::Break(ReadProgress::Yielded(behind));
        }
        match self.budget {
            0 => ControlFlow::Break(ReadProgress::Yielded(Position::new(key.clone(), bound()))),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl<S: Sink> MutationConsumer for Feeding<'_, '_, S> {
    type Pause = ReadProgress;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<ReadProgress> {
        let reversed = self.command.reversed;
        let resumed = self.command.resume.as_ref();
        let mut paused = ControlFlow::Continue(());
        match fragment {
            MutationFragment::PartitionStart(deletion) => {
                let from = resumed
                    .filter(|position| position.key == *key)
                    .map(|position| &position.bound);
                self.builder.start(key, deletion, from);
            }
            MutationFragment::StaticRow(row) => self.builder.static_row(row),
            MutationFragment::TombstoneChange(bound, deletion) => {
                self.builder.change(bound, deletion);
                // To yield where the read resumed would get nowhere; at the far end the partition's own end is due.
                let is_far_end = *bound == Position::far_end(reversed);
                if !is_far_end && resumed.is_none_or(|position| position.bound != *bound) {
                    paused = self.spend(key, || bound.clone());
                }
            }
            MutationFragment::Row(place, row) => {
                self.builder.row(place, row);
                paused = self.spend(key, || Position::behind(place.sort.clone(), reversed));
            }
            MutationFragment::PartitionEnd => {
                self.builder.end_partition();
                paused = self.spend(key, || Position::far_end(reversed));
            }
        }
        match self.stopped() {
            Some(stopped) => ControlFlow::Break(stopped),
            None => paused,
        }
    }
}
