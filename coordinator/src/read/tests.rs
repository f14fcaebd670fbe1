//! Reads of one partition over three replicas.

use std::time::Instant;

use helenus_core::Consistency;
use smallvec::smallvec;

use super::*;
use crate::event::Event::*;
use crate::options::ReadRepair;
use crate::testing::harness::{Harness, TIMEOUT, WAIT, WAITS, options, plan, scan, stores_of};
use crate::testing::kv::{Found, Kv};

const QUORUM: Consistency = Consistency::QUORUM;

fn read(
    times: &[i64],
    level: Consistency,
    required: u16,
    speculation: Speculation,
) -> Harness<Read<Kv>> {
    let now = Instant::now();
    let read = Read::new(
        now,
        scan(10),
        plan(level, required, speculation),
        options(now),
    );
    Harness::new(now, read, stores_of(times))
}

/// At QUORUM, with speculation after a while.
fn quorum(times: &[i64]) -> Harness<Read<Kv>> {
    read(times, QUORUM, 2, WAITS)
}

fn timed_out(received: u16, data_present: bool) -> Failure {
    Failure::of_read(QUORUM, (received, 2), data_present, smallvec![])
}

#[test]
fn one_replica_gives_data_and_the_others_digests() {
    let mut read = read(&[1, 1, 1], Consistency::ALL, 3, Speculation::Never);
    assert_eq!(read.asked(), [(0, "data"), (1, "digest"), (2, "digest")]);
    read.answer(0);
    read.answer(1);
    assert!(read.outcomes.is_empty());
    read.answer(2);
    assert_eq!(read.values(), [1]);
    assert!(read.machine.is_finished());
    assert_eq!(
        read.events,
        [
            ReadingData(NodeId(0)),
            ReadingDigest(NodeId(1)),
            ReadingDigest(NodeId(2))
        ]
    );
}

#[test]
fn one_answer_is_enough_at_one() {
    let mut read = read(&[1, 2, 3], Consistency::ONE, 1, Speculation::Never);
    assert_eq!(read.asked(), [(0, "data")]);
    read.answer(0);
    assert_eq!(read.values(), [1]);
    assert!(read.machine.is_finished());
}

#[test]
fn enough_digests_without_data_are_no_answer() {
    let mut read = quorum(&[1, 1, 1]);
    read.answer(1);
    read.pass(WAIT);
    // No data yet: the third is asked for data, not for another digest.
    assert_eq!(read.asked(), [(0, "data"), (2, "data")]);
    read.answer(2);
    assert_eq!(read.values(), [1]);
}

#[test]
fn digests_that_differ_are_resolved_and_the_one_behind_is_repaired_before_the_answer() {
    let mut read = quorum(&[1, 2, 2]);
    read.answer(0);
    read.answer(1);
    // The data that is there isn't asked for again.
    assert_eq!(read.asked(), [(1, "data")]);
    read.answer(1);
    assert_eq!(read.asked(), [(0, "repair")]);
    assert!(read.outcomes.is_empty());
    read.answer(0);
    assert_eq!(read.values(), [2]);
    assert_eq!(read.stores[0], read.stores[1]);
    assert!(read.machine.is_finished());
    assert_eq!(
        read.events[2..],
        [DigestMismatch, ReadingFull(NodeId(1)), Repairing(NodeId(0))]
    );
}

#[test]
fn replicas_that_differ_are_left_alone_where_the_table_says_so() {
    let now = Instant::now();
    let options = ReadOptions {
        repair: ReadRepair::None,
        ..options(now)
    };
    let read = Read::new(now, scan(10), plan(QUORUM, 2, WAITS), options);
    let mut read = Harness::new(now, read, stores_of(&[1, 2, 2]));
    read.answer_all();
    assert_eq!(read.values(), [2]);
    assert_eq!(read.stores, stores_of(&[1, 2, 2]));
    assert!(read.machine.is_finished());
}

#[test]
fn a_replica_that_answers_twice_counts_once() {
    let mut read = quorum(&[1, 1, 1]);
    let (node, call, request) = read.take(1);
    let digest = Kv::digest(&read.stores[1].read(&scan(10)));
    read.carry_out(node, request);
    for _ in 0..3 {
        read.reply(1, call, Reply::Digest(digest));
    }
    assert!(read.outcomes.is_empty());
    read.pass(TIMEOUT);
    assert_eq!(*read.failure(), timed_out(1, false));
}

