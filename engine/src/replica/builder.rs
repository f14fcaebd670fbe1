//! Putting an answer together: fragments as a shard has them come in, pieces in their normal form go out, until a limit is
//! reached.

use super::normal::{DELETION_BYTES, Normal, row_bytes};
use super::partition::OpenPartition;
use super::sink::{Collect, Encode, Hash, Sink};
use crate::readers::{Position, ReadCommand};
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, StoredRow};

/// An answer being put together, by one or more calls of [`Shard::read_data`](crate::storage::Shard::read_data).
#[derive(Debug)]
pub struct DataBuilder<S = Collect> {
    command: ReadCommand,
    sink: S,
    normal: Normal,
    partition: Option<OpenPartition>,
    /// Live rows so far, and about how many bytes.
    rows: u32,
    bytes: usize,
    /// Whether there is anything behind the place it begins at.
    has_moved: bool,
    /// Where it ends, if before the end of what was asked for.
    end: Option<Position>,
}

impl DataBuilder<Collect> {
    /// Of the rows themselves: [`finish`](Self::finish) gives [`ReadData`](super::ReadData).
    pub fn data(command: &ReadCommand) -> Self {
        Self::new(command, Collect::new(command))
    }
}

impl DataBuilder<Encode> {
    /// Of what goes to another node: [`finish`](Self::finish) gives the bytes that
    /// [`ReadData::encode`](super::ReadData::encode) would.
    pub fn encoded(command: &ReadCommand) -> Self {
        Self::new(command, Encode::new())
    }
}

impl DataBuilder<Hash> {
    /// Of the digest alone: [`finish`](Self::finish) gives a [`Digest`](super::Digest).
    pub fn digest(command: &ReadCommand) -> Self {
        Self::new(command, Hash::new())
    }
}

impl<S: Sink> DataBuilder<S> {
    fn new(command: &ReadCommand, sink: S) -> Self {
        Self {
            sink,
            normal: Normal::new(command),
            partition: None,
            rows: 0,
            bytes: 0,
            has_moved: false,
            end: None,
            command: command.clone(),
        }
    }

    /// The answer of a read that is finished or was stopped by a limit. That of one that yielded and isn't resumed ends
    /// with [`finish_at`](Self::finish_at): it would claim here that nothing follows.
    pub fn finish(mut self) -> S::Answer {
        self.close();
        self.sink.finish(self.command, self.end)
    }

    /// The answer of a read that yielded at this position and isn't resumed: it ends there.
    pub fn finish_at(mut self, position: Position) -> S::Answer {
        self.stop_at(Position::new(position.key, position.bound));
        self.finish()
    }

    /// Live rows so far.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// The partition that the read is in.
    pub(super) fn partition(&self) -> Option<&OpenPartition> {
        self.partition.as_ref()
    }

    /// Where it ends, if before the end of what was asked for.
    pub(super) fn end(&self) -> Option<&Position> {
        self.end.as_ref()
    }

    /// Ends the answer at a position, which mustn't lie before what it has.
    pub(super) fn stop_at(&mut self, position: Position) {
        if self.end.is_some() {
            return;
        }
        match &mut self.partition {
            Some(partition) if position.is_within(&partition.key, self.command.reversed) => {
                partition.end_changes(&position.bound, &mut self.sink);
            }
            _ => self.close(),
        }
        self.end = Some(position);
    }

    /// A partition begins, or an interrupted read goes on in it from a bound.
    pub(super) fn start(
        &mut self,
        key: &DecoratedKey,
        deletion: Option<DeletionTime>,
        from: Option<&ClusteringBound>,
    ) {
        if let Some(partition) = &self.partition
            && partition.key == *key
        {
            // A deletion that counted where the read paused is told of again if it still does.
            if let Some(bound) = from {
                self.change(bound, None);
            }
            return;
        }
        self.close();
        let kept = self.normal.deletion(deletion);
        self.partition = Some(OpenPartition::new(key.clone(), deletion, kept));
        self.bytes += kept.map_or(0, |_| DELETION_BYTES);
    }

