//! What answers carry: rows and their metadata, the keyspace, what stands in front.

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use helenus_core::error::Error;
use helenus_core::message::{Rows, RowsHeader};
use helenus_core::testing::Cuts;
use helenus_core::{
    CallOptions, ClientEvent, ClientNext, ColumnSpec, CqlType, DecodeErrorKind, ErrorCode, Extras,
    Flags, Opcode, ProtocolVersion, Response, ResultMetadata, RowsWriter,
};

use crate::client::{Client, Told, config, connected};
use crate::peer::{error, put_string, response, segment, void};

fn column(name: &'static str) -> ColumnSpec<'static> {
    ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: name.into(),
        ty: CqlType::Int,
    }
}

/// The body of one row with a cell for each column.
fn row(
    metadata: &ResultMetadata,
    version: u8,
    change: impl FnOnce(&mut RowsHeader<'_>),
) -> Vec<u8> {
    let mut header = RowsHeader::new(metadata);
    change(&mut header);
    let mut out = BytesMut::new();
    let version = ProtocolVersion::from_u8(version).unwrap();
    let mut writer = RowsWriter::new(&mut out, &header, version);
    for _ in metadata.columns() {
        writer.cell(Some(&[0, 0, 0, 7]));
    }
    writer.finish().unwrap();
    out.to_vec()
}

fn result(version: u8, stream: i16, body: &[u8]) -> Vec<u8> {
    let envelope = response(version, 0, stream, Opcode::RESULT, body);
    match version {
        5 => segment(helenus_core::segment::SegmentFormat::Plain, true, &envelope),
        _ => envelope,
    }
}

/// The rows, or the error, of the only answer.
fn rows(client: &mut Client) -> Result<Rows, Error> {
    match client.told().pop() {
        Some(Told::Answer(_, Ok((Response::Rows(rows), _)))) => Ok(rows),
        Some(Told::Answer(_, Err(error))) => Err(error),
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn rows_without_description_get_the_metadata_sent_with_their_request() {
    for version in [3, 4, 5] {
        let mut client = connected(config(version));
        let known = ["a", "b"].map(|name| Arc::new(ResultMetadata::new(vec![column(name)])));
        for metadata in &known {
            client
                .try_query(&CallOptions::default().with_result_metadata(metadata))
                .unwrap();
        }
        // Answered the other way round: each gets its own.
        for (stream, metadata) in [(2, &known[1]), (1, &known[0])] {
            let body = row(metadata, version, |header| header.skip_metadata = true);
            client.receive(&result(version, stream, &body), Cuts::Whole);
            assert!(Arc::ptr_eq(&rows(&mut client).unwrap().metadata, metadata));
        }
    }
}

#[test]
fn a_description_that_came_along_goes_before_what_was_known() {
    let mut client = connected(config(4));
    let known = Arc::new(ResultMetadata::new(vec![column("old")]));
    client
        .try_query(&CallOptions::default().with_result_metadata(&known))
        .unwrap();
    let new = ResultMetadata::new(vec![column("new"), column("b")]);
    client.receive(&result(4, 1, &row(&new, 4, |_| ())), Cuts::Whole);
    assert_eq!(rows(&mut client).unwrap().metadata.columns(), new.columns());
}

#[test]
fn changed_metadata_comes_with_its_id() {
    let mut client = connected(config(5));
    let known = Arc::new(ResultMetadata::new(vec![column("old")]));
    client
        .try_query(&CallOptions::default().with_result_metadata(&known))
        .unwrap();
    let new = ResultMetadata::new(vec![column("a"), column("b")]).with_id(b"new id"[..].into());
    let body = row(&new, 5, |header| {
        header.metadata_changed = true;
        header.skip_metadata = true;
    });
    client.receive(&result(5, 1, &body), Cuts::BYTES);
    let rows = rows(&mut client).unwrap();
    assert!(rows.metadata_changed);
    assert_eq!(*rows.metadata, new);
    assert_eq!(rows.iter().count(), 1);
}

#[test]
fn rows_that_do_not_fit_what_was_known_fail_alone() {
    let mut client = connected(config(4));
    let known = Arc::new(ResultMetadata::new(vec![column("a")]));
    client
        .try_query(&CallOptions::default().with_result_metadata(&known))
        .unwrap();
    let wider = ResultMetadata::new(vec![column("a"), column("b")]);
    let body = row(&wider, 4, |header| header.skip_metadata = true);
    client.receive(&result(4, 1, &body), Cuts::Whole);
    assert!(
        matches!(rows(&mut client), Err(Error::Decode(error)) if error.kind == DecodeErrorKind::InvalidCount(2))
    );
    client.query();
    client.receive(&void(4, 1), Cuts::Whole);
    assert_eq!(client.told().len(), 1, "the connection goes on");
}

#[test]
fn rows_may_be_read_where_they_lie() {
    let mut client = connected(config(4));
    let call = client.query();
    let metadata = ResultMetadata::new(vec![column("a"), column("b")]);
    let body = [b"\0\x01\0\x01w", &row(&metadata, 4, |_| ())[..]].concat();
    client
        .input
        .extend_from_slice(&response(4, Flags::WARNING.0, 1, Opcode::RESULT, &body));
    match client
        .connection
        .next(client.clock.now(), &mut client.input)
    {
        ClientNext::Event(ClientEvent::Answer(id, answer)) => {
            assert_eq!(id, call);
            let rows = answer.rows().unwrap().unwrap();
            let read = rows.typed::<(i32, i32)>(metadata.columns()).unwrap();
            assert_eq!(read.map(Result::unwrap).collect::<Vec<_>>(), [(7, 7)]);
        }
        other => panic!("unexpected {other:?}"),
    }
    client.run();
    assert!(client.told().is_empty());
    assert!(client.input.is_empty());
}

#[test]
fn a_body_that_does_not_decode_fails_its_request_alone() {
    let mut client = connected(config(4));
    client.query();
    client.query();
    let broken = response(4, 0, 1, Opcode::RESULT, &[0, 0, 0, 2, 0]);
    client.receive(&[broken, void(4, 2)].concat(), Cuts::BYTES);
    let told = client.told();
    match &told[0] {
        Told::Answer(_, Err(Error::Decode(error))) => {
            assert_eq!(
                (error.kind, error.offset),
                (DecodeErrorKind::UnexpectedEnd, 4)
            );
        }
        other => panic!("unexpected {other:?}"),
    }
    assert!(matches!(told[1], Told::Answer(_, Ok((Response::Void, _)))));
    assert_eq!(client.connection.in_flight(), 0);
}

#[test]
fn an_error_is_an_answer_and_knows_whether_to_retry() {
    use helenus_core::connection::Retry;
    let mut client = connected(config(4));
    client.query();
    client.receive(&error(4, 1, 0x1001, "busy"), Cuts::Whole);
    match client.told().pop() {
        Some(Told::Answer(_, Ok((Response::Error(error), _)))) => {
            assert_eq!(error.code, ErrorCode::OVERLOADED);
            assert_eq!(error.code.may_retry(), Retry::Always);
        }
        other => panic!("unexpected {other:?}"),
    }
    assert_eq!(client.connection.stats().errors, 1);
}

#[test]
fn tracing_id_warnings_and_payload_are_read_in_this_order() {
    let mut body = vec![0x11; 16];
    body.put_u16(2);
    put_string(&mut body, "first");
    put_string(&mut body, "second");
    body.put_u16(1);
    put_string(&mut body, "key");
    body.put_i32(-1);
    body.put_u32(3);
    put_string(&mut body, "ks");
    let mut client = connected(config(4));
    let call = client.query();
    client.receive(&response(4, 0x0E, 1, Opcode::RESULT, &body), Cuts::BYTES);
    let extras = Extras {
        tracing_id: Some(uuid::Uuid::from_bytes([0x11; 16])),
        warnings: vec!["first".to_owned(), "second".to_owned()],
        payload: Some(vec![("key".to_owned(), None)]),
    };
    let answer = Told::Answer(call, Ok((Response::SetKeyspace("ks".into()), extras)));
    assert_eq!(client.told(), [answer]);
    assert_eq!(
        client.connection.keyspace(),
        Some("ks"),
        "found behind all of them"
    );
}

#[test]
fn the_keyspace_follows_the_answers_to_use() {
    let mut client = connected(config(4));
    assert_eq!(client.connection.keyspace(), None);
    for name in ["a", "b"] {
        let call = client.query();
        let mut body = vec![0, 0, 0, 3];
        put_string(&mut body, name);
        client.receive(
            &response(4, 0, call.stream().0, Opcode::RESULT, &body),
            Cuts::Whole,
        );
        assert_eq!(client.connection.keyspace(), Some(name));
    }
    client.query();
    client.receive(&error(4, 1, 0x2200, "no such keyspace"), Cuts::Whole);
    assert_eq!(client.connection.keyspace(), Some("b"));
}

#[test]
fn the_deprecated_compression_flag_means_nothing_in_v5() {
    let mut client = connected(config(5));
    let call = client.query();
    let flagged = response(5, Flags::COMPRESSION.0, 1, Opcode::RESULT, &[0, 0, 0, 1]);
    let bytes = segment(helenus_core::segment::SegmentFormat::Plain, true, &flagged);
    client.receive(&bytes, Cuts::Whole);
    assert_eq!(client.told(), [crate::client::answered(call)]);
}

#[test]
fn a_large_body_is_kept_without_a_copy_and_consumed_exactly() {
    for length in [10_usize, 100_000] {
        let mut client = connected(config(4));
        client.raw = true;
        client.query();
        client.query();
        let big = response(4, 0, 1, Opcode::RESULT, &vec![7; length]);
        client.receive(&[big, void(4, 2)].concat(), Cuts::Whole);
        let told = client.told();
        assert!(matches!(&told[0], Told::Raw(_, _, body) if *body == vec![7; length]));
        assert_eq!(told.len(), 2);
        assert_eq!(client.input.len(), 0);
    }
}
