use std::time::Duration;

use super::*;
use crate::node::NodeSet;
use crate::plan::Vantage;
use crate::ring::{Replication, Ring, Token};
use crate::testing::desk::Desk;
use crate::testing::register::{Cell, Register};
use crate::testing::{node, ring_of};

const TIMEOUT: Duration = Duration::from_secs(2);

/// Writes to replicas of three nodes: so many copies from a token on.
fn writes(of: &[(i64, u16)], alive: &[u16], level: Consistency) -> Vec<(WritePlan, Cell)> {
    let ring = ring_of(3);
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &alive,
    };
    let write = |(token, factor): &(i64, u16)| {
        let placement = ring.place(&Replication::Simple { factor: *factor });
        let plan = WritePlan::new(&vantage, &placement, Token(*token), level);
        let cell = Cell {
            micros: 1,
            value: token.unsigned_abs(),
        };
        (plan.unwrap(), cell)
    };
    of.iter().map(write).collect()
}

fn batch(kind: BatchKind, writes: Vec<(WritePlan, Cell)>) -> Desk<Batch<Register>> {
    let now = Instant::now();
    Desk::new(now, Batch::new(kind, writes, now, now + TIMEOUT))
}

fn logged() -> BatchKind {
    let log = [NodeId(1), NodeId(2)].into_iter().collect();
    BatchKind::Logged { id: 9, log }
}

fn timeout(level: Consistency, received: u16, required: u16, write_type: WriteType) -> Failure {
    Failure::WriteTimeout {
        level,
        received,
        required,
        write_type,
        contentions: None,
    }
}

const ALL_UP: &[u16] = &[0, 1, 2];

#[test]
fn a_logged_batch_is_kept_by_others_then_written_then_removed() {
    let writes = writes(&[(0, 2), (100, 1)], ALL_UP, Consistency::ONE);
    let mut desk = batch(logged(), writes);
    assert_eq!(desk.poll(), "store 1, store 2");
    assert!(
        matches!(&desk.requests[0], Request::StoreBatch { id: 9, mutations } if mutations.len() == 2)
    );
    desk.confirm(0);
    desk.confirm(0);
    assert_eq!(desk.poll(), "");
    desk.confirm(1);
    assert_eq!(desk.poll(), "write 0, write 1, write 1");
    desk.confirm(3);
    assert_eq!(desk.poll(), "", "one of two");
    desk.confirm(4);
    assert_eq!(desk.poll(), "written, remove 1, remove 2");
    desk.confirm(2);
    desk.confirm(5);
    assert!(desk.machine.is_finished());
    assert_eq!(desk.machine.poll_timeout(), None);
}

#[test]
fn a_log_that_is_not_kept_in_time_is_a_timeout_of_the_log_and_nothing_is_written() {
    let writes = writes(&[(0, 2), (100, 1)], ALL_UP, Consistency::ALL);
    let mut desk = batch(logged(), writes);
    desk.poll();
    desk.confirm(0);
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed");
    let log = WriteType::BATCH_LOG;
    assert_eq!(desk.failure, Some(timeout(Consistency::TWO, 1, 2, log)));
    desk.confirm(1);
    assert_eq!(desk.poll(), "");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_log_of_one_node_is_at_one() {
    let log = std::iter::once(NodeId(1)).collect();
    let writes = writes(&[(0, 2), (100, 1)], ALL_UP, Consistency::ALL);
    let mut desk = batch(BatchKind::Logged { id: 9, log }, writes);
    desk.poll();
    desk.fail(0, FailureReason::UNKNOWN);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(
        desk.failure,
        Some(Failure::WriteFailure {
            level: Consistency::ONE,
            received: 0,
            required: 1,
            write_type: WriteType::BATCH_LOG,
            reasons: std::iter::once((NodeId(1), FailureReason::UNKNOWN)).collect(),
        })
    );
}

#[test]
fn a_write_that_fails_leaves_the_log_to_be_replayed() {
    let writes = writes(&[(0, 3), (100, 1)], ALL_UP, Consistency::ONE);
    let mut desk = batch(logged(), writes);
    desk.poll();
    desk.confirm(0);
    desk.confirm(1);
    assert_eq!(desk.poll(), "write 0, write 1, write 2, write 1");
    desk.confirm(2);
    assert_eq!(desk.poll(), "");
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "hint 1, hint 2, failed, hint 1");
    assert_eq!(
        desk.failure,
        Some(timeout(Consistency::ONE, 0, 1, WriteType::BATCH))
    );
    assert!(desk.machine.is_finished());
}

#[test]
fn an_unlogged_batch_is_written_at_once() {
    let writes = writes(&[(0, 1), (100, 1)], ALL_UP, Consistency::ALL);
    let mut desk = batch(BatchKind::Unlogged, writes);
    assert_eq!(desk.poll(), "write 0, write 1");
    desk.confirm(0);
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1");
    let kind = WriteType::UNLOGGED_BATCH;
    assert_eq!(desk.failure, Some(timeout(Consistency::ALL, 0, 1, kind)));
}

#[test]
fn a_batch_of_one_partition_is_a_simple_write_without_a_log() {
    let writes = writes(&[(0, 2)], ALL_UP, Consistency::ALL);
    let mut desk = batch(logged(), writes);
    assert_eq!(desk.poll(), "write 0, write 1");
    desk.confirm(0);
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1");
    let kind = WriteType::SIMPLE;
    assert_eq!(desk.failure, Some(timeout(Consistency::ALL, 1, 2, kind)));
    assert_eq!(batch(logged(), Vec::new()).poll(), "written");
}

