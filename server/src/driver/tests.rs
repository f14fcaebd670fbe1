//! A driver without a socket: bytes in, bytes out, and a clock of the test's own.

mod limits;

use super::*;
use crate::clients::ConnectionStage;
use crate::hub::Hub;
use crate::options::Options;
use crate::service::PeerInfo;
use crate::testing::{
    CountingWaker, ERROR, RESULT, answers, connect, feed, output, query, startup,
};
use helenus_core::{
    ErrorCode, Opcode, ProtocolVersion, Reply, Request, RequestBody, Responder, Response,
};
use helenus_tls::MaybeTls;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Does what the text of a query says.
#[derive(Debug, Default)]
struct Probe {
    calls: AtomicUsize,
    closed: AtomicUsize,
    kept: Mutex<Vec<Reply>>,
}

impl Service for Probe {
    type Session = ();

    fn open(&self, _: &PeerInfo) {}

    fn close(&self, (): ()) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn call(&self, _: Instant, (): &mut (), request: Request<'_>, responder: Responder<'_>) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let Ok(RequestBody::Query(query)) = request.parse() else {
            return;
        };
        match query.query.trim_end() {
            "keep" => self.kept.lock().unwrap().push(responder.defer()),
            "panic" => panic!("as told to"),
            _ => responder.send(Response::Void),
        }
    }
}

fn probe(now: Instant) -> MaybeTls<Driver<Probe>> {
    connect(Probe::default(), Options::default(), now)
}

fn calls(driver: &MaybeTls<Driver<Probe>>) -> usize {
    driver.hub.service().calls.load(Ordering::SeqCst)
}

fn release(driver: &MaybeTls<Driver<Probe>>) {
    for reply in driver.hub.service().kept.lock().unwrap().drain(..) {
        reply.send(Response::Void);
    }
}

fn eof(driver: &mut MaybeTls<Driver<Probe>>, now: Instant) {
    assert_eq!(
        driver.read(now, |_| Poll::Ready(Ok::<_, Infallible>(0))),
        Poll::Ready(Ok(0))
    );
}

#[test]
fn a_turn_ends_when_its_budget_is_used_up() {
    let now = Instant::now();
    let mut driver = probe(now);
    assert!(driver.park(Waker::noop()));
    let flood: Vec<u8> = (0..600).flat_map(|stream| query(stream, "x")).collect();
    feed(&mut driver, now, &flood);
    // The read itself counts as one.
    assert_eq!(calls(&driver), 255);
    assert_eq!((driver.turn(now), calls(&driver)), (Turn::Yield, 255));
    assert_eq!((driver.turn(now), calls(&driver)), (Turn::Yield, 511));
    assert_eq!((driver.turn(now), calls(&driver)), (Turn::Wait, 600));
    assert_eq!(answers(&output(&mut driver)).len(), 600);
}

#[test]
fn pipelined_answers_leave_in_one_piece() {
    let now = Instant::now();
    let mut driver = probe(now);
    let requests: Vec<u8> = (0..100).flat_map(|stream| query(stream, "x")).collect();
    feed(&mut driver, now, &requests);
    let piece = driver
        .poll_transmit()
        .map(|transmit| transmit.chunk().to_vec());
    assert_eq!(answers(&piece.unwrap()).len(), 100);
}

#[test]
fn an_idle_connection_keeps_no_buffer() {
    let now = Instant::now();
    let mut driver = probe(now);
    let request = query(1, &"x".repeat(5000));
    feed(&mut driver, now, &request[..3000]);
    // The header is taken at once.
    assert_eq!(driver.input.len(), 3000 - 9);
    feed(&mut driver, now, &request[3000..]);
    assert_eq!((driver.turn(now), calls(&driver)), (Turn::Wait, 1));
    assert_eq!((driver.input.capacity(), driver.mail.capacity()), (0, 0));
}

#[test]
fn bytes_that_come_one_at_a_time_make_the_same_requests() {
    let now = Instant::now();
    let mut driver = probe(now);
    for byte in [
        query(1, "x"),
        query(2, &"y".repeat(3 * CARRY)),
        query(3, "z"),
    ]
    .concat()
    {
        feed(&mut driver, now, &[byte]);
        driver.turn(now);
    }
    assert_eq!(
        answers(&output(&mut driver)),
        [(1, RESULT), (2, RESULT), (3, RESULT)]
    );
}

#[test]
fn a_deferred_reply_wakes_the_parked_pump() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(5, "keep"));
    let (count, waker) = CountingWaker::pair();
    assert_eq!(driver.turn(now), Turn::Wait);
    assert!(driver.park(&waker));
    assert!(output(&mut driver).is_empty());
    release(&driver);
    assert_eq!(count.get(), 1);
    assert!(!driver.park(&waker));
    driver.turn(now);
    assert_eq!(answers(&output(&mut driver)), [(5, RESULT)]);
}

