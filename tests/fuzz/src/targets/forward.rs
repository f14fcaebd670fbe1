//! Messages on their way to another version and back: what can be said there comes back as it was.

use std::borrow::Cow;

use helenus_core::forward::{self, Message};
use helenus_core::message::{RequestBody, Response};
use helenus_core::wire::Reader;
use helenus_core::{Extras, Flags, Opcode, ProtocolVersion};

use crate::input::Input;

pub(super) fn forward(data: &[u8]) {
    let mut input = Input::new(data);
    let (from, opcode, flags, to) = (
        input.version(),
        Opcode(input.byte()),
        Flags(input.byte()),
        input.version(),
    );
    let message = Message {
        opcode,
        flags,
        body: Cow::Borrowed(input.rest()),
    };
    if opcode.is_request() {
        request(message, from, to);
    } else {
        response(message, from, to);
    }
}

/// What was refused in one version isn't accepted in another, and what was accepted comes back saying the same.
fn request(message: Message<'_>, from: ProtocolVersion, to: ProtocolVersion) {
    let Ok(there) = forward::request(message.clone(), from, to, None) else {
        assert_ne!(from, to);
        return;
    };
    if from == to {
        assert_eq!(there, message);
        return;
    }
    let Some(said) = said(&message, from) else {
        return;
    };
    let back = forward::request(there, to, from, said.1.as_deref());
    let back = back.expect("what came from a version goes back to it");
    assert_eq!(self::said(&back, from), Some(said));
}

/// A request without its flags, of which undefined ones may be lost, and the metadata id of an EXECUTE.
fn said(message: &Message<'_>, version: ProtocolVersion) -> Option<(String, Option<Vec<u8>>)> {
    let mut reader = Reader::new(&message.body);
    if message.flags.contains(Flags::CUSTOM_PAYLOAD) && version >= ProtocolVersion::V4 {
        reader.bytes_map().ok()?;
    }
    let mut request = RequestBody::decode(message.opcode, version, &mut reader).ok()?;
    let mut known = None;
    match &mut request {
        RequestBody::Query(query) => query.params.flags.0 &= 0x7F,
        RequestBody::Execute(execute) => {
            execute.params.flags.0 &= 0x7F;
            known = execute.result_metadata_id.map(<[u8]>::to_vec);
        }
        RequestBody::Batch(batch) => batch.flags.0 &= 0x7F,
        _ => {}
    }
    Some((
        format!("{:?}{:?}", request.opcode(), shown(&request)),
        known,
    ))
}

/// A request by what it is run with, whatever version its values are written in.
fn shown(request: &RequestBody<'_>) -> Vec<u8> {
    let mut out = bytes::BytesMut::new();
    request.encode(ProtocolVersion::V5, &mut out);
    out.to_vec()
}

/// What a response says in another version decodes there.
fn response(message: Message<'_>, from: ProtocolVersion, to: ProtocolVersion) {
    let Ok(there) = forward::response(message.clone(), from, to) else {
        assert_ne!(from, to);
        return;
    };
    if from == to {
        assert_eq!(there, message);
        return;
    }
    if decodes(&message, from) {
        assert!(decodes(&there, to), "{message:?}\n{there:?}");
    }
}

fn decodes(message: &Message<'_>, version: ProtocolVersion) -> bool {
    let body = bytes::Bytes::copy_from_slice(&message.body);
    let mut reader = Reader::new(&body);
    // What v3 hasn't, it doesn't read either.
    let flags = match version {
        ProtocolVersion::V3 => Flags(message.flags.0 & Flags::TRACING.0),
        _ => message.flags,
    };
    Extras::decode(flags, &mut reader).is_ok()
        && Response::decode(message.opcode, version, &body, reader.position()).is_ok()
}
