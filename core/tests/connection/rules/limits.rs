//! What a peer may make a connection hold, and when it is let go.

use super::*;

#[test]
fn a_full_connection_waits_until_an_answer_is_sent() {
    let config = limited(|limits| limits.max_requests = 2);
    let mut server = ready(4, config, DEFER());
    server.input.extend_from_slice(&pipeline(4, 0..3));
    assert_eq!(server.dispatch(), Progress::Blocked);
    assert!(!server.connection.wants_read());
    assert_eq!(server.connection.in_flight().0, 2);
    let mut replies = replies();
    replies.remove(0).send(Response::Void);
    deliver(&mut server);
    assert_eq!(
        server.dispatch(),
        Progress::Blocked,
        "answered, and not sent"
    );
    server.flush();
    assert_eq!(server.dispatch(), Progress::Blocked);
    assert_eq!(server.connection.in_flight().0, 2, "the third was taken");
    assert!(server.input.is_empty());
    assert_eq!(streams(&got(&mut server)), [0]);
}

#[test]
fn a_credit_is_released_by_the_last_byte_of_its_answer() {
    for version in [4, 5] {
        let mut server = ready(version, ServerConfig::default(), VOID());
        let bytes = query(version, 1, "SELECT 1");
        match version {
            5 => server
                .input
                .extend(segment(SegmentFormat::Plain, true, &bytes)),
            _ => server.input.extend(&bytes),
        }
        server.dispatch();
        assert_eq!(server.connection.in_flight(), (1, bytes.len()));
        let mut transmit = server.connection.poll_transmit().unwrap();
        let length = transmit.remaining();
        transmit.advance(length - 1);
        assert_eq!(server.connection.in_flight(), (1, bytes.len()));
        server.connection.poll_transmit().unwrap().advance(1);
        assert_eq!(server.connection.in_flight(), (0, 0));
    }
}

#[test]
fn a_request_that_has_begun_is_taken_though_over_the_limit_of_bytes() {
    let config = limited(|limits| limits.max_request_bytes = 100);
    let mut server = ready(4, config, DEFER());
    let first = query(4, 1, &"x".repeat(500));
    let (head, tail) = first.split_at(200);
    server.receive(head, Cuts::Whole);
    assert!(server.connection.wants_read());
    server.receive(tail, Cuts::Whole);
    assert_eq!(server.connection.in_flight(), (1, first.len()));
    server.receive(&query(4, 2, "y"), Cuts::Whole);
    assert_eq!(server.connection.in_flight().0, 1, "the next one waits");
    assert!(!server.connection.wants_read());
    drop(replies());
}

#[test]
fn a_client_that_asks_for_it_gets_overloaded_and_its_body_is_discarded() {
    for version in [4, 5] {
        let config = limited(|limits| limits.max_requests = 1);
        let mut server = Server::new(config, DEFER());
        let hello = startup(version, &[("THROW_ON_OVERLOAD", "1")]);
        server.receive(&hello, Cuts::Whole);
        server.sent();
        let requests = pipeline(version, 1..4);
        let bytes = match version {
            5 => segment(SegmentFormat::Plain, true, &requests),
            _ => requests,
        };
        server.receive(&bytes, Cuts::BYTES);
        assert!(server.input.is_empty());
        let refused = got(&mut server);
        assert_eq!(streams(&refused), [2, 3]);
        assert!(
            refused
                .iter()
                .all(|got| got.code() == ErrorCode::OVERLOADED.0)
        );
        assert_eq!(
            server.connection.stats().faults.get(ErrorKind::Overloaded),
            2
        );
        assert_eq!(server.connection.in_flight().0, 1);
        drop(replies());
    }
}

#[test]
fn unsent_output_over_its_limit_blocks() {
    let config = limited(|limits| limits.max_unsent = 1000);
    let mut server = ready(4, config, VOID());
    server.input.extend_from_slice(&pipeline(4, 0..200));
    assert_eq!(server.dispatch(), Progress::Blocked);
    assert!(!server.connection.wants_read());
    assert!(server.connection.unsent() < 1100);
    while server.run() == Progress::Blocked {}
    assert_eq!(got(&mut server).len(), 200);
    assert!(server.connection.wants_read());
}

#[test]
fn an_oversized_message_is_discarded_as_it_arrives() {
    let mut server = ready(4, ServerConfig::default(), VOID());
    let length: usize = (16 << 20) + 1;
    let mut header = request(4, 0, 7, 7, &[]);
    header[5..9].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
    server.receive(&header, Cuts::Whole);
    assert!(server.connection.read_hint() <= 64 << 10);
    for _ in 0..length / 65_536 {
        server.receive(&[0; 65_536], Cuts::Whole);
        assert!(server.input.is_empty());
    }
    assert!(
        server.sent().is_empty(),
        "answered when it has come as a whole"
    );
    server.receive(&[0], Cuts::Whole);
    server.receive(&options(4, 8), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(streams(&got), [7, 8]);
    assert_eq!(got[0].code(), ErrorCode::INVALID.0);
    assert_eq!(server.connection.stats().faults.get(ErrorKind::TooLong), 1);
}

#[test]
fn less_is_taken_before_the_handshake_is_over() {
    let config = limited(|limits| limits.max_envelope_before_login = 1000);
    let mut server = Server::new(config, VOID());
    server.receive(&request(4, 0, 1, 5, &[0; 2000]), Cuts::Every(100));
    server.receive(&startup(4, &[]), Cuts::Whole);
    server.receive(&request(4, 0, 2, 5, &[0; 2000]), Cuts::Every(100));
    let got = got(&mut server);
    let opcodes: Vec<Opcode> = got.iter().map(|got| got.opcode).collect();
    assert_eq!(opcodes, [Opcode::ERROR, Opcode::READY, Opcode::SUPPORTED]);
}

#[test]
fn who_does_not_read_events_is_closed() {
    let config = limited(|limits| limits.max_unsent = 500);
    let mut server = ready(4, config, VOID());
    server.receive(
        &request(4, 0, 1, 0x0B, b"\0\x01\0\x0dSCHEMA_CHANGE"),
        Cuts::Whole,
    );
    for _ in 0..100 {
        server.connection.push(&schema_event());
    }
    assert!(server.connection.unsent() < 1100);
    server.run();
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::EventsUnread))
    );
}

