//! Merging runs into one, a little at a time: the same readers as a query's, paused and resumed by position.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::readers::{
    Combined, Consumed, MutationConsumer, MutationFragment, MutationReader, PartitionRange,
    Position, ReadCommand, ReadLimit, RunReader, Slices,
};
use crate::schema::Table;

use super::expiry::Purge;
use super::{
    ClusteringBound, DecoratedKey, DeletionTime, Partition, RangeTombstone, Run, StoredRow,
};

/// A merge under way.
#[derive(Debug)]
pub(super) struct Merge {
    /// The runs it merges.
    inputs: Vec<RunId>,
    /// How far it came.
    position: Option<Position>,
    output: Run,
    /// The partition that is being written.
    partition: Option<(DecoratedKey, Partition)>,
}

/// The identity of a run within its table.
pub(super) type RunId = u64;

impl Merge {
    pub(super) fn new(inputs: Vec<RunId>) -> Self {
        Self {
            inputs,
            position: None,
            output: Run::default(),
            partition: None,
        }
    }

    pub(super) fn inputs(&self) -> &[RunId] {
        &self.inputs
    }

    pub(super) fn into_output(self) -> Run {
        self.output
    }

    /// Merges about `budget` fragments further; says whether that was all.
    pub(super) fn step<'a>(
        &mut self,
        table: &Arc<Table>,
        runs: impl Iterator<Item = &'a Run>,
        purge: Purge,
        budget: usize,
    ) -> bool {
        let command = ReadCommand {
            table: Arc::clone(table),
            range: PartitionRange::ALL,
            slices: Slices::All,
            reversed: false,
            now_seconds: purge.now_seconds,
            resume: self.position.take(),
            limit: ReadLimit::NONE,
        };
        let readers = runs.map(|run| RunReader::new(&command, run));
        let mut reader = Combined::new(readers, &command);
        let mut writer = Writer {
            output: &mut self.output,
            continued: self.partition.is_some(),
            partition: self.partition.take(),
            deletion: None,
            active: None,
            resumed: command.resume.as_ref().map(|position| &position.bound),
            purge,
            budget,
        };
        if let Consumed::Paused(position) = reader.consume_pausable(&mut writer) {
            writer.change_tombstone(&position.bound, None);
            self.partition = writer.partition;
            self.position = Some(position);
            return false;
        }
        true
    }
}

/// Writes fragments into a run, without what may be forgotten.
struct Writer<'w> {
    output: &'w mut Run,
    partition: Option<(DecoratedKey, Partition)>,
    /// Whether the partition's beginning was written in an earlier step.
    continued: bool,
    deletion: Option<DeletionTime>,
    active: Option<(ClusteringBound, DeletionTime)>,
    /// Where this step began: to pause there again would get nowhere, and to pause at the end would skip it.
    resumed: Option<&'w ClusteringBound>,
    purge: Purge,
    budget: usize,
}

impl Writer<'_> {
    fn start_partition(&mut self, key: &DecoratedKey, deletion: Option<DeletionTime>) {
        self.deletion = deletion;
        self.active = None;
        self.continued &= self
            .partition
            .as_ref()
            .is_some_and(|(written, _)| written == key);
        if !self.continued {
            let kept = deletion.filter(|deletion| !self.purge.forgets(*deletion));
            self.partition = Some((key.clone(), Partition::new(kept)));
        }
    }

    /// What is left of a row after deletions of its surroundings and the purge.
    fn rest(&self, row: &StoredRow, shadow: Option<DeletionTime>) -> Option<StoredRow> {
        let mut row = row.clone();
        row.shadow(shadow);
        let mut row = row.into_row();
        row.purge(&self.purge);
        if row.is_empty() {
            None
        } else {
            Some(StoredRow::new(row))
        }
    }

    fn change_tombstone(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>) {
        if let Some((start, deletion)) = self.active.take()
            && start < *bound
            && Some(deletion) > self.deletion
            && !self.purge.forgets(deletion)
            && let Some((_, partition)) = &mut self.partition
        {
            let end = bound.clone();
            self.output
                .grow(partition.push_range_tombstone(RangeTombstone {
                    start,
                    end,
                    deletion,
                }));
        }
        self.active = deletion.map(|deletion| (bound.clone(), deletion));
    }

    fn spend(&mut self, position: impl FnOnce() -> Position) -> ControlFlow<Position> {
        self.budget = self.budget.saturating_sub(1);
        match self.budget {
            0 => ControlFlow::Break(position()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl MutationConsumer for Writer<'_> {
    type Pause = Position;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Position> {
        match fragment {
            MutationFragment::PartitionStart(deletion) => {
                self.start_partition(key, deletion);
                ControlFlow::Continue(())
            }
            MutationFragment::StaticRow(_) if self.continued => ControlFlow::Continue(()),
            MutationFragment::StaticRow(row) => {
                if let Some(row) = self.rest(row, self.deletion)
                    && let Some((_, partition)) = &mut self.partition
                {
                    self.output.grow(partition.set_static_row(row));
                }
                ControlFlow::Continue(())
            }
            MutationFragment::TombstoneChange(bound, deletion) => {
                self.change_tombstone(bound, deletion);
                if *bound == ClusteringBound::End || self.resumed == Some(bound) {
                    return ControlFlow::Continue(());
                }
                self.spend(|| Position::new(key.clone(), bound.clone()))
            }
            MutationFragment::Row(place, row) => {
                let active = self.active.as_ref().map(|(_, deletion)| *deletion);
                if let Some(row) = self.rest(row, self.deletion.max(active))
                    && let Some((_, partition)) = &mut self.partition
                {
                    self.output.grow(partition.push_row(place.clone(), row));
                }
                self.spend(|| Position::after_row(key.clone(), place.sort.clone(), false))
            }
            MutationFragment::PartitionEnd => {
                self.continued = false;
                if let Some((key, partition)) = self.partition.take()
                    && !partition.is_empty()
                {
                    self.output.push(key, partition);
                }
                self.spend(|| Position::after_partition(key.clone(), false))
            }
        }
    }
}
