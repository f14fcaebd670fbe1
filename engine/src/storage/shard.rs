//! A shard: the tables' data of some part of the ring, used by one caller at a time.

mod counting;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::readers::{
    Combined, Compactor, Consumed, Consumer, MutationConsumer, MutationReader, PartitionRange,
    PartitionReader, ReadCommand, ReadProgress, RunReader,
};
use crate::replica::{DataBuilder, Feeding, Sink};
use crate::schema::TableId;

use super::table_store::TableStore;
use super::{Mutation, Run};

/// How a shard stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardOptions {
    /// A table's memtable freezes into a run when it takes more heap than this.
    pub flush_bytes: usize,
}

impl Default for ShardOptions {
    /// 16 MiB.
    fn default() -> Self {
        Self {
            flush_bytes: 16 << 20,
        }
    }
}

/// How much a shard has of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableSize {
    /// Partitions. One that lies in several runs counts in each.
    pub partitions: usize,
    /// About how many bytes of heap they take.
    pub bytes: usize,
}

/// A table's data that a shard gave up. Dropping it frees it, which takes its time for a large table: better done when
/// the shard isn't locked.
#[derive(Debug)]
#[must_use = "what is dropped at once is freed under the shard's lock"]
pub struct Removed {
    store: TableStore,
}

impl Removed {
    /// About how many bytes of heap dropping it frees.
    pub fn bytes(&self) -> usize {
        self.store.sources().map(Run::bytes).sum()
    }
}

/// Data of all tables for some part of the ring. Which part is the caller's affair.
#[derive(Debug)]
pub struct Shard {
    options: ShardOptions,
    tables: BTreeMap<TableId, TableStore>,
    /// Whether some write found merging under way since maintenance was last done with all.
    merging: bool,
}

impl Shard {
    /// An empty shard.
    pub fn new(options: ShardOptions) -> Self {
        Self {
            options,
            tables: BTreeMap::new(),
            merging: false,
        }
    }

    /// Applies a mutation whole. `now_seconds`, from 1970, decides what merging may forget.
    ///
    /// Freezes a memtable that has grown too large, which takes no time, and then merges runs with each further write
    /// by as much as keeps pace: some 256 fragments every few calls.
    pub fn apply(&mut self, mutation: &Mutation, now_seconds: i64) {
        self.merging |= self
            .tables
            .entry(mutation.table.id)
            .or_insert_with(|| TableStore::new(Arc::clone(&mutation.table)))
            .apply(mutation, now_seconds, self.options.flush_bytes);
    }

    /// Whether writes have left merging that [`maintain`](Self::maintain) should go on with if no more of them come.
    pub fn is_merging(&self) -> bool {
        self.merging
    }

    /// Reads into a consumer until it stops, everything is read, or `budget` fragments, of which there is at least one
    /// for each row or tombstone read, dead or alive, are used up.
    ///
    /// A read of one partition that lies in the memtable alone allocates nothing, unless a row has something dead in
    /// it.
    pub fn read(
        &self,
        command: &ReadCommand,
        budget: usize,
        consumer: &mut impl Consumer,
    ) -> ReadProgress {
        let mut compactor = Compactor::new(command, budget, consumer);
        match self.feed(command, &mut compactor) {
            Consumed::Paused(progress) => progress,
            // Nothing in memory has to be waited for.
            Consumed::Finished | Consumed::Pending => ReadProgress::Finished,
        }
    }

    /// Reads into a builder until all is read, a limit of the command is reached, which is `Stopped`, or about `budget`
    /// fragments are used up: then the command resumed at that position goes on, with the same builder, on this shard or
    /// the one that has what follows.
    pub fn read_data<S: Sink>(
        &self,
        command: &ReadCommand,
        budget: usize,
        builder: &mut DataBuilder<S>,
    ) -> ReadProgress {
        let mut feeding = Feeding::new(builder, command, budget);
        if let Some(stopped) = feeding.stopped() {
            return stopped;
        }
        match self.feed(command, &mut feeding) {
            Consumed::Paused(progress) => progress,
            Consumed::Finished | Consumed::Pending => ReadProgress::Finished,
        }
    }

    /// Feeds what a command reads to a consumer, from all sources combined.
    fn feed<C: MutationConsumer>(
        &self,
        command: &ReadCommand,
        consumer: &mut C,
    ) -> Consumed<C::Pause> {
        let Some(store) = self.tables.get(&command.table.id) else {
            return Consumed::Finished;
        };
        match &command.range {
            PartitionRange::Key(key) => {
                if command.resume.as_ref().is_some_and(|position| {
                    position.key > *key
                        || position.key == *key && position.is_after_partition(command.reversed)
                }) {
                    return Consumed::Finished;
                }
                let found = store.sources().filter_map(|run| run.find(key));
                let readers =
                    found.map(|(key, partition)| PartitionReader::new(command, key, partition));
                feed(readers, command, consumer)
            }
            PartitionRange::Tokens { .. } => {
                let readers = store.sources().map(|run| RunReader::new(command, run));
                feed(readers, command, consumer)
            }
        }
    }

    /// What there is of a table.
    pub(super) fn table(&self, table: TableId) -> Option<&TableStore> {
        self.tables.get(&table)
    }

    /// Gives up all data of a table that was truncated or dropped.
    pub fn remove_table(&mut self, table: TableId) -> Option<Removed> {
        self.tables.remove(&table).map(|store| Removed { store })
    }

    /// How much there is of a table.
    pub fn size(&self, table: TableId) -> TableSize {
        self.tables
            .get(&table)
            .map_or_else(TableSize::default, |store| {
                store
                    .sources()
                    .fold(TableSize::default(), |size, run| TableSize {
                        partitions: size.partitions + run.partitions().len(),
                        bytes: size.bytes + run.bytes(),
                    })
            })
    }

    /// Freezes a table's memtable into a run.
    pub fn freeze(&mut self, table: TableId) {
        if let Some(store) = self.tables.get_mut(&table) {
            store.freeze();
        }
    }

    /// Freezes a table's memtable and begins to merge all its runs into one; [`maintain`](Self::maintain), and each
    /// further write, goes on with it.
    pub fn compact(&mut self, table: TableId) {
        if let Some(store) = self.tables.get_mut(&table) {
            store.freeze();
            store.plan_major_merge();
        }
    }

    /// Goes on with what merging and freeing is under way, by about `budget` fragments a table. Says whether there is
    /// more to do; for idle moments.
    pub fn maintain(&mut self, now_seconds: i64, budget: usize) -> bool {
        let mut more = false;
        for store in self.tables.values_mut() {
            more |= store.maintain(now_seconds, budget);
        }
        self.merging = more;
        more
    }
}

/// Feeds a consumer from one reader as it is, or from several combined.
fn feed<R: MutationReader, C: MutationConsumer>(
    mut readers: impl Iterator<Item = R>,
    command: &ReadCommand,
    consumer: &mut C,
) -> Consumed<C::Pause> {
    let Some(mut first) = readers.next() else {
        return Consumed::Finished;
    };
    let Some(second) = readers.next() else {
        return first.consume_pausable(consumer);
    };
    let readers = [first, second].into_iter().chain(readers);
    Combined::new(readers, command).consume_pausable(consumer)
}

#[cfg(test)]
pub(crate) mod tests;