#[test]
fn limits_of_nothing_still_let_one_request_through_at_a_time() {
    let config = limited(|limits| {
        limits.max_requests = 0;
        limits.max_request_bytes = 0;
        limits.max_unsent = 0;
    });
    let mut server = ready(4, config, VOID());
    server.receive(&pipeline(4, 0..5), Cuts::Whole);
    assert_eq!(streams(&got(&mut server)), [0, 1, 2, 3, 4]);
}

#[test]
fn who_asked_for_overloaded_gets_it_for_the_request_that_would_go_over_the_limit_of_bytes() {
    for version in [4, 5] {
        let config = limited(|limits| limits.max_request_bytes = 1000);
        let mut server = Server::new(config, DEFER());
        let hello = startup(version, &[("THROW_ON_OVERLOAD", "1")]);
        server.receive(&hello, Cuts::Whole);
        server.sent();
        let long = |stream| query(version, stream, &"x".repeat(400));
        let bytes = [long(1), long(2), long(3), query(version, 4, "short")].concat();
        let bytes = match version {
            5 => segment(SegmentFormat::Plain, true, &bytes),
            _ => bytes,
        };
        server.receive(&bytes, Cuts::Whole);
        assert_eq!(streams(&got(&mut server)), [3], "v{version}");
        assert_eq!(server.connection.in_flight().0, 3);
        drop(replies());
    }
}

#[test]
fn a_share_of_budgets_holds_beside_the_own_limits() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.connection.allow(2, usize::MAX);
    server.input.extend_from_slice(&pipeline(4, 0..5));
    assert_eq!(server.dispatch(), Progress::Blocked);
    assert_eq!(server.connection.in_flight().0, 2);
    assert!(!server.connection.wants_read());
    server
        .connection
        .allow(usize::MAX, server.connection.in_flight().1 + 1);
    assert_eq!(server.dispatch(), Progress::Blocked);
    assert_eq!(server.connection.in_flight().0, 3, "one may go over");
    server.connection.allow(usize::MAX, usize::MAX);
    assert_eq!(server.dispatch(), Progress::NeedInput);
    assert_eq!(server.connection.in_flight().0, 5);
    drop(replies());
}

#[test]
fn v5_may_have_a_limit_of_its_own() {
    for (version, is_refused) in [(4, false), (5, true)] {
        let config = limited(|limits| limits.max_message = Some(300));
        let mut server = ready(version, config, VOID());
        let long = query(version, 7, &"x".repeat(400));
        let bytes = match version {
            5 => segment(SegmentFormat::Plain, true, &long),
            _ => long,
        };
        server.receive(&bytes, Cuts::Whole);
        let got = got(&mut server);
        assert_eq!(got[0].opcode == Opcode::ERROR, is_refused, "v{version}");
    }
}

#[test]
fn an_older_version_than_is_taken_is_refused_in_v5_and_may_be_followed_by_a_newer() {
    let mut config = ServerConfig::default();
    config.oldest_version = helenus_core::ProtocolVersion::V5;
    for cuts in [Cuts::Whole, Cuts::BYTES] {
        let mut server = Server::new(config.clone(), VOID());
        server.receive(&options(4, 11), cuts);
        server.receive(&startup(3, &[]), cuts);
        server.receive(&options(5, 12), cuts);
        let got = got(&mut server);
        assert_eq!(streams(&got), [0, 0, 12]);
        assert!(got.iter().all(|got| got.version == 5));
        assert_eq!(got[0].code(), ErrorCode::PROTOCOL_ERROR.0);
        assert_eq!(got[2].opcode, Opcode::SUPPORTED);
        assert_eq!(server.connection.stats().faults.get(ErrorKind::Version), 2);
    }
    assert_eq!(
        PeerMisbehaved::OldVersion { got: 4, oldest: 5 }.to_string(),
        "Rejecting Protocol Version 4/v4 < 5/v5."
    );
}

#[test]
fn other_limits_and_deadlines_hold_from_when_they_are_set() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.receive(&pipeline(4, 0..2), Cuts::Whole);
    assert_eq!(server.connection.in_flight().0, 2);
    let mut config = limited(|limits| limits.max_requests = 2);
    config.idle_timeout = Some(Duration::from_secs(9));
    server.connection.reconfigure(std::sync::Arc::new(config));
    server.input.extend_from_slice(&pipeline(4, 2..3));
    assert_eq!(server.dispatch(), Progress::Blocked);
    server.connection.reconfigure(std::sync::Arc::default());
    assert_eq!(server.dispatch(), Progress::NeedInput);
    assert_eq!(server.connection.in_flight().0, 3);
    drop(replies());
}
