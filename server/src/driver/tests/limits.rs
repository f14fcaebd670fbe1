//! What connections share: who waits, who is told OVERLOADED, and who is woken.

use super::*;
use crate::hub::Hub;
use crate::options::Limits;
use crate::testing::{join, startup, throwing_startup};
use helenus_core::crc::crc32;
use helenus_core::segment::{SegmentFormat, SegmentHeader};
use std::net::SocketAddr;

fn hub(limit: impl FnOnce(&mut Limits)) -> Arc<Hub<Probe>> {
    let mut options = Options::default();
    limit(&mut options.limits);
    Hub::new(Arc::default(), options)
}

/// A request that is kept until it is released, as long as asked for.
fn long(stream: i16, length: usize) -> Vec<u8> {
    query(stream, &format!("keep{}", " ".repeat(length)))
}

/// One turn with whatever came.
fn take(driver: &mut MaybeTls<Driver<Probe>>, now: Instant, bytes: &[u8]) {
    driver.turn(now);
    feed(driver, now, bytes);
    driver.turn(now);
}

#[test]
fn requests_in_flight_of_others_pause_a_connection_until_they_are_sent() {
    let now = Instant::now();
    let hub = hub(|limits| limits.requests_per_address = Some(2));
    let mut busy = join(&hub, &startup(), now);
    let mut waiting = join(&hub, &startup(), now);
    let (count, waker) = CountingWaker::pair();
    take(
        &mut busy,
        now,
        &[query(1, "keep"), query(2, "keep")].concat(),
    );
    waiting.turn(now);
    assert!(!waiting.wants_read() && waiting.park(&waker));
    // What was read before it was known waits as well.
    feed(&mut waiting, now, &query(3, "x"));
    waiting.turn(now);
    assert!(output(&mut waiting).is_empty() && waiting.park(&waker));
    release(&busy);
    busy.turn(now);
    assert_eq!(count.get(), 0, "answered, and not sent");
    output(&mut busy);
    busy.turn(now);
    assert_eq!(count.get(), 1);
    waiting.turn(now);
    assert_eq!(answers(&output(&mut waiting)), [(3, RESULT)]);
    assert!(waiting.wants_read());
    assert_eq!(hub.totals().paused_for_budgets, 2);
}

#[test]
fn who_asked_for_overloaded_gets_it_for_what_would_go_over_a_shared_limit() {
    let now = Instant::now();
    let hub = hub(|limits| limits.bytes = Some(100_000));
    let mut busy = join(&hub, &startup(), now);
    let mut throwing = join(&hub, &throwing_startup(), now);
    take(&mut busy, now, &long(1, 60_000));
    throwing.turn(now);
    assert!(throwing.wants_read());
    take(&mut throwing, now, &long(2, 60_000));
    assert_eq!(answers(&output(&mut throwing)), [(2, ERROR)]);
    take(&mut throwing, now, &long(3, 30_000));
    assert!(output(&mut throwing).is_empty());
    assert_eq!(calls(&throwing), 2);
    release(&busy);
    busy.turn(now);
    output(&mut busy);
    busy.turn(now);
    take(&mut throwing, now, &query(4, &"x".repeat(60_000)));
    assert_eq!(answers(&output(&mut throwing)), [(3, RESULT), (4, RESULT)]);
}

#[test]
fn who_asked_for_overloaded_is_read_though_there_is_no_room_at_all() {
    let now = Instant::now();
    let hub = hub(|limits| limits.requests = Some(1));
    let mut busy = join(&hub, &startup(), now);
    let mut throwing = join(&hub, &throwing_startup(), now);
    take(&mut busy, now, &query(1, "keep"));
    throwing.turn(now);
    assert!(throwing.wants_read());
    take(&mut throwing, now, &query(2, "x"));
    assert_eq!(answers(&output(&mut throwing)), [(2, ERROR)]);
    assert_eq!(hub.totals().paused_for_budgets, 1, "the busy one");
}

#[test]
fn requests_that_have_begun_are_finished_though_their_beginnings_hold_all_there_is() {
    let now = Instant::now();
    let hub = hub(|limits| limits.bytes = Some(20_000));
    let request = query(1, &"x".repeat(20_000));
    let (head, tail) = request.split_at(15_000);
    let mut drivers = [0, 1].map(|_| join(&hub, &startup(), now));
    for driver in &mut drivers {
        take(driver, now, head);
    }
    for driver in &mut drivers {
        driver.turn(now);
        assert!(driver.wants_read());
        take(driver, now, tail);
        assert_eq!(answers(&output(driver)), [(1, RESULT)]);
        driver.turn(now);
    }
}

#[test]
fn requests_beyond_the_rate_wait_for_their_time() {
    let start = Instant::now();
    let hub = hub(|limits| limits.requests_per_second = Some(10));
    let mut driver = join(&hub, &startup(), start);
    let flood: Vec<u8> = (0..12).flat_map(|stream| query(stream, "x")).collect();
    take(&mut driver, start, &flood);
    // The handshake was one of the second's.
    assert_eq!(answers(&output(&mut driver)).len(), 9);
    driver.turn(start);
    assert!(!driver.wants_read() && driver.park(Waker::noop()));
    for _ in 0..3 {
        let now = driver.poll_timeout().unwrap();
        driver.turn(now);
        assert_eq!(answers(&output(&mut driver)).len(), 1);
        driver.turn(now);
    }
    let totals = hub.totals();
    assert_eq!((totals.paused_for_rate, totals.paused_for_limits), (1, 0));
    driver.turn(start + Duration::from_secs(9));
    assert!(driver.wants_read() && driver.poll_timeout().is_none());
}

