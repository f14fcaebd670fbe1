//! What a replica answered: kept as rows, told as bytes.

use std::borrow::Cow;
use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};

use super::changes::TombstoneChanges;
use super::columns::Columns;
use super::mutation::{DELETION, STATIC_ROW};
use super::row::read_row;
use super::sink::{Collect, Content, Encode, Hash, Sink, tag};
use super::wire::Input;
use super::{Digest, EncodingError};
use crate::readers::{
    Compactor, Consumed, Consumer, MutationConsumer, MutationFragment, MutationReader,
    PartitionRange, PartitionReader, Position, ReadCommand, ReadProgress, RunReader, Slices, Step,
};
use crate::storage::{ColumnData, DecoratedKey, Row};

/// A replica's full answer to a command, tombstones included, in normal form; or what several replicas' answers make
/// together.
#[derive(Debug)]
pub struct ReadData {
    command: ReadCommand,
    content: Content,
}

impl ReadCommand {
    /// The same of all rows: what an answer to it has.
    pub(super) fn whole(&self) -> Self {
        Self {
            range: PartitionRange::ALL,
            slices: Slices::All,
            resume: None,
            ..self.clone()
        }
    }
}

impl ReadData {
    pub(super) fn new(command: ReadCommand, content: Content) -> Self {
        Self { command, content }
    }

    /// The command that it answers.
    pub fn command(&self) -> &ReadCommand {
        &self.command
    }

    /// Where it ends, if a limit ended it: what follows wasn't read.
    pub fn end(&self) -> Option<&Position> {
        self.content.end.as_ref()
    }

    /// Whether it has nothing, dead or alive.
    pub fn is_empty(&self) -> bool {
        self.content.run.partitions().is_empty()
    }

    /// How many rows of it are alive. A partition of which only the static row is counts as one.
    pub fn rows(&self) -> u32 {
        self.content.rows
    }

    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    pub(super) fn content_mut(&mut self) -> &mut Content {
        &mut self.content
    }

    pub(super) fn into_content(self) -> Content {
        self.content
    }

    /// The digest of its encoding: equal to that of a replica that has the same.
    pub fn digest(&self) -> Digest {
        self.tell(Hash::new())
    }

    /// Appends its encoding, as the [module](crate::replica) says: equal answers give equal bytes.
    pub fn encode(&self, out: &mut BytesMut) {
        out.extend_from_slice(&self.tell(Encode::new()));
    }

    /// Reads what [`encode`](Self::encode) wrote as an answer to `command`. It shares the memory of `bytes`.
    ///
    /// # Errors
    /// If these bytes are no answer, or one with a column that the command's table doesn't know.
    pub fn decode(command: &ReadCommand, bytes: &Bytes) -> Result<Self, EncodingError> {
        let mut input = Input::sharing(bytes)?;
        let columns = Columns::of(&command.table);
        let mut collect = Collect::new(command);
        let mut is_inside = false;
        let end = loop {
            match (input.u8()?, is_inside) {
                (tag::PARTITION, false) => {
                    read_start(&mut input, &columns, &mut collect)?;
                    is_inside = true;
                }
                (tag::ROW, true) => read_row_piece(&mut input, &columns, &mut collect)?,
                (kind @ (tag::DELETION | tag::NO_DELETION), true) => {
                    let bound = input.bound()?;
                    let deletion = match kind {
                        tag::DELETION => Some(input.deletion()?),
                        _ => None,
                    };
                    if !collect.accepts_change(&bound) {
                        return Err(input.malformed("deletions out of order"));
                    }
                    collect.change(&bound, deletion);
                }
                (tag::PARTITION_END, true) => {
                    collect.end_partition(None);
                    is_inside = false;
                }
                (tag::PARTITION_LIMIT, true) => {
                    collect.end_partition(Some(&input.bound()?));
                    is_inside = false;
                }
                (tag::END, false) => break None,
                (tag::LIMIT, _) => {
                    let position = input.position()?;
                    let is_right = match collect.last_key() {
                        Some(key) if is_inside => position.is_within(key, command.reversed),
                        Some(key) => position.key >= *key,
                        None => true,
                    };
                    if !is_right {
                        return Err(input.malformed("an end at another place"));
                    }
                    break Some(position);
                }
                _ => return Err(input.malformed("no such piece of an answer here")),
            }
        };
        input.finish()?;
        Ok(collect.finish(command.clone(), end))
    }

