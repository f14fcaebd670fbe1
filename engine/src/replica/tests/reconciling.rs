//! Three replicas that each missed some writes give together what one that missed none does, and have the same once they
//! got what they lack.

use proptest::prelude::*;

use super::arbitrary::*;
use super::support::*;
use crate::readers::{PartitionRange, ReadCommand, ReadLimit};
use crate::replica::{ReadData, Reconciliation, reconcile};
use crate::storage::{DeletionTime, Liveness, Mutation, NO_EXPIRY, Row, Shard};

type Replica = usize;

/// Asks each replica, and those that are short further, until none is; each answer goes as bytes.
fn ask(shards: &[Shard], command: &ReadCommand) -> Reconciliation<Replica> {
    let answer = |replica: Replica, command: &ReadCommand| {
        let bytes = encoded(&data(&shards[replica], command));
        ReadData::decode(command, &bytes).expect("a good answer")
    };
    let mut answers: Vec<_> = (0..shards.len())
        .map(|replica| (replica, answer(replica, command)))
        .collect();
    for _ in 0..1000 {
        let reconciled = reconcile(command, &answers);
        if reconciled.short.is_empty() {
            return reconciled;
        }
        for (replica, further) in reconciled.short {
            answers[replica].1.append(answer(replica, &further));
        }
    }
    panic!("asking further gets nowhere");
}

/// Shards of which each has the mutations that its bit says, and one that has all.
fn spread(mutations: &[(Mutation, u8)]) -> (Vec<Shard>, Shard) {
    let mut shards = vec![shard(), shard(), shard()];
    let mut all = shard();
    for (mutation, holders) in mutations {
        // Somebody has it.
        let holders = if *holders == 0 { 1 } else { *holders };
        for (replica, shard) in shards.iter_mut().enumerate() {
            if holders >> replica & 1 == 1 {
                shard.apply(mutation, 0);
            }
        }
        all.apply(mutation, 0);
    }
    (shards, all)
}

fn any_spread() -> impl Strategy<Value = Vec<(Mutation, u8)>> {
    prop::collection::vec((any_mutation(), 0_u8..8), 0..40)
}

