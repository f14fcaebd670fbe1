//! Faults of framing: where an envelope begins and ends, in whatever way its bytes come.

use helenus_core::connection::{CallError, ServerConfig};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ErrorCode, Opcode};

use crate::client::{Told, answered, connected, limited};
use crate::peer::{self, response, segment, void};
use crate::reader::{self, Client as Reader, query, request};
use crate::{configured_server, framed, got, ready_server, service};

fn small() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.limits.max_envelope = 1000;
    config
}

#[test]
fn discarding_on_one_connection_leaves_others_alone() {
    let long = request(4, 0, 1, 7, &[0; 2000]);
    let mut discarding = configured_server(4, &[], small(), service());
    let mut other = configured_server(4, &[], small(), service());
    discarding.receive(&long[..500], Cuts::Whole);
    other.receive(&query(4, 9, "SELECT 1"), Cuts::Whole);
    assert_eq!(got(&mut other)[0].opcode, Opcode::RESULT);
    discarding.receive(&long[500..], Cuts::Whole);
    assert_eq!(got(&mut discarding)[0].code(), ErrorCode::INVALID.0);

    let long = response(4, 0, 1, Opcode::RESULT, &[0; 2000]);
    let mut clients = [0, 1].map(|_| connected(limited(4, |limits| limits.max_envelope = 1000)));
    let calls = [clients[0].query(), clients[1].query()];
    clients[0].receive(&long[..500], Cuts::Whole);
    clients[1].receive(&void(4, 1), Cuts::Whole);
    assert_eq!(clients[1].told(), [answered(calls[1])]);
    clients[0].receive(&long[500..], Cuts::Whole);
    assert!(matches!(
        clients[0].told()[..],
        [Told::Failed(_, CallError::TooLong { .. })]
    ));
}

#[test]
fn a_prelude_is_taken_once_however_it_is_cut() {
    let front = b"\0\x02\0\x03one\0\x03two".to_vec();
    let body = [front, vec![0, 0, 0, 1]].concat();
    let payload = [
        &b"\0\x01\0\x01k\0\0\0\x01v"[..],
        &query(4, 0, "SELECT 1")[9..],
    ]
    .concat();
    for size in 1..30 {
        let mut client = connected(crate::client::config(4));
        client.query();
        client.receive(&response(4, 8, 1, Opcode::RESULT, &body), Cuts::Every(size));
        match &client.told()[..] {
            [Told::Answer(_, Ok((_, extras)))] => assert_eq!(extras.warnings, ["one", "two"]),
            other => panic!("unexpected {other:?}"),
        }
        let mut server = ready_server(4, service());
        server.receive(&request(4, 4, 7, 7, &payload), Cuts::Every(size));
        assert_eq!(got(&mut server).len(), 1);
    }
}

