use std::time::Duration;

use super::*;
use crate::node::NodeSet;
use crate::ring::Replication;
use crate::testing::desk::Desk;
use crate::testing::register::{Cell, Register};
use crate::testing::{ring_of, two_centres};

const TIMEOUT: Duration = Duration::from_secs(5);

fn plan_of(
    local: u16,
    factor: u16,
    alive: &[u16],
    level: Consistency,
) -> Result<CounterPlan, Failure> {
    let ring = ring_of(3);
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(local),
        alive: &alive,
    };
    let placement = ring.place(&Replication::Simple { factor });
    CounterPlan::new(&vantage, &placement, Token(0), level, 1)
}

fn counter(plan: CounterPlan) -> Desk<Counter<Register>> {
    let now = Instant::now();
    let cell = Cell {
        micros: 1,
        value: 7,
    };
    Desk::new(now, Counter::new(plan, cell, now, now + TIMEOUT))
}

fn lead(level: Consistency) -> Desk<Counter<Register>> {
    counter(plan_of(0, 3, &[0, 1, 2], level).unwrap())
}

fn forward(level: Consistency) -> Desk<Counter<Register>> {
    // Node 0 alone replicates token 0.
    counter(plan_of(1, 1, &[0, 1, 2], level).unwrap())
}

fn timeout(level: Consistency, received: u16, required: u16) -> Failure {
    Failure::WriteTimeout {
        level,
        received,
        required,
        write_type: WriteType::COUNTER,
        contentions: None,
    }
}

fn applied(desk: &mut Desk<Counter<Register>>) {
    let cell = Cell {
        micros: 1,
        value: 8,
    };
    desk.machine.applied(desk.now, Ok(cell));
}

#[test]
fn the_leader_applies_first_and_replicates_what_came_of_it() {
    let mut desk = lead(Consistency::QUORUM);
    assert_eq!(desk.poll(), "apply 7");
    applied(&mut desk);
    assert_eq!(desk.poll(), "write 1, write 2");
    assert!(matches!(desk.requests[0], Request::Write { mutation } if mutation.value == 8));
    desk.confirm(1);
    assert_eq!(desk.poll(), "written");
    desk.confirm(0);
    assert!(desk.machine.is_finished());
}

#[test]
fn its_own_application_is_enough_for_one() {
    let mut desk = lead(Consistency::ONE);
    desk.poll();
    applied(&mut desk);
    assert_eq!(desk.poll(), "write 1, write 2, written");
    applied(&mut desk);
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "hint 1, hint 2");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_leader_that_gets_too_few_confirmations_says_how_many() {
    let mut desk = lead(Consistency::QUORUM);
    desk.poll();
    applied(&mut desk);
    desk.poll();
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1, hint 2");
    assert_eq!(desk.failure, Some(timeout(Consistency::QUORUM, 1, 2)));
}

#[test]
fn a_leader_that_cannot_apply_fails_and_replicates_nothing() {
    let mut desk = lead(Consistency::QUORUM);
    desk.poll();
    desk.machine.applied(desk.now, Err(FailureReason::UNKNOWN));
    assert_eq!(desk.poll(), "failed");
    let write_type = WriteType::COUNTER;
    assert_eq!(
        desk.failure,
        Some(Failure::WriteFailure {
            level: Consistency::QUORUM,
            received: 0,
            required: 2,
            write_type,
            reasons: std::iter::once((NodeId(0), FailureReason::UNKNOWN)).collect(),
        })
    );
    assert!(desk.machine.is_finished());
}

#[test]
fn who_is_no_replica_forwards_to_one_leader_once() {
    let mut desk = forward(Consistency::QUORUM);
    assert_eq!(desk.poll(), "lead 0");
    assert!(matches!(
        desk.requests[0],
        Request::CounterWrite { consistency: Consistency::QUORUM, timeout, .. } if timeout == TIMEOUT
    ));
    desk.sent.push((NodeId(2), CallId(0)));
    desk.confirm(1);
    assert_eq!(desk.poll(), "");
    desk.confirm(0);
    desk.confirm(0);
    assert_eq!(desk.poll(), "written");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_leader_that_never_answers_is_a_timeout_at_one_whatever_the_level() {
    let mut desk = forward(Consistency::QUORUM);
    desk.poll();
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(desk.failure, Some(timeout(Consistency::ONE, 0, 1)));
    let mut desk = forward(Consistency::QUORUM);
    desk.poll();
    desk.fail(0, FailureReason::TIMEOUT);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(desk.failure, Some(timeout(Consistency::ONE, 0, 1)));
}

#[test]
fn a_leader_that_answers_garbage_has_failed() {
    let mut desk = forward(Consistency::QUORUM);
    desk.poll();
    desk.reply(0, Reply::Data(Cell::default()));
    assert_eq!(desk.poll(), "failed");
    assert!(matches!(
        desk.failure,
        Some(Failure::WriteFailure {
            level: Consistency::ONE,
            received: 0,
            required: 1,
            ..
        })
    ));
}

#[test]
fn a_replica_leads_itself_and_others_choose_one_of_their_data_centre() {
    let (ring, replication) = two_centres(2, 2);
    let placement = ring.place(&replication);
    let leader = |local: u16, alive: &[u16], level, random| {
        let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
        let vantage = Vantage {
            ring: &ring,
            local: NodeId(local),
            alive: &alive,
        };
        Ok(
            match CounterPlan::new(&vantage, &placement, Token(0), level, random)? {
                CounterPlan::Lead(plan) => plan.local.0,
                CounterPlan::Forward { leader, .. } => leader.0,
            },
        )
    };
    let all = [0, 1, 2, 3, 4, 5];
    assert_eq!(leader(1, &all, Consistency::ONE, 3), Ok(1));
    let mut chosen: Vec<u16> = (0..50)
        .map(|random| leader(2, &all, Consistency::ONE, random).unwrap())
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    assert_eq!(chosen, [0, 1]);
    assert_eq!(leader(2, &[2, 4], Consistency::ONE, 3), Ok(4));
    let unavailable = |level, required| Failure::Unavailable {
        level,
        required,
        alive: 0,
        data_centre: None,
    };
    let level = Consistency::LOCAL_QUORUM;
    assert_eq!(leader(2, &[2, 4], level, 3), Err(unavailable(level, 2)));
    let level = Consistency::QUORUM;
    assert_eq!(leader(2, &[2], level, 3), Err(unavailable(level, 3)));
}

#[test]
fn too_few_live_replicas_are_unavailable_before_anything_is_applied() {
    let failure = plan_of(0, 3, &[0], Consistency::QUORUM).unwrap_err();
    assert!(matches!(
        failure,
        Failure::Unavailable {
            required: 2,
            alive: 1,
            ..
        }
    ));
}

#[test]
fn a_counter_is_small() {
    assert!(
        size_of::<Counter<Register>>() <= 320,
        "{}",
        size_of::<Counter<Register>>()
    );
}
