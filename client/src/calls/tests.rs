//! Room, the line for it, and the places of calls.

use super::*;
use crate::outgoing::Content;
use helenus_core::message::Prepare;
use helenus_core::{Extras, RequestBody, Response};

fn request(text: &'static str) -> Outgoing<'static> {
    let prepare = Prepare {
        query: text,
        keyspace: None,
    };
    let content = Content::Request(RequestBody::Prepare(prepare));
    Outgoing::new(content, Some(Duration::from_secs(1)))
}

fn calls(limits: (usize, usize)) -> Calls {
    let (calls, bytes) = limits;
    Calls::new(ProtocolVersion::V4, Limits { calls, bytes })
}

/// Asks for room.
fn enter(calls: &mut Calls) -> (Key, Poll<Result<(), Error>>) {
    let mut key = None;
    let room = calls.poll_room(&mut key, Some(Duration::from_secs(1)), Waker::noop());
    (key.unwrap(), room)
}

fn has_room(calls: &mut Calls, key: Key) -> bool {
    matches!(
        calls.poll_room(&mut Some(key), None, Waker::noop()),
        Poll::Ready(Ok(()))
    )
}

fn answer() -> Outcome {
    Ok(QueryResult::new(Response::Void, Extras::default()).unwrap())
}

fn collected(calls: &mut Calls) -> (Vec<u8>, Vec<Key>, Vec<Key>) {
    let (mut bodies, mut queued, mut cancelled) = (BytesMut::new(), VecDeque::new(), Vec::new());
    calls.collect(&mut bodies, &mut queued, &mut cancelled);
    let keys = queued.iter().map(|queued| queued.key).collect();
    (bodies.to_vec(), keys, cancelled)
}

#[test]
fn requests_are_encoded_one_behind_the_other() {
    let mut calls = calls((8, 1000));
    let (first, second) = (enter(&mut calls).0, enter(&mut calls).0);
    calls.queue(first, &request("a"));
    calls.queue(second, &request("b"));
    assert!(calls.has_queued());
    let (bodies, keys, cancelled) = collected(&mut calls);
    assert_eq!(bodies, b"\0\0\0\x01a\0\0\0\x01b");
    assert_eq!((keys, cancelled), (vec![first, second], vec![]));
    assert!(!calls.has_queued());
}

#[test]
fn who_finds_no_room_gets_it_in_the_order_of_coming() {
    let mut calls = calls((1, 1000));
    let (first, room) = enter(&mut calls);
    assert!(room.is_ready());
    let (second, room) = enter(&mut calls);
    assert!(room.is_pending());
    let (third, room) = enter(&mut calls);
    assert!(room.is_pending());
    assert!(calls.next_in_line().is_none());
    calls.complete(first, answer());
    assert!(calls.next_in_line().is_some());
    assert!(!has_room(&mut calls, third));
    assert!(has_room(&mut calls, second));
    assert!(!has_room(&mut calls, third));
    drop(calls.abandon(second));
    assert!(has_room(&mut calls, third));
}

#[test]
fn unsent_bytes_use_room_up_until_they_are_sent() {
    let mut calls = calls((8, 10));
    let (first, _) = enter(&mut calls);
    calls.queue(first, &request("a statement"));
    let (second, room) = enter(&mut calls);
    assert!(room.is_pending());
    calls.sent(9 + 15);
    assert!(has_room(&mut calls, second));
}

#[test]
fn an_abandoned_call_leaves_the_line() {
    let mut calls = calls((1, 1000));
    let (first, _) = enter(&mut calls);
    let (second, _) = enter(&mut calls);
    let (third, _) = enter(&mut calls);
    drop(calls.abandon(second));
    calls.complete(first, answer());
    assert!(calls.next_in_line().is_some());
    assert!(has_room(&mut calls, third));
}

#[test]
fn the_wait_for_room_ends_with_the_timeout() {
    let now = Instant::now();
    let mut calls = calls((1, 1000));
    let (first, _) = enter(&mut calls);
    let (second, _) = enter(&mut calls);
    // The pump is to set its deadline.
    assert!(calls.has_queued());
    let mut expired = Vec::new();
    calls.expire(now, &mut expired);
    assert!(!calls.has_queued());
    let deadline = now + Duration::from_secs(1);
    assert_eq!((calls.deadline(), expired.len()), (Some(deadline), 0));
    calls.expire(deadline, &mut expired);
    assert_eq!((calls.deadline(), &expired[..]), (None, &[second][..]));
    calls.complete(second, Err(Error::SlowReader));
    let room = calls.poll_room(&mut Some(second), None, Waker::noop());
    assert!(matches!(room, Poll::Ready(Err(Error::SlowReader))));
    calls.complete(first, answer());
    assert!(enter(&mut calls).1.is_ready());
}

#[test]
fn a_late_answer_reaches_nobody_though_its_place_is_used_again() {
    let mut calls = calls((8, 1000));
    let (first, _) = enter(&mut calls);
    calls.queue(first, &request("a"));
    drop(calls.abandon(first));
    assert_eq!(collected(&mut calls).2, [first]);
    let (second, _) = enter(&mut calls);
    assert_eq!(second.place, first.place);
    assert!(calls.complete(first, answer()).is_none());
    assert!(calls.poll(second, Waker::noop()).is_pending());
    assert!(calls.complete(second, answer()).is_some());
    assert!(calls.poll(second, Waker::noop()).is_ready());
    assert!(calls.unfinished().is_empty());
}

#[test]
fn a_crowd_leaves_no_places_behind() {
    let mut calls = calls((1, 1000));
    let crowd: Vec<Key> = (0..2 * KEPT).map(|_| enter(&mut calls).0).collect();
    for key in crowd {
        drop(calls.abandon(key));
    }
    assert_eq!((calls.places.capacity(), calls.free.capacity()), (0, 0));
    assert!(enter(&mut calls).1.is_ready());
    assert_eq!(calls.line.len(), 0);
}

#[test]
fn the_first_deadline_in_line_is_known_whatever_the_order() {
    let now = Instant::now();
    let mut calls = calls((1, 1000));
    assert!(enter(&mut calls).1.is_ready());
    let mut wait = |seconds: Option<u64>| {
        let mut key = None;
        let timeout = seconds.map(Duration::from_secs);
        assert!(
            calls
                .poll_room(&mut key, timeout, Waker::noop())
                .is_pending()
        );
        calls.expire(now, &mut Vec::new());
        calls.deadline()
    };
    assert_eq!(wait(None), None);
    assert_eq!(wait(Some(5)), Some(now + Duration::from_secs(5)));
    assert_eq!(wait(Some(9)), Some(now + Duration::from_secs(5)));
    assert_eq!(wait(Some(3)), Some(now + Duration::from_secs(3)));
    let mut expired = Vec::new();
    calls.expire(now + Duration::from_secs(5), &mut expired);
    assert_eq!(expired.len(), 2);
    assert_eq!(calls.deadline(), Some(now + Duration::from_secs(9)));
}
