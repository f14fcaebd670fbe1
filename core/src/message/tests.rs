//! What golden data doesn't hold: fields that a version has no place for, and codes it doesn't know.

use std::net::{IpAddr, Ipv4Addr};

use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;

use super::*;
use crate::codes::{Consistency, ErrorCode, Opcode, ProtocolVersion};
use crate::envelope::Flags;
use crate::wire::{DecodeErrorKind, RawValue, Reader, WireWrite};

fn encoded(response: &Response, version: ProtocolVersion) -> Bytes {
    let mut out = BytesMut::new();
    response.encode(version, &mut out);
    out.freeze()
}

fn decoded(response: &Response, version: ProtocolVersion) -> Response {
    Response::decode(response.opcode(), version, &encoded(response, version), 0).unwrap()
}

fn error(code: ErrorCode, detail: ErrorDetail) -> Response {
    Response::Error(ErrorResponse {
        code,
        message: "why".into(),
        detail,
    })
}

#[test]
fn failures_step_down_to_what_v3_knows() {
    let (consistency, received, block_for) = (Consistency::QUORUM, 1, 2);
    let reasons = FailureReasons::Map(vec![(IpAddr::V4(Ipv4Addr::LOCALHOST), 1)]);
    let read = error(
        ErrorCode::READ_FAILURE,
        ErrorDetail::ReadFailure {
            consistency,
            received,
            block_for,
            reasons: reasons.clone(),
            data_present: true,
        },
    );
    let timeout = ErrorDetail::ReadTimeout {
        consistency,
        received,
        block_for,
        data_present: true,
    };
    assert_eq!(
        decoded(&read, ProtocolVersion::V3),
        error(ErrorCode::READ_TIMEOUT, timeout)
    );
    assert_eq!(decoded(&read, ProtocolVersion::V5), read);
    let write_type = WriteType::SIMPLE;
    let write = error(
        ErrorCode::WRITE_FAILURE,
        ErrorDetail::WriteFailure {
            consistency,
            received,
            block_for,
            reasons,
            write_type: write_type.clone(),
        },
    );
    let timeout = ErrorDetail::WriteTimeout {
        consistency,
        received,
        block_for,
        write_type: write_type.clone(),
        contentions: None,
    };
    assert_eq!(
        decoded(&write, ProtocolVersion::V3),
        error(ErrorCode::WRITE_TIMEOUT, timeout)
    );
    let counted = ErrorDetail::WriteFailure {
        consistency,
        received,
        block_for,
        reasons: FailureReasons::Count(1),
        write_type,
    };
    assert_eq!(
        decoded(&write, ProtocolVersion::V4),
        error(ErrorCode::WRITE_FAILURE, counted)
    );
}

#[test]
fn an_unknown_conditional_write_is_a_timeout_before_v5() {
    let (consistency, received, block_for) = (Consistency::SERIAL, 1, 2);
    let unknown = error(
        ErrorCode::CAS_WRITE_UNKNOWN,
        ErrorDetail::CasWriteUnknown {
            consistency,
            received,
            block_for,
        },
    );
    let timeout = error(
        ErrorCode::WRITE_TIMEOUT,
        ErrorDetail::WriteTimeout {
            consistency,
            received,
            block_for,
            write_type: WriteType::CAS,
            contentions: None,
        },
    );
    assert_eq!(decoded(&unknown, ProtocolVersion::V4), timeout);
    assert_eq!(decoded(&unknown, ProtocolVersion::V5), unknown);
}

#[test]
fn a_failed_function_is_an_invalid_request_in_v3() {
    let failure = Response::Error(ErrorResponse::function_failure("k", "f", vec![], "why"));
    let invalid = error(ErrorCode::INVALID, ErrorDetail::None);
    assert_eq!(decoded(&failure, ProtocolVersion::V3), invalid);
    assert_eq!(decoded(&failure, ProtocolVersion::V4), failure);
}

#[test]
fn an_unknown_error_code_survives_with_its_message() {
    let unknown = error(ErrorCode(0x7777), ErrorDetail::None);
    assert_eq!(decoded(&unknown, ProtocolVersion::V5), unknown);
}

#[test]
fn a_function_changes_its_keyspace_in_v3() {
    let change = Response::SchemaChange(SchemaChange {
        change: ChangeType::Dropped,
        target: SchemaTarget::Function {
            keyspace: "k".into(),
            name: "f".into(),
            arguments: vec!["int".into()],
        },
    });
    assert_eq!(
        encoded(&change, ProtocolVersion::V3)[..],
        *b"\0\0\0\x05\0\x07UPDATED\0\x08KEYSPACE\0\x01k\0\0"
    );
    assert_eq!(decoded(&change, ProtocolVersion::V4), change);
}

#[test]
fn v3_carries_neither_warnings_nor_payload() {
    let extras = Extras {
        tracing_id: None,
        warnings: vec!["w".into()],
        payload: Some(vec![("k".into(), None)]),
    };
    let mut out = BytesMut::new();
    assert_eq!(extras.encode(ProtocolVersion::V3, &mut out), Flags::NONE);
    assert!(out.is_empty());
    let flags = extras.encode(ProtocolVersion::V4, &mut out);
    assert_eq!(flags, Flags::WARNING.with(Flags::CUSTOM_PAYLOAD));
    assert_eq!(Extras::decode(flags, &mut Reader::new(&out)), Ok(extras));
}

#[test]
fn a_result_without_columns_has_the_id_of_nothing() {
    let prepared = Prepared {
        id: Bytes::from_static(b"i"),
        variables: std::sync::Arc::new(ResultMetadata::new(vec![])),
        pk_indexes: vec![],
        result: None,
    };
    let bytes = encoded(&Response::Prepared(Box::new(prepared)), ProtocolVersion::V5);
    let mut expected = BytesMut::from(&b"\0\0\0\x04\0\x01i\0\x10"[..]);
    expected.put_slice(&NO_COLUMNS_ID);
    expected.put_slice(&[0; 12]);
    expected.put_slice(&[0, 0, 0, 4, 0, 0, 0, 0]);
    assert_eq!(bytes, expected);
}

