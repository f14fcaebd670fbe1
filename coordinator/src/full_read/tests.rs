//! Reads of data in full over three replicas.

use std::time::Instant;

use helenus_core::Consistency;
use smallvec::smallvec;

use super::*;
use crate::options::ReadRepair;
use crate::testing::harness::{Harness, TIMEOUT, WAIT, WAITS, options, plan, scan, stores_of};
use crate::testing::kv::{Kv, Store};

const QUORUM: Consistency = Consistency::QUORUM;

fn full(
    stores: Vec<Store>,
    rows: u32,
    required: u16,
    speculation: Speculation,
) -> Harness<FullRead<Kv>> {
    let now = Instant::now();
    let plan = plan(QUORUM, required, speculation);
    let read = FullRead::new(now, scan(rows), plan, options(now));
    Harness::new(now, read, stores)
}

fn quorum(times: &[i64]) -> Harness<FullRead<Kv>> {
    full(stores_of(times), 10, 2, WAITS)
}

/// Replicas with these rows each: place, time and value.
fn stores(rows: &[&[(u32, i64, Option<u32>)]]) -> Vec<Store> {
    let stores = rows.iter().map(|rows| {
        let mut store = Store::default();
        for (row, time, value) in *rows {
            store.write((0, *row), (*time, *value));
        }
        store
    });
    stores.collect()
}

#[test]
fn all_are_asked_for_data_and_no_digest() {
    let mut read = quorum(&[1, 1, 1]);
    assert_eq!(read.asked(), [(0, "data"), (1, "data")]);
    read.answer(1);
    read.answer(0);
    assert_eq!(read.values(), [1]);
    assert!(read.machine.is_finished() && read.sent.is_empty());
}

#[test]
fn the_answer_waits_until_the_replica_behind_has_what_was_read() {
    let mut read = quorum(&[1, 2, 2]);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.asked(), [(0, "repair")]);
    assert!(read.outcomes.is_empty());
    read.answer(0);
    assert_eq!(read.values(), [2]);
}

#[test]
fn each_of_several_replicas_that_are_behind_must_confirm() {
    let mut read = full(stores_of(&[1, 3, 2]), 10, 3, Speculation::Never);
    (0..3).for_each(|node| read.answer(node));
    assert_eq!(read.asked(), [(0, "repair"), (2, "repair")]);
    read.answer(2);
    assert!(read.outcomes.is_empty());
    read.answer(0);
    assert_eq!(read.values(), [3]);
}

#[test]
fn a_replica_that_does_not_confirm_is_replaced_by_one_that_was_not_asked() {
    let mut read = quorum(&[1, 2, 0]);
    read.answer(0);
    read.answer(1);
    read.pass(WAIT);
    assert_eq!(read.asked(), [(0, "repair"), (2, "repair")]);
    read.answer(2);
    assert_eq!(read.values(), [2]);
    assert_eq!(
        read.events.last(),
        Some(&Event::RepairingSpeculatively(NodeId(2)))
    );
}

#[test]
fn a_replica_that_refuses_a_repair_is_replaced_at_once() {
    let mut read = quorum(&[1, 2, 0]);
    read.answer(0);
    read.answer(1);
    read.refuse(0, FailureReason::TIMEOUT);
    assert_eq!(read.asked(), [(2, "repair")]);
    read.answer(2);
    assert_eq!(read.values(), [2]);
}

#[test]
fn a_repair_that_nobody_is_left_to_confirm_fails_the_read() {
    let mut read = quorum(&[1, 2, 0]);
    read.answer(0);
    read.answer(1);
    read.refuse(0, FailureReason::TIMEOUT);
    read.refuse(2, FailureReason::NODE_DOWN);
    let reasons = smallvec![
        (NodeId(0), FailureReason::TIMEOUT),
        (NodeId(2), FailureReason::NODE_DOWN)
    ];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (0, 1), true, reasons)
    );
}

#[test]
fn no_two_replicas_that_are_behind_are_replaced_by_the_same_one() {
    // Both of those asked lack something of the other's, and one is left: it can't stand for both.
    let lacking = stores(&[&[(0, 1, Some(1))], &[(1, 1, Some(2))], &[]]);
    let mut read = full(lacking, 10, 2, WAITS);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.asked(), [(0, "repair"), (1, "repair")]);
    read.pass(WAIT);
    assert_eq!(read.asked(), [(0, "repair"), (1, "repair"), (2, "repair")]);
    read.answer(2);
    assert!(read.outcomes.is_empty());
    read.answer(1);
    assert_eq!(read.values(), [1, 2]);
}

