//! Merges several readers into one: partitions by key, rows by place, deletions by the greatest that counts.
//!
//! Sources stand at their heads, sorted. Whoever is ahead of the others runs on by itself as far as it may: to its end if
//! it is the only one left, to the end of a partition that no other has, to the next place of another that shares the
//! partition. A head is compared only when it has changed, and first with its neighbour's.

mod order;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::storage::{CellKind, DecoratedKey, DeletionTime, Row, StoredRow};

use self::order::Order;
use super::limits::Within;
use super::{
    Consumed, MutationConsumer, MutationFragment, MutationReader, Place, ReadCommand, Step,
};

/// Yields what its sources yield, merged. A row that several have is merged into one that all following such rows
/// reuse; where one version stands whole against the others it is lent as it is.
#[derive(Debug)]
pub struct Combined<R> {
    sources: Box<[Source<R>]>,
    kind: CellKind,
    reversed: bool,
    /// Those that aren't at their ends: first those that have the current partition, by the places of their heads, then the
    /// others by the keys of theirs.
    order: Order,
    /// How many have the current partition.
    joined: usize,
    /// Of how many at the front the head was given out, so that they must step before anything else.
    due: usize,
    given: Given,
    /// The merged deletion of the partition as a whole.
    deletion: Option<DeletionTime>,
    /// The deletion of a range that counts here.
    active: Option<DeletionTime>,
    /// Where versions of a row are merged.
    merged: StoredRow,
}

#[derive(Debug)]
struct Source<R> {
    reader: R,
    /// The deletion of a range that counts in it.
    active: Option<DeletionTime>,
}

/// What the current fragment is made of.
#[derive(Debug, Clone, Copy)]
enum Given {
    Nothing,
    /// The first head, as it is.
    Head,
    /// The start of a partition under the merged deletion.
    Start,
    /// The first head's change of deletion, after what other deletions say.
    Change,
    /// This source's version of the row.
    Version(usize),
    /// The merged row.
    Merged,
}

impl<R: MutationReader> Source<R> {
    #[inline]
    fn head(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.reader.current()
    }

    #[inline]
    fn place(&self) -> Place<'_> {
        self.head()
            .map_or(Place::End, |(_, fragment)| Place::of(fragment))
    }

    #[inline]
    fn row(&self) -> Option<&StoredRow> {
        match self.head()?.1 {
            MutationFragment::Row(_, row) | MutationFragment::StaticRow(row) => Some(row),
            _ => None,
        }
    }
}

impl<R: MutationReader> Combined<R> {
    /// A reader over sources that all read for `command`.
    pub fn new(readers: impl IntoIterator<Item = R>, command: &ReadCommand) -> Self {
        let source = |reader| Source {
            reader,
            active: None,
        };
        let sources: Box<[_]> = readers.into_iter().map(source).collect();
        let count = sources.len();
        Self {
            sources,
            kind: CellKind::of(command.table.is_counter),
            reversed: command.reversed,
            order: Order::of(count),
            joined: count,
            due: count,
            given: Given::Nothing,
            deletion: None,
            active: None,
            merged: StoredRow::default(),
        }
    }

    /// The source that has to step before anything else.
    #[inline]
    pub(super) fn awaited(&mut self) -> Option<&mut R> {
        let at = self.due.checked_sub(1)?;
        let source = self.sources.get_mut(self.order.get(at)?)?;
        Some(&mut source.reader)
    }

    #[inline]
    fn first(&self) -> Option<&Source<R>> {
        self.sources.get(self.order.get(0)?)
    }

    /// Has those step whose heads were given out; says whether all heads are there.
    fn step_due(&mut self) -> bool {
        while let Some(at) = self.due.checked_sub(1) {
            if let Some(reader) = self.awaited() {
                match reader.next() {
                    Step::Pending => return false,
                    Step::Fragment(_, MutationFragment::PartitionStart(_)) => {
                        self.joined = self.joined.min(at);
                        self.settle_start(at);
                    }
                    Step::Fragment(..) => self.settle_place(at),
                    Step::End => self.leave(at),
                }
            }
            self.due = at;
        }
        true
    }