/// A server may leave out what it counts; nothing then stands for it, its table neither.
#[test]
fn metadata_that_was_left_out_is_left_out_again() {
    for version in ProtocolVersion::ALL {
        for flags in [0x0004, 0x0005] {
            let mut body = BytesMut::new();
            body.put_i32(result_kind::PREPARED);
            body.put_short_bytes(b"id");
            if version >= ProtocolVersion::V5 {
                body.put_short_bytes(b"result");
            }
            // Two variables, undescribed.
            body.put_i32(flags);
            body.put_i32(2);
            if version >= ProtocolVersion::V4 {
                body.put_i32(0);
            }
            body.put_i32(0x0004);
            body.put_i32(0);
            let body = body.freeze();
            let prepared = Response::decode(Opcode::RESULT, version, &body, 0).unwrap();
            let again = decoded(&prepared, version);
            assert_eq!(again, prepared, "{version:?}");
            let Response::Prepared(again) = again else {
                panic!("{again:?}");
            };
            assert_eq!(again.variables.column_count(), 2);
            assert!(again.variables.columns().is_empty());
        }
    }
}

#[test]
fn flags_without_a_field_survive_and_fields_set_their_flags() {
    let body = Query {
        query: "q",
        params: QueryParams {
            flags: QueryFlags(0x4000_0002 | QueryFlags::TIMESTAMP.0),
            keyspace: Some("k"),
            ..QueryParams::new(Consistency::ONE)
        },
    };
    let again = |version| {
        let mut out = BytesMut::new();
        RequestBody::Query(body).encode(version, &mut out);
        let out = out.freeze();
        let mut reader = Reader::new(&out);
        let RequestBody::Query(query) =
            RequestBody::decode(Opcode::QUERY, version, &mut reader).unwrap()
        else {
            panic!("not a query")
        };
        (
            query.params.flags.0,
            query.params.keyspace.map(str::to_owned),
        )
    };
    assert_eq!(again(ProtocolVersion::V5), (0x4000_0082, Some("k".into())));
    assert_eq!(again(ProtocolVersion::V4), (0x02, None));
}

#[test]
fn an_unknown_opcode_is_named() {
    let error = RequestBody::decode(Opcode::READY, ProtocolVersion::V4, &mut Reader::new(&[]));
    assert_eq!(
        error.unwrap_err().kind,
        DecodeErrorKind::UnexpectedOpcode(Opcode::READY)
    );
}

#[test]
fn the_answer_to_a_decode_error_has_its_words() {
    let error = Reader::new(&[0]).string().unwrap_err();
    let mut body = BytesMut::new();
    crate::Error::from(error).encode(&mut body);
    let response = crate::Error::from(error).response();
    let mut encoded = BytesMut::new();
    response.encode(ProtocolVersion::V3, &mut encoded);
    assert_eq!(body, encoded, "in place as in a string");
    assert_eq!(response.code, ErrorCode::PROTOCOL_ERROR);
    assert_eq!(
        response.message,
        "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length"
    );
}

#[test]
fn responses_stay_small_enough_to_move() {
    assert!(
        size_of::<ErrorResponse>() <= 112,
        "{}",
        size_of::<ErrorResponse>()
    );
    assert!(size_of::<Response>() <= 120, "{}", size_of::<Response>());
    assert!(
        size_of::<QueryParams<'_>>() <= 136,
        "{}",
        size_of::<QueryParams<'_>>()
    );
}

proptest! {
    #[test]
    fn values_come_back_with_and_without_names(
        entries in proptest::collection::vec((".{0,8}", proptest::option::of(any::<Vec<u8>>())), 0..8),
        named: bool,
    ) {
        let mut list = if named { ValueList::named() } else { ValueList::new() };
        for (name, value) in &entries {
            list.push_named(name, value.as_deref().into()).unwrap();
        }
        let values = list.as_values();
        let listed: Vec<_> = values.iter().map(|(name, value)| (name, value.bytes())).collect();
        let expected: Vec<_> = entries
            .iter()
            .map(|(name, value)| (named.then_some(name.as_str()), value.as_deref()))
            .collect();
        prop_assert_eq!(listed, expected);
        prop_assert_eq!((values.len(), values.is_named()), (entries.len(), named));
    }

    #[test]
    fn arbitrary_bodies_never_panic_and_what_decodes_comes_back(
        opcode in 0_u8..17,
        body: Vec<u8>,
    ) {
        for version in ProtocolVersion::ALL {
            let decoded = RequestBody::decode(Opcode(opcode), version, &mut Reader::new(&body));
            if let Ok(decoded) = decoded {
                let mut out = BytesMut::new();
                decoded.encode(version, &mut out);
                let again = RequestBody::decode(Opcode(opcode), version, &mut Reader::new(&out));
                prop_assert!(again.is_ok());
            }
            let body = Bytes::copy_from_slice(&body);
            if let Ok(response) = Response::decode(Opcode(opcode), version, &body, 0) {
                let bytes = encoded(&response, version);
                let again = Response::decode(Opcode(opcode), version, &bytes, 0);
                prop_assert_eq!(again, Ok(response));
            }
        }
    }
}

#[test]
fn unset_is_a_value_of_its_own() {
    let mut list = ValueList::new();
    list.push(RawValue::Unset).unwrap();
    assert_eq!(
        list.as_values().iter().next(),
        Some((None, RawValue::Unset))
    );
}