#[test]
fn an_answer_that_nobody_asked_for_is_ignored() {
    let mut read = quorum(&[1, 1, 1]);
    let (_, call, _) = read.take(0);
    let found = Found::default();
    // From somebody else, to another call, from beyond the ring.
    read.reply(1, call, Reply::Data(found.clone()));
    read.reply(0, CallId(call.0 + 7), Reply::Data(found.clone()));
    read.reply(0, CallId(u64::MAX), Reply::Data(found.clone()));
    read.reply(999, call, Reply::Data(found));
    assert!(read.outcomes.is_empty());
    read.pass(TIMEOUT);
    assert_eq!(*read.failure(), timed_out(0, false));
}

#[test]
fn a_replica_that_answers_garbage_has_failed() {
    let mut read = read(&[1, 1, 1], QUORUM, 2, Speculation::Never);
    let (_, call, _) = read.take(0);
    read.reply(0, call, Reply::Done);
    let reasons = smallvec![(NodeId(0), FailureReason::UNKNOWN)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (0, 2), false, reasons)
    );
}

#[test]
fn a_digest_where_data_was_asked_for_is_garbage() {
    let mut read = quorum(&[1, 1, 1]);
    let (_, call, _) = read.take(0);
    read.reply(0, call, Reply::Digest(7));
    assert_eq!(read.asked(), [(1, "digest"), (2, "data")]);
    read.answer_all();
    assert_eq!(read.values(), [1]);
}

#[test]
fn data_where_a_digest_was_asked_for_is_as_good() {
    let mut read = quorum(&[1, 1, 1]);
    let (_, call, _) = read.take(1);
    let found = read.stores[1].read(&scan(10));
    read.reply(1, call, Reply::Data(found));
    read.answer(0);
    assert_eq!(read.values(), [1]);
}

#[test]
fn a_replica_that_never_answers_costs_no_more_than_the_wait() {
    let mut read = quorum(&[1, 1, 1]);
    read.answer(0);
    assert_eq!(read.machine.poll_timeout(), Some(read.now + WAIT));
    read.pass(WAIT);
    assert_eq!(read.asked(), [(1, "digest"), (2, "digest")]);
    assert_eq!(read.events.last(), Some(&Speculating(NodeId(2))));
    read.answer(2);
    assert_eq!(read.values(), [1]);
    // It isn't waited for beyond the deadline.
    assert!(!read.machine.is_finished());
    read.pass(TIMEOUT);
    assert!(read.machine.is_finished());
}

#[test]
fn replicas_that_never_answer_end_the_read_at_its_deadline() {
    for (first, received, data_present) in
        [(None, 0, false), (Some(0), 1, true), (Some(1), 1, false)]
    {
        let mut read = read(&[1, 1, 1], QUORUM, 2, Speculation::Never);
        if let Some(first) = first {
            read.answer(first);
        }
        read.pass(TIMEOUT - WAIT);
        assert!(read.outcomes.is_empty());
        read.pass(WAIT);
        assert_eq!(*read.failure(), timed_out(received, data_present));
        assert!(read.machine.is_finished());
        assert_eq!(
            read.events.last(),
            Some(&ReadEnded {
                failed: false,
                received,
                required: 2,
                data_present
            })
        );
    }
}

#[test]
fn an_answer_at_the_deadline_is_too_late() {
    let mut read = quorum(&[1, 1, 1]);
    read.answer(0);
    read.now += TIMEOUT;
    read.answer(1);
    assert_eq!(*read.failure(), timed_out(1, true));
}

#[test]
fn without_speculation_a_failure_ends_the_read_as_soon_as_too_few_are_left() {
    let mut read = read(&[1, 1, 1], QUORUM, 2, Speculation::Never);
    read.answer(0);
    read.refuse(1, FailureReason::READ_TOO_MANY_TOMBSTONES);
    let reasons = smallvec![(NodeId(1), FailureReason::READ_TOO_MANY_TOMBSTONES)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (1, 2), true, reasons)
    );
    assert!(read.machine.is_finished());
}

#[test]
fn with_speculation_a_failure_is_made_good_at_once() {
    let mut read = quorum(&[1, 1, 1]);
    read.refuse(0, FailureReason::NODE_DOWN);
    assert_eq!(read.asked(), [(1, "digest"), (2, "data")]);
    read.answer_all();
    assert_eq!(read.values(), [1]);
}

