//! Bytes as peers put them on the wire: handshakes, segments with good checksums, and reading both back.

use bytes::BytesMut;
use helenus_core::compression::{Compression, decompress_segment};
use helenus_core::crc::crc32;
use helenus_core::message::{RequestBody, Startup};
use helenus_core::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader, TRAILER, check_payload};
use helenus_core::wire::Reader;
use helenus_core::{Direction, Flags, Header, Opcode, ProtocolVersion, StreamId};

use crate::input::Input;

/// An envelope.
pub(crate) fn envelope(
    version: ProtocolVersion,
    direction: Direction,
    stream: i16,
    opcode: Opcode,
    body: &[u8],
) -> Vec<u8> {
    let header = Header {
        version: version.as_u8(),
        direction,
        flags: Flags::NONE,
        stream: StreamId(stream),
        opcode,
        length: u32::try_from(body.len()).unwrap_or(u32::MAX),
    };
    [&header.encode()[..], body].concat()
}

/// A STARTUP that asks for this compression.
pub(crate) fn startup(version: ProtocolVersion, compression: Option<Compression>) -> Vec<u8> {
    // [string map]: the count, then names and values as [string]s.
    let mut body = vec![0, 1 + u8::from(compression.is_some())];
    let options = [("CQL_VERSION", Some("3.0.0"))]
        .into_iter()
        .chain([("COMPRESSION", compression.map(Compression::name))]);
    for (name, value) in options {
        let Some(value) = value else { continue };
        for text in [name, value] {
            body.extend_from_slice(&(text.len() as u16).to_be_bytes());
            body.extend_from_slice(text.as_bytes());
        }
    }
    debug_assert!(matches!(
        RequestBody::decode(Opcode::STARTUP, version, &mut Reader::new(&body)),
        Ok(RequestBody::Startup(Startup { .. }))
    ));
    envelope(version, Direction::Request, 0, Opcode::STARTUP, &body)
}

/// A segment with good checksums, its payload stored as it is.
pub(crate) fn segment(format: SegmentFormat, self_contained: bool, payload: &[u8]) -> Vec<u8> {
    compressed_segment(format, self_contained, payload, 0)
}

/// A segment with good checksums whose payload claims to decompress to `uncompressed` bytes.
pub(crate) fn compressed_segment(
    format: SegmentFormat,
    self_contained: bool,
    payload: &[u8],
    uncompressed: u32,
) -> Vec<u8> {
    let payload = &payload[..payload.len().min(MAX_PAYLOAD)];
    let header = SegmentHeader {
        payload: payload.len() as u32,
        uncompressed,
        self_contained,
    };
    let mut out = header.encode(format)[..format.header_len()].to_vec();
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32(payload).to_le_bytes());
    out
}

/// What a peer sends after the handshake. Where that is in segments, damaged checksums would stop nearly
/// every input at once: most are made good here.
pub(crate) fn after_handshake(
    mut input: Input<'_>,
    version: ProtocolVersion,
    compression: Option<Compression>,
) -> Vec<u8> {
    let sealing = input.byte();
    if version < ProtocolVersion::V5 || sealing.is_multiple_of(8) {
        return input.rest().to_vec();
    }
    let format = match compression {
        Some(_) => SegmentFormat::Lz4,
        None => SegmentFormat::Plain,
    };
    let mut out = Vec::new();
    while !input.is_empty() {
        let (kind, length) = (input.byte(), usize::from(input.short()));
        let payload = input.take(length);
        let self_contained = kind & 1 == 0;
        out.extend_from_slice(&match kind % 8 {
            7 if format == SegmentFormat::Lz4 => {
                let claimed = u32::from(input.short()) << (kind >> 6);
                compressed_segment(format, self_contained, payload, claimed)
            }
            _ => segment(format, self_contained, payload),
        });
    }
    out
}

/// One envelope as it was read, whatever it travelled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
}

/// Reads what one of our connections wrote.
///
/// # Panics
/// On what no peer could read: that is the finding.
pub(crate) fn read(mut bytes: &[u8]) -> Vec<Got> {
    let mut got = Vec::new();
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let formats = [SegmentFormat::Plain, SegmentFormat::Lz4];
        let segment = formats.into_iter().find_map(|format| {
            let header = SegmentHeader::decode(format, bytes)?.ok()?;
            Some((format, header))
        });
        let Some((format, header)) = segment else {
            let (envelope, length) = read_envelope(bytes).expect("whole envelopes");
            bytes = &bytes[length..];
            got.push(envelope);
            continue;
        };
        let length = header.payload as usize;
        assert!(length > 0, "no segment is empty");
        let behind = &bytes[format.header_len()..];
        let is_good = check_payload(behind, length).expect("whole segments");
        is_good.expect("a good CRC32");
        let mut payload = BytesMut::from(&behind[..length]);
        if header.uncompressed > 0 {
            payload.clear();
            decompress_segment(
                &behind[..length],
                header.uncompressed as usize,
                &mut payload,
            )
            .expect("a good block");
        }
        bytes = &behind[length + TRAILER..];
        if header.self_contained {
            assert!(parts.is_empty(), "no message is interrupted");
            let mut rest = &payload[..];
            while !rest.is_empty() {
                let (envelope, length) = read_envelope(rest).expect("whole envelopes");
                rest = &rest[length..];
                got.push(envelope);
            }
        } else {
            parts.extend_from_slice(&payload);
            if let Some((envelope, length)) = read_envelope(&parts) {
                assert_eq!(length, parts.len(), "parts of one envelope alone");
                got.push(envelope);
                parts.clear();
            }
        }
    }
    got
}

fn read_envelope(bytes: &[u8]) -> Option<(Got, usize)> {
    // v1 and v2 have streams of one byte.
    let short = matches!(bytes.first()?, 0x81 | 0x82);
    let length = Header::SIZE - usize::from(short);
    let mut raw = bytes.get(..length)?.to_vec();
    if short {
        raw.insert(2, if raw[2] & 0x80 == 0 { 0 } else { 0xFF });
    }
    let header = Header::decode(raw.first_chunk()?);
    let end = length + header.length as usize;
    let body = bytes.get(length..end)?.to_vec();
    Some((Got { header, body }, end))
}
