//! What becomes of an answer's pieces: they are kept, encoded, or only hashed.

use std::borrow::Cow;
use std::cmp::Ordering;

use bytes::{BufMut as _, Bytes, BytesMut};

use super::digest::{Digest, Digester};
use super::mutation::{DELETION, STATIC_ROW};
use super::normal::is_live;
use super::row::put_row;
use super::wire::{put_bound, put_bytes, put_deletion, put_position};
use super::{ReadData, VERSION};
use crate::readers::{Position, ReadCommand};
use crate::storage::{
    ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, Partition, RangeTombstone, Row,
    Run, StoredRow,
};

/// Tags of an answer's pieces.
pub(super) mod tag {
    pub(in crate::replica) const END: u8 = 0;
    pub(in crate::replica) const PARTITION: u8 = 1;
    pub(in crate::replica) const ROW: u8 = 2;
    pub(in crate::replica) const DELETION: u8 = 3;
    pub(in crate::replica) const NO_DELETION: u8 = 4;
    pub(in crate::replica) const PARTITION_END: u8 = 5;
    pub(in crate::replica) const PARTITION_LIMIT: u8 = 6;
    pub(in crate::replica) const LIMIT: u8 = 7;
}

/// Takes the pieces of an answer in their normal form, in the order of the read.
pub trait Sink {
    /// What it makes of them.
    type Answer;

    /// A partition begins.
    fn start(
        &mut self,
        key: &DecoratedKey,
        deletion: Option<DeletionTime>,
        static_row: Option<Cow<'_, Row>>,
    );
    /// A row.
    fn row(&mut self, key: &ClusteringKey, row: Cow<'_, Row>);
    /// From here on another deletion counts, or none.
    fn change(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>);
    /// The partition is over; at a bound, if a limit ended it.
    fn end_partition(&mut self, limit: Option<&ClusteringBound>);
    /// The answer is over; at a position, if there is more.
    fn finish(self, command: ReadCommand, end: Option<Position>) -> Self::Answer;
}

/// Keeps the rows: gives [`ReadData`].
#[derive(Debug)]
pub struct Collect {
    reversed: bool,
    now_seconds: i64,
    /// Where the read began within a partition, whose static row doesn't count then.
    from: Option<Position>,
    content: Content,
    open: Option<OpenPartition>,
}

/// What was answered.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) run: Run,
    /// Rows of it that are alive. A partition of which only the static row is counts as one.
    pub(super) rows: u32,
    /// Where partitions were left because they had as many rows as the limit for each allows.
    pub(super) cuts: Vec<(DecoratedKey, ClusteringBound)>,
    /// Where the answer ends, if not at the end of what was asked for.
    pub(super) end: Option<Position>,
}

/// A partition whose rows are coming in, in the order of the read.
#[derive(Debug)]
struct OpenPartition {
    key: DecoratedKey,
    deletion: Option<DeletionTime>,
    static_row: Option<StoredRow>,
    rows: Vec<(ClusteringKey, StoredRow)>,
    tombstones: Vec<RangeTombstone>,
    active: Option<(ClusteringBound, DeletionTime)>,
}

impl Collect {
    pub(super) fn new(command: &ReadCommand) -> Self {
        Self {
            reversed: command.reversed,
            now_seconds: command.now_seconds,
            from: command.resume.clone(),
            content: Content::default(),
            open: None,
        }
    }

    /// Whether a place comes behind all rows of the open partition so far.
    pub(super) fn accepts_row(&self, key: &ClusteringKey) -> bool {
        let last = self.open.as_ref().and_then(|open| open.rows.last());
        last.is_none_or(|(last, _)| {
            last.cmp(key)
                == match self.reversed {
                    false => Ordering::Less,
                    true => Ordering::Greater,
                }
        })
    }

    /// The last partition so far.
    pub(super) fn last_key(&self) -> Option<&DecoratedKey> {
        let open = self.open.as_ref().map(|open| &open.key);
        open.or_else(|| self.content.run.partitions().last().map(|(key, _)| key))
    }

    /// Whether a partition comes behind all so far.
    pub(super) fn accepts_partition(&self, key: &DecoratedKey) -> bool {
        self.last_key().is_none_or(|last| last < key)
    }

    /// Whether a change of deletion lies behind the last one and the last tombstone.
    pub(super) fn accepts_change(&self, bound: &ClusteringBound) -> bool {
        let Some(open) = &self.open else {
            return false;
        };
        let last = match (&open.active, open.tombstones.last()) {
            (Some((place, _)), _) => place,
            (None, Some(last)) if self.reversed => &last.start,
            (None, Some(last)) => &last.end,
            (None, None) => return true,
        };
        match self.reversed {
            false => last <= bound,
            true => last >= bound,
        }
    }

    fn is_live(&self, row: &StoredRow) -> bool {
        row.is_alive(None, self.now_seconds) || is_live(row.row(), self.now_seconds)
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        let count = open
            .rows
            .iter()
            .filter(|(_, row)| self.is_live(row))
            .count();
        let is_inside = self
            .from
            .as_ref()
            .is_some_and(|from| from.key == open.key && !from.is_at_start(self.reversed));
        let goes_on = self
            .content
            .end
            .as_ref()
            .is_some_and(|end| end.is_within(&open.key, self.reversed));
        let counts_alone = count == 0
            && !is_inside
            && !goes_on
            && open
                .static_row
                .as_ref()
                .is_some_and(|row| self.is_live(row));
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.content.rows = self
            .content
            .rows
            .saturating_add(count + u32::from(counts_alone));
        if self.reversed {
            open.rows.reverse();
            open.tombstones.reverse();
        }
        let mut partition = Partition::new(open.deletion);
        if let Some(row) = open.static_row {
            partition.set_static_row(row);
        }
        for (key, row) in open.rows {
            partition.push_row(key, row);
        }
        for tombstone in open.tombstones {
            partition.push_range_tombstone(tombstone);
        }
        self.content.run.push(open.key, partition);
    }
}