#[test]
fn a_panic_answers_server_error_for_its_request_alone() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(
        &mut driver,
        now,
        &[query(1, "x"), query(2, "panic"), query(3, "x")].concat(),
    );
    driver.turn(now);
    assert_eq!(
        answers(&output(&mut driver)),
        [(1, RESULT), (2, ERROR), (3, RESULT)]
    );
    assert_eq!(driver.hub.totals().panics, 1);
}

#[test]
fn a_fault_is_answered_and_lingered_over_before_the_close() {
    let start = Instant::now();
    let mut driver = probe(start);
    feed(&mut driver, start, b"GET / HTTP/1.1\r\n\r\n");
    driver.turn(start);
    assert!(!driver.wants_read());
    let error = output(&mut driver);
    assert_eq!(error.get(4), Some(&ERROR));
    assert_eq!(driver.turn(start), Turn::ShutdownWrite);
    assert!(driver.wants_read());
    // What the peer still sends is thrown away, as long as it doesn't fall silent for a second.
    let mut now = start;
    for _ in 0..5 {
        now += Duration::from_millis(900);
        feed(&mut driver, now, &query(1, "x"));
        assert_eq!(driver.turn(now), Turn::Wait);
    }
    assert_eq!(driver.poll_timeout(), Some(now + Duration::from_secs(1)));
    assert_eq!(driver.turn(now + Duration::from_secs(1)), Turn::Close);
    assert_eq!(calls(&driver), 0);
}

#[test]
fn lingering_is_bounded_in_bytes() {
    let now = Instant::now();
    let mut options = Options::default();
    options.linger.bytes = 100;
    let mut driver = connect(Probe::default(), options, now);
    feed(&mut driver, now, b"GET / HTTP/1.1\r\n\r\n");
    driver.turn(now);
    output(&mut driver);
    assert_eq!(driver.turn(now), Turn::ShutdownWrite);
    feed(&mut driver, now, &[0; 99]);
    assert_eq!(driver.turn(now), Turn::Wait);
    feed(&mut driver, now, &[0; 1]);
    assert_eq!(driver.turn(now), Turn::Close);
}

#[test]
fn a_half_closed_peer_gets_its_answers() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(1, "keep"));
    eof(&mut driver, now);
    assert_eq!(driver.turn(now), Turn::Wait);
    assert!(!driver.wants_read());
    assert_eq!(driver.turn(now + Duration::from_secs(29)), Turn::Wait);
    release(&driver);
    driver.turn(now);
    assert_eq!(answers(&output(&mut driver)), [(1, RESULT)]);
    assert_eq!(driver.turn(now), Turn::Close);
}

#[test]
fn a_peer_that_is_gone_is_waited_for_in_bounds() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(1, "keep"));
    eof(&mut driver, now);
    driver.turn(now);
    let deadline = now + Duration::from_secs(30);
    assert_eq!(driver.poll_timeout(), Some(deadline));
    assert_eq!(driver.turn(deadline), Turn::Close);
}

#[test]
fn a_drain_answers_what_is_in_flight() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(1, "keep"));
    driver.hub.drain();
    assert_eq!(driver.turn(now), Turn::Wait);
    assert!(!driver.wants_read());
    release(&driver);
    driver.turn(now);
    assert_eq!(answers(&output(&mut driver)), [(1, RESULT)]);
    assert_eq!(driver.turn(now), Turn::ShutdownWrite);
    eof(&mut driver, now);
    assert_eq!(driver.turn(now), Turn::Close);
}

#[test]
fn an_abort_closes_at_once() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(1, "keep"));
    driver.hub.abort();
    assert_eq!(
        (driver.turn(now), driver.turn(now)),
        (Turn::Close, Turn::Close)
    );
}

#[test]
fn a_dropped_driver_closes_its_session_and_leaves_the_registry() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(&mut driver, now, &query(1, "keep"));
    let hub = Arc::clone(&driver.hub);
    assert_eq!(hub.handle().connections(), 1);
    drop(driver);
    assert_eq!(
        (
            hub.handle().connections(),
            hub.service().closed.load(Ordering::SeqCst)
        ),
        (0, 1)
    );
    // Its reply goes nowhere.
    hub.service().kept.lock().unwrap().clear();
    let totals = hub.totals();
    assert_eq!(
        (totals.connections_opened, totals.connections_closed),
        (1, 1)
    );
    assert_eq!((totals.requests, totals.responses), (2, 1));
}

