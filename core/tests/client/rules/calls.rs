//! Stream ids, deadlines, cancelling, and what refuses a request.

use std::time::Duration;

use bytes::Bytes;
use helenus_core::connection::{CallError, Retry, SendRefused};
use helenus_core::error::PeerMisbehaved;
use helenus_core::message::{Prepare, Query, QueryParams, ValueList};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{
    CallOptions, ClientError, Consistency, Flags, Opcode, RawValue, RequestBody, Response, StreamId,
};

use crate::client::{Told, answered, config, connected, limited};
use crate::peer::{requests, segment, void};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn streams_are_used_again_after_their_answers_in_any_order() {
    for version in [3, 4, 5] {
        let framed = |bytes: Vec<u8>| match version {
            5 => segment(SegmentFormat::Plain, true, &bytes),
            _ => bytes,
        };
        let mut client = connected(config(version));
        let calls = [client.query(), client.query(), client.query()];
        let streams: Vec<i16> = client.asked().iter().map(|(_, stream)| *stream).collect();
        assert_eq!(streams, [1, 2, 3]);
        assert_eq!(client.connection.in_flight(), 3);
        let answers = [void(version, 3), void(version, 1)].concat();
        client.receive(&framed(answers), Cuts::BYTES);
        assert_eq!(client.told(), [answered(calls[2]), answered(calls[0])]);
        let streams = [client.query().stream(), client.query().stream()];
        assert_eq!(streams, [StreamId(1), StreamId(3)]);
        assert_eq!(client.query().stream(), StreamId(4));
    }
}

#[test]
fn a_request_that_times_out_leaves_an_orphan_until_its_late_reply() {
    let mut client = connected(config(4));
    let slow = client.query();
    client.sent();
    assert_eq!(
        client.connection.poll_timeout(),
        Some(client.clock.now() + 12 * SECOND)
    );
    client.wait(12 * SECOND);
    let error = CallError::TimedOut { sent: true };
    assert_eq!(error.may_retry(), Retry::IfIdempotent);
    assert_eq!(client.told(), [Told::Failed(slow, error)]);
    assert_eq!(
        (client.connection.in_flight(), client.connection.orphans()),
        (0, 1)
    );
    assert_eq!(
        client.query().stream(),
        StreamId(2),
        "not used again before its reply"
    );
    client.receive(&void(4, 1), Cuts::BYTES);
    assert_eq!(client.told(), []);
    assert_eq!(
        (client.connection.orphans(), client.connection.stats().late),
        (0, 1)
    );
    assert_eq!(client.query().stream(), StreamId(1));
}

#[test]
fn a_request_that_never_left_may_always_be_sent_again() {
    let mut client = connected(config(4));
    let first = client.query();
    let second = client.query();
    let mut transmit = client.connection.poll_transmit().unwrap();
    bytes::Buf::advance(&mut transmit, 1);
    client.wait(12 * SECOND);
    let failed = |call, sent| Told::Failed(call, CallError::TimedOut { sent });
    assert_eq!(client.told(), [failed(first, true), failed(second, false)]);
    assert_eq!(
        CallError::TimedOut { sent: false }.may_retry(),
        Retry::Always
    );
}

#[test]
fn an_answer_that_is_there_is_not_late() {
    let mut client = connected(config(4));
    let call = client.query();
    client.clock.advance(60 * SECOND);
    client.input.extend_from_slice(&void(4, 1));
    client.wait(Duration::ZERO);
    assert_eq!(client.told(), [answered(call)]);
}

#[test]
fn each_request_may_have_a_deadline_of_its_own() {
    let mut client = connected(config(4));
    let timeouts =
        [5, 2, 9, 2].map(|seconds| CallOptions::default().with_timeout(seconds * SECOND));
    let calls = timeouts.map(|options| client.try_query(&options).unwrap());
    let for_ever = CallOptions::default().with_timeout(Duration::MAX);
    client.try_query(&for_ever).unwrap();
    client.receive(&void(4, 1), Cuts::Whole);
    client.told();
    client.wait(2 * SECOND);
    let mut failed: Vec<_> = client.told();
    failed.sort_by_key(|told| match told {
        Told::Failed(call, _) => *call,
        other => panic!("unexpected {other:?}"),
    });
    let error = CallError::TimedOut { sent: false };
    let expected = [calls[1], calls[3]].map(|call| Told::Failed(call, error.clone()));
    assert_eq!(failed, expected);
    assert_eq!(
        client.connection.poll_timeout(),
        Some(client.clock.now() + 7 * SECOND)
    );
    client.wait(20 * SECOND);
    assert_eq!(client.told(), [Told::Failed(calls[2], error)]);
    assert_eq!(client.connection.in_flight(), 1);
}

