//! Golden messages forwarded to every other version say there what they said here.

use std::borrow::Cow;

use bytes::Bytes;
use helenus_core::forward::{ForwardError, Message, request, response};
use helenus_core::message::{RequestBody, ServerEvent};
use helenus_core::wire::Reader;
use helenus_core::{Direction, Extras, Flags, Opcode, ProtocolVersion, Response};

use crate::vectors::{self, Golden};

const JUNK: &[u8] = b"behind";

fn message(golden: &Golden, behind: &[u8]) -> Message<'static> {
    Message {
        opcode: golden.header.opcode,
        flags: golden.header.flags,
        body: Cow::Owned([&golden.body[..], behind].concat()),
    }
}

#[test]
fn a_message_to_its_own_version_goes_as_it_came() {
    for golden in vectors::envelopes(Direction::Request) {
        let sent = message(&golden, JUNK);
        let got = request(sent.clone(), golden.version, golden.version, None);
        assert_eq!(got, Ok(sent), "{}", golden.id);
    }
    for golden in vectors::envelopes(Direction::Response) {
        let sent = message(&golden, JUNK);
        let got = response(sent.clone(), golden.version, golden.version);
        assert_eq!(got, Ok(sent), "{}", golden.id);
    }
}

/// What a request says, in the bytes that v5 has for it, without its payload.
fn said(message: &Message<'_>, version: ProtocolVersion) -> Vec<u8> {
    let mut reader = Reader::new(&message.body);
    if message.flags.contains(Flags::CUSTOM_PAYLOAD) {
        reader.bytes_map().unwrap();
    }
    let mut request = RequestBody::decode(message.opcode, version, &mut reader).unwrap();
    if let RequestBody::Execute(execute) = &mut request {
        execute.result_metadata_id = None;
    }
    assert_eq!(reader.remaining(), JUNK);
    let mut out = bytes::BytesMut::new();
    request.encode(ProtocolVersion::V5, &mut out);
    out.to_vec()
}

#[test]
fn a_request_says_the_same_in_another_version_or_is_refused() {
    let mut refused = 0;
    for golden in vectors::envelopes(Direction::Request) {
        for to in ProtocolVersion::ALL {
            let sent = message(&golden, JUNK);
            let before = said(&sent, golden.version);
            match request(sent, golden.version, to, None) {
                Ok(got) => assert_eq!(said(&got, to), before, "{} to {to:?}", golden.id),
                Err(error) => {
                    assert_eq!(error, ForwardError::NotInVersion(to), "{}", golden.id);
                    assert!(to < golden.version, "{}", golden.id);
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn bodies_that_agree_are_not_copied() {
    for golden in vectors::envelopes(Direction::Request) {
        if golden.version != ProtocolVersion::V3 {
            continue;
        }
        let sent = Message {
            body: Cow::Borrowed(&golden.body[..]),
            ..message(&golden, b"")
        };
        let got = request(sent.clone(), golden.version, ProtocolVersion::V4, None).unwrap();
        assert!(matches!(got.body, Cow::Borrowed(_)), "{}", golden.id);
        assert_eq!(got, sent);
    }
}

/// What a response says, as v3 can say it and understands it.
fn heard(message: &Message<'_>, version: ProtocolVersion) -> (Extras, String) {
    let body = Bytes::copy_from_slice(&message.body);
    let mut reader = Reader::new(&body);
    let mut extras = Extras::decode(message.flags, &mut reader).unwrap();
    (extras.warnings, extras.payload) = (Vec::new(), None);
    let mut out = bytes::BytesMut::new();
    if message.opcode == Opcode::EVENT {
        let event = ServerEvent::decode(&mut reader, version).unwrap();
        // In v3 Cassandra writes an empty string behind some.
        assert!(reader.remaining().ends_with(JUNK));
        event.encode(ProtocolVersion::V3, &mut out);
        let event = ServerEvent::decode(&mut Reader::new(&out), ProtocolVersion::V3);
        return (extras, format!("{event:?}"));
    }
    let response = Response::decode(message.opcode, version, &body, reader.position());
    response.unwrap().encode(ProtocolVersion::V3, &mut out);
    let response = Response::decode(message.opcode, ProtocolVersion::V3, &out.freeze(), 0);
    (extras, format!("{response:?}"))
}

#[test]
fn a_response_says_in_another_version_what_that_can_say() {
    for golden in vectors::envelopes(Direction::Response) {
        for to in ProtocolVersion::ALL {
            let sent = message(&golden, JUNK);
            let before = heard(&sent, golden.version);
            let got = response(sent, golden.version, to).unwrap();
            assert!(got.body.ends_with(JUNK), "{} to {to:?}", golden.id);
            assert_eq!(heard(&got, to), before, "{} to {to:?}", golden.id);
        }
    }
}

#[test]
fn warnings_and_payload_go_on_where_the_version_has_them() {
    let mut seen = 0;
    for golden in vectors::envelopes(Direction::Response) {
        let extras = Extras::decode(golden.header.flags, &mut Reader::new(&golden.body)).unwrap();
        if extras.is_empty() || golden.version == ProtocolVersion::V3 {
            continue;
        }
        seen += 1;
        for to in ProtocolVersion::ALL {
            let got = response(message(&golden, b""), golden.version, to).unwrap();
            let there = Extras::decode(got.flags, &mut Reader::new(&got.body)).unwrap();
            if to == ProtocolVersion::V3 {
                let traced = Extras {
                    tracing_id: extras.tracing_id,
                    ..Extras::default()
                };
                assert_eq!(there, traced, "{}", golden.id);
            } else {
                assert_eq!(there, extras, "{}", golden.id);
            }
        }
    }
    assert!(seen > 10);
}
