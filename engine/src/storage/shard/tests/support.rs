//! A table, mutations of it, and reads collected into plain values.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::types::CqlType;
use uuid::Uuid;

use crate::readers::{
    Fragment, PartitionRange, Position, ReadCommand, ReadLimit, ReadProgress, Slices,
};
use crate::schema::{Column, ColumnId, ColumnKind, Table};
use crate::storage::{
    Cell, CellPath, ClusteringKey, ColumnData, DecoratedKey, DeletionTime, Mutation, NO_EXPIRY,
    Row, Shard,
};

pub(crate) const COMPLEX: ColumnId = ColumnId(2);

/// A table, as far as storage looks at it: blobs `a` and `b` (ids 0 and 1), a map (2) and a static blob (3).
pub(crate) fn table(is_counter: bool) -> Arc<Table> {
    let column = Column {
        id: ColumnId(0),
        name: Arc::from("a"),
        ty: CqlType::Blob,
        kind: ColumnKind::Regular,
        position: 0,
        descending: false,
    };
    Arc::new(Table {
        keyspace: Arc::from("k"),
        name: Arc::from("t"),
        id: Uuid::from_u128(1),
        columns: vec![column],
        partition_key_len: 0,
        clustering_len: 0,
        static_len: 0,
        is_counter,
        next_column_id: 4,
        default_ttl: 0,
        gc_grace_seconds: 10,
        options: Default::default(),
        dropped: Vec::new(),
        indexes: Vec::new(),
        is_view: false,
    })
}

pub(crate) fn partition(key: u8) -> DecoratedKey {
    DecoratedKey::new(Bytes::copy_from_slice(&[key]))
}

pub(crate) fn clustering(sort: &[u8]) -> ClusteringKey {
    let bytes = Bytes::copy_from_slice(sort);
    ClusteringKey {
        sort: bytes.clone(),
        values: bytes,
    }
}

pub(crate) fn cell(timestamp: i64, value: &[u8]) -> Cell {
    let value = Some(Bytes::copy_from_slice(value));
    Cell {
        timestamp,
        ttl: 0,
        expires_at: NO_EXPIRY,
        value,
    }
}

pub(crate) fn expiring(timestamp: i64, ttl: u32, expires_at: i64, value: &[u8]) -> Cell {
    Cell {
        ttl,
        expires_at,
        ..cell(timestamp, value)
    }
}

pub(crate) fn tombstone(timestamp: i64, local_seconds: i64) -> Cell {
    Cell {
        timestamp,
        ttl: 0,
        expires_at: local_seconds,
        value: None,
    }
}

pub(crate) fn deletion(timestamp: i64) -> DeletionTime {
    DeletionTime {
        timestamp,
        local_seconds: 0,
    }
}

pub(crate) fn path(path: u8) -> CellPath {
    let bytes = Bytes::copy_from_slice(&[path]);
    CellPath {
        sort: bytes.clone(),
        value: bytes,
    }
}

/// A row of simple cells.
pub(crate) fn row(cells: &[(u32, Cell)]) -> Row {
    let columns = cells
        .iter()
        .map(|(id, cell)| (ColumnId(*id), ColumnData::Simple(cell.clone())))
        .collect();
    Row {
        liveness: None,
        deletion: None,
        columns,
    }
}

pub(crate) fn mutation(table: &Arc<Table>, key: u8) -> Mutation {
    Mutation {
        table: Arc::clone(table),
        key: partition(key),
        partition_deletion: None,
        static_row: None,
        rows: Vec::new(),
        range_tombstones: Vec::new(),
    }
}

pub(crate) fn write(table: &Arc<Table>, key: u8, sort: &[u8], row: Row) -> Mutation {
    Mutation {
        rows: vec![(clustering(sort), row)],
        ..mutation(table, key)
    }
}

pub(crate) fn command(table: &Arc<Table>) -> ReadCommand {
    ReadCommand {
        table: Arc::clone(table),
        range: PartitionRange::ALL,
        slices: Slices::All,
        reversed: false,
        now_seconds: 0,
        resume: None,
        limit: ReadLimit::NONE,
    }
}

/// Simple cells have an empty path.
pub(crate) type Cells = Vec<(ColumnId, Vec<u8>, Vec<u8>)>;

/// A fragment as a plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Start(DecoratedKey),
    Static(Cells),
    Row {
        sort: Vec<u8>,
        is_inserted: bool,
        cells: Cells,
    },
    End,
}

fn seen(fragment: &Fragment<'_>) -> Seen {
    match fragment {
        Fragment::PartitionStart(key) => Seen::Start((*key).clone()),
        Fragment::StaticRow(row) => Seen::Static(cells(row)),
        Fragment::Row(key, row) => Seen::Row {
            sort: key.sort.to_vec(),
            is_inserted: row.liveness.is_some(),
            cells: cells(row),
        },
        Fragment::PartitionEnd => Seen::End,
    }
}

fn cells(row: &Row) -> Cells {
    let value = |cell: &Cell| {
        cell.value
            .clone()
            .expect("only what is alive is delivered")
            .to_vec()
    };
    let mut cells = Vec::new();
    for (id, data) in &row.columns {
        match data {
            ColumnData::Simple(cell) => cells.push((*id, Vec::new(), value(cell))),
            ColumnData::Complex {
                cells: elements, ..
            } => cells.extend(
                elements
                    .iter()
                    .map(|(path, cell)| (*id, path.sort.to_vec(), value(cell))),
            ),
        }
    }
    cells
}

/// Reads with a budget, resuming whenever the read yields; begins another page after each fragment that `stop` says so
/// of, from the decoded position.
pub(crate) fn read_paged(
    shard: &Shard,
    command: &ReadCommand,
    budget: usize,
    stop: impl Fn(&Seen) -> bool,
) -> Vec<Vec<Seen>> {
    let mut command = command.clone();
    let mut pages = vec![Vec::new()];
    for _ in 0..10_000 {
        let page = pages.last_mut().unwrap();
        let progress = shard.read(&command, budget, &mut |fragment: Fragment<'_>| {
            let seen = seen(&fragment);
            let stops = stop(&seen);
            page.push(seen);
            if stops {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        match progress {
            ReadProgress::Finished => return pages,
            ReadProgress::Yielded(position) => command.resume = Some(position),
            ReadProgress::Stopped(position) => {
                let mut bytes = Vec::new();
                position.encode(&mut bytes);
                command.resume = Position::decode(&bytes);
                pages.push(Vec::new());
            }
        }
    }
    panic!("the read gets nowhere");
}

pub(crate) fn read(shard: &Shard, command: &ReadCommand) -> Vec<Seen> {
    read_paged(shard, command, usize::MAX, |_| false).concat()
}

/// The rows alone: their sort bytes and the values of their cells.
pub(crate) fn rows(shard: &Shard, command: &ReadCommand) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let rows = read(shard, command)
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Row { sort, cells, .. } => {
                Some((sort, cells.into_iter().map(|(_, _, value)| value).collect()))
            }
            _ => None,
        });
    rows.collect()
}
