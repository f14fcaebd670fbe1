//! Running modifications without conditions: what must be read first, then all mutations at once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use helenus_core::ErrorResponse;

use super::cells::Stamp;
use super::mutate::{self, FoundRows, Places};
use crate::context::Context;
use crate::readers::{
    Fragment, PartitionRange, Position, ReadCommand, ReadLimit, ReadProgress, Slices,
};
use crate::schema::Table;
use crate::statement::{BoundRows, Modify, Statement};
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, Mutation};
use crate::term::{Binds, OwnedBinds};

/// A modification that waits for a read, with all that the request gave it.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) statement: Arc<Statement>,
    /// Its place within the statement, if that is a batch.
    pub(super) index: usize,
    pub(super) places: Places,
    pub(super) stamp: Stamp,
    /// The values, shared by the statements of a batch that has one list of them.
    pub(super) binds: Arc<OwnedBinds>,
    /// How many calls of functions the statements before it may have made.
    pub(super) calls: u32,
}

impl Item {
    /// The plan.
    pub(super) fn modify(&self) -> Option<&Modify> {
        self.statement.modify(self.index)
    }
}

/// Modifications that read lists before they write.
#[derive(Debug)]
pub(super) struct WriteRun {
    items: Vec<Item>,
    reads: Vec<ReadCommand>,
    found: Found,
    mutations: Vec<Mutation>,
    context: Context,
    list_elements: Cell<u32>,
}

/// Rows read before a write.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) key: Option<DecoratedKey>,
    pub(super) rows: FoundRows,
}

impl Found {
    /// Takes in a piece of a read.
    pub(super) fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        let (clustering, row) = match fragment {
            Fragment::PartitionStart(key) => {
                self.key = Some(key.clone());
                return ControlFlow::Continue(());
            }
            Fragment::StaticRow(row) => (None, row),
            Fragment::Row(clustering, row) => (Some(clustering.clone()), row),
            Fragment::PartitionEnd => return ControlFlow::Continue(()),
        };
        if let Some(key) = &self.key {
            self.rows.insert((key.clone(), clustering), row.clone());
        }
        ControlFlow::Continue(())
    }
}

/// The slices that hold these rows and no others.
pub(super) fn slices_of(rows: &BoundRows, table_has_clustering: bool) -> Slices {
    let one = |key: &ClusteringKey| {
        (
            ClusteringBound::Before(key.sort.clone()),
            ClusteringBound::After(key.sort.clone()),
        )
    };
    match rows {
        BoundRows::One(_) if !table_has_clustering => Slices::All,
        BoundRows::One(key) => Slices::Ranges([one(key)].into()),
        BoundRows::Keys(keys) => Slices::Ranges(keys.iter().map(one).collect()),
        BoundRows::All => Slices::Ranges([].into()),
        BoundRows::Ranges(ranges) => Slices::Ranges(ranges.clone().into()),
    }
}

impl WriteRun {
    /// For these modifications; `mutations` are those of others that go along.
    pub(super) fn new(
        items: Vec<Item>,
        mutations: Vec<Mutation>,
        context: Context,
        list_elements: Cell<u32>,
    ) -> Self {
        let mut reads = Vec::new();
        for item in &items {
            let Some(modify) = item.modify() else {
                continue;
            };
            let slices = slices_of(&item.places.rows, modify.table.clustering_len > 0);
            for key in &item.places.keys {
                reads.push(ReadCommand {
                    table: modify.table.clone(),
                    range: PartitionRange::Key(key.clone()),
                    slices: slices.clone(),
                    reversed: false,
                    now_seconds: item.stamp.now_seconds,
                    resume: None,
                    limit: ReadLimit::NONE,
                });
            }
        }
        reads.reverse();
        Self {
            items,
            reads,
            found: Found::default(),
            mutations,
            context,
            list_elements,
        }
    }

    /// What it writes.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        let waiting = self.items.iter().filter_map(Item::modify);
        let waiting = waiting.map(|modify| &*modify.table);
        let others = self.mutations.iter().map(|mutation| &*mutation.table);
        waiting.chain(others)
    }

    /// The read to make next.
    pub(super) fn next_read(&self) -> Option<ReadCommand> {
        self.reads.last().cloned()
    }

    /// Takes in how a read ended.
    pub(super) fn read(&mut self, progress: ReadProgress) {
        match progress {
            ReadProgress::Finished => {
                self.reads.pop();
            }
            ReadProgress::Yielded(position) | ReadProgress::Stopped(position) => {
                self.resume_at(position)
            }
        }
    }

    fn resume_at(&mut self, position: Position) {
        if let Some(read) = self.reads.last_mut() {
            read.resume = Some(position);
        }
    }

    /// Takes in a piece of a read.
    pub(super) fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        self.found.consume(fragment)
    }

    /// All mutations, the reads being done.
    pub(super) fn finish(self) -> Result<Vec<Mutation>, ErrorResponse> {
        let mut mutations = self.mutations;
        build(
            &self.items,
            &self.found.rows,
            &self.context,
            &self.list_elements,
            &mut mutations,
        )?;
        Ok(mutations)
    }
}

/// Builds the mutations of modifications that have waited.
pub(super) fn build(
    items: &[Item],
    found: &FoundRows,
    context: &Context,
    list_elements: &Cell<u32>,
    mutations: &mut Vec<Mutation>,
) -> Result<(), ErrorResponse> {
    let mut last: Option<(&Arc<OwnedBinds>, Binds<'_>)> = None;
    for item in items {
        let Some(modify) = item.modify() else {
            continue;
        };
        let (shared, binds) = match last.take() {
            Some((shared, binds)) if Arc::ptr_eq(shared, &item.binds) => (shared, binds),
            _ => {
                let binds = Binds::again(&item.binds, context, list_elements);
                binds.environment().skip_calls(item.calls);
                (&item.binds, binds)
            }
        };
        mutate::mutations(modify, &item.places, item.stamp, &binds, found, mutations)?;
        last = Some((shared, binds));
    }
    Ok(())
}

/// Joins mutations of the same partition, so that each partition changes at once.
pub(super) fn merge(mutations: Vec<Mutation>) -> Vec<Mutation> {
    let mut merged: Vec<Mutation> = Vec::with_capacity(mutations.len());
    let mut places: BTreeMap<(uuid::Uuid, bytes::Bytes), usize> = BTreeMap::new();
    for mut mutation in mutations {
        let place = (mutation.table.id, mutation.key.key.clone());
        let existing = places.get(&place).and_then(|index| merged.get_mut(*index));
        // Two static rows would need reconciling, which storage does.
        match existing {
            Some(existing)
                if (existing.static_row.is_none() || mutation.static_row.is_none())
                    && (existing.partition_deletion.is_none()
                        || mutation.partition_deletion.is_none()) =>
            {
                existing.rows.append(&mut mutation.rows);
                existing
                    .range_tombstones
                    .append(&mut mutation.range_tombstones);
                existing.static_row = existing.static_row.take().or(mutation.static_row);
                existing.partition_deletion =
                    existing.partition_deletion.or(mutation.partition_deletion);
            }
            _ => {
                places.insert(place, merged.len());
                merged.push(mutation);
            }
        }
    }
    merged
}
