//! Reads of ranges over rings of three and four nodes.

use std::time::Instant;

use helenus_core::Consistency;

use super::*;
use crate::node::NodeSet;
use crate::plan::Vantage;
use crate::ring::{Replication, Ring, TokenRange};
use crate::testing::harness::{Harness, TIMEOUT, options};
use crate::testing::kv::{Kv, Scan, Store};
use crate::testing::ring_of;

/// Partitions with these tokens, a row each with the token's number, on the nodes that replicate them.
fn stores(ring: &Ring, replication: &Replication, tokens: &[i64]) -> Vec<Store> {
    let placement = ring.place(replication);
    let mut stores = vec![Store::default(); ring.nodes().len()];
    for token in tokens {
        for node in placement.replicas(crate::ring::Token(*token)) {
            stores[usize::from(node.0)].write((*token, 0), (1, Some(*token as u32)));
        }
    }
    stores
}

struct Setting {
    nodes: u8,
    factor: u16,
    level: Consistency,
    alive: u16,
    rows: u32,
    /// How many a replica gives at once.
    answer: u32,
    concurrency: u32,
}

const SETTING: Setting = Setting {
    nodes: 3,
    factor: 1,
    level: Consistency::ONE,
    alive: 3,
    rows: 100,
    answer: 100,
    concurrency: 1,
};

fn range(setting: &Setting, tokens: &[i64]) -> Harness<RangeRead<Kv>> {
    let now = Instant::now();
    let ring = ring_of(setting.nodes);
    let replication = Replication::Simple {
        factor: setting.factor,
    };
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &NodeSet::first(setting.alive),
    };
    let placement = ring.place(&replication);
    let plan = RangePlan::new(&vantage, &placement, TokenRange::ALL, setting.level);
    let scan = Scan {
        range: TokenRange::ALL,
        after: None,
        rows: setting.answer,
    };
    let options = options(now);
    let read = RangeRead::new(
        now,
        scan,
        plan,
        options,
        RangeOptions {
            rows: setting.rows,
            concurrency: setting.concurrency,
            max_concurrency: 32,
        },
    );
    Harness::new(now, read, stores(&ring, &replication, tokens))
}

/// One in each of the ring's ranges: 0, 100, 200, and beyond.
const TOKENS: [i64; 4] = [0, 50, 150, 250];

#[test]
fn rows_come_in_the_order_of_tokens() {
    let mut read = range(&SETTING, &TOKENS);
    read.answer_all();
    assert_eq!(read.values(), [0, 50, 150, 250]);
    assert!(read.machine.is_finished());
}

#[test]
fn ranges_that_answer_out_of_order_are_put_in_order() {
    let setting = Setting {
        concurrency: 4,
        ..SETTING
    };
    let mut read = range(&setting, &TOKENS);
    assert_eq!(
        read.asked(),
        [(0, "data"), (1, "data"), (2, "data"), (0, "data")]
    );
    read.answer(2);
    read.answer(1);
    assert!(read.outcomes.is_empty());
    read.answer(0);
    read.answer(0);
    assert_eq!(read.values(), [0, 50, 150, 250]);
}

#[test]
fn reading_stops_when_there_are_enough_rows() {
    let setting = Setting { rows: 2, ..SETTING };
    let mut read = range(&setting, &TOKENS);
    read.answer(0);
    // One row of the first: two ranges would be thought to hold the two, and one is to go.
    assert_eq!(read.asked(), [(1, "data")]);
    read.answer(1);
    assert_eq!(read.values(), [0, 50]);
    assert!(read.machine.is_finished() && read.sent.is_empty());
}

#[test]
fn reading_stops_where_an_answer_is_cut() {
    let setting = Setting {
        answer: 2,
        concurrency: 4,
        ..SETTING
    };
    let mut read = range(&setting, &[0, 10, 20, 150]);
    read.answer(2);
    read.answer(0);
    read.answer(1);
    // What the third range gave doesn't follow on the second, which has a third row or may have.
    assert_eq!(read.values(), [0, 10, 20]);
    assert!(read.machine.is_finished());
}

