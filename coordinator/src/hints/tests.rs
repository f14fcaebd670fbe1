use std::time::Instant;

use super::*;
use crate::failure::FailureReason;
use crate::machine::Machine;
use crate::node::NodeId;
use crate::testing::desk::Desk;
use crate::testing::register::{Cell, Register};

const HOST: u128 = 5;
const GRACE: Duration = Duration::from_secs(864_000);
const SECOND: i64 = 1_000_000;

fn hints(bytes: u64) -> Hints<u8> {
    Hints::new(HintLimits {
        bytes,
        window: Duration::from_secs(10),
    })
}

fn values(batch: Vec<(HintId, u8)>) -> Vec<u8> {
    batch.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn hints_come_back_in_order_until_they_are_confirmed() {
    let mut hints = hints(100);
    for value in 0..5 {
        hints.push(HOST, 0, GRACE, 10, value).unwrap();
    }
    hints.push(6, 0, GRACE, 10, 9).unwrap();
    let batch = hints.batch(HOST, 0, 3);
    let ids: Vec<HintId> = batch.iter().map(|(id, _)| *id).collect();
    assert_eq!(values(batch), [0, 1, 2]);
    assert_eq!(
        values(hints.batch(HOST, 0, 3)),
        [0, 1, 2],
        "nobody has confirmed"
    );
    hints.remove(HOST, &[ids[0], ids[2], ids[2], HintId(99)]);
    assert_eq!(values(hints.batch(HOST, 0, 9)), [1, 3, 4]);
    assert_eq!((hints.count(HOST), hints.bytes(HOST)), (3, 30));
    hints.forget(HOST);
    assert_eq!(hints.hosts().collect::<Vec<_>>(), [6]);
}

#[test]
fn a_full_store_refuses_and_keeps_what_it_has() {
    let mut hints = hints(25);
    hints.push(HOST, 0, GRACE, 10, 1).unwrap();
    hints.push(HOST, 0, GRACE, 10, 2).unwrap();
    assert_eq!(hints.push(HOST, 0, GRACE, 10, 3), Err(HintRefused::Full));
    assert_eq!(values(hints.batch(HOST, 0, 9)), [1, 2]);
    // Another node has bytes of its own.
    hints.push(6, 0, GRACE, 25, 4).unwrap();
    assert_eq!(hints.push(7, 0, GRACE, 26, 4), Err(HintRefused::Full));
    assert_eq!(hints.count(7), 0);
    let first = hints.batch(HOST, 0, 1)[0].0;
    hints.remove(HOST, &[first]);
    hints.push(HOST, 0, GRACE, 10, 3).unwrap();
}

#[test]
fn expired_hints_make_room_and_are_never_replayed() {
    let mut hints = hints(25);
    let short = Duration::from_secs(3);
    hints.push(HOST, 0, GRACE, 10, 1).unwrap();
    hints.push(HOST, 0, short, 10, 2).unwrap();
    assert_eq!(
        hints.push(HOST, 2 * SECOND, GRACE, 10, 3),
        Err(HintRefused::Full)
    );
    hints.push(HOST, 3 * SECOND, GRACE, 10, 3).unwrap();
    assert_eq!(values(hints.batch(HOST, 3 * SECOND, 9)), [1, 3]);
    hints.push(6, 0, short, 10, 4).unwrap();
    assert_eq!(hints.expire(3 * SECOND), 1);
    assert_eq!(hints.hosts().collect::<Vec<_>>(), [HOST]);
    assert_eq!(
        hints.push(HOST, 0, Duration::ZERO, 1, 5),
        Err(HintRefused::TooOld)
    );
}

#[test]
fn a_node_that_is_away_for_longer_than_the_window_gets_no_more() {
    let mut hints = hints(100);
    hints.push(HOST, 0, GRACE, 10, 1).unwrap();
    hints.push(HOST, 10 * SECOND, GRACE, 10, 2).unwrap();
    let late = hints.push(HOST, 10 * SECOND + 1, GRACE, 10, 3);
    assert_eq!(late, Err(HintRefused::TooOld));
    // A clock that goes back does no harm.
    hints.push(HOST, -SECOND, GRACE, 10, 4).unwrap();
    assert_eq!(values(hints.batch(HOST, 0, 9)), [1, 2, 4]);
}

fn encoded(hints: &Hints<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    hints.encode(&mut bytes, |value, out| out.push(*value));
    bytes
}

fn decoded(bytes: &[u8]) -> Result<Hints<u8>, HintsCorrupt> {
    let limits = HintLimits::default();
    Hints::decode(bytes, limits, |bytes| match bytes {
        [value] => Some(*value),
        _ => None,
    })
}

#[test]
fn hints_survive_a_restart_while_they_are_replayed() {
    let mut hints = hints(100);
    hints.push(HOST, 0, GRACE, 10, 1).unwrap();
    hints.push(HOST, 7, Duration::from_secs(3), 20, 2).unwrap();
    hints.push(u128::MAX, 7, GRACE, 30, 3).unwrap();
    let sent = hints.batch(HOST, 0, 9);
    let mut again = decoded(&encoded(&hints)).unwrap();
    assert_eq!(encoded(&again), encoded(&hints));
    assert_eq!(values(again.batch(HOST, 0, 9)), values(sent));
    assert_eq!((again.bytes(HOST), again.bytes(u128::MAX)), (30, 30));
    again.push(HOST, 8, GRACE, 10, 4).unwrap();
    assert_eq!(values(again.batch(HOST, 3 * SECOND + 7, 9)), [1, 4]);
}

#[test]
fn cut_or_foreign_bytes_are_no_hints() {
    let mut hints = hints(100);
    hints.push(HOST, 0, GRACE, 10, 1).unwrap();
    hints.push(6, 0, GRACE, 10, 2).unwrap();
    let bytes = encoded(&hints);
    let one = (bytes.len() - 1) / 2;
    for length in 0..bytes.len() {
        let whole = length == 1 || length == 1 + one;
        assert_eq!(decoded(&bytes[..length]).is_ok(), whole, "{length}");
    }
    let mut foreign = bytes.clone();
    foreign[0] = 2;
    assert_eq!(decoded(&foreign).unwrap_err(), HintsCorrupt);
    // A length that there are no bytes for.
    let mut long = bytes;
    long[1 + 36] = 0xff;
    assert_eq!(decoded(&long).unwrap_err(), HintsCorrupt);
}

fn replay(count: u64) -> Desk<HintReplay<Register>> {
    let now = Instant::now();
    let cell = |value| Cell { micros: 1, value };
    let hints = (0..count).map(|id| (HintId(id + 10), cell(id))).collect();
    let deadline = now + Duration::from_secs(2);
    Desk::new(now, HintReplay::new(NodeId(2), hints, now, deadline))
}

#[test]
fn a_replay_sends_a_window_of_hints_and_says_which_were_confirmed() {
    let mut desk = replay(3);
    assert_eq!(desk.poll(), "write 2, write 2, write 2");
    desk.confirm(2);
    desk.confirm(2);
    desk.confirm(0);
    assert_eq!(desk.poll(), "");
    desk.confirm(1);
    assert_eq!(desk.poll(), "written");
    assert_eq!(
        desk.machine.confirmed(),
        [HintId(12), HintId(10), HintId(11)]
    );
    assert!(desk.machine.is_finished());
    assert_eq!(replay(0).poll(), "written");
}

#[test]
fn hints_that_fail_or_are_not_answered_stay_for_the_next_time() {
    let mut desk = replay(2);
    desk.poll();
    desk.fail(0, FailureReason::UNKNOWN);
    desk.sent[1].0 = NodeId(1);
    desk.confirm(1);
    assert_eq!(desk.poll(), "");
    desk.sent[1].0 = NodeId(2);
    desk.confirm(1);
    assert_eq!(desk.poll(), "failed");
    assert_eq!(desk.machine.confirmed(), [HintId(11)]);
    let mut desk = replay(2);
    desk.poll();
    desk.confirm(1);
    assert_eq!(
        desk.machine.poll_timeout(),
        Some(desk.now + Duration::from_secs(2))
    );
    desk.after(Duration::from_secs(2));
    assert_eq!(desk.poll(), "failed");
    desk.confirm(0);
    assert_eq!(desk.machine.confirmed(), [HintId(11)]);
    assert!(desk.machine.is_finished());
}
