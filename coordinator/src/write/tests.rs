use std::time::Duration;

use helenus_core::Consistency;

use super::*;
use crate::failure::{Failure, FailureReasonMap};
use crate::node::NodeSet;
use crate::plan::Vantage;
use crate::ring::{Replication, Token};
use crate::testing::desk::Desk;
use crate::testing::register::{Cell, Register};
use crate::testing::{ring_of, two_centres};

mod allocations;
mod schedule;

const TIMEOUT: Duration = Duration::from_secs(2);
const NODE_DOWN: FailureReason = FailureReason::NODE_DOWN;

/// A plan for three replicas, of which these are alive; 0 coordinates.
fn plan_on(alive: &[u16], level: Consistency) -> WritePlan {
    let ring = ring_of(3);
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &alive,
    };
    let placement = ring.place(&Replication::Simple { factor: 3 });
    WritePlan::new(&vantage, &placement, Token(0), level).unwrap()
}

fn of_plan(plan: &WritePlan) -> Desk<Write<Register>> {
    let now = Instant::now();
    let cell = Cell {
        micros: 1,
        value: 7,
    };
    Desk::new(
        now,
        Write::new(plan, cell, WriteType::SIMPLE, now, now + TIMEOUT),
    )
}

fn write(alive: &[u16], level: Consistency) -> Desk<Write<Register>> {
    of_plan(&plan_on(alive, level))
}

fn timeout(level: Consistency, received: u16, required: u16) -> Failure {
    Failure::WriteTimeout {
        level,
        received,
        required,
        write_type: WriteType::SIMPLE,
        contentions: None,
    }
}

#[test]
fn it_is_sent_to_all_and_answered_at_its_level() {
    for (level, needed) in [
        (Consistency::ANY, 1),
        (Consistency::ONE, 1),
        (Consistency::TWO, 2),
        (Consistency::QUORUM, 2),
        (Consistency::THREE, 3),
        (Consistency::ALL, 3),
    ] {
        let mut desk = write(&[0, 1, 2], level);
        assert_eq!(desk.poll(), "write 0, write 1, write 2");
        for index in 0..3 {
            desk.confirm(index);
            let told = if index + 1 == needed { "written" } else { "" };
            assert_eq!(desk.poll(), told, "{level} {index}");
        }
        assert!(desk.machine.is_finished());
        assert_eq!(desk.machine.poll_timeout(), None);
    }
}

#[test]
fn a_replica_that_confirms_twice_counts_once() {
    let mut desk = write(&[0, 1, 2], Consistency::QUORUM);
    desk.poll();
    desk.confirm(1);
    desk.confirm(1);
    desk.sent[1].0 = NodeId(2);
    desk.confirm(1);
    let unknown = CallId(u64::MAX);
    desk.machine
        .handle_reply(desk.now, NodeId(0), unknown, Reply::Done);
    assert_eq!(desk.poll(), "");
    desk.confirm(2);
    assert_eq!(desk.poll(), "written");
}

#[test]
fn who_is_down_gets_a_hint_after_the_answer() {
    let mut desk = write(&[0, 2], Consistency::QUORUM);
    assert_eq!(desk.poll(), "write 0, write 2, hint 1");
    desk.confirm(0);
    desk.confirm(1);
    assert_eq!(desk.poll(), "written");
    assert!(
        !desk.machine.is_finished(),
        "whether the hint is kept isn't known"
    );
    desk.keep_hint(0);
    assert!(desk.machine.is_finished());
}

#[test]
fn who_never_answers_gets_a_hint_at_the_deadline() {
    let mut desk = write(&[0, 1, 2], Consistency::ONE);
    desk.poll();
    desk.confirm(0);
    assert_eq!(desk.poll(), "written");
    desk.confirm(2);
    assert_eq!(desk.machine.poll_timeout(), Some(desk.now + TIMEOUT));
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "hint 1");
    assert!(desk.machine.is_finished());
}

