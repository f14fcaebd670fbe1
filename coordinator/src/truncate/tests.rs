use std::time::Duration;

use super::*;
use crate::node::NodeSet;
use crate::testing::desk::Desk;
use crate::testing::register::Register;
use crate::testing::ring_of;

const TIMEOUT: Duration = Duration::from_secs(60);

fn truncate(nodes: u8, alive: u16) -> Result<Desk<Truncate<Register>>, Failure> {
    let ring = ring_of(nodes);
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &NodeSet::first(alive),
    };
    let now = Instant::now();
    Ok(Desk::new(
        now,
        Truncate::new(&vantage, 1, now, now + TIMEOUT)?,
    ))
}

fn message(failure: Option<Failure>) -> String {
    let response = failure.unwrap().into_response(&ring_of(3));
    assert_eq!(
        response.code,
        helenus_core::codes::ErrorCode::TRUNCATE_ERROR
    );
    response.message.into_owned()
}

#[test]
fn every_node_truncates() {
    let mut desk = truncate(3, 3).unwrap();
    assert_eq!(desk.poll(), "truncate 0, truncate 1, truncate 2");
    desk.confirm(0);
    desk.confirm(2);
    desk.confirm(2);
    assert_eq!(desk.poll(), "");
    desk.confirm(1);
    assert_eq!(desk.poll(), "truncated");
    assert!(desk.machine.is_finished());
    assert_eq!(truncate(0, 0).unwrap().poll(), "truncated");
}

#[test]
fn a_node_that_is_down_prevents_it() {
    let failure = truncate(3, 2).err();
    assert_eq!(
        message(failure),
        "Error during truncate: Cannot achieve consistency level ALL"
    );
}

#[test]
fn a_node_that_fails_is_named() {
    let mut desk = truncate(3, 3).unwrap();
    desk.poll();
    desk.fail(1, FailureReason::UNKNOWN);
    desk.fail(2, FailureReason::UNKNOWN);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(
        message(desk.failure),
        "Truncate failed on replica /127.0.0.2:7000"
    );
}

#[test]
fn a_node_that_never_answers_is_a_timeout() {
    let mut desk = truncate(3, 3).unwrap();
    desk.poll();
    desk.confirm(1);
    assert_eq!(desk.machine.poll_timeout(), Some(desk.now + TIMEOUT));
    desk.after(TIMEOUT);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(
        message(desk.failure),
        "Error during truncate: Truncate timed out - received only 1 responses"
    );
}
