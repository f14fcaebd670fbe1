//! How a connection begins, ages and ends.

use super::*;

#[test]
fn a_message_of_several_segments_waits_for_login() {
    let config = authenticating();
    let mut server = Server::new(config, VOID());
    server.receive(&startup(5, &[]), Cuts::Whole);
    server.sent();
    let response = request(5, 0, 3, 0x0F, &[0, 0, 0, 1, 1]);
    server.receive(
        &segment(SegmentFormat::Plain, false, &response[..10]),
        Cuts::Whole,
    );
    let got = got(&mut server);
    assert_eq!(
        (got[0].stream, got[0].code()),
        (0, ErrorCode::PROTOCOL_ERROR.0)
    );
    let error = Error::Peer(PeerMisbehaved::LongMessageBeforeLogin);
    assert_eq!(server.closed, Some(error));
    assert!(server.connection.is_finished());
}

#[test]
fn authentication_goes_on_until_the_client_is_accepted() {
    for version in [3, 4, 5] {
        let mut server = Server::new(authenticating(), VOID());
        server.receive(&startup(version, &[]), Cuts::Whole);
        let token = |stream: i16, token: &[u8]| {
            let length = u32::try_from(token.len()).unwrap().to_be_bytes();
            request(version, 0, stream, 0x0F, &[&length, token].concat())
        };
        let messages = [
            token(1, b"\0bad\0bad"),
            options(version, 2),
            token(3, b"more"),
            token(4, b"\0cassandra\0cassandra"),
            token(5, b"\0bad\0bad"),
            query(version, 6, "SELECT 1"),
        ];
        for message in messages {
            let bytes = match version {
                5 => segment(SegmentFormat::Plain, true, &message),
                _ => message,
            };
            server.receive(&bytes, Cuts::Whole);
        }
        let got = got(&mut server);
        let opcodes: Vec<Opcode> = got.iter().map(|got| got.opcode).collect();
        assert_eq!(
            opcodes,
            [
                Opcode::AUTHENTICATE,
                Opcode::ERROR,
                Opcode::ERROR,
                Opcode::AUTH_CHALLENGE,
                Opcode::AUTH_SUCCESS,
                Opcode::ERROR,
                Opcode::RESULT,
            ]
        );
        assert_eq!(got[1].code(), ErrorCode::BAD_CREDENTIALS.0);
        assert_eq!(
            got[2].message(),
            "Unexpected message OPTIONS, expecting SASL_RESPONSE"
        );
        assert_eq!(got[3].body, b"\0\0\0\x04and?");
        assert_eq!(got[4].body, [0xFF; 4]);
    }
}

#[test]
fn drained_means_that_what_was_taken_is_answered_and_nothing_else() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.receive(&query(4, 1, "SELECT 1"), Cuts::Whole);
    server.connection.drain();
    server.receive(&query(4, 2, "SELECT 2"), Cuts::Whole);
    assert_eq!(server.run(), Progress::Finished);
    assert!(!server.connection.is_finished());
    assert!(!server.connection.wants_read());
    for reply in replies() {
        reply.send(Response::Void);
    }
    deliver(&mut server);
    assert!(!server.connection.is_finished(), "answered, and not sent");
    server.flush();
    assert!(server.connection.is_finished());
    assert_eq!(streams(&got(&mut server)), [1]);
}

#[test]
fn what_came_before_the_end_is_still_answered() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.input.extend_from_slice(&pipeline(4, 0..2));
    server.input.extend_from_slice(&query(4, 3, "cut")[..10]);
    server.connection.handle_eof(server.clock.now());
    assert_eq!(server.run(), Progress::Finished);
    assert!(!server.connection.is_finished());
    for reply in replies() {
        reply.send(Response::Void);
    }
    deliver(&mut server);
    server.flush();
    assert!(server.connection.is_finished());
    assert_eq!(streams(&got(&mut server)), [0, 1]);
}

#[test]
fn a_slow_handshake_is_closed_without_a_word() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    server.receive(&options(4, 1), Cuts::Whole);
    server.sent();
    let at = server.connection.poll_timeout().unwrap();
    assert_eq!(at - server.clock.now(), Duration::from_secs(30));
    server.clock.advance(Duration::from_secs(29));
    server.connection.handle_timeout(server.clock.now());
    assert_eq!(server.run(), Progress::NeedInput);
    server.clock.advance(Duration::from_secs(1));
    server.connection.handle_timeout(server.clock.now());
    assert_eq!(server.run(), Progress::Finished);
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::HandshakeTimeout))
    );
    assert!(server.connection.is_finished());
    assert!(server.sent().is_empty());
    assert_eq!(server.connection.poll_timeout(), None);
}

