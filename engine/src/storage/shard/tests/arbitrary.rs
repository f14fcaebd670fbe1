//! Strategies: few keys, places and timestamps, so that writes meet.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::support::*;
use crate::readers::{PartitionRange, ReadCommand, RingBound, Slices};
use crate::schema::{ColumnId, Table};
use crate::storage::{
    Cell, ClusteringBound, ColumnData, DeletionTime, Liveness, Mutation, NO_EXPIRY, RangeTombstone,
    Row,
};

/// Something that happens to a shard.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Apply(Mutation),
    Freeze,
    Compact,
    Maintain(usize),
}

fn any_bound() -> impl Strategy<Value = ClusteringBound> + Clone {
    let prefix = prop::collection::vec(0_u8..4, 1..=2).prop_map(Bytes::from);
    prop_oneof![
        1 => Just(ClusteringBound::Start),
        4 => prefix.clone().prop_map(ClusteringBound::Before),
        4 => prefix.prop_map(ClusteringBound::After),
        1 => Just(ClusteringBound::End),
    ]
}

fn any_deletion() -> impl Strategy<Value = DeletionTime> {
    (0_i64..10, 0_i64..3).prop_map(|(timestamp, local_seconds)| DeletionTime {
        timestamp,
        local_seconds,
    })
}

fn any_cell() -> impl Strategy<Value = Cell> + Clone {
    let value = prop::collection::vec(0_u8..3, 0..2);
    prop_oneof![
        4 => (0_i64..10, value.clone()).prop_map(|(at, value)| cell(at, &value)),
        2 => (0_i64..10, 1_i64..6, value).prop_map(|(at, end, value)| expiring(at, 1, end, &value)),
        1 => (0_i64..10, 0_i64..3).prop_map(|(at, local)| tombstone(at, local)),
    ]
}

fn any_columns() -> impl Strategy<Value = Vec<(ColumnId, ColumnData)>> {
    let elements = prop::collection::btree_map(0_u8..4, any_cell(), 0..3);
    let complex =
        (prop::option::weighted(0.3, any_deletion()), elements).prop_map(|(deletion, elements)| {
            ColumnData::Complex {
                deletion,
                cells: elements
                    .into_iter()
                    .map(|(key, cell)| (path(key), cell))
                    .collect(),
            }
        });
    let simple = || prop::option::of(any_cell().prop_map(ColumnData::Simple));
    (simple(), simple(), prop::option::of(complex)).prop_map(|(a, b, map)| {
        let columns = [(ColumnId(0), a), (ColumnId(1), b), (COMPLEX, map)];
        columns
            .into_iter()
            .filter_map(|(id, data)| Some((id, data?)))
            .collect()
    })
}

fn any_row() -> impl Strategy<Value = Row> {
    let liveness = prop_oneof![
        (0_i64..10).prop_map(|timestamp| Liveness {
            timestamp,
            ttl: 0,
            expires_at: NO_EXPIRY
        }),
        (0_i64..10, 1_i64..6).prop_map(|(timestamp, expires_at)| Liveness {
            timestamp,
            ttl: 1,
            expires_at
        }),
    ];
    (
        prop::option::of(liveness),
        prop::option::weighted(0.2, any_deletion()),
        any_columns(),
    )
        .prop_map(|(liveness, deletion, columns)| Row {
            liveness,
            deletion,
            columns,
        })
}

fn any_step() -> impl Strategy<Value = Step> {
    let place = (0_u8..3, prop::collection::vec(0_u8..4, 2));
    let empty = |key| mutation(&table(false), key);
    prop_oneof![
        12 => (place, any_row()).prop_map(|((key, sort), row)| {
            Step::Apply(write(&table(false), key, &sort, row))
        }),
        2 => (0_u8..3, any_cell()).prop_map(move |(key, cell)| {
            let static_row = Some(row(&[(3, cell)]));
            Step::Apply(Mutation { static_row, ..empty(key) })
        }),
        4 => (0_u8..3, any_bound(), any_bound(), any_deletion()).prop_map(
            move |(key, start, end, deletion)| {
                let range_tombstones = vec![RangeTombstone { start, end, deletion }];
                Step::Apply(Mutation { range_tombstones, ..empty(key) })
            }
        ),
        1 => (0_u8..3, any_deletion()).prop_map(move |(key, deletion)| {
            Step::Apply(Mutation { partition_deletion: Some(deletion), ..empty(key) })
        }),
        2 => Just(Step::Freeze),
        1 => Just(Step::Compact),
        3 => (1_usize..8).prop_map(Step::Maintain),
    ]
}

fn any_command(table: Arc<Table>) -> impl Strategy<Value = ReadCommand> {
    let token = (0_u8..3).prop_map(|key| partition(key).token);
    let bound = prop_oneof![
        1 => Just(RingBound::Start),
        2 => token.clone().prop_map(RingBound::Before),
        2 => token.prop_map(RingBound::After),
        1 => Just(RingBound::End),
    ];
    let range = prop_oneof![
        2 => Just(PartitionRange::ALL),
        2 => (0_u8..3).prop_map(|key| PartitionRange::Key(partition(key))),
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
    (range, slices, any::<bool>(), 0_i64..7).prop_map(move |(range, slices, reversed, now)| {
        ReadCommand {
            range,
            slices,
            reversed,
            now_seconds: now,
            ..command(&table)
        }
    })
}

/// Steps, and reads to make after them.
pub(crate) fn any_case() -> impl Strategy<Value = (Vec<Step>, Vec<ReadCommand>)> {
    let steps = prop::collection::vec(any_step(), 0..40);
    (
        steps,
        prop::collection::vec(any_command(table(false)), 1..8),
    )
}
