//! Every golden message cut at every length is an error whose offset lies inside what was left. Wrong
//! bytes never panic.

use bytes::BytesMut;
use helenus_core::message::RequestBody;
use helenus_core::wire::Reader;
use helenus_core::{
    DecodeError, Direction, ErrorCode, Extras, Flags, Opcode, ProtocolVersion, Response,
    ServerEvent,
};

use crate::vectors::{self, Golden};

#[test]
fn a_cut_request_is_a_protocol_error() {
    for golden in vectors::envelopes(Direction::Request) {
        let decode = |length: usize| {
            let mut reader = Reader::new(&golden.body[..length]);
            if golden.header.flags.contains(Flags::CUSTOM_PAYLOAD) {
                reader.bytes_map()?;
            }
            RequestBody::decode(golden.header.opcode, golden.version, &mut reader)?;
            Ok(reader.position())
        };
        check(&golden, decode);
    }
}

#[test]
fn a_cut_response_is_an_error() {
    for golden in vectors::envelopes(Direction::Response) {
        let decode = |length: usize| {
            let body = golden.body.slice(..length);
            let mut reader = Reader::new(&body);
            Extras::decode(golden.header.flags, &mut reader)?;
            if golden.header.opcode == Opcode::EVENT {
                ServerEvent::decode(&mut reader, golden.version)?;
                return Ok(reader.position());
            }
            let decoded = Response::decode(
                golden.header.opcode,
                golden.version,
                &body,
                reader.position(),
            )?;
            if let Response::Rows(rows) = &decoded {
                rows.iter().try_for_each(|row| row.map(drop))?;
            }
            let mut front = BytesMut::from(&body[..reader.position()]);
            decoded.encode(golden.version, &mut front);
            Ok(front.len())
        };
        check(&golden, decode);
    }
}

fn check(golden: &Golden, decode: impl Fn(usize) -> Result<usize, DecodeError>) {
    let whole = golden.body.len();
    assert_eq!(decode(whole), Ok(whole), "{}", golden.id);
    for length in 0..whole {
        match decode(length) {
            Ok(end) => panic!("{} cut at {length} ends at {end}", golden.id),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::PROTOCOL_ERROR);
                assert!(
                    error.offset as usize <= length,
                    "{} cut at {length}: {error}",
                    golden.id
                );
            }
        }
    }
}

#[test]
fn a_message_with_a_wrong_byte_never_panics() {
    for golden in vectors::envelopes(Direction::Request) {
        for at in 0..golden.body.len() {
            for wrong in [0x7F, 0xFF] {
                let mut bytes = golden.body.to_vec();
                bytes[at] = wrong;
                let mut reader = Reader::new(&bytes);
                let decoded =
                    RequestBody::decode(golden.header.opcode, golden.version, &mut reader);
                if let Ok(body) = decoded {
                    body.encode(golden.version, &mut BytesMut::new());
                }
            }
        }
    }
    for golden in vectors::envelopes(Direction::Response) {
        for at in 0..golden.body.len() {
            for wrong in [0x7F, 0xFF] {
                let mut bytes = golden.body.to_vec();
                bytes[at] = wrong;
                let bytes = bytes.into();
                let decoded = Response::decode(golden.header.opcode, golden.version, &bytes, 0);
                let Ok(response) = decoded else { continue };
                if let Response::Rows(rows) = &response {
                    rows.iter().for_each(drop);
                }
                response.encode(golden.version, &mut BytesMut::new());
            }
        }
    }
}

#[test]
fn a_message_read_as_another_version_never_panics() {
    for golden in vectors::envelopes(Direction::Request) {
        for version in ProtocolVersion::ALL {
            let mut reader = Reader::new(&golden.body);
            if let Ok(body) = RequestBody::decode(golden.header.opcode, version, &mut reader) {
                let mut out = BytesMut::new();
                body.encode(version, &mut out);
            }
        }
    }
    for golden in vectors::envelopes(Direction::Response) {
        for version in ProtocolVersion::ALL {
            if let Ok(response) = Response::decode(golden.header.opcode, version, &golden.body, 0) {
                let mut out = BytesMut::new();
                response.encode(version, &mut out);
            }
        }
    }
}