#[test]
fn silence_is_no_idleness_while_a_request_is_in_flight() {
    let mut config = ServerConfig::default();
    config.idle_timeout = Some(Duration::from_secs(5));
    let mut server = ready(4, config, DEFER());
    assert!(server.connection.poll_timeout().is_some());
    server.clock.advance(Duration::from_secs(4));
    server.receive(&query(4, 1, "SELECT 1"), Cuts::Whole);
    assert_eq!(server.connection.poll_timeout(), None);
    drop(replies());
    deliver(&mut server);
    server.flush();
    let at = server.connection.poll_timeout().unwrap();
    assert_eq!(at - server.clock.now(), Duration::from_secs(5));
    server.clock.advance(Duration::from_secs(5));
    server.connection.handle_timeout(server.clock.now());
    server.run();
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::IdleTimeout))
    );
}

#[test]
fn a_regressing_clock_is_clamped() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    let start = server.clock.now();
    server.clock.advance(Duration::from_secs(31));
    server.run();
    server.connection.handle_timeout(start);
    server.run();
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::HandshakeTimeout))
    );
}

#[test]
fn a_fatal_error_is_sticky_and_refuses_answers() {
    let mut server = ready(5, ServerConfig::default(), DEFER());
    let good = segment(SegmentFormat::Plain, true, &query(5, 1, "SELECT 1"));
    server.receive(&good, Cuts::Whole);
    server.receive(b"no segment at all", Cuts::Whole);
    assert!(matches!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::SegmentHeader(_)))
    ));
    server.input.extend_from_slice(&good);
    assert_eq!(server.run(), Progress::Finished);
    for reply in replies() {
        reply.send(Response::Void);
    }
    let (ticket, response, _) = server.mailbox.take().remove(0);
    let rejected = server
        .connection
        .respond(ticket, response, None)
        .unwrap_err();
    assert_eq!(rejected.reason, Misuse::Closed);
    assert!(server.connection.is_finished());
    assert_eq!(server.connection.stats().fatal, 1);
    assert_eq!(got(&mut server).len(), 1);
}

#[test]
fn a_request_that_is_coming_is_no_idleness() {
    let mut config = ServerConfig::default();
    config.idle_timeout = Some(Duration::from_secs(5));
    let mut server = ready(4, config, VOID());
    for byte in query(4, 1, "SELECT 1") {
        server.clock.advance(Duration::from_secs(4));
        server.receive(&[byte], Cuts::Whole);
        let at = server.connection.poll_timeout().unwrap();
        assert_eq!(at - server.clock.now(), Duration::from_secs(5));
    }
    assert_eq!(streams(&got(&mut server)), [1]);
    server.run();
    let at = server.connection.poll_timeout().unwrap();
    assert_eq!(at - server.clock.now(), Duration::from_secs(5));
}

/// What it holds is asked of the deadline, which is armed as long as it holds any.
#[test]
fn room_for_long_messages_is_kept_while_such_come_and_a_second_longer() {
    let long = query(5, 1, &"x".repeat(200_000));
    let segments = |message: &[u8]| -> Vec<u8> {
        let pieces = message.chunks(131_071);
        pieces
            .flat_map(|piece| segment(SegmentFormat::Plain, false, piece))
            .collect()
    };
    let mut server = ready(5, ServerConfig::default(), VOID());
    server.receive(&segments(&long), Cuts::Whole);
    let second = Duration::from_secs(1);
    let heard = server.clock.now();
    assert_eq!(server.connection.poll_timeout(), Some(heard + second));

    server.clock.advance(second / 2);
    server.receive(&segments(&long), Cuts::Whole);
    let given_back = heard + second / 2 + second;
    assert_eq!(server.connection.poll_timeout(), Some(given_back));

    server.clock.advance(second);
    server.connection.handle_timeout(server.clock.now());
    assert_eq!(server.connection.poll_timeout(), None);

    server.receive(&segments(&long), Cuts::Whole);
    assert!(server.connection.poll_timeout().is_some());
    for _ in 0..64 {
        let short = segment(SegmentFormat::Plain, true, &query(5, 1, "SELECT 1"));
        server.receive(&short, Cuts::Whole);
    }
    assert_eq!(
        server.connection.poll_timeout(),
        None,
        "short ones need none"
    );
    assert_eq!(server.connection.stats().errors, 0);
}
