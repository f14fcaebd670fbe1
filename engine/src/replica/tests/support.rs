//! A table, mutations of it, and answers of shards.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};

use crate::readers::{Fragment, PartitionRange, ReadCommand, ReadLimit, ReadProgress, Slices};
use crate::replica::columns::{Columns, cell_path};
use crate::replica::{DataBuilder, Digest, ReadData, Sink};
use crate::schema::testing::World;
use crate::schema::{ColumnId, Schema, Table};
use crate::storage::{
    Cell, CellPath, ClusteringKey, ColumnData, DecoratedKey, DeletionTime, Mutation, NO_EXPIRY,
    Row, Shard, ShardOptions,
};

/// A schema with the table of these tests, `ks.t`, and a table of counters, `ks.n`.
pub(super) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut world = World::new();
        world.ok("CREATE TABLE t (p tinyint, c tinyint, d tinyint, s blob STATIC, a blob, b blob, \
                  m map<tinyint, blob>, x int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC) \
                  AND gc_grace_seconds = 1000");
        world.ok("ALTER TABLE t DROP x");
        world.ok("CREATE TABLE n (p tinyint, c tinyint, a counter, b counter, PRIMARY KEY (p, c))");
        world.schema
    })
}

pub(super) fn table() -> &'static Arc<Table> {
    schema().table("ks", "t").expect("the table")
}

pub(super) fn counters() -> &'static Arc<Table> {
    schema().table("ks", "n").expect("the table")
}

pub(super) fn column(table: &Table, name: &str) -> ColumnId {
    table.column(name).expect("the column").id
}

pub(super) fn key(key: u8) -> DecoratedKey {
    DecoratedKey::new(Bytes::copy_from_slice(&[key]))
}

/// The place of the row with these clustering values, each of one byte.
pub(super) fn place(table: &Table, values: &[u8]) -> ClusteringKey {
    let values: Vec<u8> = values
        .iter()
        .flat_map(|value| [0, 0, 0, 1, *value])
        .collect();
    Columns::of(table)
        .clustering_key(values.into())
        .expect("as many values as columns")
}

pub(super) fn path(element: u8) -> CellPath {
    let ty = &table().column("m").expect("the map").ty;
    cell_path(ty, Bytes::copy_from_slice(&[element]))
}

pub(super) fn cell(timestamp: i64, value: &[u8]) -> Cell {
    Cell {
        timestamp,
        ttl: 0,
        expires_at: NO_EXPIRY,
        value: Some(Bytes::copy_from_slice(value)),
    }
}

pub(super) fn deletion(timestamp: i64) -> DeletionTime {
    DeletionTime {
        timestamp,
        local_seconds: timestamp % 5,
    }
}

pub(super) fn mutation(table: &Arc<Table>, partition: u8) -> Mutation {
    Mutation {
        table: Arc::clone(table),
        key: key(partition),
        partition_deletion: None,
        static_row: None,
        rows: Vec::new(),
        range_tombstones: Vec::new(),
    }
}

pub(super) fn write(partition: u8, values: &[u8], row: Row) -> Mutation {
    Mutation {
        rows: vec![(place(table(), values), row)],
        ..mutation(table(), partition)
    }
}

pub(super) fn shard() -> Shard {
    Shard::new(ShardOptions { flush_bytes: 2048 })
}

pub(super) fn command(table: &Arc<Table>) -> ReadCommand {
    ReadCommand {
        table: Arc::clone(table),
        range: PartitionRange::ALL,
        slices: Slices::All,
        reversed: false,
        now_seconds: 6,
        resume: None,
        limit: ReadLimit::NONE,
    }
}

/// Reads into a builder with a budget, resuming whenever the read yields.
pub(super) fn fill<S: Sink>(
    shard: &Shard,
    command: &ReadCommand,
    budget: usize,
    mut builder: DataBuilder<S>,
) -> S::Answer {
    let mut command = command.clone();
    for _ in 0..10_000 {
        match shard.read_data(&command, budget, &mut builder) {
            ReadProgress::Yielded(position) => command.resume = Some(position),
            ReadProgress::Finished | ReadProgress::Stopped(_) => return builder.finish(),
        }
    }
    panic!("the read gets nowhere");
}

pub(super) fn data(shard: &Shard, command: &ReadCommand) -> ReadData {
    fill(shard, command, usize::MAX, DataBuilder::data(command))
}

pub(super) fn digest(shard: &Shard, command: &ReadCommand) -> Digest {
    fill(shard, command, usize::MAX, DataBuilder::digest(command))
}

pub(super) fn encoded(data: &ReadData) -> Bytes {
    let mut out = BytesMut::new();
    data.encode(&mut out);
    out.freeze()
}

/// What a consumer saw, as text; the ends of partitions left out, since one that goes on is ended once.
pub(super) type Seen = Vec<String>;

fn see(fragment: &Fragment<'_>, seen: &mut Seen) {
    match fragment {
        Fragment::PartitionEnd => {}
        Fragment::Row(key, row) => {
            // Which deletions a row carries that it survived is no part of what it says.
            let cells = row.columns.iter().filter_map(|(id, data)| match data {
                ColumnData::Simple(cell) => Some(format!("{id:?} {cell:?}")),
                ColumnData::Complex { cells, .. } if cells.is_empty() => None,
                ColumnData::Complex { cells, .. } => Some(format!("{id:?} {cells:?}")),
            });
            let cells: Vec<_> = cells.collect();
            seen.push(format!("{:?} {:?} {cells:?}", key.values, row.liveness));
        }
        fragment => {
            let begun = format!("{fragment:?}");
            // A read that was interrupted begins its partition again.
            if !seen.contains(&begun) {
                seen.push(begun);
            }
        }
    }
}

/// What is alive in a shard.
pub(super) fn seen_in_shard(shard: &Shard, command: &ReadCommand) -> Seen {
    let mut seen = Seen::new();
    let progress = shard.read(command, usize::MAX, &mut |fragment: Fragment<'_>| {
        see(&fragment, &mut seen);
        ControlFlow::Continue(())
    });
    assert_eq!(progress, ReadProgress::Finished);
    seen
}

/// What is alive, by answers: each is asked of `ask` once the one before has ended.
pub(super) fn seen_in_answers(
    command: &ReadCommand,
    budget: usize,
    mut ask: impl FnMut(&ReadCommand) -> ReadData,
) -> Seen {
    let mut seen = Seen::new();
    let mut command = command.clone();
    for _ in 0..10_000 {
        let data = ask(&command);
        let progress = data.consume(&command, budget, &mut |fragment: Fragment<'_>| {
            see(&fragment, &mut seen);
            ControlFlow::Continue(())
        });
        match progress {
            ReadProgress::Yielded(position) => command.resume = Some(position),
            ReadProgress::Finished => return seen,
            ReadProgress::Stopped(_) => panic!("nobody said stop"),
        }
    }
    panic!("the read gets nowhere");
}