#[test]
fn unsent_answers_use_a_shared_budget_up() {
    let now = Instant::now();
    let mut options = Options::default();
    options.limits.bytes = Some(4096);
    let mut driver = connect(Probe::default(), options, now);
    let (count, waker) = CountingWaker::pair();
    driver.turn(now);
    assert!(driver.wants_read());
    feed(&mut driver, now, &query(1, &"x".repeat(5000)));
    driver.turn(now);
    assert!(!driver.wants_read());
    assert!(driver.park(&waker));
    output(&mut driver);
    driver.turn(now);
    assert_eq!(count.get(), 1);
    assert!(driver.wants_read());
}

#[test]
fn who_no_longer_reads_does_not_wait_for_a_shared_budget() {
    let now = Instant::now();
    let mut options = Options::default();
    options.limits.bytes = Some(4096);
    let mut driver = connect(Probe::default(), options, now);
    feed(
        &mut driver,
        now,
        &[query(1, "keep"), query(2, &"x".repeat(5000))].concat(),
    );
    driver.turn(now);
    assert!(!driver.wants_read());
    driver.hub.drain();
    driver.turn(now);
    output(&mut driver);
    driver.turn(now);
    assert!(!driver.wants_read());
    assert!(driver.park(Waker::noop()));
}

#[test]
fn a_request_takes_until_the_turn_after_its_answer_or_the_delivery_of_a_deferred_one() {
    let start = Instant::now();
    let after = |millis| start + Duration::from_millis(millis);
    let mut driver = probe(start);
    driver.turn(after(1));
    let hub = Arc::clone(&driver.hub);
    let queries = || {
        let latencies = hub.latencies();
        let (_, histogram) = latencies
            .iter()
            .find(|(opcode, _)| *opcode == Opcode::QUERY)?;
        Some((histogram.count(), histogram.sum))
    };
    driver.turn(after(10));
    feed(
        &mut driver,
        after(10),
        &[query(1, "x"), query(2, "x"), query(3, "keep")].concat(),
    );
    assert_eq!(queries(), Some((0, Duration::ZERO)));
    driver.turn(after(13));
    assert_eq!(queries(), Some((2, Duration::from_millis(2 * 3))));
    release(&driver);
    driver.turn(after(50));
    assert_eq!(queries(), Some((3, Duration::from_millis(2 * 3 + 40))));
    driver.turn(after(90));
    assert_eq!(queries(), Some((3, Duration::from_millis(2 * 3 + 40))));
}

#[test]
fn errors_are_summed_by_code() {
    let now = Instant::now();
    let mut driver = probe(now);
    feed(
        &mut driver,
        now,
        &[query(1, "panic"), query(2, "x"), query(3, "panic")].concat(),
    );
    driver.turn(now);
    let totals = driver.hub.totals();
    assert_eq!(totals.error_codes.get(ErrorCode::SERVER_ERROR), 2);
    assert_eq!((totals.errors, totals.panics), (2, 2));
}

#[test]
fn an_open_connection_is_seen_from_outside_as_it_is() {
    let now = Instant::now();
    let hub = Hub::new(Arc::new(Probe::default()), Options::default());
    let peer = ([127, 0, 0, 1], 4711).into();
    let mut driver = hub.connect(peer, peer, now).unwrap();
    let [seen] = &hub.connections()[..] else {
        panic!("one connection");
    };
    assert_eq!(
        (seen.address, seen.stage),
        (peer, ConnectionStage::Established)
    );
    feed(&mut driver, now, &startup());
    driver.turn(now);
    feed(&mut driver, now, &query(1, "x"));
    driver.turn(now);
    hub.handle()
        .set_keyspace(seen.connection, Some("ks".into()));
    hub.handle().set_user(seen.connection, "cassandra".into());
    let [seen] = &hub.connections()[..] else {
        panic!("one connection");
    };
    assert_eq!((seen.stage, seen.requests), (ConnectionStage::Ready, 2));
    assert_eq!(seen.version, Some(ProtocolVersion::V4));
    assert_eq!(seen.option("cql_version"), Some("3.0.0"));
    assert_eq!(
        (seen.keyspace.as_deref(), seen.user.as_deref()),
        (Some("ks"), Some("cassandra"))
    );
    drop(driver);
    assert_eq!(hub.connections(), []);
}

#[test]
fn a_client_that_speaks_tls_to_a_port_without_it_is_known_by_its_first_byte() {
    let now = Instant::now();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 9042));
    let hub = Hub::new(Arc::new(Probe::default()), Options::default());
    let mut driver = hub.connect(address, address, now).unwrap();
    // The beginning of a ClientHello.
    feed(&mut driver, now, &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);
    driver.turn(now);
    assert_eq!(driver.end(), "the client speaks TLS, and the port doesn't");
}