#[test]
fn a_repair_that_runs_out_of_time_counts_confirmations() {
    let mut read = full(stores_of(&[1, 3, 2]), 10, 3, Speculation::Never);
    (0..3).for_each(|node| read.answer(node));
    read.answer(2);
    read.pass(TIMEOUT);
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (1, 2), true, smallvec![])
    );
    assert_eq!(
        read.events.last(),
        Some(&Event::RepairTimedOut { required: 2 })
    );
}

#[test]
fn a_failure_before_the_repair_does_not_make_its_timeout_a_failure() {
    let mut read = quorum(&[1, 2, 3]);
    read.refuse(0, FailureReason::UNKNOWN);
    read.answer(1);
    read.answer(2);
    assert_eq!(read.asked(), [(1, "repair")]);
    read.pass(TIMEOUT);
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (0, 1), true, smallvec![])
    );
}

#[test]
fn a_short_answer_is_asked_further() {
    // The limit is two. The first replica says rows 0 and 1, of which the second knows 0 to be deleted later.
    let rows = stores(&[
        &[
            (0, 1, Some(10)),
            (1, 1, Some(11)),
            (2, 1, Some(12)),
            (3, 1, Some(13)),
        ],
        &[(0, 2, None), (1, 1, Some(11))],
    ]);
    let mut read = full(rows, 2, 2, Speculation::Never);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.asked(), [(0, "further")]);
    assert_eq!(read.events.last(), Some(&Event::ReadingFurther(NodeId(0))));
    read.answer_all();
    assert_eq!(read.values(), [11, 12]);
    assert_eq!(read.stores[0].0[&(0, 0)], (2, None));
    assert_eq!(read.stores[1].0[&(0, 2)], (1, Some(12)));
}

#[test]
fn a_short_answer_is_asked_further_until_there_are_enough_rows() {
    let first: Vec<_> = (0..20).map(|row| (row, 1, Some(row))).collect();
    let second: Vec<_> = (0..15).map(|row| (row, 2, None)).collect();
    let mut read = full(stores(&[&first, &second]), 3, 2, Speculation::Never);
    read.answer_all();
    assert_eq!(read.values(), [15, 16, 17]);
}

#[test]
fn a_replica_that_is_asked_further_and_fails_fails_the_read() {
    let rows = stores(&[&[(0, 1, Some(10)), (1, 1, Some(11))], &[(0, 2, None)]]);
    let mut read = full(rows, 1, 2, WAITS);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.asked(), [(0, "further")]);
    read.refuse(0, FailureReason::NODE_DOWN);
    let reasons = smallvec![(NodeId(0), FailureReason::NODE_DOWN)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (1, 2), true, reasons)
    );
}

#[test]
fn garbage_in_answer_to_a_repair_is_a_failure() {
    let mut read = full(stores_of(&[1, 2, 2]), 10, 2, Speculation::Never);
    read.answer(0);
    read.answer(1);
    let (_, call, _) = read.take(0);
    read.reply(0, call, Reply::Digest(1));
    let reasons = smallvec![(NodeId(0), FailureReason::UNKNOWN)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (0, 1), true, reasons)
    );
}

#[test]
fn answers_that_come_after_the_outcome_are_ignored() {
    let mut read = full(stores_of(&[1, 1, 2]), 10, 2, WAITS);
    read.pass(WAIT);
    read.answer(0);
    read.answer(1);
    read.answer(2);
    assert_eq!(read.values(), [1]);
    assert!(read.machine.is_finished() && read.sent.is_empty());
}

#[test]
fn replicas_that_differ_are_left_alone_where_the_table_says_so() {
    let now = Instant::now();
    let options = ReadOptions {
        repair: ReadRepair::None,
        ..options(now)
    };
    let read = FullRead::new(now, scan(10), plan(QUORUM, 2, WAITS), options);
    let mut read = Harness::new(now, read, stores_of(&[1, 2, 2]));
    read.answer_all();
    assert_eq!(read.values(), [2]);
    assert_eq!(read.stores, stores_of(&[1, 2, 2]));
}

#[test]
fn a_full_read_is_small() {
    assert!(
        size_of::<FullRead<Kv>>() <= 700,
        "{}",
        size_of::<FullRead<Kv>>()
    );
}