    /// Moves a source that stands at a partition's start to where it belongs.
    fn settle_start(&mut self, at: usize) {
        let sources = &self.sources;
        let key = |index: usize| Some(sources.get(index)?.head()?.0);
        let Some(moved) = self.order.get(at) else {
            return;
        };
        let (moved, end) = (key(moved), self.order.len());
        self.order.settle(at, end, |other| moved.cmp(&key(other)));
    }

    /// Moves a source that stands within the partition to where it belongs.
    #[inline]
    fn settle_place(&mut self, at: usize) {
        let (sources, reversed) = (&self.sources, self.reversed);
        let place = |index: usize| sources.get(index).map_or(Place::End, Source::place);
        let Some(moved) = self.order.get(at) else {
            return;
        };
        let moved = place(moved);
        self.order
            .settle(at, self.joined, |other| moved.order(place(other), reversed));
    }

    /// Leaves out a source that has ended.
    fn leave(&mut self, at: usize) {
        self.order.remove(at);
        self.joined -= usize::from(at < self.joined);
    }

    fn start_partition(&mut self) -> Given {
        self.joined = self.order.ties();
        self.due = self.joined;
        self.deletion = None;
        self.active = None;
        for index in self.order.iter().take(self.joined) {
            if let Some(source) = self.sources.get_mut(index) {
                source.active = None;
                if let Some((_, MutationFragment::PartitionStart(deletion))) = source.head() {
                    self.deletion = self.deletion.max(deletion);
                }
            }
        }
        Given::Start
    }

    fn go_on(&mut self) -> Given {
        self.due = 1;
        let head = self.first().and_then(Source::head);
        match head.map(|(_, fragment)| fragment) {
            Some(MutationFragment::Row(..) | MutationFragment::StaticRow(_)) => {
                match self.order.ties() {
                    1 => Given::Head,
                    versions => {
                        self.due = versions;
                        self.merge(versions)
                    }
                }
            }
            Some(MutationFragment::TombstoneChange(_, active)) => {
                self.change_deletion(active);
                Given::Change
            }
            _ => {
                self.due = self.joined;
                Given::Head
            }
        }
    }

    fn change_deletion(&mut self, active: Option<DeletionTime>) {
        let first = self.order.get(0);
        if let Some(source) = first.and_then(|index| self.sources.get_mut(index)) {
            source.active = active;
        }
        let joined = self.order.iter().take(self.joined);
        self.active = joined
            .filter_map(|index| self.sources.get(index)?.active)
            .max();
    }

    /// Merges the first so many heads, versions of one row.
    fn merge(&mut self, versions: usize) -> Given {
        let shadow = self.deletion.max(self.active);
        if self.kind == CellKind::Regular
            && let Some(version) = self.standing(versions, shadow)
        {
            return Given::Version(version);
        }
        let sources = &self.sources;
        let rows = self.order.iter().take(versions);
        let mut rows = rows.filter_map(|index| sources.get(index)?.row());
        match self.kind {
            CellKind::Regular => {
                if let Some(first) = rows.next() {
                    self.merged.clone_from(first);
                }
                for row in rows {
                    self.merged.merge(row.row(), CellKind::Regular);
                }
            }
            CellKind::Counter => {
                // What deletes a version must meet each before they add up.
                let deletion = rows.clone().filter_map(|row| row.row().deletion).max();
                self.merged = StoredRow::new(Row {
                    deletion,
                    ..Row::default()
                });
                for row in rows {
                    let mut row = row.clone();
                    row.shadow(shadow);
                    self.merged.merge(row.row(), CellKind::Counter);
                }
            }
        }
        self.merged.shadow(shadow);
        Given::Merged
    }

    /// Which of the first so many versions stands whole against each other, under a deletion that deletes nothing of any.
    fn standing(&self, versions: usize, shadow: Option<DeletionTime>) -> Option<usize> {
        let version = |at: usize| {
            let index = self.order.get(at)?;
            let row = self.sources.get(index)?.row()?;
            (!row.is_touched_by(shadow)).then_some((index, row.row()))
        };
        let mut best = version(0)?;
        for at in 1..versions {
            let other = version(at)?;
            if best.1.covers(other.1) {
                continue;
            }
            if !other.1.covers(best.1) {
                return None;
            }
            best = other;
        }
        Some(best.0)
    }