    /// Feeds a consumer with what is alive, as [`Shard::read`](crate::storage::Shard::read) does: `command` is the one
    /// that it answers, resumed where a call before said. At the end of an answer that a limit ended it says
    /// [`Yielded`](ReadProgress::Yielded): the read goes on there, with another answer.
    pub fn consume(
        &self,
        command: &ReadCommand,
        budget: usize,
        consumer: &mut impl Consumer,
    ) -> ReadProgress {
        let mut reader = RunReader::new(command, &self.content.run);
        let mut limited = Limited {
            compactor: Compactor::new(command, budget, consumer),
            end: self.content.end.as_ref(),
            reversed: command.reversed,
            is_last: false,
        };
        match reader.consume_pausable(&mut limited) {
            Consumed::Paused(progress) => progress,
            Consumed::Finished | Consumed::Pending => match &self.content.end {
                Some(end) => ReadProgress::Yielded(end.clone()),
                None => ReadProgress::Finished,
            },
        }
    }

    /// Tells a sink all of it.
    fn tell<S: Sink>(&self, mut sink: S) -> S::Answer {
        let all = self.command.whole();
        let mut cuts = self.content.cuts.iter().peekable();
        let partitions = self.content.run.partitions();
        for (key, partition) in partitions.range(partitions.start(), partitions.end()) {
            let static_row = partition.static_row().map(|row| Cow::Borrowed(row.row()));
            sink.start(key, partition.deletion(), static_row);
            let mut changes = TombstoneChanges::default();
            let mut reader = PartitionReader::new(&all, key, partition);
            while let Step::Fragment(_, fragment) = reader.next() {
                let before = match fragment {
                    MutationFragment::TombstoneChange(bound, deletion) => {
                        changes.change(bound, deletion)
                    }
                    _ => changes.settle(),
                };
                if let Some((bound, deletion)) = before {
                    sink.change(&bound, deletion);
                }
                if let MutationFragment::Row(key, row) = fragment {
                    sink.row(key, Cow::Borrowed(row.row()));
                }
            }
            let end = self.content.end.as_ref();
            if let Some((_, bound)) = cuts.next_if(|(other, _)| other == key) {
                sink.end_partition(Some(bound));
            } else if !end.is_some_and(|end| end.is_within(key, self.command.reversed)) {
                sink.end_partition(None);
            }
        }
        sink.finish(self.command.clone(), self.content.end.clone())
    }
}

fn read_start(
    input: &mut Input<'_>,
    columns: &Columns<'_>,
    collect: &mut Collect,
) -> Result<(), EncodingError> {
    let key = input.key()?;
    if !collect.accepts_partition(&key) {
        return Err(input.malformed("partitions out of order"));
    }
    let flags = input.flags(DELETION | STATIC_ROW)?;
    let deletion = match flags & DELETION {
        0 => None,
        _ => Some(input.deletion()?),
    };
    let static_row = match flags & STATIC_ROW {
        0 => None,
        _ => Some(read_ordered_row(input, columns)?),
    };
    collect.start(&key, deletion, static_row.map(Cow::Owned));
    Ok(())
}

fn read_row_piece(
    input: &mut Input<'_>,
    columns: &Columns<'_>,
    collect: &mut Collect,
) -> Result<(), EncodingError> {
    let key = columns
        .clustering_key(input.bytes()?)
        .ok_or_else(|| input.malformed("no clustering key of this table"))?;
    if !collect.accepts_row(&key) {
        return Err(input.malformed("rows out of order"));
    }
    let row = read_ordered_row(input, columns)?;
    collect.row(&key, Cow::Owned(row));
    Ok(())
}

/// A row whose columns and cells ascend, as they do wherever rows are kept.
fn read_ordered_row(input: &mut Input<'_>, columns: &Columns<'_>) -> Result<Row, EncodingError> {
    let row = read_row(input, columns)?;
    let are_cells_ordered = row.columns.iter().all(|(_, data)| match data {
        ColumnData::Simple(_) => true,
        ColumnData::Complex { cells, .. } => cells.is_sorted_by(|(a, _), (b, _)| a < b),
    });
    if !are_cells_ordered || !row.columns.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err(input.malformed("columns out of order"));
    }
    Ok(row)
}

/// Yields at the end of an answer instead of ending the partition that it ends in.
struct Limited<'a, 'c, C> {
    compactor: Compactor<'a, 'c, C>,
    end: Option<&'a Position>,
    reversed: bool,
    /// Whether the answer ends within this partition.
    is_last: bool,
}

impl<C: Consumer> MutationConsumer for Limited<'_, '_, C> {
    type Pause = ReadProgress;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<ReadProgress> {
        match fragment {
            MutationFragment::PartitionStart(_) => self.is_last = self.ends_within(key),
            MutationFragment::PartitionEnd if self.is_last => {
                if let Some(end) = self.end {
                    return ControlFlow::Break(self.compactor.yield_at(end));
                }
            }
            _ => {}
        }
        self.compactor.consume(key, fragment)
    }
}

impl<C> Limited<'_, '_, C> {
    fn ends_within(&self, key: &DecoratedKey) -> bool {
        self.end
            .is_some_and(|end| end.is_within(key, self.reversed))
    }
}
