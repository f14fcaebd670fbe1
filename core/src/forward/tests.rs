//! The rules of the table in [`super`], one by one.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};

use super::*;
use crate::codes::{Consistency, ErrorCode};
use crate::message::{
    ChangeType, ColumnSpec, ErrorDetail, Execute, Extras, FailureReasons, Prepare, Prepared, Query,
    QueryParams, RequestBody, Response, ResultMetadata, Rows, RowsView, SchemaChange, SchemaTarget,
    ServerEvent, ValueList,
};
use crate::types::CqlType;
use crate::wire::{RawValue, Reader, WireWrite};
use ProtocolVersion::{V3, V4, V5};

fn sent(opcode: Opcode, flags: Flags, body: impl FnOnce(&mut BytesMut)) -> Message<'static> {
    let mut out = BytesMut::new();
    body(&mut out);
    Message {
        opcode,
        flags,
        body: Cow::Owned(out.into()),
    }
}

fn ask(request: RequestBody<'_>, version: ProtocolVersion) -> Message<'static> {
    sent(request.opcode(), Flags::NONE, |out| {
        request.encode(version, out);
    })
}

fn answer(response: &Response, version: ProtocolVersion) -> Message<'static> {
    sent(response.opcode(), Flags::NONE, |out| {
        response.encode(version, out);
    })
}

fn read(message: &Message<'_>, version: ProtocolVersion) -> Response {
    let body = message.body.to_vec().into();
    Response::decode(message.opcode, version, &body, 0).unwrap()
}

fn columns(ty: CqlType) -> ResultMetadata {
    ResultMetadata::new(vec![ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: "v".into(),
        ty,
    }])
}

fn rows(ty: CqlType, metadata_changed: bool) -> Response {
    Response::Rows(Rows {
        metadata: columns(ty).with_id(b"new"[..].into()).into(),
        paging_state: None,
        skip_metadata: false,
        metadata_changed,
        row_count: 1,
        content: b"\0\0\0\x01a"[..].into(),
    })
}

#[test]
fn a_statements_own_keyspace_is_refused_before_v5() {
    let prepare = RequestBody::Prepare(Prepare {
        query: "SELECT",
        keyspace: Some("k"),
    });
    let error = request(ask(prepare, V5), V5, V4, None).unwrap_err();
    assert_eq!(error, ForwardError::NotInVersion(V4));
    let answer = error.response();
    assert_eq!(answer.code, ErrorCode::INVALID);
    assert_eq!(
        answer.message,
        "The request can't be made in V4 of the protocol, which the server behind speaks"
    );
}

#[test]
fn an_unset_value_is_refused_in_v3() {
    let mut values = ValueList::new();
    values.push(RawValue::Unset).unwrap();
    let mut params = QueryParams::new(Consistency::ONE);
    params.values = values.as_values();
    let query = RequestBody::Query(Query { query: "q", params });
    let error = request(ask(query, V4), V4, V3, None).unwrap_err();
    assert_eq!(error, ForwardError::NotInVersion(V3));
}

#[test]
fn a_null_of_v3_is_a_null_in_later_versions() {
    // QUERY "q" at ONE with two values, of lengths -2 and 1; and a batch of it.
    let query = sent(Opcode::QUERY, Flags::NONE, |out| {
        out.put_slice(b"\0\0\0\x01q\0\x01\x01\0\x02\xFF\xFF\xFF\xFE\0\0\0\x01a");
    });
    let batch = sent(Opcode::BATCH, Flags::NONE, |out| {
        out.put_slice(b"\0\0\x01\0\0\0\0\x01q\0\x02\xFF\xFF\xFF\xFE\0\0\0\x01a\0\x01\0");
    });
    // A paging state of length -2, which means nothing in a batch.
    let paged = sent(Opcode::BATCH, Flags::NONE, |out| {
        out.put_slice(b"\0\0\0\0\x01\x08\xFF\xFF\xFF\xFE");
    });
    let got = request(paged, V3, V4, None).unwrap();
    assert_eq!(*got.body, *b"\0\0\0\0\x01\0");
    for to in [V4, V5] {
        for message in [&query, &batch] {
            let got = request(message.clone(), V3, to, None).unwrap();
            let decoded = RequestBody::decode(got.opcode, to, &mut Reader::new(&got.body));
            let values = match decoded.unwrap() {
                RequestBody::Query(query) => query.params.values,
                RequestBody::Batch(batch) => batch.statements.iter().next().unwrap().values,
                other => panic!("{other:?}"),
            };
            let values: Vec<_> = values.iter().map(|(_, value)| value).collect();
            assert_eq!(values, [RawValue::Null, RawValue::Bytes(b"a")], "{to:?}");
        }
    }
}