#[test]
fn a_read_with_failures_that_runs_out_of_time_has_failed() {
    let mut read = quorum(&[1, 1, 1]);
    read.refuse(0, FailureReason::NODE_DOWN);
    read.pass(TIMEOUT);
    let reasons = smallvec![(NodeId(0), FailureReason::NODE_DOWN)];
    assert_eq!(
        *read.failure(),
        Failure::of_read(QUORUM, (0, 2), false, reasons)
    );
}

#[test]
fn always_asks_two_for_data_and_one_more_than_it_needs() {
    let mut read = read(&[1, 1, 1], QUORUM, 2, Speculation::Always);
    assert_eq!(read.asked(), [(0, "data"), (1, "data"), (2, "digest")]);
    // One may fail.
    read.refuse(0, FailureReason::UNKNOWN);
    read.answer(2);
    read.answer(1);
    assert_eq!(read.values(), [1]);
}

#[test]
fn two_full_answers_that_differ_are_resolved_without_asking_again() {
    let mut read = read(&[1, 2, 2], QUORUM, 2, Speculation::Always);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.asked(), [(2, "digest"), (0, "repair")]);
    read.answer(0);
    assert_eq!(read.values(), [2]);
}

#[test]
fn a_replica_that_answers_late_and_is_behind_is_repaired_in_the_background() {
    let mut read = read(&[2, 2, 1], QUORUM, 2, Speculation::Always);
    read.answer(0);
    read.answer(1);
    assert_eq!(read.values(), [2]);
    read.answer(2);
    assert_eq!(read.asked(), [(0, "data"), (1, "data"), (2, "data")]);
    read.answer_all();
    assert_eq!(read.stores[2], read.stores[0]);
    assert_eq!(read.outcomes.len(), 1);
    assert!(read.machine.is_finished());
}

#[test]
fn a_replica_that_answers_late_and_agrees_ends_the_wait() {
    let mut read = read(&[2, 2, 2], QUORUM, 2, Speculation::Always);
    read.answer(0);
    read.answer(1);
    assert!(!read.machine.is_finished());
    read.answer(2);
    assert!(read.machine.is_finished() && read.sent.is_empty());
}

#[test]
fn a_repair_in_the_background_that_fails_bothers_nobody() {
    let mut read = read(&[2, 2, 1], QUORUM, 2, Speculation::Always);
    read.answer(0);
    read.answer(1);
    read.answer(2);
    read.refuse(0, FailureReason::UNKNOWN);
    assert!(read.machine.is_finished());
    assert_eq!(read.values(), [2]);
}

#[test]
fn a_clock_that_jumps_back_stands_still() {
    let mut read = quorum(&[1, 1, 1]);
    read.pass(WAIT);
    assert_eq!(read.asked().len(), 3);
    let start = read.now;
    read.now -= 10 * WAIT;
    read.machine.handle_timeout(read.now);
    read.poll();
    assert_eq!(read.asked().len(), 3);
    // What was late stays late: the deadline doesn't move.
    read.now = start;
    read.pass(TIMEOUT - WAIT);
    assert_eq!(*read.failure(), timed_out(0, false));
    read.now -= TIMEOUT;
    read.answer(0);
    read.answer(1);
    assert_eq!(read.outcomes.len(), 1);
}

#[test]
fn a_mismatch_that_runs_out_of_time_lacked_one_answer() {
    let mut read = read(&[1, 2, 2], QUORUM, 2, Speculation::Never);
    read.answer(0);
    read.answer(1);
    read.pass(TIMEOUT);
    assert_eq!(*read.failure(), timed_out(1, true));
}

#[test]
fn a_replica_that_goes_quiet_after_a_mismatch_is_replaced() {
    let mut read = quorum(&[1, 2, 3]);
    read.answer(0);
    read.answer(1);
    read.pass(WAIT);
    assert_eq!(read.asked(), [(1, "data"), (2, "data")]);
    read.answer(2);
    assert_eq!(read.asked(), [(1, "data"), (0, "repair")]);
    read.answer(0);
    assert_eq!(read.values(), [3]);
}

#[test]
fn a_read_is_small() {
    use std::mem::size_of;

    // With data of 32 bytes and digests of 8.
    assert!(size_of::<Found>() == 32);
    assert!(size_of::<Read<Kv>>() <= 700, "{}", size_of::<Read<Kv>>());
    assert!(size_of::<Step>() <= 16, "{}", size_of::<Step>());
}