#[test]
fn too_few_confirmations_by_the_deadline_are_a_timeout_and_hints() {
    let mut desk = write(&[0, 1, 2], Consistency::QUORUM);
    desk.poll();
    desk.confirm(1);
    desk.after(TIMEOUT - Duration::from_millis(1));
    assert_eq!(desk.poll(), "");
    desk.after(Duration::from_millis(1));
    // This node keeps no hint for itself.
    assert_eq!(desk.poll(), "failed, hint 2");
    assert_eq!(desk.failure, Some(timeout(Consistency::QUORUM, 1, 2)));
    desk.confirm(0);
    assert_eq!(desk.poll(), "");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_confirmation_before_its_hint_is_given_away_makes_that_needless() {
    let mut desk = write(&[0, 1, 2], Consistency::ALL);
    desk.poll();
    desk.confirm(0);
    desk.after(TIMEOUT);
    desk.confirm(2);
    assert_eq!(desk.poll(), "failed, hint 1");
    assert_eq!(desk.failure, Some(timeout(Consistency::ALL, 2, 3)));
}

#[test]
fn too_many_failures_end_it_at_once_with_their_reasons() {
    let mut desk = write(&[0, 1, 2], Consistency::QUORUM);
    desk.poll();
    desk.fail(1, FailureReason::INCOMPATIBLE_SCHEMA);
    assert_eq!(desk.poll(), "hint 1");
    // Garbage: no answer to a write.
    desk.reply(2, Reply::Data(Cell::default()));
    assert_eq!(desk.poll(), "failed, hint 2");
    let reasons: FailureReasonMap = [
        (NodeId(1), FailureReason::INCOMPATIBLE_SCHEMA),
        (NodeId(2), FailureReason::UNKNOWN),
    ]
    .into_iter()
    .collect();
    assert_eq!(
        desk.failure,
        Some(Failure::WriteFailure {
            level: Consistency::QUORUM,
            received: 0,
            required: 2,
            write_type: WriteType::SIMPLE,
            reasons,
        })
    );
}

#[test]
fn with_dead_replicas_fewer_failures_are_too_many() {
    let mut desk = write(&[0, 1], Consistency::QUORUM);
    desk.poll();
    desk.fail(1, NODE_DOWN);
    assert_eq!(desk.poll(), "failed, hint 1");
    assert!(matches!(
        desk.failure,
        Some(Failure::WriteFailure { received: 0, .. })
    ));
}

#[test]
fn replicas_that_only_timed_out_make_it_a_timeout() {
    let mut desk = write(&[0, 1, 2], Consistency::ALL);
    desk.poll();
    desk.confirm(0);
    desk.fail(1, FailureReason::TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1");
    assert_eq!(desk.failure, Some(timeout(Consistency::ALL, 1, 3)));
}

#[test]
fn any_is_met_by_a_hint() {
    let mut desk = write(&[], Consistency::ANY);
    assert_eq!(desk.poll(), "hint 0, hint 1, hint 2");
    desk.refuse_hint(0);
    assert_eq!(desk.poll(), "");
    desk.keep_hint(1);
    assert_eq!(desk.poll(), "written");
}

#[test]
fn any_is_met_by_a_hint_for_who_fails() {
    let mut desk = write(&[1], Consistency::ANY);
    assert_eq!(desk.poll(), "write 1, hint 0, hint 2");
    desk.refuse_hint(0);
    desk.refuse_hint(1);
    desk.fail(0, NODE_DOWN);
    assert_eq!(desk.poll(), "hint 1");
    desk.keep_hint(2);
    assert_eq!(desk.poll(), "written");
}

#[test]
fn any_at_the_deadline_keeps_a_hint_before_it_answers() {
    let mut desk = write(&[1, 2], Consistency::ANY);
    desk.poll();
    desk.refuse_hint(0);
    desk.after(TIMEOUT);
    let hint = desk.machine.poll_action(desk.now);
    let Some(Action::Hint { to, call, .. }) = hint else {
        panic!("{hint:?}");
    };
    desk.machine.handle_reply(desk.now, to, call, Reply::Done);
    assert_eq!(desk.poll(), "written, hint 2");
    // If nobody says that it is kept, it is a timeout.
    let mut desk = write(&[1, 2], Consistency::ANY);
    desk.poll();
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "hint 1, hint 2, failed");
    assert_eq!(desk.failure, Some(timeout(Consistency::ANY, 0, 1)));
}

#[test]
fn a_full_hint_store_is_overload_where_only_hints_were_left() {
    let mut desk = write(&[], Consistency::ANY);
    desk.poll();
    for index in 0..3 {
        desk.refuse_hint(index);
    }
    assert_eq!(desk.poll(), "failed");
    assert_eq!(desk.failure, Some(Failure::Overloaded { node: NodeId(0) }));
    assert!(desk.machine.is_finished());
    // Others don't hear of it.
    let mut desk = write(&[0, 1], Consistency::QUORUM);
    desk.poll();
    desk.refuse_hint(0);
    desk.confirm(0);
    desk.confirm(1);
    assert_eq!(desk.poll(), "written");
    assert!(desk.machine.is_finished());
}

fn wide(level: Consistency) -> Desk<Write<Register>> {
    let (ring, replication) = two_centres(3, 3);
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &NodeSet::first(6),
    };
    let plan = WritePlan::new(&vantage, &ring.place(&replication), Token(0), level);
    let mut desk = of_plan(&plan.unwrap());
    // In the order of the ring, nearest first.
    assert_eq!(
        desk.poll(),
        "write 0, write 1, write 2, write 3, write 4, write 5"
    );
    desk
}