#[test]
fn execute_to_v5_names_the_metadata_that_the_client_has() {
    let execute = RequestBody::Execute(Execute {
        id: b"id",
        result_metadata_id: None,
        params: QueryParams::new(Consistency::ONE),
    });
    for known in [None, Some(&b"known"[..])] {
        let got = request(ask(execute, V4), V4, V5, known).unwrap();
        let decoded = RequestBody::decode(Opcode::EXECUTE, V5, &mut Reader::new(&got.body));
        let Ok(RequestBody::Execute(decoded)) = decoded else {
            panic!("{decoded:?}");
        };
        assert_eq!(decoded.result_metadata_id, Some(known.unwrap_or_default()));
        let back = request(got, V5, V4, None).unwrap();
        assert_eq!(back, ask(execute, V4));
    }
}

#[test]
fn rows_whose_metadata_changed_are_described_before_v5() {
    let got = response(answer(&rows(CqlType::Text, true), V5), V5, V4).unwrap();
    assert_eq!(read(&got, V4), {
        let Response::Rows(mut rows) = rows(CqlType::Text, false) else {
            unreachable!()
        };
        rows.metadata = columns(CqlType::Text).into();
        Response::Rows(rows)
    });
}

#[test]
fn rows_that_all_versions_describe_alike_are_not_copied() {
    let message = answer(&rows(CqlType::Text, false), V5);
    let borrowed = Message {
        body: Cow::Borrowed(&message.body),
        ..message.clone()
    };
    for to in [V3, V4] {
        let got = response(borrowed.clone(), V5, to).unwrap();
        assert!(matches!(got.body, Cow::Borrowed(_)));
        assert_eq!(got, message);
    }
}

#[test]
fn a_type_that_came_later_is_described_by_its_class() {
    let message = answer(&rows(CqlType::Duration, false), V5);
    let got = response(message.clone(), V5, V4).unwrap();
    assert_ne!(got, message);
    let view = RowsView::decode(V4, &got.body, 0).unwrap().unwrap();
    assert_eq!(view.metadata_id, None);
    assert_eq!(read(&got, V4), read(&message, V5));
    assert_eq!(response(got, V4, V5).unwrap(), message);
}

#[test]
fn a_prepared_statements_id_stands_for_that_of_its_result() {
    let prepared = Response::Prepared(Box::new(Prepared {
        id: b"statement"[..].into(),
        variables: columns(CqlType::Int).into(),
        pk_indexes: vec![0],
        result: Some(columns(CqlType::Text).into()),
    }));
    let got = response(answer(&prepared, V4), V4, V5).unwrap();
    let Response::Prepared(got) = read(&got, V5) else {
        panic!("{got:?}");
    };
    assert_eq!(got.id, b"statement"[..]);
    assert_eq!(got.pk_indexes, [0]);
    let result = got.result.unwrap();
    assert_eq!(result.columns(), columns(CqlType::Text).columns());
    assert_eq!(result.id().map(|id| &id[..]), Some(&b"statement"[..]));

    let got = response(answer(&prepared, V4), V4, V3).unwrap();
    let Response::Prepared(got) = read(&got, V3) else {
        panic!("{got:?}");
    };
    assert_eq!(got.pk_indexes, []);
}

#[test]
fn the_number_of_failures_is_no_map_in_v5() {
    let failure = |reasons| {
        Response::Error(ErrorResponse {
            code: ErrorCode::READ_FAILURE,
            message: "why".into(),
            detail: ErrorDetail::ReadFailure {
                consistency: Consistency::ONE,
                received: 0,
                block_for: 1,
                reasons,
                data_present: false,
            },
        })
    };
    let number = failure(FailureReasons::Count(3));
    let none = failure(FailureReasons::Map(Vec::new()));
    let got = response(answer(&number, V4), V4, V5).unwrap();
    assert_eq!(read(&got, V5), none);
}

