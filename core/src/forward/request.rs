//! Requests on their way to another version.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};

use super::{ForwardError, Message};
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::Flags;
use crate::message::RequestBody;
use crate::wire::Reader;

/// The request as `to` has it, where it came as `from` has it.
///
/// `result_metadata_id` is what an EXECUTE of v5 names, if it comes from a version that names nothing: the id of the
/// metadata that the client decodes rows without a description by. `None` is always right: then rows come with
/// their description.
///
/// Between equal versions, and where the bodies of both agree, nothing is copied. Otherwise one copy is made.
///
/// # Errors
///
/// [`ForwardError`]; its [`response`](ForwardError::response) is the answer.
pub fn request<'a>(
    message: Message<'a>,
    from: ProtocolVersion,
    to: ProtocolVersion,
    result_metadata_id: Option<&[u8]>,
) -> Result<Message<'a>, ForwardError> {
    if from == to {
        return Ok(message);
    }
    let Message { opcode, flags, .. } = message;
    let mut reader = Reader::new(&message.body);
    let has_payload = flags.contains(Flags::CUSTOM_PAYLOAD) && from >= ProtocolVersion::V4;
    if has_payload {
        reader.bytes_map()?;
    }
    let payload = reader.position();
    let drops_payload = has_payload && to < ProtocolVersion::V4;
    // v3 has no payload, whatever its flags say.
    let new_flags = match from.min(to) {
        ProtocolVersion::V3 => flags.without(Flags::CUSTOM_PAYLOAD),
        _ => flags,
    };
    let is_statement = matches!(
        opcode,
        Opcode::QUERY | Opcode::PREPARE | Opcode::EXECUTE | Opcode::BATCH
    );
    if !is_statement {
        return Ok(behind(message, new_flags, payload, drops_payload));
    }

    let mut request = RequestBody::decode(opcode, from, &mut reader)?;
    if !request.fits(to) {
        return Err(ForwardError::NotInVersion(to));
    }
    let are_alike = from < ProtocolVersion::V5 && to < ProtocolVersion::V5;
    let has_odd_nulls = from < ProtocolVersion::V4 && request.may_have_odd_nulls();
    if are_alike && !has_odd_nulls {
        return Ok(behind(message, new_flags, payload, drops_payload));
    }
    if let RequestBody::Execute(execute) = &mut request {
        execute.result_metadata_id = result_metadata_id;
    }
    let mut out = BytesMut::with_capacity(message.body.len() + 32);
    if !drops_payload {
        out.put_slice(message.body.get(..payload).unwrap_or_default());
    }
    request.encode(to, &mut out);
    out.put_slice(reader.remaining());
    Ok(Message {
        opcode,
        flags: new_flags,
        body: Cow::Owned(out.into()),
    })
}

/// The message as it came, but for what stands in front of it, if that is dropped.
pub(super) fn behind(
    message: Message<'_>,
    flags: Flags,
    front: usize,
    drops_front: bool,
) -> Message<'_> {
    let body = match (message.body, drops_front) {
        (body, false) => body,
        (Cow::Borrowed(body), true) => Cow::Borrowed(body.get(front..).unwrap_or_default()),
        (Cow::Owned(mut body), true) => {
            body.drain(..front.min(body.len()));
            Cow::Owned(body)
        }
    };
    Message {
        opcode: message.opcode,
        flags,
        body,
    }
}
