//! The storage of the one node: shards over equal parts of the token ring, each behind a lock that is held within one
//! action only, and one more for the system's own tables.

use std::sync::{Mutex, MutexGuard, PoisonError};

use helenus_engine::readers::{Consumer, PartitionRange, ReadCommand, ReadProgress, RingBound};
use helenus_engine::schema::{Table, TableId, is_local_system};
use helenus_engine::storage::{Mutation, Shard, ShardOptions, Token};

/// All shards of a node.
#[derive(Debug)]
pub(super) struct Shards {
    /// In token order.
    ring: Box<[Mutex<Shard>]>,
    /// The tables that are the node's own: `system`, `system_schema` and the virtual keyspaces.
    system: Mutex<Shard>,
}

impl Shards {
    /// `count` shards, at least one.
    pub(super) fn new(count: usize) -> Self {
        let shard = || Mutex::new(Shard::new(ShardOptions::default()));
        Self {
            ring: (0..count.max(1)).map(|_| shard()).collect(),
            system: shard(),
        }
    }

    /// Applies a change to the shard that owns its partition.
    pub(super) fn apply(&self, mutation: &Mutation, now_seconds: i64) {
        self.owner(&mutation.table, mutation.key.token)
            .apply(mutation, now_seconds);
    }

    /// Reads until the consumer stops, the range ends or about `budget` fragments were read. A range of tokens is read
    /// shard by shard, so that no more than one lock is held at a time.
    pub(super) fn read(
        &self,
        command: &ReadCommand,
        budget: usize,
        consumer: &mut impl Consumer,
    ) -> ReadProgress {
        if is_system(&command.table) {
            return lock(&self.system).read(command, budget, consumer);
        }
        let (start, end) = match &command.range {
            PartitionRange::Key(key) => (key.token, key.token),
            PartitionRange::Tokens { start, end } => (token(*start), token(*end)),
        };
        let start = command
            .resume
            .as_ref()
            .map_or(start, |position| position.key.token);
        let (first, last) = (self.index(start), self.index(end));
        for shard in &self.ring[first..=last.max(first)] {
            match lock(shard).read(command, budget, consumer) {
                ReadProgress::Finished => {}
                stopped => return stopped,
            }
        }
        ReadProgress::Finished
    }

    /// Runs `action` on the shard that owns `token`, which nobody else uses meanwhile.
    pub(super) fn with_owner<T>(
        &self,
        table: &Table,
        token: Token,
        action: impl FnOnce(&mut Shard) -> T,
    ) -> T {
        action(&mut self.owner(table, token))
    }

    /// Removes the rows of a table that was truncated or dropped. They are freed when no lock is held.
    pub(super) fn remove_table(&self, table: TableId) {
        for shard in self.all() {
            let removed = lock(shard).remove_table(table);
            drop(removed);
        }
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Shard>> {
        self.ring.iter().chain(std::iter::once(&self.system))
    }

    fn owner(&self, table: &Table, token: Token) -> MutexGuard<'_, Shard> {
        lock(if is_system(table) {
            &self.system
        } else {
            &self.ring[self.index(token)]
        })
    }

    /// The shard of a token: the ring cut in equal parts.
    fn index(&self, token: Token) -> usize {
        let place = u128::from(token.0.cast_unsigned() ^ (1 << 63));
        ((place * self.ring.len() as u128) >> 64) as usize
    }
}

/// The token at which a bound of the ring lies.
fn token(bound: RingBound) -> Token {
    match bound {
        RingBound::Start => Token(i64::MIN),
        RingBound::Before(token) | RingBound::After(token) => token,
        RingBound::End => Token(i64::MAX),
    }
}

/// A shard is valid between any two of its operations, so a panic elsewhere doesn't spoil it.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a table is one of the node's own. (The others of the system are replicated, and lie on the ring.)
fn is_system(table: &Table) -> bool {
    table.keyspace.starts_with("system") && is_local_system(&table.keyspace)
}
