//! Merges several readers into one: partitions by key, rows by place, deletions by the greatest that counts.

use std::cmp::Ordering;

use crate::storage::{CellKind, ClusteringBound, DecoratedKey, DeletionTime, Row, StoredRow};

use super::{MutationFragment, MutationReader, RowRef};

/// Yields what its sources yield, merged. A partition that only one of them has passes through as it is.
#[derive(Debug)]
pub(crate) struct Combined<'a, R> {
    sources: Vec<Source<'a, R>>,
    kind: CellKind,
    reversed: bool,
    stage: Stage,
    /// The merged deletion of the partition as a whole.
    deletion: Option<DeletionTime>,
}

#[derive(Debug)]
struct Source<'a, R> {
    reader: R,
    head: Option<MutationFragment<'a>>,
    /// Whether it has the partition that is being read.
    joined: bool,
    /// The deletion of a range that counts in it.
    active: Option<DeletionTime>,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Every head is a partition's start, or there is none.
    BetweenPartitions,
    /// Only this source has the partition.
    Single(usize),
    /// The joined ones are at their static rows, if they have any.
    StaticRow,
    Rows,
}

/// The place of a fragment within a partition.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Bound(&'a ClusteringBound),
    Row(&'a [u8]),
}

impl Place<'_> {
    fn order(self, other: Self, reversed: bool) -> Ordering {
        let order = match (self, other) {
            (Place::Bound(a), Place::Bound(b)) => a.cmp(b),
            (Place::Bound(bound), Place::Row(sort)) => bound.cmp_row(sort),
            (Place::Row(sort), Place::Bound(bound)) => bound.cmp_row(sort).reverse(),
            (Place::Row(a), Place::Row(b)) => a.cmp(b),
        };
        if reversed { order.reverse() } else { order }
    }
}

impl<'a, R: MutationReader<'a>> Source<'a, R> {
    fn advance(&mut self) -> Option<MutationFragment<'a>> {
        std::mem::replace(&mut self.head, self.reader.next())
    }

    fn start(&self) -> Option<&'a DecoratedKey> {
        match self.head {
            Some(MutationFragment::PartitionStart(key, _)) => Some(key),
            _ => None,
        }
    }

    fn place(&self) -> Option<Place<'a>> {
        match self.head {
            Some(MutationFragment::TombstoneChange(bound, _)) => Some(Place::Bound(bound)),
            Some(MutationFragment::Row(key, _)) => Some(Place::Row(&key.sort)),
            _ => None,
        }
    }
}

