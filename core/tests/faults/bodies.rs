//! Faults of bodies: what stands in front of a message, and what errors carry in each version.

use bytes::{Bytes, BytesMut};
use helenus_core::message::{FailureReasons, WriteType};
use helenus_core::testing::Cuts;
use helenus_core::{
    Consistency, ErrorCode, ErrorDetail, ErrorResponse, Extras, Flags, Opcode, ProtocolVersion,
    Request, Responder, Response,
};

use crate::client::{Told, config, connected};
use crate::peer::response;
use crate::reader::{query, request};
use crate::{framed, got, ready_server, service};

fn extras() -> Extras {
    Extras {
        tracing_id: Some(uuid::Uuid::from_bytes([0x22; 16])),
        warnings: vec!["w".to_owned()],
        payload: Some(vec![("k".to_owned(), Some(Bytes::from_static(b"v")))]),
    }
}

#[test]
fn what_stands_behind_warnings_is_kept() {
    for message in [
        Response::SetKeyspace("a keyspace".into()),
        Response::Error(ErrorResponse::unprepared(b"id")),
        Response::Void,
    ] {
        for version in [ProtocolVersion::V4, ProtocolVersion::V5] {
            let mut body = BytesMut::new();
            let front = Extras {
                tracing_id: None,
                payload: None,
                ..extras()
            };
            let flags = front.encode(version, &mut body);
            message.encode(version, &mut body);
            let number = version.as_u8();
            let mut client = connected(config(number));
            let call = client.query();
            let envelope = response(number, flags.0, 1, message.opcode(), &body);
            client.receive(&framed(number, &[envelope]), Cuts::BYTES);
            assert_eq!(
                client.told(),
                [Told::Answer(call, Ok((message.clone(), front)))]
            );
        }
    }
}

#[test]
fn tracing_id_warnings_and_payload_are_written_in_this_order() {
    let service = |_: Request<'_>, responder: Responder<'_>| {
        responder.send_with(Response::Void, &extras());
    };
    let mut server = ready_server(4, Box::new(service));
    server.receive(&query(4, 1, "SELECT 1"), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(got[0].flags, 0x0E);
    let expected = [
        &[0x22; 16][..],
        b"\0\x01\0\x01w",
        b"\0\x01\0\x01k\0\0\0\x01v",
        &[0, 0, 0, 1],
    ];
    assert_eq!(got[0].body, expected.concat());
}

#[test]
fn flags_that_the_version_does_not_define_mean_nothing() {
    for version in [3, 4, 5] {
        let undefined = 0xE0;
        let mut server = ready_server(version, service());
        let mut envelope = query(version, 1, "SELECT 1");
        envelope[1] = undefined;
        server.receive(&framed(version, &[envelope]), Cuts::Whole);
        assert_eq!(got(&mut server)[0].opcode, Opcode::RESULT, "v{version}");

        let mut client = connected(config(version));
        client.query();
        let envelope = response(version, undefined, 1, Opcode::RESULT, &[0, 0, 0, 1]);
        client.receive(&framed(version, &[envelope]), Cuts::Whole);
        assert!(matches!(
            client.told()[..],
            [Told::Answer(_, Ok((Response::Void, _)))]
        ));
    }
    // A payload in v3 is none that a server could read past.
    let mut server = ready_server(3, service());
    server.receive(
        &request(3, Flags::CUSTOM_PAYLOAD.0, 1, 7, &[0; 20]),
        Cuts::Whole,
    );
    assert_eq!(got(&mut server)[0].code(), ErrorCode::PROTOCOL_ERROR.0);
}

#[test]
fn each_version_has_error_bodies_of_its_own() {
    let reasons = FailureReasons::Map(vec![("10.0.0.1".parse().unwrap(), 1)]);
    let error = |code, detail| ErrorResponse {
        code,
        message: "m".into(),
        detail,
    };
    let consistency = Consistency::QUORUM;
    let errors = [
        error(
            ErrorCode::READ_FAILURE,
            ErrorDetail::ReadFailure {
                consistency,
                received: 1,
                block_for: 2,
                reasons: reasons.clone(),
                data_present: true,
            },
        ),
        error(
            ErrorCode::WRITE_FAILURE,
            ErrorDetail::WriteFailure {
                consistency,
                received: 1,
                block_for: 2,
                reasons,
                write_type: WriteType::SIMPLE,
            },
        ),
        error(
            ErrorCode::WRITE_TIMEOUT,
            ErrorDetail::WriteTimeout {
                consistency,
                received: 1,
                block_for: 2,
                write_type: WriteType::CAS,
                contentions: Some(3),
            },
        ),
        error(
            ErrorCode::CAS_WRITE_UNKNOWN,
            ErrorDetail::CasWriteUnknown {
                consistency,
                received: 1,
                block_for: 2,
            },
        ),
    ];
    let codes = [
        (3, [0x1200, 0x1100, 0x1100, 0x1100]),
        (4, [0x1300, 0x1500, 0x1100, 0x1100]),
        (5, [0x1300, 0x1500, 0x1100, 0x1700]),
    ];
    for (number, codes) in codes {
        for (error, code) in errors.iter().zip(codes) {
            let service = {
                let error = error.clone();
                move |_: Request<'_>, responder: Responder<'_>| responder.error(error.clone())
            };
            let mut server = ready_server(number, Box::new(service));
            server.receive(
                &framed(number, &[query(number, 1, "SELECT 1")]),
                Cuts::Whole,
            );
            let mut client = connected(config(number));
            client.query();
            client.receive(&server.sent(), Cuts::BYTES);
            let Some(Told::Answer(_, Ok((Response::Error(got), _)))) = client.told().pop() else {
                panic!("no error for {error:?}");
            };
            assert_eq!(got.code, ErrorCode(code), "v{number} {error:?}");
            match (number, &got.detail) {
                (5, detail) => assert_eq!(*detail, error.detail),
                (
                    4,
                    ErrorDetail::ReadFailure { reasons, .. }
                    | ErrorDetail::WriteFailure { reasons, .. },
                ) => {
                    assert_eq!(*reasons, FailureReasons::Count(1));
                }
                (_, ErrorDetail::WriteTimeout { contentions, .. }) => {
                    assert_eq!(*contentions, None)
                }
                (_, ErrorDetail::ReadTimeout { data_present, .. }) => assert!(data_present),
                (_, other) => panic!("unexpected {other:?}"),
            }
        }
    }
}
