//! Reads the partitions of one memtable or run that lie in a range of the ring.

use crate::storage::{DecoratedKey, PartitionsRange, Run};

use super::partition_reader::PartitionReader;
use super::{
    Consumed, MutationConsumer, MutationFragment, MutationReader, PartitionRange, Place,
    ReadCommand, Step,
};

/// Yields the fragments of each partition in turn. Never has to wait; allocates nothing.
#[derive(Debug)]
pub struct RunReader<'a> {
    command: &'a ReadCommand,
    partitions: PartitionsRange<'a>,
    current: Option<PartitionReader<'a>>,
}

impl<'a> RunReader<'a> {
    /// A reader of what `run` holds of the command's range, from the command's position on.
    pub fn new(command: &'a ReadCommand, run: &'a Run) -> Self {
        let partitions = run.partitions();
        let (mut front, back) = match &command.range {
            PartitionRange::Key(key) => partitions.place_of(key),
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

    /// Goes on to the next partition; says whether there is one.
    fn enter(&mut self) -> bool {
        let Some((key, partition)) = self.partitions.next() else {
            self.current = None;
            return false;
        };
        self.current = Some(PartitionReader::new(self.command, key, partition));
        true
    }
}

impl MutationReader for RunReader<'_> {
    #[inline]
    fn next(&mut self) -> Step<'_> {
        loop {
            if let Some(current) = &mut self.current
                && let Some((key, fragment)) = current.advance()
            {
                return Step::Fragment(key, fragment);
            }
            if !self.enter() {
                return Step::End;
            }
        }
    }

    #[inline]
    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.current.as_ref()?.current()
    }

    fn consume_pausable<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause> {
        loop {
            if let Some(current) = &mut self.current
                && let Consumed::Paused(pause) = current.consume_pausable(consumer)
            {
                return Consumed::Paused(pause);
            }
            if !self.enter() {
                return Consumed::Finished;
            }
        }
    }

    fn consume_before<C: MutationConsumer>(
        &mut self,
        limit: Place<'_>,
        reversed: bool,
        consumer: &mut C,
    ) -> Consumed<Option<C::Pause>> {
        match &mut self.current {
            Some(current) => current.consume_before(limit, reversed, consumer),
            None => match self.next() {
                Step::Fragment(..) => Consumed::Paused(None),
                Step::Pending => Consumed::Pending,
                Step::End => Consumed::Finished,
            },
        }
    }
}