#[test]
fn a_function_changes_its_keyspace_in_v3() {
    let change = SchemaChange {
        change: ChangeType::Created,
        target: SchemaTarget::Function {
            keyspace: "k".into(),
            name: "f".into(),
            arguments: Vec::new(),
        },
    };
    let updated = SchemaChange {
        change: ChangeType::Updated,
        target: SchemaTarget::Keyspace {
            keyspace: "k".into(),
        },
    };
    let got = response(answer(&Response::SchemaChange(change.clone()), V5), V5, V3).unwrap();
    assert_eq!(read(&got, V3), Response::SchemaChange(updated.clone()));

    let event = sent(Opcode::EVENT, Flags::NONE, |out| {
        ServerEvent::SchemaChange(change).encode(V4, out);
    });
    let got = response(event, V4, V3).unwrap();
    let event = ServerEvent::decode(&mut Reader::new(&got.body), V3);
    assert_eq!(event, Ok(ServerEvent::SchemaChange(updated)));
}

#[test]
fn v3_gets_neither_warnings_nor_payload_and_keeps_the_tracing_id() {
    let extras = Extras {
        tracing_id: Some(uuid::Uuid::from_u128(7)),
        warnings: vec!["careful".into()],
        payload: Some(vec![("k".into(), None)]),
    };
    let mut flags = Flags::NONE;
    let mut message = sent(Opcode::RESULT, flags, |out| {
        flags = extras.encode(V4, out);
        out.put_i32(1);
        out.put_slice(b"behind");
    });
    message.flags = flags;
    let got = response(message.clone(), V4, V3).unwrap();
    assert_eq!(got.flags, Flags::TRACING);
    assert_eq!(got.body[..16], uuid::Uuid::from_u128(7).into_bytes());
    assert_eq!(got.body[16..], *b"\0\0\0\x01behind");
    assert_eq!(response(message.clone(), V4, V5).unwrap(), message);
}

#[test]
fn v3_gets_no_payload_with_a_request() {
    let query = RequestBody::Query(Query {
        query: "q",
        params: QueryParams::new(Consistency::ONE),
    });
    let message = sent(Opcode::QUERY, Flags::CUSTOM_PAYLOAD, |out| {
        out.put_bytes_map(&[("k", Some(b"v"))]);
        query.encode(V4, out);
    });
    let got = request(message.clone(), V4, V3, None).unwrap();
    assert_eq!(got, ask(query, V3));
    let got = request(message, V4, V5, None).unwrap();
    let mut reader = Reader::new(&got.body);
    assert_eq!(reader.bytes_map().unwrap().len(), 1);
    assert_eq!(reader.remaining(), &*ask(query, V5).body);
}

#[test]
fn flags_that_mean_nothing_in_v3_are_cleared_for_versions_that_give_them_a_meaning() {
    let all = Flags::CUSTOM_PAYLOAD
        .with(Flags::WARNING)
        .with(Flags::TRACING);
    let message = sent(Opcode::RESULT, all, |out| out.put_slice(&[1; 20]));
    for to in [V4, V5] {
        let got = response(message.clone(), V3, to).unwrap();
        assert_eq!(
            (got.flags, got.body),
            (Flags::TRACING, message.body.clone())
        );
    }
    let query = RequestBody::Query(Query {
        query: "q",
        params: QueryParams::new(Consistency::ONE),
    });
    let message = Message {
        flags: Flags::CUSTOM_PAYLOAD,
        ..ask(query, V3)
    };
    assert_eq!(request(message, V3, V4, None).unwrap(), ask(query, V4));
}

#[test]
fn what_nobody_knows_goes_as_it_came() {
    for (opcode, body) in [
        (Opcode(0x42), &b"anything"[..]),
        (Opcode::RESULT, b"\0\0\0\x63anything"),
        (Opcode::ERROR, b"\0\0\xEE\xEE\0\x03whyanything"),
    ] {
        let message = sent(opcode, Flags(0x80), |out| out.put_slice(body));
        for to in ProtocolVersion::ALL {
            assert_eq!(response(message.clone(), V4, to), Ok(message.clone()));
        }
    }
    let message = sent(Opcode(0x42), Flags(0x80), |out| out.put_slice(b"anything"));
    for to in ProtocolVersion::ALL {
        assert_eq!(request(message.clone(), V5, to, None), Ok(message.clone()));
    }
}

#[test]
fn a_request_that_must_be_written_anew_and_is_cut_is_a_protocol_error() {
    let message = sent(Opcode::QUERY, Flags::NONE, |out| out.put_i32(9));
    let error = request(message, V4, V5, None).unwrap_err();
    assert_eq!(error.response().code, ErrorCode::PROTOCOL_ERROR);
}
