//! The bytes of what a probe sends.

use std::collections::HashMap;

use bytes::BufMut;
use helenus_core::crc::crc32;
use helenus_core::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader};
use helenus_core::{Direction, Flags, Header, Opcode, StreamId};

use super::probe::{Notation, Part};
use crate::command::hex;

/// What earlier replies of the probe carried, by the names that the probe gave.
pub(super) type Captured = HashMap<String, Vec<u8>>;

/// The bytes of these parts.
///
/// # Errors
/// What is wrong with the probe.
pub(super) fn render(parts: &[Part], captured: &Captured) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for part in parts {
        put(part, captured, &mut out)?;
    }
    Ok(out)
}

fn put(part: &Part, captured: &Captured, out: &mut Vec<u8>) -> Result<(), String> {
    match part {
        Part::Hex(digits) => out.extend(hex::decode(digits)?),
        Part::Repeat { repeat, count } => out.extend(hex::decode(repeat)?.repeat(*count)),
        Part::Captured { var, notation } => {
            let bytes = captured
                .get(var)
                .ok_or_else(|| format!("nothing was captured as {var}"))?;
            match notation {
                Notation::Raw => {}
                Notation::ShortBytes => out.put_u16(bytes.len() as u16),
                Notation::Bytes => out.put_u32(bytes.len() as u32),
            }
            out.extend_from_slice(bytes);
        }
        Part::Envelope { envelope } => {
            let body = render(envelope.body.as_slice(), captured)?;
            let flags = Flags(envelope.flags);
            let (stream, opcode) = (StreamId(envelope.stream), Opcode(envelope.opcode));
            out.extend(self::envelope(
                envelope.version,
                flags,
                stream,
                opcode,
                &body,
            ));
        }
        Part::Segment { segment } => {
            let payload = render(segment.payload.as_slice(), captured)?;
            let format = match segment.format.as_deref() {
                Some("lz4") => SegmentFormat::Lz4,
                _ => SegmentFormat::Plain,
            };
            put_segment(format, segment.self_contained, &payload, out)?;
        }
    }
    Ok(())
}

/// A request's envelope.
pub(super) fn envelope(
    version: u8,
    flags: Flags,
    stream: StreamId,
    opcode: Opcode,
    body: &[u8],
) -> Vec<u8> {
    let length = body.len() as u32;
    let header = Header {
        version,
        direction: Direction::Request,
        flags,
        stream,
        opcode,
        length,
    };
    // A probe of the direction bit says so in the version.
    let mut out = header.encode().to_vec();
    if let Some(first) = out.first_mut() {
        *first = version;
    }
    out.extend_from_slice(body);
    out
}

fn put_segment(
    format: SegmentFormat,
    self_contained: bool,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), String> {
    if payload.len() > MAX_PAYLOAD {
        return Err(format!("a segment can't hold {} bytes", payload.len()));
    }
    let header = SegmentHeader {
        payload: payload.len() as u32,
        uncompressed: 0,
        self_contained,
    };
    out.extend(header.encode(format).iter().take(format.header_len()));
    out.extend_from_slice(payload);
    out.put_u32_le(crc32(payload));
    Ok(())
}