#[test]
fn an_envelope_of_an_exact_multiple_of_the_read_size_waits_for_nothing() {
    for size in [1, 2, 8, 9, 64, 1024, 4096] {
        for count in [1, 2, 3] {
            // A whole envelope, and in v5 a whole segment, of exactly so many reads.
            for (version, around) in [(4, 0), (5, 10)] {
                let length = size * count;
                let head = 9 + 4 + if version == 5 { 6 } else { 3 } + around;
                if length >= head {
                    let text = "x".repeat(length - head);
                    let bytes = framed(version, &[query(version, 1, &text)]);
                    assert_eq!(bytes.len(), length);
                    let mut server = ready_server(version, service());
                    server.receive(&bytes, Cuts::Every(size));
                    assert_eq!(got(&mut server).len(), 1, "{count} × {size} in v{version}");
                }
                if length >= 9 + 4 + around {
                    let mut body = vec![0; length - 9 - around];
                    body[3] = 1;
                    let envelope = response(version, 0, 1, Opcode::RESULT, &body);
                    let mut client = connected(crate::client::config(version));
                    let call = client.query();
                    client.receive(&framed(version, &[envelope]), Cuts::Every(size));
                    assert_eq!(
                        client.told(),
                        [answered(call)],
                        "{count} × {size} in v{version}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_rest_of_a_bad_body_is_no_header() {
    for version in [3, 4, 5] {
        // A text that claims to be longer than the body, which goes on with a whole envelope.
        let inner = query(version, 7, "SELECT 1");
        let body = [&[0, 0, 0xFF, 0][..], &inner].concat();
        let mut server = ready_server(version, service());
        let bytes = [
            request(version, 0, 1, 7, &body),
            query(version, 2, "SELECT 1"),
        ];
        server.receive(&framed(version, &bytes), Cuts::Whole);
        let streams: Vec<_> = got(&mut server)
            .iter()
            .map(|got| (got.stream, got.opcode))
            .collect();
        assert_eq!(streams, [(1, Opcode::ERROR), (2, Opcode::RESULT)]);

        let body = [&[0, 0, 0, 3, 0xFF, 0xFF][..], &void(version, 2)].concat();
        let mut client = connected(crate::client::config(version));
        let (_, good) = (client.query(), client.query());
        let bytes = [
            response(version, 0, 1, Opcode::RESULT, &body),
            void(version, 2),
        ];
        client.receive(&framed(version, &bytes), Cuts::Whole);
        let told = client.told();
        assert!(matches!(told[0], Told::Answer(_, Err(_))));
        assert_eq!(told[1..], [answered(good)]);
    }
}

#[test]
fn a_refused_body_full_of_envelopes_is_none_of_them() {
    for version in [3, 4, 5] {
        for cuts in [Cuts::Whole, Cuts::BYTES] {
            let inner = query(version, 7, "SELECT 1").repeat(100);
            let mut server = configured_server(version, &[], small(), service());
            let bytes = [
                request(version, 0, 1, 7, &inner),
                query(version, 2, "SELECT 1"),
            ];
            server.receive(&framed(version, &bytes), cuts);
            let streams: Vec<_> = got(&mut server)
                .iter()
                .map(|got| (got.stream, got.opcode))
                .collect();
            assert_eq!(
                streams,
                [(1, Opcode::ERROR), (2, Opcode::RESULT)],
                "v{version} {cuts:?}"
            );

            let inner = void(version, 2).repeat(100);
            let mut client = connected(limited(version, |limits| limits.max_envelope = 1000));
            let (long, good) = (client.query(), client.query());
            let bytes = [
                response(version, 0, 1, Opcode::RESULT, &inner),
                void(version, 2),
            ];
            client.receive(&framed(version, &bytes), cuts);
            let told = client.told();
            assert!(
                matches!(&told[0], Told::Failed(call, CallError::TooLong { .. }) if *call == long)
            );
            assert_eq!(told[1..], [answered(good)]);
        }
    }
}

#[test]
fn everything_behind_the_answer_to_startup_is_in_segments() {
    let mut server = crate::server::Server::new(ServerConfig::default(), service());
    let behind = segment(SegmentFormat::Plain, true, &query(5, 1, "SELECT 1"));
    server.receive(&[reader::startup(5, &[]), behind].concat(), Cuts::Whole);
    let framings: Vec<_> = got(&mut server)
        .iter()
        .map(|got| (got.framing, got.opcode))
        .collect();
    assert_eq!(
        framings,
        [("plain", Opcode::READY), ("segment", Opcode::RESULT)]
    );
}

#[test]
fn empty_segments_are_taken_and_never_sent() {
    let empty = segment(SegmentFormat::Plain, true, &[]);
    let mut server = ready_server(5, service());
    let question = segment(SegmentFormat::Plain, true, &query(5, 1, "SELECT 1"));
    server.receive(
        &[empty.clone(), question, empty.clone()].concat(),
        Cuts::BYTES,
    );
    let mut client = connected(crate::client::config(5));
    let call = client.query();
    let mut reader = Reader::default();
    // The reader asserts that no segment is empty.
    assert_eq!(reader.read(&server.sent()).len(), 1);
    assert_eq!(reader.segments, 1);
    let answer = segment(SegmentFormat::Plain, true, &void(5, 1));
    client.receive(&[empty.clone(), answer, empty].concat(), Cuts::BYTES);
    assert_eq!(client.told(), [answered(call)]);
    assert_eq!(peer::requests(&client.sent()).len(), 1);
    assert_eq!(client.sent(), []);
}

#[test]
fn every_envelope_of_a_segment_is_handled() {
    let questions: Vec<_> = (0..30).map(|stream| query(5, stream, "SELECT 1")).collect();
    let mut server = ready_server(5, service());
    server.receive(&framed(5, &questions), Cuts::Whole);
    assert_eq!(got(&mut server).len(), 30);
    let mut client = connected(crate::client::config(5));
    let calls: Vec<_> = (0..30).map(|_| client.query()).collect();
    let answers: Vec<_> = calls.iter().map(|call| void(5, call.stream().0)).collect();
    client.receive(&framed(5, &answers), Cuts::Whole);
    let expected: Vec<_> = calls.into_iter().map(answered).collect();
    assert_eq!(client.told(), expected);
}

#[test]
fn a_short_body_does_not_read_into_its_neighbour() {
    // Both announce a string of 20 bytes and hold 4; the neighbour would provide the rest.
    let short = request(5, 0, 1, 7, &[0, 0, 0, 20, b'S', b'E', b'L', b'E']);
    let mut server = ready_server(5, service());
    server.receive(&framed(5, &[short, query(5, 2, "SELECT 1")]), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(
        (got[0].stream, got[0].code()),
        (1, ErrorCode::PROTOCOL_ERROR.0)
    );
    assert_eq!((got[1].stream, got[1].opcode), (2, Opcode::RESULT));

    let short = response(5, 0, 1, Opcode::RESULT, &[0, 0, 0, 3, 0, 20, b'k', b's']);
    let mut client = connected(crate::client::config(5));
    let (_, good) = (client.query(), client.query());
    client.receive(&framed(5, &[short, void(5, 2)]), Cuts::Whole);
    let told = client.told();
    assert!(matches!(told[0], Told::Answer(_, Err(_))));
    assert_eq!(told[1..], [answered(good)]);
    assert_eq!(client.connection.keyspace(), None);
}

#[test]
fn header_and_body_leave_together() {
    for version in [3, 4, 5] {
        let mut server = ready_server(version, service());
        server
            .input
            .extend_from_slice(&framed(version, &[query(version, 1, "SELECT 1")]));
        server.dispatch();
        let mut output = bytes::BytesMut::new();
        assert!(server.connection.take_output(&mut output));
        assert_eq!(Reader::default().read(&output).len(), 1, "one piece");
        let mut client = connected(crate::client::config(version));
        client.query();
        assert!(client.connection.take_output(&mut output));
        assert_eq!(peer::requests(&output).len(), 1, "one piece");
    }
}
