//! What the leader of a counter's change does: the change becomes its own share of the counter, which replicas merge.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::Shard;
use crate::readers::{MutationFragment, PartitionRange, ReadCommand, ReadLimit, Slices};
use crate::schema::ColumnId;
use crate::storage::counter::{Share, plain};
use crate::storage::{
    Cell, ClusteringBound, ClusteringKey, ColumnData, DecoratedKey, Mutation, NO_EXPIRY, Row,
};

/// A cell of a partition; no clustering key is the static row.
type Place = (Option<ClusteringKey>, ColumnId);

impl Mutation {
    /// Whether it adds to counters: it must be [counted](Shard::apply_counter) by one node before others get it.
    pub fn is_counter_delta(&self) -> bool {
        let mut cells = self
            .rows
            .iter()
            .map(|(_, row)| row)
            .chain(&self.static_row)
            .flat_map(|row| &row.columns);
        self.table.is_counter && cells.any(|(_, data)| delta(data).is_some())
    }
}

impl Shard {
    /// Applies a mutation that adds to counters as `node`, and gives what every other replica is to
    /// [`apply`](Self::apply), as often and in whatever order it comes: what the node has counted in all, with its clock.
    /// What the mutation has besides stays as it is.
    ///
    /// `node` must be the identity of one node, whose changes all go through here, and which has forgotten none of them:
    /// one that lost what it had needs another identity. Where nothing is replicated, [`apply`](Self::apply) adds up by
    /// itself, without reading first.
    pub fn apply_counter(&mut self, mutation: &Mutation, node: u128, now_seconds: i64) -> Mutation {
        let mut counted = mutation.clone();
        let mut shares = self.shares(mutation, node, now_seconds);
        let mut count = |place: Option<&ClusteringKey>, row: &mut Row| {
            for (id, data) in &mut row.columns {
                if let Some((delta, cell)) = delta_mut(data) {
                    let share = shares.entry((place.cloned(), *id));
                    let share = share.or_insert_with(|| Share::of(node, &[]));
                    *share = share.add(delta, cell.timestamp);
                    cell.value = Some(share.to_value());
                }
            }
        };
        if let Some(row) = &mut counted.static_row {
            count(None, row);
        }
        for (place, row) in &mut counted.rows {
            count(Some(place), row);
        }
        self.apply(&counted, now_seconds);
        counted
    }

    /// What a node has counted so far in the rows of a mutation.
    fn shares(&self, mutation: &Mutation, node: u128, now_seconds: i64) -> BTreeMap<Place, Share> {
        let mut places: Vec<_> = mutation.rows.iter().map(|(place, _)| place).collect();
        places.sort();
        places.dedup();
        let slices = places.into_iter().map(|place| {
            let sort = &place.sort;
            (
                ClusteringBound::Before(sort.clone()),
                ClusteringBound::After(sort.clone()),
            )
        });
        let command = ReadCommand {
            table: Arc::clone(&mutation.table),
            range: PartitionRange::Key(mutation.key.clone()),
            slices: Slices::Ranges(slices.collect()),
            reversed: false,
            now_seconds,
            resume: None,
            limit: ReadLimit::NONE,
        };
        let mut shares = BTreeMap::new();
        let (mut deleted, mut active) = (None, None);
        let mut take = |_: &DecoratedKey, fragment: MutationFragment<'_>| {
            let (place, row) = match fragment {
                MutationFragment::PartitionStart(deletion) => {
                    deleted = deletion;
                    return ControlFlow::<()>::Continue(());
                }
                MutationFragment::TombstoneChange(_, deletion) => {
                    active = deletion;
                    return ControlFlow::Continue(());
                }
                MutationFragment::PartitionEnd => return ControlFlow::Continue(()),
                MutationFragment::StaticRow(row) => (None, row),
                MutationFragment::Row(place, row) => (Some(place), row),
            };
            let mut row = row.clone();
            row.shadow(deleted.max(active));
            for (id, data) in &row.row().columns {
                if let ColumnData::Simple(Cell {
                    value: Some(value), ..
                }) = data
                {
                    shares.insert((place.cloned(), *id), Share::of(node, value));
                }
            }
            ControlFlow::Continue(())
        };
        // Nothing in memory has to be waited for, and nobody says stop.
        let _ = self.feed(&command, &mut take);
        shares
    }
}

/// What a column's cell adds, if it is a change of a counter.
fn delta(data: &ColumnData) -> Option<i64> {
    match data {
        ColumnData::Simple(cell) if cell.expires_at == NO_EXPIRY => plain(cell.value.as_ref()?),
        _ => None,
    }
}

fn delta_mut(data: &mut ColumnData) -> Option<(i64, &mut Cell)> {
    let delta = delta(data)?;
    match data {
        ColumnData::Simple(cell) => Some((delta, cell)),
        ColumnData::Complex { .. } => None,
    }
}
