//! What a server sends, byte by byte, and what it reads.

use bytes::BufMut;
use helenus_core::crc::crc32;
use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER};
use helenus_core::{Direction, Flags, Header, Opcode, StreamId};

/// A response's envelope.
pub(crate) fn response(
    version: u8,
    flags: u8,
    stream: i16,
    opcode: Opcode,
    body: &[u8],
) -> Vec<u8> {
    let header = Header {
        version,
        direction: Direction::Response,
        flags: Flags(flags),
        stream: StreamId(stream),
        opcode,
        length: u32::try_from(body.len()).unwrap(),
    };
    [&header.encode()[..], body].concat()
}

/// RESULT void.
pub(crate) fn void(version: u8, stream: i16) -> Vec<u8> {
    response(version, 0, stream, Opcode::RESULT, &[0, 0, 0, 1])
}

/// READY to STARTUP.
pub(crate) fn ready(version: u8) -> Vec<u8> {
    response(version, 0, 0, Opcode::READY, &[])
}

/// ERROR with this code and text.
pub(crate) fn error(version: u8, stream: i16, code: u32, text: &str) -> Vec<u8> {
    response(version, 0, stream, Opcode::ERROR, &error_body(code, text))
}

/// The body of an ERROR.
pub(crate) fn error_body(code: u32, text: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(code);
    put_string(&mut body, text);
    body
}

/// SUPPORTED with these options.
pub(crate) fn supported(version: u8, options: &[(&str, &[&str])]) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u16(u16::try_from(options.len()).unwrap());
    for (name, values) in options {
        put_string(&mut body, name);
        body.put_u16(u16::try_from(values.len()).unwrap());
        for value in *values {
            put_string(&mut body, value);
        }
    }
    response(version, 0, 0, Opcode::SUPPORTED, &body)
}

pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    out.put_u16(u16::try_from(text.len()).unwrap());
    out.put_slice(text.as_bytes());
}

/// A segment whose payload isn't compressed.
pub(crate) fn segment(format: SegmentFormat, self_contained: bool, payload: &[u8]) -> Vec<u8> {
    let header = SegmentHeader {
        payload: u32::try_from(payload.len()).unwrap(),
        uncompressed: 0,
        self_contained,
    };
    let mut out = header.encode(format)[..format.header_len()].to_vec();
    out.extend_from_slice(payload);
    out.put_u32_le(crc32(payload));
    out
}

/// What a server reads: bare envelopes, or those within plain segments.
pub(crate) fn requests(mut bytes: &[u8]) -> Vec<(Header, Vec<u8>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        match SegmentHeader::decode(SegmentFormat::Plain, bytes) {
            Some(Ok(segment)) => {
                let start = SegmentFormat::Plain.header_len();
                let end = start + segment.payload as usize;
                found.extend(requests(&bytes[start..end]));
                bytes = &bytes[end + TRAILER..];
            }
            _ => {
                let header = Header::decode(bytes.first_chunk().expect("a whole header"));
                assert_eq!(header.direction, Direction::Request);
                let end = Header::SIZE + header.length as usize;
                found.push((header, bytes[Header::SIZE..end].to_vec()));
                bytes = &bytes[end..];
            }
        }
    }
    found
}