#[test]
fn who_asked_for_overloaded_gets_it_beyond_the_rate() {
    let now = Instant::now();
    let hub = hub(|limits| limits.requests_per_second = Some(3));
    let mut driver = join(&hub, &throwing_startup(), now);
    let flood: Vec<u8> = (1..5).flat_map(|stream| query(stream, "x")).collect();
    take(&mut driver, now, &flood);
    let expected = [(1, RESULT), (2, RESULT), (3, ERROR), (4, ERROR)];
    assert_eq!(answers(&output(&mut driver)), expected);
}

#[test]
fn other_options_reach_open_connections_at_their_next_turn() {
    let now = Instant::now();
    let hub = hub(|_| {});
    let mut driver = join(&hub, &startup(), now);
    let (count, waker) = CountingWaker::pair();
    assert!(driver.park(&waker));
    let mut options = Options::default();
    options.limits.requests = Some(1);
    let config = Arc::make_mut(&mut options.connection);
    config.idle_timeout = Some(Duration::from_secs(7));
    hub.reconfigure(options);
    assert_eq!(count.get(), 1);
    driver.turn(now);
    assert_eq!(driver.poll_timeout(), Some(now + Duration::from_secs(7)));
    take(
        &mut driver,
        now,
        &[query(1, "keep"), query(2, "x")].concat(),
    );
    assert_eq!(calls(&driver), 1);
    assert!(!driver.wants_read() && driver.park(&waker));
    hub.reconfigure(Options::default());
    driver.turn(now);
    assert_eq!(calls(&driver), 2);
    assert_eq!(hub.options().limits.requests, None);
}

#[test]
fn why_a_connection_was_refused_or_paused_is_counted() {
    let now = Instant::now();
    let mut options = Options::default();
    options.limits.connections = 2;
    options.limits.connections_per_address = 1;
    Arc::make_mut(&mut options.connection).limits.max_requests = 1;
    let hub = Hub::new(Arc::<Probe>::default(), options);
    let mut driver = join(&hub, &startup(), now);
    let local = driver.peer.local;
    let refused = |address: [u8; 4]| hub.connect((address, 1).into(), local, now).err();
    assert!(refused([127, 0, 0, 1]).is_some());
    let _other = hub.connect(([127, 0, 0, 2], 1).into(), local, now).unwrap();
    assert!(refused([127, 0, 0, 3]).is_some());
    take(
        &mut driver,
        now,
        &[query(1, "keep"), query(2, "x")].concat(),
    );
    let totals = hub.totals();
    assert_eq!(
        (totals.refused_for_address, totals.refused_for_server),
        (1, 1)
    );
    assert_eq!(
        (totals.connections_refused, totals.paused_for_limits),
        (2, 1)
    );
}

#[test]
fn what_connections_hold_is_known_though_nothing_limits_it() {
    let now = Instant::now();
    let hub = hub(|_| {});
    let held = || {
        let held = hub.handle().held();
        (held.requests, held.bytes)
    };
    let (mut one, mut two) = (join(&hub, &startup(), now), join(&hub, &startup(), now));
    assert_eq!(held(), (0, 0));
    let request = query(1, "keep");
    take(&mut one, now, &request);
    take(&mut two, now, &query(2, &"x".repeat(5000))[..3000]);
    // The second one's header is taken at once.
    let beginning = 3000 - 9;
    assert_eq!(held(), (1, request.len() as u64 + beginning));
    release(&one);
    one.turn(now);
    // An answer that isn't sent: a header and a kind.
    assert_eq!(held(), (1, request.len() as u64 + 9 + 4 + beginning));
    output(&mut one);
    one.turn(now);
    assert_eq!(held(), (0, beginning));
    let snapshots = hub.connections();
    assert_eq!(
        [snapshots[0].held.bytes, snapshots[1].held.bytes],
        [0, beginning]
    );
    drop(two);
    assert_eq!(held(), (0, 0));
}

#[test]
fn a_message_of_several_segments_is_counted_as_it_comes() {
    let now = Instant::now();
    let hub = hub(|limits| limits.bytes = Some(50_000));
    let mut other = join(&hub, &startup(), now);
    let address = SocketAddr::from(([127, 0, 0, 1], 9042));
    let mut sender = hub.connect(address, address, now).unwrap();
    let in_v5 = |mut bytes: Vec<u8>| {
        bytes[0] = 5;
        bytes
    };
    take(&mut sender, now, &in_v5(startup()));
    output(&mut sender);
    let long = in_v5(query(1, &"x".repeat(200_000)));
    take(&mut sender, now, &part(&long[..60_000]));
    // The header is taken at once.
    assert_eq!(hub.handle().held().bytes, 60_000 - 9);
    other.turn(now);
    assert!(!other.wants_read());
    assert!(sender.wants_read(), "what has begun is finished");
}

/// A segment of v5 with a part of a message.
fn part(payload: &[u8]) -> Vec<u8> {
    let header = SegmentHeader {
        payload: u32::try_from(payload.len()).unwrap(),
        uncompressed: 0,
        self_contained: false,
    };
    let format = SegmentFormat::Plain;
    let mut bytes = header.encode(format)[..format.header_len()].to_vec();
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&crc32(payload).to_le_bytes());
    bytes
}

#[test]
fn bytes_of_requests_that_are_too_long_are_counted_as_they_come() {
    let now = Instant::now();
    let hub = hub(|_| {});
    let mut driver = join(&hub, &startup(), now);
    let mut request = query(1, "");
    request[5..9].copy_from_slice(&(20_u32 << 20).to_be_bytes());
    take(&mut driver, now, &request);
    take(&mut driver, now, &[0; 1000]);
    assert_eq!(hub.totals().bytes_discarded, request.len() as u64 + 1000);
}
