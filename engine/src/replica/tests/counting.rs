//! Counters on several replicas: each change is counted by one, and told to some of the others, once or more often.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::support::*;
use crate::readers::{Fragment, ReadCommand, ReadProgress};
use crate::replica::{ReadData, reconcile};
use crate::storage::{Cell, ColumnData, Mutation, Row, Shard};

/// What counters stand at, by partition and row.
type Totals = BTreeMap<(Bytes, Bytes), i64>;

fn change(partition: u8, row: u8, delta: i64, timestamp: i64) -> Mutation {
    let cell = cell(timestamp, &delta.to_be_bytes());
    let columns = vec![(column(counters(), "a"), ColumnData::Simple(cell))];
    Mutation {
        rows: vec![(
            place(counters(), &[row]),
            Row {
                columns,
                ..Row::default()
            },
        )],
        ..mutation(counters(), partition)
    }
}

fn totals(data: &ReadData, command: &ReadCommand) -> Totals {
    let (mut totals, mut partition) = (Totals::new(), Bytes::new());
    let progress = data.consume(command, usize::MAX, &mut |fragment: Fragment<'_>| {
        match fragment {
            Fragment::PartitionStart(key) => partition = key.key.clone(),
            Fragment::Row(place, row) => {
                let [
                    (
                        _,
                        ColumnData::Simple(Cell {
                            value: Some(value), ..
                        }),
                    ),
                ] = &row.columns[..]
                else {
                    panic!("one counter a row: {row:?}");
                };
                let total = i64::from_be_bytes(value[..].try_into().expect("a counter"));
                totals.insert((partition.clone(), place.values.clone()), total);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    assert_eq!(progress, ReadProgress::Finished);
    totals
}

fn travelled(mutation: &Mutation) -> Mutation {
    let mut out = BytesMut::new();
    mutation.encode(&mut out);
    Mutation::decode(schema(), &out).expect("a good mutation")
}

/// A change: which replica counts it, of which row, by how much, and who else is told, by bits, once or twice.
fn any_change() -> impl Strategy<Value = (usize, u8, u8, i64, u8, bool)> {
    (
        0_usize..3,
        0_u8..2,
        0_u8..2,
        any::<i64>(),
        0_u8..8,
        any::<bool>(),
    )
}

proptest! {
    #[test]
    fn counters_add_up_whoever_was_told_what_and_how_often(
        changes in prop::collection::vec(any_change(), 0..40),
        freeze: u64,
    ) {
        let mut shards: [Shard; 3] = std::array::from_fn(|_| shard());
        let mut expected = Totals::new();
        for (index, (leader, partition, row, delta, told, twice)) in changes.into_iter().enumerate() {
            // Clocks of nodes differ.
            let timestamp = (index as i64) + [0, 100, -100][leader];
            let change = change(partition, row, delta, timestamp);
            prop_assert!(change.is_counter_delta());
            let counted = shards[leader].apply_counter(&change, leader as u128, 0);
            prop_assert!(!counted.is_counter_delta());
            let counted = travelled(&counted);
            for (replica, shard) in shards.iter_mut().enumerate() {
                let times = u8::from(told >> replica & 1 == 1) * (1 + u8::from(twice));
                (0..times).for_each(|_| shard.apply(&counted, 0));
                if freeze >> ((index * 3 + replica) % 64) & 1 == 1 {
                    shard.freeze(counters().id);
                }
                shard.maintain(0, 3);
            }
            let place = (key(partition).key, place(counters(), &[row]).values);
            let total = expected.entry(place).or_insert(0);
            *total = total.wrapping_add(delta);
        }
        let command = command(counters());
        let answers: Vec<_> =
            shards.iter().enumerate().map(|(replica, shard)| (replica, data(shard, &command))).collect();
        let reconciled = reconcile(&command, &answers);
        prop_assert_eq!(totals(&reconciled.data, &command), expected);
        for (replica, repair) in reconciled.repairs {
            shards[replica].apply(&travelled(&repair), 0);
        }
        for shard in &shards {
            prop_assert_eq!(digest(shard, &command), reconciled.data.digest());
        }
    }
}

#[test]
fn two_changes_of_a_counter_in_one_mutation_both_count() {
    let mut both = change(1, 1, 5, 1);
    both.rows.extend(change(1, 1, -2, 1).rows);
    let mut leader = shard();
    let counted = leader.apply_counter(&both, 9, 0);
    let mut other = shard();
    other.apply(&counted, 0);
    let command = command(counters());
    let answer = data(&other, &command);
    assert_eq!(
        totals(&answer, &command).into_values().collect::<Vec<_>>(),
        [3]
    );
    assert_eq!(answer.digest(), digest(&leader, &command));
}

#[test]
fn a_counter_begins_anew_after_its_row_was_deleted() {
    let mut leader = shard();
    leader.apply_counter(&change(1, 1, 5, 1), 9, 0);
    let gone = Row {
        deletion: Some(deletion(3)),
        ..Row::default()
    };
    let delete = Mutation {
        rows: vec![(place(counters(), &[1]), gone)],
        ..mutation(counters(), 1)
    };
    assert!(!delete.is_counter_delta());
    leader.freeze(counters().id);
    leader.apply(&delete, 0);
    leader.apply_counter(&change(1, 1, 2, 4), 9, 0);
    let command = command(counters());
    let totals = totals(&data(&leader, &command), &command);
    assert_eq!(totals.into_values().collect::<Vec<_>>(), [2]);
}