impl<'a, R: MutationReader<'a>> Combined<'a, R> {
    /// A reader over sources that all read in the given direction.
    pub(crate) fn new(readers: impl Iterator<Item = R>, kind: CellKind, reversed: bool) -> Self {
        let sources = readers
            .map(|mut reader| {
                let head = reader.next();
                Source {
                    reader,
                    head,
                    joined: false,
                    active: None,
                }
            })
            .collect();
        Self {
            sources,
            kind,
            reversed,
            stage: Stage::BetweenPartitions,
            deletion: None,
        }
    }

    fn start_partition(&mut self) -> Option<MutationFragment<'a>> {
        let key = self.sources.iter().filter_map(Source::start).min()?;
        let (mut joined, mut first) = (0, 0);
        for (index, source) in self.sources.iter_mut().enumerate() {
            // The same place needs no look at the key's bytes, which are far away.
            source.joined = source
                .start()
                .is_some_and(|other| std::ptr::eq(other, key) || other == key);
            source.active = None;
            if source.joined {
                first = if joined == 0 { index } else { first };
                joined += 1;
            }
        }
        if joined == 1 {
            self.stage = Stage::Single(first);
            return self.sources.get_mut(first)?.advance();
        }
        self.stage = Stage::StaticRow;
        self.deletion = None;
        for source in self.sources.iter_mut().filter(|source| source.joined) {
            if let Some(MutationFragment::PartitionStart(_, deletion)) = source.advance() {
                self.deletion = self.deletion.max(deletion);
            }
        }
        Some(MutationFragment::PartitionStart(key, self.deletion))
    }

    fn pass_through(&mut self, index: usize) -> Option<MutationFragment<'a>> {
        let fragment = self.sources.get_mut(index)?.advance();
        if let Some(MutationFragment::PartitionEnd) = fragment {
            self.stage = Stage::BetweenPartitions;
        }
        fragment
    }

    fn static_row(&mut self) -> Option<MutationFragment<'a>> {
        let mut merged = None;
        for source in self.sources.iter_mut().filter(|source| source.joined) {
            if matches!(source.head, Some(MutationFragment::StaticRow(_)))
                && let Some(MutationFragment::StaticRow(row)) = source.advance()
            {
                merged = Some(merge(merged, row, self.deletion, self.kind));
            }
        }
        merged.map(MutationFragment::StaticRow)
    }

    fn next_of_rows(&mut self) -> Option<MutationFragment<'a>> {
        let reversed = self.reversed;
        let joined = self.sources.iter().filter(|source| source.joined);
        let Some(place) = joined
            .filter_map(Source::place)
            .min_by(|a, b| a.order(*b, reversed))
        else {
            return self.end_partition();
        };
        match place {
            Place::Bound(_) => self.tombstone_change(place),
            Place::Row(sort) => self.row(sort),
        }
    }

    fn tombstone_change(&mut self, place: Place<'a>) -> Option<MutationFragment<'a>> {
        let reversed = self.reversed;
        let source = self
            .sources
            .iter_mut()
            .filter(|source| source.joined)
            .find(|source| {
                source
                    .place()
                    .is_some_and(|other| other.order(place, reversed).is_eq())
            })?;
        let Some(MutationFragment::TombstoneChange(bound, active)) = source.advance() else {
            return None;
        };
        source.active = active;
        Some(MutationFragment::TombstoneChange(bound, self.active()))
    }

    fn active(&self) -> Option<DeletionTime> {
        self.sources
            .iter()
            .filter(|source| source.joined)
            .map(|source| source.active)
            .max()?
    }

    fn row(&mut self, sort: &[u8]) -> Option<MutationFragment<'a>> {
        let shadow = self.deletion.max(self.active());
        let mut merged = self.counter_deletion(sort).map(|deletion| {
            let row = Row {
                deletion: Some(deletion),
                ..Row::default()
            };
            RowRef::Merged(Box::new(StoredRow::new(row)))
        });
        let mut place = None;
        for source in self.sources.iter_mut().filter(|source| source.joined) {
            if let Some(MutationFragment::Row(key, _)) = source.head
                && key.sort == sort
                && let Some(MutationFragment::Row(key, row)) = source.advance()
            {
                place = Some(key);
                merged = Some(merge(merged, row, shadow, self.kind));
            }
        }
        Some(MutationFragment::Row(place?, merged?))
    }

    /// The deletion of a row of counters: it must meet each version before they add up.
    fn counter_deletion(&self, sort: &[u8]) -> Option<DeletionTime> {
        if self.kind == CellKind::Regular {
            return None;
        }
        let joined = self.sources.iter().filter(|source| source.joined);
        let deletions = joined.filter_map(|source| match &source.head {
            Some(MutationFragment::Row(key, row)) if key.sort == sort => row.row().deletion,
            _ => None,
        });
        deletions.max()
    }

    fn end_partition(&mut self) -> Option<MutationFragment<'a>> {
        for source in self.sources.iter_mut().filter(|source| source.joined) {
            source.advance();
        }
        self.stage = Stage::BetweenPartitions;
        Some(MutationFragment::PartitionEnd)
    }
}

/// Merges one more version of a row. What a deletion around it deletes goes first, lest counters add it up.
fn merge<'a>(
    merged: Option<RowRef<'a>>,
    row: RowRef<'a>,
    shadow: Option<DeletionTime>,
    kind: CellKind,
) -> RowRef<'a> {
    let Some(merged) = merged else {
        return row;
    };
    let mut merged = merged.into_boxed();
    merged.shadow(shadow);
    if row.is_touched_by(shadow) {
        let mut row = row.into_owned();
        row.shadow(shadow);
        merged.merge(row.row(), kind);
    } else {
        merged.merge(row.row(), kind);
    }
    RowRef::Merged(merged)
}

impl<'a, R: MutationReader<'a>> MutationReader<'a> for Combined<'a, R> {
    fn next(&mut self) -> Option<MutationFragment<'a>> {
        match self.stage {
            Stage::BetweenPartitions => self.start_partition(),
            Stage::Single(index) => self.pass_through(index),
            Stage::StaticRow => {
                self.stage = Stage::Rows;
                self.static_row().or_else(|| self.next_of_rows())
            }
            Stage::Rows => self.next_of_rows(),
        }
    }
}