#[test]
fn a_cancelled_request_is_heard_of_no_more() {
    let mut client = connected(config(4));
    let (cancelled, kept) = (client.query(), client.query());
    assert!(client.connection.cancel(cancelled));
    assert!(!client.connection.cancel(cancelled));
    // What doesn't decode doesn't matter: nobody decodes it.
    let broken = crate::peer::response(4, 0x0E, 1, Opcode::RESULT, &[0xFF; 3]);
    client.receive(&[broken, void(4, 2)].concat(), Cuts::Whole);
    assert_eq!(client.told(), [answered(kept)]);
    assert!(!client.connection.cancel(kept));
    let reused = client.query();
    assert_ne!(reused, kept);
    assert!(
        !client.connection.cancel(kept),
        "the stream's new request is another"
    );
    assert_eq!(client.connection.in_flight(), 1);
    client.wait(60 * SECOND);
    assert_eq!(client.told().len(), 1);
}

#[test]
fn too_many_orphans_end_the_connection() {
    let mut client = connected(limited(4, |limits| limits.max_orphans = 2));
    let calls = [0; 4].map(|_| client.query());
    for call in &calls[..3] {
        assert!(client.connection.cancel(*call));
    }
    client.run();
    let reason = ClientError::TooManyOrphans;
    let lost = CallError::Lost {
        sent: false,
        reason: reason.clone(),
    };
    assert_eq!(
        client.told(),
        [Told::Failed(calls[3], lost), Told::Closed(reason)]
    );
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_connection() {
    for stream in [2, 3, i16::MAX, -1, i16::MIN, 0] {
        let mut client = connected(config(4));
        let call = client.query();
        client.receive(&void(4, stream), Cuts::Whole);
        let reason = ClientError::Peer(PeerMisbehaved::UnknownStream(StreamId(stream)));
        let lost = CallError::Lost {
            sent: false,
            reason: reason.clone(),
        };
        assert_eq!(
            client.told(),
            [Told::Failed(call, lost), Told::Closed(reason)]
        );
    }
}

#[test]
fn an_answer_comes_once() {
    let mut client = connected(config(4));
    let call = client.query();
    client.receive(&[void(4, 1), void(4, 1)].concat(), Cuts::Whole);
    let reason = ClientError::Peer(PeerMisbehaved::UnknownStream(StreamId(1)));
    assert_eq!(client.told(), [answered(call), Told::Closed(reason)]);
}

#[test]
fn limits_refuse_further_requests_until_something_eases() {
    let mut client = connected(limited(4, |limits| limits.max_in_flight = 2));
    let call = client.query();
    client.query();
    client.connection.cancel(call);
    let refused = client.try_query(&CallOptions::default()).unwrap_err();
    assert_eq!(refused, SendRefused::TooManyInFlight);
    assert!(refused.is_temporary());
    assert_eq!(client.connection.capacity(), 0);
    client.receive(&void(4, 1), Cuts::Whole);
    assert_eq!(client.connection.capacity(), 1);
    client.query();

    let mut client = connected(limited(4, |limits| limits.max_unsent = 40));
    client.query();
    client.query();
    let refused = client.try_query(&CallOptions::default()).unwrap_err();
    assert_eq!(refused, SendRefused::TooMuchUnsent);
    assert!(refused.is_temporary());
    let mut spare = bytes::BytesMut::new();
    assert!(client.connection.take_output(&mut spare));
    assert_eq!(
        client.try_query(&CallOptions::default()),
        Err(SendRefused::TooMuchUnsent)
    );
    assert!(
        !client.connection.take_output(&mut spare),
        "what was taken is sent now"
    );
    client.query();
}

#[test]
fn what_the_version_cannot_say_is_refused_rather_than_left_out() {
    let in_keyspace = QueryParams {
        keyspace: Some("ks"),
        ..QueryParams::new(Consistency::ONE)
    };
    let at_a_time = QueryParams {
        now_in_seconds: Some(1),
        ..QueryParams::new(Consistency::ONE)
    };
    let mut values = ValueList::new();
    values.push(RawValue::Unset).unwrap();
    let unset = QueryParams {
        values: values.as_values(),
        ..QueryParams::new(Consistency::ONE)
    };
    let query = |params| RequestBody::Query(Query { query: "", params });
    let prepare = RequestBody::Prepare(Prepare {
        query: "",
        keyspace: Some("ks"),
    });
    let payload = [("a".to_owned(), Some(Bytes::new()))];
    let plain = CallOptions::default();
    let requests = [
        (query(in_keyspace), plain, 5),
        (query(at_a_time), plain, 5),
        (prepare, plain, 5),
        (query(unset), plain, 4),
        (RequestBody::Options, plain.with_payload(&payload), 4),
        (query(QueryParams::new(Consistency::ONE)), plain, 3),
    ];
    for version in [3, 4, 5] {
        let mut client = connected(config(version));
        for (request, options, since) in &requests {
            let outcome = client.connection.send(client.clock.now(), request, options);
            let refused = Err(SendRefused::NotInVersion(crate::client::version(version)));
            assert_eq!(
                outcome.is_ok(),
                version >= *since,
                "{request:?} in v{version}"
            );
            assert!(outcome.is_ok() || outcome == refused);
        }
    }
}

#[test]
fn the_handshake_is_no_request() {
    let mut client = connected(config(4));
    let options = CallOptions::default();
    let now = client.clock.now();
    let startup = client
        .connection
        .forward(now, Opcode::STARTUP, Flags::NONE, &[], &options);
    assert_eq!(startup, Err(SendRefused::OutOfPlace(Opcode::STARTUP)));
    let response = client
        .connection
        .forward(now, Opcode::READY, Flags::NONE, &[], &options);
    assert_eq!(response, Err(SendRefused::OutOfPlace(Opcode::READY)));
    assert!(!SendRefused::OutOfPlace(Opcode::READY).is_temporary());
    assert_eq!(client.asked(), []);
}

#[test]
fn tracing_and_payload_are_flagged_and_stand_in_front() {
    let payload = [("k".to_owned(), Some(Bytes::from_static(b"v")))];
    let options = CallOptions::default().with_tracing().with_payload(&payload);
    let mut client = connected(config(4));
    client.try_query(&options).unwrap();
    let sent = requests(&client.sent());
    assert_eq!(sent[0].0.flags, Flags::TRACING.with(Flags::CUSTOM_PAYLOAD));
    assert_eq!(sent[0].1[..15], *b"\0\x01\0\x01k\0\0\0\x01v\0\0\0\x12S");
}

#[test]
fn forwarded_requests_and_answers_are_left_as_they_are() {
    let mut client = connected(config(4));
    client.raw = true;
    let now = client.clock.now();
    let flags = Flags(0xE5);
    let body = b"\xFFnot decoded\xFF";
    let options = CallOptions::default();
    let call = client
        .connection
        .forward(now, Opcode(0x7E), flags, body, &options)
        .unwrap();
    let sent = requests(&client.sent());
    assert_eq!(
        (sent[0].0.flags, sent[0].0.opcode),
        (Flags(0xE4), Opcode(0x7E))
    );
    assert_eq!(sent[0].1, body);
    client.receive(
        &crate::peer::response(4, 0xF0, 1, Opcode(0x7D), b"\0?"),
        Cuts::Whole,
    );
    assert_eq!(
        client.told(),
        [Told::Raw(call, Opcode(0x7D), b"\0?"[..].into())]
    );
}

#[test]
fn many_requests_share_one_segment() {
    let mut client = connected(config(5));
    for _ in 0..50 {
        client.query();
    }
    let sent = client.sent();
    assert_eq!(requests(&sent).len(), 50);
    let length = u32::from_le_bytes([sent[0], sent[1], sent[2] & 1, 0]);
    assert_eq!(sent.len(), 6 + length as usize + 4, "one segment");
}

#[test]
fn register_is_an_ordinary_request_and_events_are_handed_out() {
    let mut client = connected(config(4));
    let call = client.query();
    let ready = crate::peer::response(4, 0, 1, Opcode::READY, &[]);
    let status = b"\0\x0dSTATUS_CHANGE\0\x02UP\x04\x7F\0\0\x01\0\0\x23\x52";
    let event = crate::peer::response(4, 0, -1, Opcode::EVENT, status);
    let unknown = crate::peer::response(4, 0, -1, Opcode::EVENT, b"\0\x03NEW");
    client.receive(&[event, ready, unknown].concat(), Cuts::BYTES);
    let up = helenus_core::ServerEvent::StatusChange {
        change: helenus_core::message::StatusChange::Up,
        address: "127.0.0.1:9042".parse().unwrap(),
    };
    assert_eq!(
        client.told(),
        [
            Told::Server(Some(up)),
            Told::Answer(call, Ok((Response::Ready, Default::default()))),
            Told::Server(None),
        ]
    );
    assert_eq!(client.connection.stats().events, 2);
}
