//! Where answers end, and that reading on from there misses and repeats nothing.

use proptest::prelude::*;

use super::arbitrary::*;
use super::support::*;
use crate::readers::{PartitionRange, Position, ReadCommand, ReadLimit};
use crate::replica::ReadData;
use crate::storage::{
    ClusteringBound, ColumnData, Liveness, Mutation, NO_EXPIRY, RangeTombstone, Row,
};

fn live(timestamp: i64) -> Row {
    Row {
        liveness: Some(Liveness {
            timestamp,
            ttl: 0,
            expires_at: NO_EXPIRY,
        }),
        ..Row::default()
    }
}

proptest! {
    #[test]
    fn a_consumer_sees_what_it_would_see_of_the_shard(
        mutations in any_mutations(),
        command in any_command(),
        limit in any_limit(),
        bytes in 1_u32..300,
        budget in 1_usize..6,
    ) {
        let mut shard = shard();
        mutations.iter().for_each(|mutation| shard.apply(mutation, 0));
        let expected = seen_in_shard(&shard, &command);
        let unlimited = seen_in_answers(&command, budget, |command| data(&shard, command));
        prop_assert_eq!(&unlimited, &expected);
        // A limit of each partition leaves rows out, others only end answers.
        let limit = ReadLimit { per_partition: u32::MAX, bytes, ..limit };
        let limited = ReadCommand { limit, ..command };
        let seen = seen_in_answers(&limited, usize::MAX, |command| data(&shard, command));
        prop_assert_eq!(&seen, &expected);
    }

    #[test]
    fn answers_that_follow_each_other_append_to_one(
        mutations in any_mutations(),
        command in any_command(),
        bytes in 1_u32..200,
    ) {
        let mut shard = shard();
        mutations.iter().for_each(|mutation| shard.apply(mutation, 0));
        let whole = data(&shard, &command);
        let limit = ReadLimit { bytes, ..ReadLimit::NONE };
        let mut joined = data(&shard, &ReadCommand { limit, ..command.clone() });
        for round in 0.. {
            prop_assert!(round < 10_000, "the read gets nowhere");
            let Some(resume) = joined.end().cloned() else {
                break;
            };
            let next = ReadCommand { resume: Some(resume), limit, ..command.clone() };
            joined.append(data(&shard, &next));
        }
        prop_assert_eq!(encoded(&joined), encoded(&whole));
        prop_assert_eq!(joined.rows(), whole.rows());
    }
}

#[test]
fn an_answer_ends_with_the_last_row_that_the_limit_allows() {
    let mut shard = shard();
    for c in 0..5 {
        shard.apply(&write(1, &[c, 0], live(1)), 0);
    }
    let limit = ReadLimit {
        rows: 2,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        limit,
        ..command(table())
    };
    let answer = data(&shard, &command);
    assert_eq!(answer.rows(), 2);
    let last = place(table(), &[1, 0]).sort;
    assert_eq!(
        answer.end(),
        Some(&Position::after_row(key(1), last, false))
    );
    let reversed = ReadCommand {
        reversed: true,
        ..command
    };
    let last = place(table(), &[3, 0]).sort;
    assert_eq!(
        data(&shard, &reversed).end(),
        Some(&Position::after_row(key(1), last, true))
    );
}

#[test]
fn dead_rows_do_not_count() {
    let mut shard = shard();
    for c in 0..5 {
        shard.apply(&write(1, &[c, 0], live(1)), 0);
        let deletion = (c < 3).then_some(deletion(2));
        shard.apply(
            &write(
                1,
                &[c, 0],
                Row {
                    deletion,
                    ..Row::default()
                },
            ),
            0,
        );
    }
    let limit = ReadLimit {
        rows: 1,
        ..ReadLimit::NONE
    };
    let answer = data(
        &shard,
        &ReadCommand {
            limit,
            ..command(table())
        },
    );
    assert_eq!(answer.rows(), 1);
    let last = place(table(), &[3, 0]).sort;
    assert_eq!(
        answer.end(),
        Some(&Position::after_row(key(1), last, false))
    );
}

#[test]
fn of_each_partition_no_more_rows_are_told_than_are_wanted() {
    let mut shard = shard();
    for partition in 0..3 {
        for c in 0..100 {
            for d in 0..4 {
                shard.apply(&write(partition, &[c, d], live(1)), 0);
            }
        }
    }
    let limit = ReadLimit {
        per_partition: 2,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        limit,
        ..command(table())
    };
    let answer = data(&shard, &command);
    assert_eq!(answer.rows(), 6);
    assert_eq!(answer.end(), None);
    let again = ReadData::decode(&command, &encoded(&answer)).unwrap();
    assert_eq!(again.digest(), digest(&shard, &command));
    assert_eq!(
        seen_in_answers(&command, usize::MAX, |command| data(&shard, command)).len(),
        3 + 6
    );
}

#[test]
fn a_partition_with_nothing_but_a_static_row_counts_as_a_row() {
    let mut shard = shard();
    for partition in 0..3 {
        let columns = vec![(column(table(), "s"), ColumnData::Simple(cell(1, b"x")))];
        let static_row = Some(Row {
            columns,
            ..Row::default()
        });
        shard.apply(
            &Mutation {
                static_row,
                ..mutation(table(), partition)
            },
            0,
        );
    }
    let limit = ReadLimit {
        rows: 2,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        limit,
        ..command(table())
    };
    let answer = data(&shard, &command);
    assert_eq!(answer.rows(), 2);
    assert!(
        answer
            .end()
            .is_some_and(|end| end.is_after_partition(false))
    );
}

#[test]
fn an_answer_of_many_bytes_ends_early_though_nothing_in_it_is_alive() {
    let mut shard = shard();
    for c in 0..100 {
        let start = ClusteringBound::Before(place(table(), &[c, 0]).sort.slice(..2));
        let end = ClusteringBound::After(place(table(), &[c, 0]).sort.slice(..2));
        let deletion = deletion(i64::from(c));
        let tombstone = RangeTombstone {
            start,
            end,
            deletion,
        };
        shard.apply(
            &Mutation {
                range_tombstones: vec![tombstone],
                ..mutation(table(), 1)
            },
            0,
        );
    }
    let limit = ReadLimit {
        bytes: 160,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        range: PartitionRange::Key(key(1)),
        limit,
        ..command(table())
    };
    let mut answers = 0;
    let seen = seen_in_answers(&command, usize::MAX, |command| {
        answers += 1;
        let answer = data(&shard, command);
        assert!(encoded(&answer).len() < 400);
        answer
    });
    assert!(seen.is_empty());
    assert!((8..30).contains(&answers), "{answers}");
}

#[test]
fn the_longest_value_still_goes_into_an_answer() {
    let mut shard = shard();
    let value = long_value(2 << 20);
    for c in 0..3 {
        let columns = vec![(column(table(), "a"), ColumnData::Simple(cell(1, &value)))];
        shard.apply(
            &write(
                1,
                &[c, 0],
                Row {
                    columns,
                    ..Row::default()
                },
            ),
            0,
        );
    }
    let answer = data(&shard, &command(table()));
    assert_eq!(answer.rows(), 1);
    let all = seen_in_answers(&command(table()), usize::MAX, |command| {
        data(&shard, command)
    });
    assert_eq!(all.len(), 1 + 3);
}