    pub(super) fn static_row(&mut self, row: &StoredRow) {
        let Some(partition) = &mut self.partition else {
            return;
        };
        if partition.lacks_static_row()
            && let Some((row, is_live)) = self.normal.row(row, partition.deletion)
        {
            let resumed = self.command.resume.as_ref();
            let is_inside = resumed.is_some_and(|position| {
                position.key == partition.key && !position.is_at_start(self.command.reversed)
            });
            self.bytes += row_bytes(&row);
            partition.counts_alone = is_live && !is_inside;
            partition.set_static_row(row.into_owned());
        }
    }

    pub(super) fn row(&mut self, key: &ClusteringKey, row: &StoredRow) {
        let Some(partition) = &mut self.partition else {
            return;
        };
        if let Some(passed_over) = &mut partition.full {
            *passed_over += 1;
            return;
        }
        let Some((row, is_live)) = self.normal.row(row, partition.shadow()) else {
            return;
        };
        if self.is_over_at_change(None) {
            return;
        }
        let Some(partition) = &mut self.partition else {
            return;
        };
        if let Some(change) = partition.changes.settle() {
            self.bytes += DELETION_BYTES;
            partition.tell_change(&change, &mut self.sink);
        }
        self.bytes += row_bytes(&row) + key.values.len();
        self.has_moved = true;
        partition.tell_row(key, row, &mut self.sink);
        if is_live {
            partition.rows += 1;
            self.rows += 1;
        }
        let after = |partition: &OpenPartition| {
            let key = (partition.key.clone(), key.sort.clone());
            Position::after_row(key.0, key.1, self.command.reversed)
        };
        if partition.rows >= self.command.limit.per_partition.max(1) {
            let bound = after(partition).bound;
            partition.end_changes(&bound, &mut self.sink);
            partition.end(Some(&bound), &mut self.sink);
            partition.full = Some(0);
        }
        if self.is_over() {
            let position = match self.partition.as_ref() {
                Some(partition) if partition.full.is_none() => after(partition),
                Some(partition) => {
                    Position::after_partition(partition.key.clone(), self.command.reversed)
                }
                None => return,
            };
            self.stop_at(position);
        }
    }

    /// From a bound on, another deletion counts.
    pub(super) fn change(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>) {
        if self.is_over_at_change(Some(bound)) {
            return;
        }
        let Some(partition) = &mut self.partition else {
            return;
        };
        if let Some(passed_over) = &mut partition.full {
            *passed_over += 1;
            return;
        }
        partition.active = deletion;
        let counts = deletion.filter(|_| deletion > partition.deletion);
        let before = partition
            .changes
            .change(bound, self.normal.deletion(counts));
        if let Some(change) = before {
            self.bytes += DELETION_BYTES;
            self.has_moved = true;
            partition.tell_change(&change, &mut self.sink);
        }
    }

    /// Ends the answer at the change that is about to be told, now that `next` comes, if a limit is reached.
    fn is_over_at_change(&mut self, next: Option<&ClusteringBound>) -> bool {
        let Some(partition) = self.partition.as_ref().filter(|_| self.has_moved) else {
            return false;
        };
        let due = partition.changes.due_before(next);
        if let Some(bound) = due.filter(|_| self.is_over()) {
            self.stop_at(Position::new(partition.key.clone(), bound.clone()));
            return true;
        }
        false
    }

    pub(super) fn end_partition(&mut self) {
        let Some(partition) = &self.partition else {
            return;
        };
        self.rows += u32::from(partition.rows == 0 && partition.counts_alone);
        let position = partition
            .has_content()
            .then(|| Position::after_partition(partition.key.clone(), self.command.reversed));
        self.close();
        if let Some(position) = position.filter(|_| self.is_over()) {
            self.stop_at(position);
        }
    }

    /// Leaves the partition.
    fn close(&mut self) {
        let Some(mut partition) = self.partition.take() else {
            return;
        };
        if partition.full.is_some() {
            return;
        }
        let end = self.end.as_ref();
        match end.is_some_and(|end| end.is_within(&partition.key, self.command.reversed)) {
            true => partition.leave(&mut self.sink),
            false => partition.end(None, &mut self.sink),
        }
    }

    /// Whether a limit is reached.
    fn is_over(&self) -> bool {
        let limit = self.command.limit;
        self.rows >= limit.rows || self.bytes >= limit.bytes as usize
    }
}