fn stored(row: Cow<'_, Row>) -> StoredRow {
    StoredRow::new(row.into_owned())
}

impl Sink for Collect {
    type Answer = ReadData;

    fn start(
        &mut self,
        key: &DecoratedKey,
        deletion: Option<DeletionTime>,
        static_row: Option<Cow<'_, Row>>,
    ) {
        self.close();
        self.open = Some(OpenPartition {
            key: key.clone(),
            deletion,
            static_row: static_row.map(stored),
            rows: Vec::new(),
            tombstones: Vec::new(),
            active: None,
        });
    }

    fn row(&mut self, key: &ClusteringKey, row: Cow<'_, Row>) {
        if let Some(open) = &mut self.open {
            open.rows.push((key.clone(), stored(row)));
        }
    }

    fn change(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>) {
        let Some(open) = &mut self.open else {
            return;
        };
        if let Some((start, deletion)) = open.active.take()
            && start != *bound
        {
            let (start, end) = match self.reversed {
                false => (start, bound.clone()),
                true => (bound.clone(), start),
            };
            open.tombstones.push(RangeTombstone {
                start,
                end,
                deletion,
            });
        }
        open.active = deletion.map(|deletion| (bound.clone(), deletion));
    }

    fn end_partition(&mut self, limit: Option<&ClusteringBound>) {
        if let (Some(open), Some(bound)) = (&self.open, limit) {
            self.content.cuts.push((open.key.clone(), bound.clone()));
        }
        self.close();
    }

    fn finish(mut self, command: ReadCommand, end: Option<Position>) -> ReadData {
        self.content.end = end;
        self.close();
        ReadData::new(command, self.content)
    }
}

/// Encodes the rows: gives the bytes that [`ReadData::encode`] would.
#[derive(Debug)]
pub struct Encode {
    out: BytesMut,
}

impl Encode {
    pub(super) fn new() -> Self {
        let mut out = BytesMut::new();
        out.put_u8(VERSION);
        Self { out }
    }
}

impl Sink for Encode {
    type Answer = Bytes;

    fn start(
        &mut self,
        key: &DecoratedKey,
        deletion: Option<DeletionTime>,
        static_row: Option<Cow<'_, Row>>,
    ) {
        let out = &mut self.out;
        out.put_u8(tag::PARTITION);
        put_bytes(out, &key.key);
        let flags = deletion.map_or(0, |_| DELETION);
        out.put_u8(flags | static_row.as_ref().map_or(0, |_| STATIC_ROW));
        if let Some(deletion) = deletion {
            put_deletion(out, deletion);
        }
        if let Some(row) = static_row {
            put_row(out, &row);
        }
    }

    fn row(&mut self, key: &ClusteringKey, row: Cow<'_, Row>) {
        self.out.put_u8(tag::ROW);
        put_bytes(&mut self.out, &key.values);
        put_row(&mut self.out, &row);
    }

    fn change(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>) {
        self.out.put_u8(match deletion {
            Some(_) => tag::DELETION,
            None => tag::NO_DELETION,
        });
        put_bound(&mut self.out, bound);
        if let Some(deletion) = deletion {
            put_deletion(&mut self.out, deletion);
        }
    }

    fn end_partition(&mut self, limit: Option<&ClusteringBound>) {
        match limit {
            None => self.out.put_u8(tag::PARTITION_END),
            Some(bound) => {
                self.out.put_u8(tag::PARTITION_LIMIT);
                put_bound(&mut self.out, bound);
            }
        }
    }

    fn finish(mut self, _command: ReadCommand, end: Option<Position>) -> Bytes {
        match end {
            None => self.out.put_u8(tag::END),
            Some(position) => {
                self.out.put_u8(tag::LIMIT);
                put_position(&mut self.out, &position);
            }
        }
        self.out.freeze()
    }
}

/// Hashes what [`Encode`] would write, a piece at a time: gives a [`Digest`].
#[derive(Debug)]
pub struct Hash {
    piece: Encode,
    digester: Digester,
}

impl Hash {
    pub(super) fn new() -> Self {
        Self {
            piece: Encode::new(),
            digester: Digester::default(),
        }
    }

    fn absorb(&mut self) {
        self.digester.update(&self.piece.out);
        self.piece.out.clear();
    }
}

impl Sink for Hash {
    type Answer = Digest;

    fn start(
        &mut self,
        key: &DecoratedKey,
        deletion: Option<DeletionTime>,
        static_row: Option<Cow<'_, Row>>,
    ) {
        self.piece.start(key, deletion, static_row);
        self.absorb();
    }

    fn row(&mut self, key: &ClusteringKey, row: Cow<'_, Row>) {
        self.piece.row(key, row);
        self.absorb();
    }

    fn change(&mut self, bound: &ClusteringBound, deletion: Option<DeletionTime>) {
        self.piece.change(bound, deletion);
        self.absorb();
    }

    fn end_partition(&mut self, limit: Option<&ClusteringBound>) {
        self.piece.end_partition(limit);
        self.absorb();
    }

    fn finish(mut self, command: ReadCommand, end: Option<Position>) -> Digest {
        let last = self.piece.finish(command, end);
        self.digester.update(&last);
        self.digester.finish()
    }
}
