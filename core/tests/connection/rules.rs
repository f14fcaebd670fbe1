//! The contract's rules, one test each: limits, credits, tickets, ends and deadlines.

use std::time::Duration;

use bytes::{Buf, BytesMut};
use helenus_core::connection::{Progress, Reply, ServerConfig};
use helenus_core::error::{Error, Misuse, PeerMisbehaved};
use helenus_core::message::{
    ChangeType, ErrorResponse, Extras, Response, SchemaChange, SchemaTarget, ServerEvent,
};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ErrorCode, Event, Next, Opcode};

use crate::client::{Client, Got, options, query, request, segment, startup};
use crate::server::{Server, Service};

const VOID: fn() -> Service = || Box::new(|_, responder| responder.send(Response::Void));
/// Defers every request and keeps the replies in the thread's drawer.
const DEFER: fn() -> Service =
    || Box::new(|_, responder| DRAWER.with_borrow_mut(|drawer| drawer.push(responder.defer())));

thread_local! {
    static DRAWER: std::cell::RefCell<Vec<Reply>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn replies() -> Vec<Reply> {
    DRAWER.take()
}

/// A server after the handshake of this version.
fn ready(version: u8, config: ServerConfig, service: Service) -> Server {
    let mut server = Server::new(config, service);
    server.receive(&startup(version, &[]), Cuts::Whole);
    assert!(server.connection.is_ready());
    server.sent();
    server
}

fn limited(limit: impl FnOnce(&mut helenus_core::connection::Limits)) -> ServerConfig {
    let mut config = ServerConfig::default();
    limit(&mut config.limits);
    config
}

fn got(server: &mut Server) -> Vec<Got> {
    Client::default().read(&server.sent())
}

fn streams(got: &[Got]) -> Vec<i16> {
    got.iter().map(|got| got.stream).collect()
}

/// Passes deferred answers on.
fn deliver(server: &mut Server) {
    for (ticket, response, extras) in server.mailbox.take() {
        server.connection.respond(ticket, response, extras).unwrap();
    }
}

fn pipeline(version: u8, streams: std::ops::Range<i16>) -> Vec<u8> {
    streams
        .flat_map(|stream| query(version, stream, "SELECT 1"))
        .collect()
}

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
        assert_eq!(server.connection.stats().overloaded, 2);
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
    assert_eq!(server.connection.stats().too_long, 1);
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

fn authenticating() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".to_owned());
    config
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
            token(4, b"\0good\0good"),
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
fn a_foreign_ticket_is_handed_back() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    let mut other = ready(4, ServerConfig::default(), DEFER());
    server.receive(&query(4, 9, "SELECT 1"), Cuts::Whole);
    for reply in replies() {
        reply.send(Response::Void);
    }
    let (ticket, response, _) = server.mailbox.take().remove(0);
    let rejected = other
        .connection
        .respond(ticket, response, None)
        .unwrap_err();
    assert_eq!(rejected.reason, Misuse::ForeignTicket);
    let (ticket, response) = rejected.value;
    assert_eq!((ticket.stream().0, &response), (9, &Response::Void));
    server.connection.respond(ticket, response, None).unwrap();
    server.flush();
    assert_eq!(streams(&got(&mut server)), [9]);
}

#[test]
fn a_dropped_reply_answers_server_error() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.receive(&query(4, 3, "SELECT 1"), Cuts::Whole);
    drop(replies());
    deliver(&mut server);
    server.flush();
    let got = got(&mut server);
    assert_eq!(
        (got[0].stream, got[0].code()),
        (3, ErrorCode::SERVER_ERROR.0)
    );
}

