//! Each request is answered once, and how answers leave.

use super::*;

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
        server.run();
        assert!(server.input.is_empty(), "consumed to its end");
        assert_eq!(streams(&got(&mut server)), [1, 2]);
    }
}

#[test]
fn a_second_malformed_body_in_a_segment_closes_after_its_answer() {
    let service: Service = Box::new(|request, responder| match request.parse() {
        Ok(_) => responder.send(Response::Void),
        Err(error) => responder.reject(&error),
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
