//! Which rows a `SELECT` has a use for, for who gathers them before it reads them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Keys, SelectRun};
use crate::execution::row::RowView;
use crate::readers::{PartitionRange, Position, RingBound, Slices};
use crate::statement::Plan;
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey};

/// The places of rows that a `SELECT` may read.
#[derive(Debug)]
pub(in crate::execution) struct Wanted {
    partitions: Partitions,
    slices: Slices,
    resume: Option<Position>,
    reversed: bool,
    /// How many of the first rows, in the order of storage, are enough; `None` for all.
    pub(in crate::execution) first: Option<usize>,
}

#[derive(Debug)]
enum Partitions {
    Keys(BTreeSet<DecoratedKey>),
    Range(RingBound, RingBound),
}

impl Wanted {
    /// Whether the row at this place is among them.
    pub(in crate::execution) fn includes(
        &self,
        key: &DecoratedKey,
        clustering: &ClusteringKey,
    ) -> bool {
        let has_partition = match &self.partitions {
            Partitions::Keys(keys) => keys.contains(key),
            Partitions::Range(start, end) => {
                let resume = self.resume.as_ref();
                !start.is_after(key.token)
                    && end.is_after(key.token)
                    && resume.is_none_or(|position| position.key <= *key)
            }
        };
        has_partition && self.is_ahead(key, clustering) && self.is_in_slices(clustering)
    }

    fn is_ahead(&self, key: &DecoratedKey, clustering: &ClusteringKey) -> bool {
        let behind = if self.reversed {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        let resume = self.resume.as_ref().filter(|position| position.key == *key);
        resume.is_none_or(|position| position.bound.cmp_row(&clustering.sort) == behind)
    }

    fn is_in_slices(&self, clustering: &ClusteringKey) -> bool {
        let encloses = |(start, end): &(ClusteringBound, ClusteringBound)| {
            start.cmp_row(&clustering.sort).is_lt() && end.cmp_row(&clustering.sort).is_gt()
        };
        match &self.slices {
            Slices::All => true,
            Slices::Ranges(ranges) => ranges.iter().any(encloses),
        }
    }
}

impl SelectRun {
    /// Which rows it may read.
    pub(in crate::execution) fn wanted(&self) -> Wanted {
        let state = &self.state;
        let partitions = match &state.keys {
            Keys::One(key) => Partitions::Keys(key.iter().cloned().collect()),
            Keys::Many { keys, .. } => Partitions::Keys(keys.iter().cloned().collect()),
            Keys::Range(PartitionRange::Key(key)) => Partitions::Keys([key.clone()].into()),
            Keys::Range(PartitionRange::Tokens { start, end }) => Partitions::Range(*start, *end),
            Keys::Finished => Partitions::Keys(BTreeSet::new()),
        };
        let Plan::Select(select) = self.statement.plan() else {
            return Wanted {
                partitions,
                slices: state.slices.clone(),
                resume: None,
                reversed: false,
                first: None,
            };
        };
        let is_in_order = !select.reversed && !matches!(state.keys, Keys::Many { .. });
        let is_plain = state.group.is_none() && !select.distinct && state.per_partition == u32::MAX;
        let limit = state.page.remaining.min(state.page.room);
        Wanted {
            partitions,
            slices: state.slices.clone(),
            resume: state.resume.clone(),
            reversed: select.reversed,
            first: usize::try_from(limit)
                .ok()
                .filter(|_| is_in_order && is_plain && limit < u32::MAX),
        }
    }

    /// Whether a row passes its filters.
    pub(in crate::execution) fn accepts(&self, row: &RowView<'_>) -> bool {
        let Plan::Select(select) = self.statement.plan() else {
            return false;
        };
        let mut filters = select.restrictions.filters.iter().zip(&self.state.filters);
        filters.all(|(filter, bound)| filter.accepts(bound, row))
    }
}