    /// Has the only source that is left feed the consumer.
    fn run_alone<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause> {
        let Some(reader) = self.awaited() else {
            return Consumed::Finished;
        };
        let consumed = reader.consume_pausable(consumer);
        self.joined = 1;
        self.given = match consumed {
            Consumed::Paused(_) => Given::Head,
            Consumed::Pending => Given::Nothing,
            Consumed::Finished => {
                self.due = 0;
                self.leave(0);
                Given::Nothing
            }
        };
        consumed
    }

    /// Has the first source feed the consumer alone, as far as it comes before the others, after its head was taken.
    fn run_on<C: MutationConsumer>(&mut self, consumer: &mut C) -> Option<Consumed<C::Pause>> {
        let first = self.order.get(0)?;
        let consumed = match (self.joined, self.order.get(1)) {
            (1, _) => {
                let source = self.sources.get_mut(first)?;
                source.reader.consume_pausable(&mut Within(consumer))
            }
            (_, second) => {
                let [first, second] = self.sources.get_disjoint_mut([first, second?]).ok()?;
                let limit = second.place();
                let consumed = first.reader.consume_before(limit, self.reversed, consumer);
                if let Consumed::Paused(None) = consumed {
                    self.due = 0;
                    self.settle_place(0);
                    return None;
                }
                consumed
            }
        };
        match consumed {
            Consumed::Paused(pause) => {
                self.given = Given::Head;
                pause.map(Consumed::Paused)
            }
            Consumed::Pending => {
                self.given = Given::Nothing;
                Some(Consumed::Pending)
            }
            Consumed::Finished => {
                self.due = 0;
                self.leave(0);
                None
            }
        }
    }
}

impl<R: MutationReader> MutationReader for Combined<R> {
    fn next(&mut self) -> Step<'_> {
        if !self.step_due() {
            self.given = Given::Nothing;
            return Step::Pending;
        }
        self.given = match self.joined {
            0 => self.start_partition(),
            _ => self.go_on(),
        };
        match self.current() {
            Some((key, fragment)) => Step::Fragment(key, fragment),
            None => Step::End,
        }
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        let (key, head) = self.first()?.head()?;
        let fragment = match (self.given, head) {
            (Given::Nothing, _) => return None,
            (Given::Start, _) => MutationFragment::PartitionStart(self.deletion),
            (Given::Change, MutationFragment::TombstoneChange(bound, _)) => {
                MutationFragment::TombstoneChange(bound, self.active)
            }
            (Given::Version(index), MutationFragment::Row(place, _)) => {
                MutationFragment::Row(place, self.sources.get(index)?.row()?)
            }
            (Given::Version(index), MutationFragment::StaticRow(_)) => {
                MutationFragment::StaticRow(self.sources.get(index)?.row()?)
            }
            (Given::Merged, MutationFragment::Row(place, _)) => {
                MutationFragment::Row(place, &self.merged)
            }
            (Given::Merged, MutationFragment::StaticRow(_)) => {
                MutationFragment::StaticRow(&self.merged)
            }
            (_, head) => head,
        };
        Some((key, fragment))
    }

    fn consume_pausable<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause> {
        loop {
            if self.due == 1 && self.order.len() == 1 {
                return self.run_alone(consumer);
            }
            let (key, fragment) = match self.next() {
                Step::Fragment(key, fragment) => (key, fragment),
                Step::Pending => return Consumed::Pending,
                Step::End => return Consumed::Finished,
            };
            let is_row = matches!(fragment, MutationFragment::Row(..));
            let is_end = matches!(fragment, MutationFragment::PartitionEnd);
            if let ControlFlow::Break(pause) = consumer.consume(key, fragment) {
                return Consumed::Paused(pause);
            }
            if self.due == 1
                && (is_row || self.joined == 1 && !is_end)
                && self.order.len() > 1
                && let Some(consumed) = self.run_on(consumer)
            {
                return consumed;
            }
        }
    }
}