#[test]
fn a_dropped_responder_answers_server_error() {
    let mut server = ready(
        5,
        ServerConfig::default(),
        Box::new(|_, responder| drop(responder)),
    );
    let bytes = segment(SegmentFormat::Plain, true, &pipeline(5, 0..2));
    server.receive(&bytes, Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(streams(&got), [0, 1]);
    assert!(
        got.iter()
            .all(|got| got.code() == ErrorCode::SERVER_ERROR.0)
    );
}

#[test]
fn extras_stand_in_front_of_the_message_and_are_flagged() {
    let extras = Extras {
        tracing_id: Some(uuid::Uuid::from_u128(1)),
        warnings: vec!["careful".to_owned()],
        payload: None,
    };
    let service = Box::new(
        move |_: helenus_core::Request<'_>, responder: helenus_core::Responder<'_>| {
            responder.send_with(Response::Void, &extras);
        },
    );
    let mut server = ready(4, ServerConfig::default(), service);
    server.receive(&query(4, 1, "SELECT 1"), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(got[0].flags, 0x0A);
    assert_eq!(got[0].body[15..], *b"\x01\0\x01\0\x07careful\0\0\0\x01");
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

fn schema_event() -> ServerEvent {
    ServerEvent::SchemaChange(SchemaChange {
        change: ChangeType::Created,
        target: SchemaTarget::Keyspace {
            keyspace: "ks".into(),
        },
    })
}

#[test]
fn events_go_to_who_registered_for_them() {
    let mut server = ready(4, ServerConfig::default(), VOID());
    server.connection.push(&schema_event());
    server.flush();
    assert!(server.sent().is_empty());
    server.receive(
        &request(4, 0, 1, 0x0B, b"\0\x01\0\x0dSCHEMA_CHANGE"),
        Cuts::Whole,
    );
    server.connection.push(&schema_event());
    server.flush();
    let got = got(&mut server);
    assert_eq!((got[1].opcode, got[1].stream), (Opcode::EVENT, -1));
    assert_eq!(
        got[1].body,
        b"\0\x0dSCHEMA_CHANGE\0\x07CREATED\0\x08KEYSPACE\0\x02ks"
    );
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
fn many_answers_share_one_segment() {
    let mut server = ready(5, ServerConfig::default(), VOID());
    let bytes = segment(SegmentFormat::Plain, true, &pipeline(5, 0..32));
    server.input.extend_from_slice(&bytes);
    server.run();
    let mut client = Client::default();
    assert_eq!(client.read(&server.sent()).len(), 32);
    assert_eq!(client.segments, 1);
}

#[test]
fn output_may_be_taken_whole_and_counts_as_sent_with_the_next_call() {
    let mut server = ready(4, ServerConfig::default(), VOID());
    server.input.extend_from_slice(&query(4, 1, "SELECT 1"));
    server.dispatch();
    let mut spare = BytesMut::from(&b"old"[..]);
    assert!(server.connection.take_output(&mut spare));
    assert_eq!(spare.len(), 9 + 4);
    assert_eq!(server.connection.in_flight().0, 1);
    assert!(!server.connection.take_output(&mut spare));
    assert_eq!(server.connection.in_flight().0, 0);
    assert_eq!(server.connection.unsent(), 0);
}

#[test]
fn a_kept_body_is_copied_when_short_and_taken_when_long() {
    for length in [100, 100_000] {
        let mut server = ready(4, ServerConfig::default(), VOID());
        let text = "x".repeat(length);
        server.input.extend_from_slice(&query(4, 1, &text));
        server.input.extend_from_slice(&options(4, 2));
        let now = server.clock.now();
        match server.connection.next(now, &mut server.input) {
            Next::Event(Event::Request(request, responder)) => {
                let body = request.into_bytes();
                assert_eq!(body[4..4 + length], *text.as_bytes());
                responder.send(Response::Void);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.input.len(), 9, "consumed to its end");
        server.run();
        assert_eq!(streams(&got(&mut server)), [1, 2]);
    }
}

#[test]
fn a_second_malformed_body_in_a_segment_closes_after_its_answer() {
    let service: Service = Box::new(|request, responder| match request.parse() {
        Ok(_) => responder.send(Response::Void),
        Err(error) => responder.error(error.response()),
    });
    let mut server = ready(5, ServerConfig::default(), service);
    let bad = |stream| request(5, 0, stream, 7, &[0, 0, 0, 9, 1]);
    let good = query(5, 3, "SELECT 1");
    let forgiven = [bad(1), good.clone(), bad(2)].concat();
    server.receive(&segment(SegmentFormat::Plain, true, &forgiven), Cuts::Whole);
    assert_eq!(server.closed, None);
    let closing = [bad(4), bad(5), good].concat();
    server.receive(&segment(SegmentFormat::Plain, true, &closing), Cuts::Whole);
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::RepeatedErrors))
    );
    assert_eq!(streams(&got(&mut server)), [1, 3, 2, 4, 5]);
}

#[test]
fn rows_that_fail_or_panic_are_taken_back() {
    use helenus_core::message::{ColumnSpec, ResultMetadata, RowsHeader};
    let column = ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: "a".into(),
        ty: helenus_core::CqlType::Int,
    };
    let metadata = ResultMetadata::new(vec![column]);
    let service: Service = Box::new(move |request, responder| {
        let stream = request.stream().0;
        let header = RowsHeader::new(&metadata);
        let write = std::panic::AssertUnwindSafe(|| {
            responder.rows(&header, |rows| {
                rows.cell(Some(&[0, 0, 0, 7]));
                match stream {
                    1 => Err(ErrorResponse::invalid("no")),
                    2 => panic!("a bug of the service"),
                    _ => Ok(()),
                }
            });
        });
        let unwound = std::panic::catch_unwind(write).is_err();
        assert_eq!(unwound, stream == 2);
    });
    let mut server = ready(4, ServerConfig::default(), service);
    server.receive(&pipeline(4, 1..4), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(streams(&got), [1, 2, 3]);
    assert_eq!(got[0].code(), ErrorCode::INVALID.0);
    assert_eq!(got[1].code(), ErrorCode::SERVER_ERROR.0);
    assert_eq!(got[2].opcode, Opcode::RESULT);
    assert!(got[2].body.ends_with(&[0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7]));
}
