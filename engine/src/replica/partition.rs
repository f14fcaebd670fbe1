//! The partition that a builder is in: told to the sink once there is something to tell of it.

use std::borrow::Cow;

use super::changes::{Change, TombstoneChanges};
use super::sink::Sink;
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, Row};

/// A partition under way.
#[derive(Debug)]
pub(super) struct OpenPartition {
    pub(super) key: DecoratedKey,
    /// Its deletion, though that might be forgotten.
    pub(super) deletion: Option<DeletionTime>,
    /// Its deletion if that isn't forgotten, until it is told.
    kept: Option<DeletionTime>,
    /// Until it is told.
    static_row: Option<Row>,
    /// Whether it is one of the answer's rows though it has none but the static one.
    pub(super) counts_alone: bool,
    is_told: bool,
    /// The deletion of a range that counts here, though it might be forgotten.
    pub(super) active: Option<DeletionTime>,
    pub(super) changes: TombstoneChanges,
    /// Live rows so far.
    pub(super) rows: u32,
    /// How many fragments were passed over since it has as many rows as are wanted.
    pub(super) full: Option<usize>,
}

impl OpenPartition {
    pub(super) fn new(
        key: DecoratedKey,
        deletion: Option<DeletionTime>,
        kept: Option<DeletionTime>,
    ) -> Self {
        Self {
            key,
            deletion,
            kept,
            static_row: None,
            counts_alone: false,
            is_told: false,
            active: None,
            changes: TombstoneChanges::default(),
            rows: 0,
            full: None,
        }
    }

    /// Whether a static row is news.
    pub(super) fn lacks_static_row(&self) -> bool {
        !self.is_told && self.static_row.is_none()
    }

    pub(super) fn set_static_row(&mut self, row: Row) {
        self.static_row = Some(row);
    }

    /// The deletion of a row that comes here.
    pub(super) fn shadow(&self) -> Option<DeletionTime> {
        self.deletion.max(self.active)
    }

    /// Whether it was passed over, or has told or would tell anything.
    pub(super) fn has_content(&self) -> bool {
        self.is_told || self.kept.is_some() || self.static_row.is_some()
    }

    /// Tells its start, if that wasn't told yet.
    fn begin(&mut self, sink: &mut impl Sink) {
        if !self.is_told {
            self.is_told = true;
            let row = self.static_row.take().map(Cow::Owned);
            sink.start(&self.key, self.kept, row);
        }
    }

    pub(super) fn tell_row(
        &mut self,
        key: &ClusteringKey,
        row: Cow<'_, Row>,
        sink: &mut impl Sink,
    ) {
        self.begin(sink);
        sink.row(key, row);
    }

    pub(super) fn tell_change(&mut self, (bound, deletion): &Change, sink: &mut impl Sink) {
        self.begin(sink);
        sink.change(bound, *deletion);
    }

    /// Lets no deletion of a range reach beyond a bound, behind which nothing is told.
    pub(super) fn end_changes(&mut self, bound: &ClusteringBound, sink: &mut impl Sink) {
        if let Some(change) = self.changes.change(bound, None) {
            self.tell_change(&change, sink);
        }
        if let Some(change) = self.changes.settle() {
            self.tell_change(&change, sink);
        }
    }

    /// Tells its end, at a bound if a limit ended it.
    pub(super) fn end(&mut self, limit: Option<&ClusteringBound>, sink: &mut impl Sink) {
        self.leave(sink);
        if self.is_told {
            sink.end_partition(limit);
        }
    }

    /// Tells what is left to tell of it, but not that it ends.
    pub(super) fn leave(&mut self, sink: &mut impl Sink) {
        if let Some(change) = self.changes.settle() {
            self.tell_change(&change, sink);
        }
        if self.has_content() {
            self.begin(sink);
        }
    }
}