proptest! {
    #[test]
    fn replicas_give_together_what_one_with_all_writes_gives(
        mutations in any_spread(),
        command in any_command(),
        limit in any_limit(),
    ) {
        let (shards, all) = spread(&mutations);
        let command = ReadCommand { limit, ..command };
        let reconciled = ask(&shards, &command);
        prop_assert_eq!(encoded(&reconciled.data), encoded(&data(&all, &command)));
    }

    #[test]
    fn a_consumer_that_asks_nobody_further_sees_the_same(
        mutations in any_spread(),
        command in any_command(),
        rows in 1_u32..4,
    ) {
        let (shards, all) = spread(&mutations);
        let expected = seen_in_shard(&all, &command);
        let limit = ReadLimit { rows, ..ReadLimit::NONE };
        let seen = seen_in_answers(&ReadCommand { limit, ..command }, usize::MAX, |command| {
            let answers: Vec<_> = shards.iter().map(|shard| ((), data(shard, command))).collect();
            reconcile(command, &answers).data
        });
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn repaired_replicas_have_the_same(mutations in any_spread(), command in any_command(), limit in any_limit()) {
        let (mut shards, all) = spread(&mutations);
        let command = ReadCommand { limit, ..command };
        for (replica, repair) in ask(&shards, &command).repairs {
            shards[replica].apply(&repair, 0);
        }
        // What a limit cut off may still differ, but not what was repaired.
        let again = ask(&shards, &command);
        prop_assert_eq!(encoded(&again.data), encoded(&data(&all, &command)));
        prop_assert!(again.repairs.is_empty(), "{:?}", again.repairs);
        let unlimited = ReadCommand { limit: ReadLimit::NONE, ..command };
        for (replica, repair) in ask(&shards, &unlimited).repairs {
            shards[replica].apply(&repair, 0);
        }
        let expected = digest(&all, &unlimited);
        for shard in &shards {
            prop_assert_eq!(digest(shard, &unlimited), expected);
        }
    }
}

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

#[test]
fn a_replica_whose_rows_are_deleted_elsewhere_is_asked_further() {
    let (mut behind, mut ahead) = (shard(), shard());
    for c in 0..100 {
        let row = write(1, &[c, 0], live(1));
        behind.apply(&row, 0);
        ahead.apply(&row, 0);
        let gone = Row {
            deletion: (c < 90).then_some(deletion(2)),
            ..Row::default()
        };
        ahead.apply(&write(1, &[c, 0], gone), 0);
    }
    let limit = ReadLimit {
        rows: 3,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        range: PartitionRange::Key(key(1)),
        limit,
        ..command(table())
    };
    let answers = [(0, data(&behind, &command)), (1, data(&ahead, &command))];
    let first = reconcile(&command, &answers);
    assert_eq!(first.data.rows(), 0);
    let [(0, further)] = &first.short[..] else {
        panic!("{:?}", first.short);
    };
    assert_eq!(further.resume.as_ref(), answers[0].1.end());
    assert_eq!(further.limit.rows, 3);
    let reconciled = ask(&[behind, ahead], &command);
    assert_eq!(reconciled.data.rows(), 3);
    let [(0, repair)] = &reconciled.repairs[..] else {
        panic!("{:?}", reconciled.repairs);
    };
    assert_eq!(repair.rows.len(), 90);
}

#[test]
fn a_replica_short_of_rows_of_one_partition_is_asked_for_that_partition() {
    let (mut behind, mut ahead) = (shard(), shard());
    for partition in 0..3 {
        for c in 0..4 {
            let row = write(partition, &[c, 0], live(1));
            behind.apply(&row, 0);
            ahead.apply(&row, 0);
        }
    }
    let gone = Row {
        deletion: Some(deletion(2)),
        ..Row::default()
    };
    ahead.apply(&write(1, &[0, 0], gone), 0);
    let limit = ReadLimit {
        per_partition: 2,
        ..ReadLimit::NONE
    };
    let command = ReadCommand {
        limit,
        ..command(table())
    };
    let answers = [(0, data(&behind, &command)), (1, data(&ahead, &command))];
    let reconciled = reconcile(&command, &answers);
    let [(0, further)] = &reconciled.short[..] else {
        panic!("{:?}", reconciled.short);
    };
    assert_eq!(further.range, PartitionRange::Key(key(1)));
    let reconciled = ask(&[behind, ahead], &command);
    assert_eq!(reconciled.data.rows(), 6);
    assert_eq!(reconciled.data.end(), None);
}

#[test]
fn of_no_answers_there_is_an_empty_one() {
    let command = command(table());
    let reconciled = reconcile::<Replica>(&command, &[]);
    assert!(reconciled.data.is_empty());
    assert_eq!(reconciled.data.end(), None);
    assert!(reconciled.repairs.is_empty() && reconciled.short.is_empty());
}

#[test]
fn a_repair_holds_no_more_than_what_is_lacking() {
    let (mut one, mut other) = (shard(), shard());
    one.apply(&write(1, &[1, 1], live(1)), 0);
    one.apply(&write(1, &[2, 1], live(1)), 0);
    other.apply(&write(1, &[2, 1], live(1)), 0);
    let deletion = DeletionTime {
        timestamp: 0,
        local_seconds: 1,
    };
    let delete = Mutation {
        partition_deletion: Some(deletion),
        ..mutation(table(), 1)
    };
    other.apply(&delete, 0);
    let command = command(table());
    let answers = [('a', data(&one, &command)), ('b', data(&other, &command))];
    let repairs = reconcile(&command, &answers).repairs;
    let [('a', a), ('b', b)] = &repairs[..] else {
        panic!("{repairs:?}");
    };
    assert_eq!((a.partition_deletion, a.rows.len()), (Some(deletion), 0));
    assert_eq!((b.partition_deletion, b.rows.len()), (None, 1));
}