#[test]
fn ranges_without_rows_make_all_the_rest_be_read_at_once() {
    let mut read = range(&SETTING, &[250]);
    assert_eq!(read.asked(), [(0, "data")]);
    read.answer(0);
    assert_eq!(read.asked(), [(1, "data"), (2, "data"), (0, "data")]);
    read.answer_all();
    assert_eq!(read.values(), [250]);
    let adapted = Event::NoRowsYet { concurrency: 3 };
    assert!(read.events.contains(&adapted));
}

#[test]
fn nodes_that_hold_everything_are_asked_once() {
    let setting = Setting {
        factor: 3,
        level: Consistency::QUORUM,
        ..SETTING
    };
    let mut read = range(&setting, &TOKENS);
    assert_eq!(read.asked(), [(0, "data"), (1, "data")]);
    read.stores[1].write((150, 7), (1, Some(9)));
    read.stores[0].write((50, 0), (2, None));
    read.answer_all();
    assert_eq!(read.values(), [0, 150, 9, 250]);
    // Each was told what it lacks, a mutation a partition.
    assert_eq!(read.stores[0], read.stores[1]);
}

#[test]
fn a_range_with_too_few_replicas_fails_when_its_turn_comes() {
    let setting = Setting {
        alive: 2,
        rows: 2,
        ..SETTING
    };
    let mut enough = range(&setting, &TOKENS);
    enough.answer_all();
    assert_eq!(enough.values(), [0, 50]);
    let setting = Setting { rows: 3, ..setting };
    let mut lacking = range(&setting, &TOKENS);
    lacking.answer_all();
    let expected = Failure::Unavailable {
        level: Consistency::ONE,
        required: 1,
        alive: 0,
        data_centre: None,
    };
    assert_eq!(*lacking.failure(), expected);
    assert!(lacking.machine.is_finished());
}

#[test]
fn a_failure_behind_rows_that_are_enough_does_not_matter() {
    let setting = Setting {
        rows: 2,
        concurrency: 4,
        ..SETTING
    };
    let mut read = range(&setting, &TOKENS);
    read.refuse(2, FailureReason::UNKNOWN);
    assert!(read.outcomes.is_empty());
    read.answer(0);
    read.answer(1);
    assert_eq!(read.values(), [0, 50]);
}

#[test]
fn a_failure_in_its_turn_fails_the_read_and_what_comes_later_is_ignored() {
    let setting = Setting {
        concurrency: 4,
        ..SETTING
    };
    let mut read = range(&setting, &TOKENS);
    read.answer(0);
    read.refuse(1, FailureReason::READ_SIZE);
    let reasons = smallvec::smallvec![(NodeId(1), FailureReason::READ_SIZE)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(Consistency::ONE, (0, 1), false, reasons)
    );
    read.answer(2);
    read.answer(0);
    assert_eq!(read.outcomes.len(), 1);
    assert!(read.machine.is_finished());
}

#[test]
fn a_range_that_never_answers_ends_the_read_at_its_deadline() {
    let mut read = range(&SETTING, &TOKENS);
    read.answer(0);
    assert_eq!(read.machine.poll_timeout(), Some(read.now + TIMEOUT));
    read.pass(TIMEOUT);
    assert_eq!(
        *read.failure(),
        Failure::of_read(Consistency::ONE, (0, 1), false, smallvec::smallvec![])
    );
    assert_eq!(read.machine.poll_timeout(), None);
}

#[test]
fn calls_of_different_ranges_are_told_apart() {
    let setting = Setting {
        concurrency: 4,
        ..SETTING
    };
    let mut read = range(&setting, &TOKENS);
    let calls: std::collections::BTreeSet<CallId> = read.sent.iter().map(|sent| sent.1).collect();
    assert_eq!(calls.len(), 4);
    // Node 0 holds the first range and the last: an answer to one is none to the other.
    let (_, first, request) = read.take(0);
    let reply = read.carry_out(NodeId(0), request);
    read.reply(0, CallId(first.0 + 9 * CALLS), reply);
    assert!(read.outcomes.is_empty());
}
