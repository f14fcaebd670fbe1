//! Responses and events on their way to another version.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::request::behind;
use super::{ForwardError, Message};
use crate::codes::{ErrorCode, Opcode, ProtocolVersion};
use crate::envelope::Flags;
use crate::message::{
    ErrorResponse, Prepared, Response, RowsView, SchemaChange, ServerEvent, result_kind,
};
use crate::wire::{DecodeError, Reader};

/// The response or event as `to` has it, where it came as `from` has it.
///
/// Between equal versions, and where the bodies of both agree, nothing is copied. Otherwise the message is decoded and
/// written anew.
///
/// # Errors
///
/// [`ForwardError::Decode`], which is the sender's fault: it isn't what the receiver asked for.
pub fn response(
    message: Message<'_>,
    from: ProtocolVersion,
    to: ProtocolVersion,
) -> Result<Message<'_>, ForwardError> {
    if from == to {
        return Ok(message);
    }
    let Message { opcode, flags, .. } = message;
    let mut reader = Reader::new(&message.body);
    if flags.contains(Flags::TRACING) {
        reader.uuid()?;
    }
    let traced = reader.position();
    // v3 has neither warnings nor payload, whatever its flags say.
    let new_flags = match from.min(to) {
        ProtocolVersion::V3 => flags.without(Flags::WARNING).without(Flags::CUSTOM_PAYLOAD),
        _ => flags,
    };
    if from >= ProtocolVersion::V4 {
        if flags.contains(Flags::WARNING) {
            reader.string_list()?;
        }
        if flags.contains(Flags::CUSTOM_PAYLOAD) {
            reader.bytes_map()?;
        }
    }
    let at = reader.position();
    let drops_extras = to < ProtocolVersion::V4 && at > traced;

    let anew = match opcode {
        Opcode::RESULT => result(&message.body, &mut reader, from, to)?,
        Opcode::ERROR => error(&mut reader, from)?,
        Opcode::EVENT => event(&mut reader, from, to)?,
        _ => None,
    };
    if anew.is_none() && (!drops_extras || traced == 0) {
        return Ok(behind(message, new_flags, at, drops_extras));
    }
    let body = &message.body;
    let mut out = BytesMut::with_capacity(body.len() + 32);
    let front = if drops_extras { traced } else { at };
    out.put_slice(body.get(..front).unwrap_or_default());
    match anew {
        Some(Anew::Response(response)) => {
            let has_rows = matches!(response, Response::Rows(_));
            response.encode(to, &mut out);
            // What is behind rows went with them.
            if !has_rows {
                out.put_slice(reader.remaining());
            }
        }
        Some(Anew::Event(event)) => {
            event.encode(to, &mut out);
            out.put_slice(reader.remaining());
        }
        None => out.put_slice(body.get(at..).unwrap_or_default()),
    }
    Ok(Message {
        opcode,
        flags: new_flags,
        body: Cow::Owned(out.into()),
    })
}

/// A message that the versions write differently.
enum Anew {
    Response(Response),
    Event(ServerEvent),
}

/// A RESULT, if the versions differ in it.
fn result(
    body: &[u8],
    reader: &mut Reader<'_>,
    from: ProtocolVersion,
    to: ProtocolVersion,
) -> Result<Option<Anew>, DecodeError> {
    let at = reader.position();
    let response = match reader.int()? {
        result_kind::ROWS => {
            let view = RowsView::decode(from, body, at)?;
            if view.is_none_or(|view| view.is_written_alike(from, to)) {
                return Ok(None);
            }
            Response::decode(Opcode::RESULT, from, &Bytes::copy_from_slice(body), at)?
        }
        result_kind::PREPARED => {
            let mut prepared = Prepared::decode(reader, from)?;
            if from < ProtocolVersion::V5 {
                let id = prepared.id.clone();
                prepared.result = prepared
                    .result
                    .map(|result| Arc::new(Arc::unwrap_or_clone(result).with_id(id)));
            }
            Response::Prepared(Box::new(prepared))
        }
        result_kind::SCHEMA_CHANGE if to < ProtocolVersion::V4 => {
            let change = SchemaChange::decode(reader, from)?;
            if change.target.is_known_to(to) {
                return Ok(None);
            }
            Response::SchemaChange(change)
        }
        _ => return Ok(None),
    };
    Ok(Some(Anew::Response(response)))
}

/// An ERROR, if the versions differ in its code or in what follows its message.
fn error(reader: &mut Reader<'_>, from: ProtocolVersion) -> Result<Option<Anew>, DecodeError> {
    match ErrorCode(reader.clone().int()?.cast_unsigned()) {
        ErrorCode::WRITE_TIMEOUT
        | ErrorCode::READ_FAILURE
        | ErrorCode::WRITE_FAILURE
        | ErrorCode::FUNCTION_FAILURE
        | ErrorCode::CDC_WRITE_FAILURE
        | ErrorCode::CAS_WRITE_UNKNOWN => {
            let error = ErrorResponse::decode(reader, from)?;
            Ok(Some(Anew::Response(error.into())))
        }
        _ => Ok(None),
    }
}

/// An EVENT, if the versions differ in it.
fn event(
    reader: &mut Reader<'_>,
    from: ProtocolVersion,
    to: ProtocolVersion,
) -> Result<Option<Anew>, DecodeError> {
    if to >= ProtocolVersion::V4 {
        return Ok(None);
    }
    match ServerEvent::decode(reader, from)? {
        ServerEvent::SchemaChange(change) if !change.target.is_known_to(to) => {
            Ok(Some(Anew::Event(ServerEvent::SchemaChange(change))))
        }
        _ => Ok(None),
    }
}