#[test]
fn a_replay_ends_when_every_replica_has_all_or_will_have_it() {
    let writes = writes(&[(0, 3), (100, 1)], &[0, 1], Consistency::ANY);
    let now = Instant::now();
    let mut desk = Desk::new(
        now,
        BatchReplay::<Register>::new(writes, now, now + TIMEOUT),
    );
    assert_eq!(desk.poll(), "write 0, write 1, hint 2, write 1");
    desk.keep_hint(0);
    desk.confirm(0);
    desk.confirm(1);
    assert_eq!(desk.poll(), "");
    desk.fail(2, FailureReason::NODE_DOWN);
    assert_eq!(desk.poll(), "hint 1");
    desk.keep_hint(1);
    assert_eq!(desk.poll(), "written");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_replay_that_can_keep_no_hint_fails_and_its_entry_stays() {
    let writes = writes(&[(100, 2)], &[0, 1], Consistency::ANY);
    let now = Instant::now();
    let mut desk = Desk::new(
        now,
        BatchReplay::<Register>::new(writes, now, now + TIMEOUT),
    );
    assert_eq!(desk.poll(), "write 1, hint 2");
    desk.confirm(0);
    desk.refuse_hint(0);
    assert_eq!(desk.poll(), "failed");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_replay_keeps_hints_for_who_does_not_answer() {
    let writes = writes(&[(100, 1)], ALL_UP, Consistency::ANY);
    let now = Instant::now();
    let mut desk = Desk::new(
        now,
        BatchReplay::<Register>::new(writes, now, now + TIMEOUT),
    );
    desk.poll();
    desk.after(TIMEOUT);
    let hint = desk.machine.poll_action(desk.now);
    let Some(Action::Hint { to, call, .. }) = hint else {
        panic!("{hint:?}");
    };
    desk.machine.handle_reply(desk.now, to, call, Reply::Done);
    assert_eq!(desk.poll(), "written");
}

#[test]
fn a_kept_batch_is_due_until_it_is_removed() {
    let mut log = BatchLog::default();
    log.store(1, 100, vec!['a']);
    log.store(2, 200, vec!['b']);
    log.store(1, 150, vec!['x']);
    let due: Vec<_> = log.due(200).collect();
    assert_eq!(due, [(1, &['a'][..])]);
    assert!(log.remove(1));
    assert!(!log.remove(1));
    assert_eq!(log.due(200).count(), 0);
    assert_eq!(log.iter().collect::<Vec<_>>(), [(2, 200, &['b'][..])]);
}

fn log_nodes(ring: &Ring, alive: &[u16], level: Consistency) -> Vec<Result<Vec<u16>, Failure>> {
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring,
        local: NodeId(0),
        alive: &alive,
    };
    let mut found: Vec<Result<Vec<u16>, Failure>> = Vec::new();
    for random in 0..100 {
        let nodes = batch_log_nodes(&vantage, level, random);
        let nodes = nodes.map(|nodes| {
            let mut nodes: Vec<u16> = nodes.iter().map(|node| node.0).collect();
            nodes.sort_unstable();
            nodes
        });
        if !found.contains(&nodes) {
            found.push(nodes);
        }
    }
    found.sort_by_key(|nodes| nodes.clone().ok());
    found
}

#[test]
fn the_log_is_kept_by_two_other_nodes_of_other_racks() {
    let racks = ["rack1", "rack1", "rack2", "rack2", "rack3"];
    let nodes = racks.iter().enumerate();
    let nodes = nodes.map(|(n, rack)| node(n as u8 + 1, "dc1", rack, &[n as i64]));
    let elsewhere = node(9, "dc2", "rack4", &[90]);
    let ring = Ring::new(nodes.chain([elsewhere]).collect());
    let one = Consistency::ONE;
    assert_eq!(
        log_nodes(&ring, &[0, 1, 2, 3, 4, 5], one),
        [Ok(vec![2, 4]), Ok(vec![3, 4])]
    );
    assert_eq!(log_nodes(&ring, &[0, 1, 2, 3, 5], one), [Ok(vec![2, 3])]);
    assert_eq!(log_nodes(&ring, &[0, 1, 2, 5], one), [Ok(vec![1, 2])]);
    assert_eq!(log_nodes(&ring, &[0, 1, 5], one), [Ok(vec![1])]);
}

#[test]
fn a_log_that_nobody_else_can_keep_is_unavailable_unless_any_will_do() {
    let found = log_nodes(&ring_of(3), &[0], Consistency::ONE);
    let unavailable = Failure::BatchLogUnavailable {
        required: 2,
        alive: 0,
    };
    assert_eq!(found, [Err(unavailable.clone())]);
    let response = unavailable.into_response(&ring_of(3));
    assert_eq!(
        response.message,
        "Cannot achieve consistency level TWO for batchlog in local DC, required:2, available:0"
    );
    let found = log_nodes(&ring_of(3), &[0], Consistency::ANY);
    assert_eq!(found, [Ok(vec![0])]);
}

#[test]
fn in_a_data_centre_of_two_this_node_keeps_it_too() {
    assert_eq!(
        log_nodes(&ring_of(2), &[0, 1], Consistency::ONE),
        [Ok(vec![0, 1])]
    );
    assert_eq!(
        log_nodes(&ring_of(2), &[0], Consistency::ONE),
        [Ok(vec![0])]
    );
    assert_eq!(
        log_nodes(&ring_of(1), &[0], Consistency::ONE),
        [Ok(vec![0])]
    );
}

#[test]
fn a_batch_is_small() {
    assert!(
        size_of::<Batch<Register>>() <= 320,
        "{}",
        size_of::<Batch<Register>>()
    );
}
