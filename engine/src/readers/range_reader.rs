//! Reads the partitions of one memtable or run that lie in a range of the ring.

use crate::storage::{Partitions, PartitionsRange};

use super::partition_reader::PartitionReader;
use super::{MutationFragment, MutationReader, PartitionRange, ReadCommand};

/// Yields the fragments of each partition in turn.
#[derive(Debug)]
pub(crate) struct RangeReader<'a> {
    command: &'a ReadCommand,
    partitions: PartitionsRange<'a>,
    current: Option<PartitionReader<'a>>,
}

impl<'a> RangeReader<'a> {
    /// A reader of what `partitions` holds of the command's range, from the command's position on.
    pub(crate) fn new(command: &'a ReadCommand, partitions: &'a Partitions) -> Self {
        let (mut front, back) = match &command.range {
            PartitionRange::Key(key) => (
                partitions.seek(|other| other < key),
                partitions.seek(|other| other <= key),
            ),
            PartitionRange::Tokens { start, end } => (
                partitions.seek(|key| start.is_after(key.token)),
                partitions.seek(|key| end.is_after(key.token)),
            ),
        };
        if let Some(position) = &command.resume {
            let done = position.is_after_partition(command.reversed);
            let resumed =
                partitions.seek(|key| *key < position.key || (done && *key == position.key));
            front = front.max(resumed);
        }
        Self {
            command,
            partitions: partitions.range(front, back),
            current: None,
        }
    }
}

impl<'a> MutationReader<'a> for RangeReader<'a> {
    fn next(&mut self) -> Option<MutationFragment<'a>> {
        loop {
            if let Some(current) = &mut self.current
                && let Some(fragment) = current.next()
            {
                return Some(fragment);
            }
            let (key, partition) = self.partitions.next()?;
            self.current = Some(PartitionReader::new(self.command, key, partition));
        }
    }
}
