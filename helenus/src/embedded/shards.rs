//! The storage of the one node: shards over equal parts of the token ring, each behind a lock that is held within one
//! action only, and one more for the system's own tables.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use helenus_engine::readers::{
    Consumer, Fragment, PartitionRange, Position, ReadCommand, ReadProgress, RingBound,
};
use helenus_engine::replica::{DataBuilder, Sink};
use helenus_engine::schema::{Table, TableId, is_local_system};
use helenus_engine::storage::{DecoratedKey, Mutation, Removed, Shard, ShardOptions, Token};
use parking_lot::{Mutex, MutexGuard};

/// All shards of a node.
#[derive(Debug)]
pub(crate) struct Shards {
    /// In token order.
    ring: Box<[Mutex<Shard>]>,
    /// The tables that are the node's own: `system`, `system_schema` and the virtual keyspaces.
    system: Mutex<Shard>,
    /// Whether merging is to go on, or does so, without writes.
    pub(super) merging: AtomicBool,
}

impl Shards {
    /// `count` shards, at least one.
    pub(super) fn new(count: usize) -> Self {
        let shard = || Mutex::new(Shard::new(ShardOptions::default()));
        Self {
            ring: (0..count.max(1)).map(|_| shard()).collect(),
            system: shard(),
            merging: AtomicBool::default(),
        }
    }

    /// Applies a change to the shard that owns its partition; says whether that has merging left to do.
    pub(crate) fn apply(&self, mutation: &Mutation, now_seconds: i64) -> bool {
        let mut shard = self.owner(&mutation.table, mutation.key.token);
        shard.apply(mutation, now_seconds);
        shard.is_merging()
    }

    /// Goes on with merging in every shard by about `budget` fragments a table; says whether there is more to do.
    pub(super) fn maintain(&self, now_seconds: i64, budget: usize) -> bool {
        let mut more = false;
        for shard in self.all() {
            let mut shard = shard.lock();
            more |= shard.maintain(now_seconds, budget);
            MutexGuard::unlock_fair(shard);
        }
        more
    }

    /// Reads until the consumer stops, the range ends or about `budget` fragments were read. A range of tokens is read
    /// shard by shard, so that no more than one lock is held at a time.
    pub(super) fn read(
        &self,
        command: &ReadCommand,
        budget: usize,
        consumer: &mut impl Consumer,
    ) -> ReadProgress {
        if is_own(&command.table) {
            return read_fairly(&self.system, command, budget, consumer);
        }
        if let PartitionRange::Key(key) = &command.range {
            return read_fairly(&self.ring[self.index(key.token)], command, budget, consumer);
        }
        let mut consumer = Counting {
            consumer,
            left: budget,
        };
        self.each_shard(command, |shard| {
            let left = consumer.left;
            let progress = read_fairly(shard, command, left, &mut consumer);
            (progress, consumer.left == 0)
        })
    }

    /// The same into an answer for a coordinator: with tombstones, so that it can be reconciled with others'.
    pub(crate) fn read_data<S: Sink>(
        &self,
        command: &ReadCommand,
        budget: usize,
        builder: &mut DataBuilder<S>,
    ) -> ReadProgress {
        let mut read = |shard: &Mutex<Shard>| {
            let shard = shard.lock();
            let progress = shard.read_data(command, budget, builder);
            MutexGuard::unlock_fair(shard);
            progress
        };
        match &command.range {
            _ if is_own(&command.table) => read(&self.system),
            PartitionRange::Key(key) => read(&self.ring[self.index(key.token)]),
            PartitionRange::Tokens { .. } => self.each_shard(command, |shard| (read(shard), false)),
        }
    }

    /// Reads a range of tokens from the shards that have it, one after the other, until one stops, or says that it was
    /// the last one for now.
    fn each_shard(
        &self,
        command: &ReadCommand,
        mut read: impl FnMut(&Mutex<Shard>) -> (ReadProgress, bool),
    ) -> ReadProgress {
        let PartitionRange::Tokens { start, end } = command.range else {
            return ReadProgress::Finished;
        };
        let start = command
            .resume
            .as_ref()
            .map_or(token(start), |position| position.key.token);
        let last = self.index(token(end));
        for index in self.index(start)..=last {
            let (progress, is_over) = read(&self.ring[index]);
            if progress != ReadProgress::Finished {
                return progress;
            }
            if is_over && index < last {
                // No partition has an empty key, so this is before all of the next shard.
                let key = DecoratedKey {
                    token: self.first_token(index + 1),
                    key: Bytes::new(),
                };
                return ReadProgress::Yielded(Position::after_partition(key, command.reversed));
            }
        }
        ReadProgress::Finished
    }

    /// Runs `action` on the shard that owns `token`, which nobody else uses meanwhile.
    pub(crate) fn with_owner<T>(
        &self,
        table: &Table,
        token: Token,
        action: impl FnOnce(&mut Shard) -> T,
    ) -> T {
        action(&mut self.owner(table, token))
    }

    /// Removes the rows of a table that was truncated or dropped, for the caller to free.
    pub(super) fn remove_table(&self, table: TableId) -> Vec<Removed> {
        self.all()
            .filter_map(|shard| shard.lock().remove_table(table))
            .collect()
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Shard>> {
        self.ring.iter().chain(std::iter::once(&self.system))
    }

    fn owner(&self, table: &Table, token: Token) -> MutexGuard<'_, Shard> {
        let shard = if is_own(table) {
            &self.system
        } else {
            &self.ring[self.index(token)]
        };
        shard.lock()
    }

