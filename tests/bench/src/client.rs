//! The bytes of requests.

use bytes::BufMut;
use helenus_core::crc::crc32;
use helenus_core::segment::{SegmentFormat, SegmentHeader};

/// An envelope.
#[must_use]
pub fn envelope(version: u8, stream: u16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![version, 0];
    out.put_u16(stream);
    out.put_u8(opcode);
    out.put_u32(u32::try_from(body.len()).expect("short bodies"));
    out.put_slice(body);
    out
}

/// Envelopes as they travel after the handshake: in v5 within one segment.
#[must_use]
pub fn framed(version: u8, envelopes: &[u8]) -> Vec<u8> {
    if version < 5 {
        return envelopes.to_vec();
    }
    let header = SegmentHeader {
        payload: u32::try_from(envelopes.len()).expect("one segment"),
        uncompressed: 0,
        self_contained: true,
    };
    let mut out = header.encode(SegmentFormat::Plain)[..6].to_vec();
    out.extend_from_slice(envelopes);
    out.put_u32_le(crc32(envelopes));
    out
}

/// STARTUP without options.
#[must_use]
pub fn startup(version: u8) -> Vec<u8> {
    let mut body = vec![0, 1];
    for text in ["CQL_VERSION", "3.0.0"] {
        body.put_u16(u16::try_from(text.len()).expect("short texts"));
        body.put_slice(text.as_bytes());
    }
    envelope(version, 0, 1, &body)
}

/// QUERY or PREPARE of a text.
#[must_use]
pub fn text(version: u8, opcode: u8, text: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(u32::try_from(text.len()).expect("short texts"));
    body.put_slice(text.as_bytes());
    match (opcode, version) {
        (7, 5) => body.put_slice(&[0, 1, 0, 0, 0, 0]),
        (7, _) => body.put_slice(&[0, 1, 0]),
        (_, 5) => body.put_u32(0),
        _ => {}
    }
    envelope(version, 1, opcode, &body)
}

/// EXECUTE at consistency ONE.
#[must_use]
pub fn execute(
    version: u8,
    stream: u16,
    id: &[u8],
    metadata_id: &[u8],
    skip_metadata: bool,
    values: &[&[u8]],
) -> Vec<u8> {
    let mut body = Vec::new();
    for id in [id, metadata_id]
        .iter()
        .take(if version == 5 { 2 } else { 1 })
    {
        body.put_u16(u16::try_from(id.len()).expect("short ids"));
        body.put_slice(id);
    }
    body.put_u16(1);
    let flags = if skip_metadata { 0x03 } else { 0x01 };
    if version == 5 {
        body.put_u32(flags.into());
    } else {
        body.put_u8(flags);
    }
    body.put_u16(u16::try_from(values.len()).expect("few values"));
    for value in values {
        body.put_u32(u32::try_from(value.len()).expect("short values"));
        body.put_slice(value);
    }
    envelope(version, stream, 0x0A, &body)
}
