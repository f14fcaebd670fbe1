//! Counters: sums over memtable and runs, and what deletions do to them.

use bytes::Bytes;
use proptest::prelude::*;

use super::support::*;
use crate::storage::{ClusteringBound, Mutation, RangeTombstone, Row, Shard, ShardOptions};

fn shard() -> Shard {
    Shard::new(ShardOptions::default())
}

fn counter(sum: i64) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    vec![(vec![1], vec![sum.to_be_bytes().to_vec()])]
}

#[test]
fn a_counter_adds_up_across_memtable_and_runs() {
    let table = table(true);
    let add = |at, by: i64| write(&table, 1, &[1], row(&[(0, cell(at, &by.to_be_bytes()))]));
    let mut shard = shard();
    for (at, by) in [(1, 5), (2, -7), (2, 40)] {
        shard.apply(&add(at, by), 0);
    }
    assert_eq!(rows(&shard, &command(&table)), counter(38));
    shard.freeze(table.id);
    shard.apply(&add(3, 2), 0);
    assert_eq!(rows(&shard, &command(&table)), counter(40));
    shard.compact(table.id);
    while shard.maintain(0, 1) {}
    assert_eq!(rows(&shard, &command(&table)), counter(40));
}

#[test]
fn a_counter_begins_anew_after_its_row_range_or_partition_was_deleted() {
    let table = table(true);
    let add = |at| write(&table, 1, &[1], row(&[(0, cell(at, &1_i64.to_be_bytes()))]));
    let delete_row = Row {
        deletion: Some(deletion(5)),
        ..Row::default()
    };
    let deletions = [
        write(&table, 1, &[1], delete_row),
        Mutation {
            partition_deletion: Some(deletion(5)),
            ..mutation(&table, 1)
        },
        Mutation {
            range_tombstones: vec![RangeTombstone {
                start: ClusteringBound::Start,
                end: ClusteringBound::After(Bytes::from_static(&[1])),
                deletion: deletion(5),
            }],
            ..mutation(&table, 1)
        },
    ];
    for deletion in &deletions {
        for frozen in [false, true] {
            let mut shard = shard();
            shard.apply(&add(1), 0);
            shard.apply(&add(2), 0);
            if frozen {
                shard.freeze(table.id);
            }
            shard.apply(deletion, 0);
            assert_eq!(rows(&shard, &command(&table)), []);
            shard.apply(&add(6), 0);
            assert_eq!(
                rows(&shard, &command(&table)),
                counter(1),
                "{deletion:?} {frozen}"
            );
            shard.compact(table.id);
            while shard.maintain(0, 1) {}
            assert_eq!(rows(&shard, &command(&table)), counter(1));
        }
    }
}

#[test]
fn a_deleted_counter_cell_stays_deleted() {
    let table = table(true);
    let add = |at| write(&table, 1, &[1], row(&[(0, cell(at, &1_i64.to_be_bytes()))]));
    let mut shard = shard();
    shard.apply(&add(1), 0);
    shard.apply(&write(&table, 1, &[1], row(&[(0, tombstone(2, 0))])), 0);
    shard.apply(&add(3), 0);
    assert_eq!(rows(&shard, &command(&table)), []);
}

/// What happens to the counters of one partition, each change newer than the last.
#[derive(Debug, Clone, Copy)]
enum Step {
    Add(u8, i64),
    DeleteRow(u8),
    DeleteFrom(u8),
    DeleteAll,
    Freeze,
    Maintain,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_u8..4, any::<i64>()).prop_map(|(row, by)| Step::Add(row, by)),
        1 => (0_u8..4).prop_map(Step::DeleteRow),
        1 => (0_u8..4).prop_map(Step::DeleteFrom),
        1 => Just(Step::DeleteAll),
        2 => Just(Step::Freeze),
        4 => Just(Step::Maintain),
    ]
}

proptest! {
    #[test]
    fn a_counter_is_the_sum_since_its_last_deletion(steps in prop::collection::vec(any_step(), 0..60)) {
        let table = table(true);
        let mut shard = shard();
        let mut sums: [Option<i64>; 4] = [None; 4];
        for (at, step) in steps.into_iter().enumerate() {
            let deletion = Some(deletion(at as i64));
            let change = match step {
                Step::Add(place, by) => {
                    let sum = &mut sums[usize::from(place)];
                    *sum = Some(sum.unwrap_or(0).wrapping_add(by));
                    write(&table, 1, &[place], row(&[(0, cell(at as i64, &by.to_be_bytes()))]))
                }
                Step::DeleteRow(place) => {
                    sums[usize::from(place)] = None;
                    write(&table, 1, &[place], Row { deletion, ..Row::default() })
                }
                Step::DeleteFrom(place) => {
                    sums.iter_mut().skip(usize::from(place)).for_each(|sum| *sum = None);
                    let start = ClusteringBound::Before(Bytes::copy_from_slice(&[place]));
                    let end = ClusteringBound::End;
                    let range_tombstones =
                        deletion.map(|deletion| RangeTombstone { start, end, deletion });
                    Mutation {
                        range_tombstones: range_tombstones.into_iter().collect(),
                        ..mutation(&table, 1)
                    }
                }
                Step::DeleteAll => {
                    sums = [None; 4];
                    Mutation { partition_deletion: deletion, ..mutation(&table, 1) }
                }
                Step::Freeze => {
                    shard.freeze(table.id);
                    continue;
                }
                Step::Maintain => {
                    shard.maintain(0, 3);
                    continue;
                }
            };
            shard.apply(&change, 0);
        }
        let expected = (0_u8..).zip(sums).filter_map(|(place, sum)| {
            Some((vec![place], vec![sum?.to_be_bytes().to_vec()]))
        });
        prop_assert_eq!(rows(&shard, &command(&table)), expected.collect::<Vec<_>>());
    }
}