#[test]
fn local_levels_count_their_own_data_centre() {
    let mut desk = wide(Consistency::LOCAL_QUORUM);
    (3..6).for_each(|index| desk.confirm(index));
    desk.confirm(1);
    assert_eq!(desk.poll(), "");
    desk.confirm(2);
    assert_eq!(desk.poll(), "written");
    let mut desk = wide(Consistency::LOCAL_ONE);
    (3..6).for_each(|index| desk.fail(index, NODE_DOWN));
    assert_eq!(desk.poll(), "hint 3, hint 4, hint 5");
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1, hint 2");
    assert_eq!(desk.failure, Some(timeout(Consistency::LOCAL_ONE, 0, 1)));
}

#[test]
fn each_quorum_counts_every_data_centre() {
    let mut desk = wide(Consistency::EACH_QUORUM);
    (0..4).for_each(|index| desk.confirm(index));
    assert_eq!(desk.poll(), "", "four of six, but one of three there");
    desk.confirm(5);
    assert_eq!(desk.poll(), "written");
    let mut desk = wide(Consistency::EACH_QUORUM);
    (0..3).for_each(|index| desk.confirm(index));
    desk.fail(4, NODE_DOWN);
    desk.confirm(5);
    assert_eq!(desk.poll(), "hint 4");
    desk.after(TIMEOUT);
    // Four confirmed; as many as were required would look like success.
    assert_eq!(desk.poll(), "failed, hint 3");
    assert_eq!(desk.failure, Some(timeout(Consistency::EACH_QUORUM, 3, 4)));
}

#[test]
fn a_data_centre_without_a_quorum_left_ends_each_quorum() {
    let mut desk = wide(Consistency::EACH_QUORUM);
    (0..3).for_each(|index| desk.confirm(index));
    desk.fail(3, NODE_DOWN);
    desk.fail(4, NODE_DOWN);
    assert_eq!(desk.poll(), "failed, hint 3, hint 4");
    assert!(matches!(
        desk.failure,
        Some(Failure::WriteFailure {
            received: 3,
            required: 4,
            ..
        })
    ));
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut desk = write(&[0, 1, 2], Consistency::ALL);
    desk.poll();
    let before = desk.now;
    desk.after(TIMEOUT / 2);
    desk.now = before;
    desk.confirm(0);
    desk.after(Duration::ZERO);
    assert_eq!(desk.poll(), "");
    desk.now = before;
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1, hint 2");
}

#[test]
fn a_write_is_small() {
    assert!(
        size_of::<Write<Register>>() <= 256,
        "{}",
        size_of::<Write<Register>>()
    );
}
