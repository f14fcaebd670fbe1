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

/// How envelopes travel after the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One after the other: v3 and v4.
    Bare,
    /// The same, their bodies compressed with lz4.
    BareLz4,
    /// All of them in one segment: v5.
    Together,
    /// The same, the segment compressed.
    TogetherLz4,
    /// Each in a segment of its own.
    Apart,
    /// Each in several segments of at most so many bytes.
    Parts(usize),
}

impl Framing {
    /// Of this version, uncompressed.
    #[must_use]
    pub const fn plain(version: u8) -> Framing {
        match version {
            5 => Framing::Together,
            _ => Framing::Bare,
        }
    }

    /// Of this version, compressed.
    #[must_use]
    pub const fn lz4(version: u8) -> Framing {
        match version {
            5 => Framing::TogetherLz4,
            _ => Framing::BareLz4,
        }
    }

    /// Whether STARTUP must ask for compression.
    #[must_use]
    pub const fn is_compressed(self) -> bool {
        matches!(self, Framing::BareLz4 | Framing::TogetherLz4)
    }

    /// Envelopes as they travel.
    #[must_use]
    pub fn frame(self, envelopes: &[Vec<u8>]) -> Vec<u8> {
        match self {
            Framing::Bare => envelopes.concat(),
            Framing::BareLz4 => envelopes.iter().flat_map(|one| compressed(one)).collect(),
            Framing::Together => segment(SegmentFormat::Plain, true, &envelopes.concat()),
            Framing::TogetherLz4 => segment(SegmentFormat::Lz4, true, &envelopes.concat()),
            Framing::Apart => envelopes
                .iter()
                .flat_map(|one| segment(SegmentFormat::Plain, true, one))
                .collect(),
            Framing::Parts(length) => envelopes
                .iter()
                .flat_map(|one| one.chunks(length))
                .flat_map(|part| segment(SegmentFormat::Plain, false, part))
                .collect(),
        }
    }
}

/// An envelope whose body is compressed.
fn compressed(envelope: &[u8]) -> Vec<u8> {
    let (header, body) = envelope.split_at(9);
    let block = lz4_flex::block::compress(body);
    let mut out = header.to_vec();
    out[1] |= 1;
    out.truncate(5);
    out.put_u32(u32::try_from(4 + block.len()).expect("short bodies"));
    out.put_u32(u32::try_from(body.len()).expect("short bodies"));
    out.put_slice(&block);
    out
}

fn segment(format: SegmentFormat, self_contained: bool, envelopes: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("one segment");
    let (payload, uncompressed) = match format {
        SegmentFormat::Plain => (envelopes.to_vec(), 0),
        SegmentFormat::Lz4 => (lz4_flex::block::compress(envelopes), length(envelopes)),
    };
    let header = SegmentHeader {
        payload: length(&payload),
        uncompressed,
        self_contained,
    };
    let mut out = header.encode(format)[..format.header_len()].to_vec();
    out.extend_from_slice(&payload);
    out.put_u32_le(crc32(&payload));
    out
}

/// STARTUP.
#[must_use]
pub fn startup(version: u8, lz4: bool) -> Vec<u8> {
    let options = [("CQL_VERSION", "3.0.0"), ("COMPRESSION", "lz4")];
    let options = options.get(..if lz4 { 2 } else { 1 }).unwrap_or(&options);
    let mut body = Vec::new();
    body.put_u16(u16::try_from(options.len()).expect("few options"));
    for text in options.iter().flat_map(|(key, value)| [key, value]) {
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
    put_values(&mut body, values);
    envelope(version, stream, 0x0A, &body)
}

/// A logged BATCH of two statements with the same id and values, at consistency ONE.
#[must_use]
pub fn batch(version: u8, stream: u16, id: &[u8], values: &[&[u8]]) -> Vec<u8> {
    let mut body = vec![0, 0, 2];
    for _ in 0..2 {
        body.put_u8(1);
        body.put_u16(u16::try_from(id.len()).expect("short ids"));
        body.put_slice(id);
        put_values(&mut body, values);
    }
    body.put_u16(1);
    body.put_bytes(0, if version == 5 { 4 } else { 1 });
    envelope(version, stream, 0x0D, &body)
}

fn put_values(body: &mut Vec<u8>, values: &[&[u8]]) {
    body.put_u16(u16::try_from(values.len()).expect("few values"));
    for value in values {
        body.put_u32(u32::try_from(value.len()).expect("short values"));
        body.put_slice(value);
    }
}
