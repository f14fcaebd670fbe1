use std::time::Duration;

use helenus_core::message::WriteType;

use super::*;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::node::NodeSet;
use crate::ring::{Replication, Ring};
use crate::testing::desk::Desk;
use crate::testing::register::{Cell, Register};
use crate::testing::{ring_of, two_centres};

const TIMEOUT: Duration = Duration::from_secs(2);

/// The pair of each node, of a base row and a view row at these tokens.
fn pairs(ring: &Ring, replication: &Replication, base: i64, view: i64) -> Vec<Option<u16>> {
    let placement = ring.place(replication);
    let all = NodeSet::first(6);
    let pair = |local| {
        let vantage = Vantage {
            ring,
            local,
            alive: &all,
        };
        let pair = view_pair(
            &vantage,
            (&placement, Token(base)),
            (&placement, Token(view)),
        );
        pair.map(|node| node.0)
    };
    ring.ids().map(pair).collect()
}

#[test]
fn replicas_of_both_serve_themselves_and_others_are_paired_in_order() {
    let ring = ring_of(6);
    let replication = Replication::Simple { factor: 3 };
    // The base row is on 0, 1, 2; the view's on 2, 3, 4.
    let found = pairs(&ring, &replication, 0, 200);
    assert_eq!(found, [Some(3), Some(4), Some(2), None, None, None]);
    // On 0, 1, 2 and 3, 4, 5.
    let found = pairs(&ring, &replication, 0, 300);
    assert_eq!(found, [Some(3), Some(4), Some(5), None, None, None]);
    let found = pairs(&ring, &replication, 0, 0);
    assert_eq!(found, [Some(0), Some(1), Some(2), None, None, None]);
}

#[test]
fn pairs_are_of_one_data_centre() {
    let (ring, replication) = two_centres(1, 1);
    // The base row is on 0 and 3; the view's on 1 and 4.
    let found = pairs(&ring, &replication, 0, 100);
    assert_eq!(found, [Some(1), None, None, Some(4), None, None]);
}

fn desk(alive: &[u16], changes: &[u16]) -> Desk<Batch<Register>> {
    let ring = ring_of(3);
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &alive,
    };
    let now = Instant::now();
    let changes = changes.iter().map(|node| (NodeId(*node), Cell::default()));
    let batch = view_batch(&vantage, 5, changes.collect(), now, now + TIMEOUT);
    Desk::new(now, batch)
}

#[test]
fn changes_are_logged_here_and_removed_when_the_pair_has_them() {
    let mut desk = desk(&[0, 1], &[1]);
    assert_eq!(desk.poll(), "store 0");
    desk.confirm(0);
    assert_eq!(desk.poll(), "write 1");
    desk.confirm(1);
    assert_eq!(desk.poll(), "written, remove 0");
    assert!(desk.machine.is_finished());
}

#[test]
fn a_pair_that_never_answers_gets_a_hint_and_the_log_is_kept() {
    let mut desk = desk(&[0, 1], &[1]);
    desk.poll();
    desk.confirm(0);
    desk.poll();
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed, hint 1");
    assert_eq!(
        desk.failure,
        Some(Failure::WriteTimeout {
            level: Consistency::ONE,
            received: 0,
            required: 1,
            write_type: WriteType::VIEW,
            contentions: None,
        })
    );
}

#[test]
fn a_pair_that_is_down_gets_a_hint_at_once() {
    let mut desk = desk(&[0, 1], &[1, 2]);
    desk.poll();
    desk.confirm(0);
    assert_eq!(desk.poll(), "write 1, hint 2");
    desk.confirm(1);
    desk.keep_hint(0);
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed");
}