    /// The shard of a token: the ring cut in equal parts.
    fn index(&self, token: Token) -> usize {
        let place = u128::from(token.0.cast_unsigned() ^ (1 << 63));
        ((place * self.ring.len() as u128) >> 64) as usize
    }

    /// The lowest token of a shard.
    fn first_token(&self, index: usize) -> Token {
        let place = ((index as u128) << 64).div_ceil(self.ring.len() as u128);
        Token((place as u64 ^ (1 << 63)).cast_signed())
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

/// Reads under the lock, and hands it to who waits for it, if anybody does: a scan takes it again at once and would
/// otherwise keep it, as far as others can tell, until the shard is read.
fn read_fairly(
    shard: &Mutex<Shard>,
    command: &ReadCommand,
    budget: usize,
    consumer: &mut impl Consumer,
) -> ReadProgress {
    let shard = shard.lock();
    let progress = shard.read(command, budget, consumer);
    MutexGuard::unlock_fair(shard);
    progress
}

/// Counts what a consumer takes.
struct Counting<'c, C> {
    consumer: &'c mut C,
    left: usize,
}

impl<C: Consumer> Consumer for Counting<'_, C> {
    fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        self.left = self.left.saturating_sub(1);
        self.consumer.consume(fragment)
    }

    fn pass_tombstones(&mut self, key: &DecoratedKey, count: usize) -> ControlFlow<()> {
        self.consumer.pass_tombstones(key, count)
    }
}

/// Whether a table is one of the node's own. (The others of the system are replicated, and lie on the ring.)
pub(super) fn is_own(table: &Table) -> bool {
    table.keyspace.starts_with("system") && is_local_system(&table.keyspace)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use helenus_core::types::Value;
    use helenus_engine::readers::{ReadLimit, Slices};
    use helenus_engine::schema::Schema;
    use helenus_engine::system::{NodeInfo, writer};
    use uuid::Uuid;

    use super::*;

    struct Keys(Vec<DecoratedKey>);

    impl Consumer for Keys {
        fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
            if let Fragment::PartitionStart(key) = fragment {
                self.0.push(key.clone());
            }
            ControlFlow::Continue(())
        }
    }

    fn sessions() -> Arc<Table> {
        let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 0);
        Arc::clone(schema.table("system_traces", "sessions").unwrap())
    }

    #[test]
    fn the_ring_is_cut_into_equal_parts_without_gaps() {
        for count in [1, 3, 32] {
            let shards = Shards::new(count);
            assert_eq!(shards.index(Token(i64::MIN)), 0);
            assert_eq!(shards.index(Token(i64::MAX)), count - 1);
            for index in 1..count {
                let first = shards.first_token(index);
                assert_eq!(shards.index(first), index);
                assert_eq!(shards.index(Token(first.0 - 1)), index - 1);
            }
        }
    }

    #[test]
    fn merging_goes_on_until_nothing_is_left_and_loses_nothing() {
        let table = sessions();
        let shards = Shards::new(3);
        for number in 0..3_000 {
            let id = Value::Uuid(Uuid::from_u128(number % 1_000));
            let mutation = writer::insert(&table, number as i64, &[("session_id", id)]);
            shards.apply(&mutation, 0);
            if number % 1_000 == 999 {
                shards.all().for_each(|shard| shard.lock().freeze(table.id));
            }
        }
        shards
            .all()
            .for_each(|shard| shard.lock().compact(table.id));
        let mut rounds = 1;
        while shards.maintain(0, 64) {
            rounds += 1;
        }
        assert!(rounds > 1);
        let sizes = shards.all().map(|shard| shard.lock().size(table.id));
        assert_eq!(sizes.map(|size| size.partitions).sum::<usize>(), 1_000);
        let removed = shards.remove_table(table.id);
        assert!(removed.iter().map(Removed::bytes).sum::<usize>() > 0);
        assert!(!shards.maintain(0, 64));
    }

    #[test]
    fn a_scan_that_yields_reads_every_shard_once_and_in_order() {
        let table = sessions();
        let shards = Shards::new(7);
        for number in 0..500 {
            let id = Value::Uuid(Uuid::from_u128(number));
            let mutation = writer::insert(&table, 1, &[("session_id", id)]);
            shards.apply(&mutation, 0);
        }
        for budget in [1, 2, 7, 100, 10_000] {
            let mut command = ReadCommand {
                table: Arc::clone(&table),
                range: PartitionRange::ALL,
                slices: Slices::All,
                reversed: false,
                now_seconds: 0,
                resume: None,
                limit: ReadLimit::NONE,
            };
            let mut keys = Keys(Vec::new());
            let mut slices = 0;
            while let ReadProgress::Yielded(position) = shards.read(&command, budget, &mut keys) {
                command.resume = Some(position);
                slices += 1;
            }
            assert_eq!(keys.0.len(), 500, "budget {budget}");
            assert!(keys.0.is_sorted(), "budget {budget}");
            // A partition is three fragments: its start, its row and its end.
            assert!(
                slices * budget.max(3) <= 2 * 1500,
                "budget {budget}: {slices}"
            );
            assert_eq!(slices == 0, budget > 1500, "budget {budget}");
        }
    }
}
