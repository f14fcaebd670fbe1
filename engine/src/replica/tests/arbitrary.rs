//! Strategies: few keys, places and timestamps, so that writes meet. When something was written says also when it expires:
//! of two writes at one time none has expired while the other hasn't.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::support::*;
use crate::readers::{PartitionRange, ReadCommand, ReadLimit, RingBound, Slices};
use crate::storage::{
    Cell, ClusteringBound, ColumnData, DeletionTime, Liveness, Mutation, NO_EXPIRY, RangeTombstone,
    Row,
};

fn any_bound() -> impl Strategy<Value = ClusteringBound> + Clone {
    let prefix = (0_u8..4, prop::option::of(0_u8..3)).prop_map(|(c, d)| {
        let whole = place(table(), &[c, d.unwrap_or(0)]).sort;
        // A tinyint's form takes two bytes.
        if d.is_some() { whole } else { whole.slice(..2) }
    });
    prop_oneof![
        1 => Just(ClusteringBound::Start),
        4 => prefix.clone().prop_map(ClusteringBound::Before),
        4 => prefix.prop_map(ClusteringBound::After),
        1 => Just(ClusteringBound::End),
    ]
}

fn any_deletion() -> impl Strategy<Value = DeletionTime> + Clone {
    (0_i64..12).prop_map(deletion)
}

fn expiring(timestamp: i64) -> (u32, i64) {
    let ttl = 1 + timestamp % 4;
    (ttl as u32, timestamp % 5 + ttl)
}

fn any_cell() -> impl Strategy<Value = Cell> + Clone {
    let value = prop::collection::vec(0_u8..3, 0..2);
    prop_oneof![
        4 => (0_i64..12, value.clone()).prop_map(|(at, value)| cell(at, &value)),
        2 => (0_i64..12, value).prop_map(|(at, value)| {
            let (ttl, expires_at) = expiring(at);
            Cell { ttl, expires_at, ..cell(at, &value) }
        }),
        1 => (0_i64..12).prop_map(|at| Cell {
            expires_at: at % 5,
            value: None,
            ..cell(at, b"")
        }),
    ]
}

fn any_row() -> impl Strategy<Value = Row> {
    let liveness = prop_oneof![
        (0_i64..12).prop_map(|timestamp| Liveness {
            timestamp,
            ttl: 0,
            expires_at: NO_EXPIRY
        }),
        (0_i64..12).prop_map(|timestamp| {
            let (ttl, expires_at) = expiring(timestamp);
            Liveness {
                timestamp,
                ttl,
                expires_at,
            }
        }),
    ];
    let elements = prop::collection::btree_map(0_u8..4, any_cell(), 0..3);
    let complex = (prop::option::weighted(0.3, any_deletion()), elements);
    let simple = || prop::option::of(any_cell());
    let columns = (simple(), simple(), prop::option::of(complex));
    (
        prop::option::of(liveness),
        prop::option::weighted(0.15, any_deletion()),
        columns,
    )
        .prop_map(|(liveness, deletion, (a, b, m))| {
            let simple =
                |name, cell: Option<Cell>| Some((column(table(), name), ColumnData::Simple(cell?)));
            let complex = m.map(|(deletion, elements)| {
                let cells = elements.into_iter().map(|(key, cell)| (path(key), cell));
                let cells = cells.collect();
                (
                    column(table(), "m"),
                    ColumnData::Complex { deletion, cells },
                )
            });
            let mut columns: Vec<_> = simple("a", a)
                .into_iter()
                .chain(simple("b", b))
                .chain(complex)
                .collect();
            columns.sort_by_key(|(id, _)| *id);
            Row {
                liveness,
                deletion,
                columns,
            }
        })
}

pub(super) fn any_mutation() -> impl Strategy<Value = Mutation> + Clone {
    let empty = |key| mutation(table(), key);
    prop_oneof![
        12 => (0_u8..3, 0_u8..4, 0_u8..3, any_row())
            .prop_map(|(key, c, d, row)| write(key, &[c, d], row)),
        2 => (0_u8..3, any_cell()).prop_map(move |(key, cell)| {
            let columns = vec![(column(table(), "s"), ColumnData::Simple(cell))];
            let static_row = Some(Row { columns, ..Row::default() });
            Mutation { static_row, ..empty(key) }
        }),
        4 => (0_u8..3, any_bound(), any_bound(), any_deletion()).prop_map(
            move |(key, start, end, deletion)| {
                let range_tombstones = vec![RangeTombstone { start, end, deletion }];
                Mutation { range_tombstones, ..empty(key) }
            }
        ),
        1 => (0_u8..3, any_deletion()).prop_map(move |(key, deletion)| {
            Mutation { partition_deletion: Some(deletion), ..empty(key) }
        }),
    ]
    .prop_map(Arc::new)
    .prop_map(|mutation| (*mutation).clone())
    .boxed()
}

/// Mutations of one table, joined into one a partition here and there.
pub(super) fn any_mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec(any_mutation(), 0..30)
}

pub(super) fn any_limit() -> impl Strategy<Value = ReadLimit> {
    let few = || prop_oneof![1 => Just(u32::MAX), 2 => 1_u32..6];
    (few(), few()).prop_map(|(rows, per_partition)| ReadLimit {
        rows,
        per_partition,
        ..ReadLimit::NONE
    })
}

pub(super) fn any_command() -> impl Strategy<Value = ReadCommand> {
    let token = (0_u8..3).prop_map(|partition| key(partition).token);
    let bound = prop_oneof![
        1 => Just(RingBound::Start),
        2 => token.clone().prop_map(RingBound::Before),
        2 => token.prop_map(RingBound::After),
        1 => Just(RingBound::End),
    ];
    let range = prop_oneof![
        2 => Just(PartitionRange::ALL),
        2 => (0_u8..3).prop_map(|partition| PartitionRange::Key(key(partition))),
        1 => (bound.clone(), bound).prop_map(|(start, end)| PartitionRange::Tokens { start, end }),
    ];
    let slices = prop_oneof![
        2 => Just(Slices::All),
        3 => prop::collection::vec(any_bound(), 2..6).prop_map(|mut bounds| {
            bounds.sort();
            let (pairs, _) = bounds.as_chunks::<2>();
            Slices::Ranges(pairs.iter().cloned().map(|[start, end]| (start, end)).collect())
        }),
    ];
    (range, slices, any::<bool>(), 0_i64..8).prop_map(|(range, slices, reversed, now_seconds)| {
        ReadCommand {
            range,
            slices,
            reversed,
            now_seconds,
            ..command(table())
        }
    })
}

/// A cell's value of so many bytes.
pub(super) fn long_value(len: usize) -> Bytes {
    vec![7; len].into()
}
