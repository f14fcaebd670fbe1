//! Reading what a server sent, as a client would, and building what it is sent.

use bytes::{BufMut, BytesMut};
use helenus_core::compression::{Compression, decompress_body, decompress_segment};
use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER, check_payload};
use helenus_core::{Direction, Flags, Header, Opcode, StreamId};

/// An envelope a client got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) framing: &'static str,
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) stream: i16,
    pub(crate) opcode: Opcode,
    pub(crate) body: Vec<u8>,
}

impl Got {
    /// The code of an ERROR.
    pub(crate) fn code(&self) -> u32 {
        let start = if self.flags & 2 != 0 { 16 } else { 0 };
        u32::from_be_bytes(self.body[start..start + 4].try_into().unwrap())
    }

    /// The message of an ERROR.
    pub(crate) fn message(&self) -> String {
        let length = u16::from_be_bytes([self.body[4], self.body[5]]);
        String::from_utf8(self.body[6..6 + usize::from(length)].to_vec()).unwrap()
    }
}

/// Reads everything a server sent; panics on what no client could read.
#[derive(Default)]
pub(crate) struct Client {
    compression: Option<Compression>,
    lenient: bool,
    rest: Vec<u8>,
    parts: Vec<u8>,
    /// Segments seen so far.
    pub(crate) segments: usize,
}

impl Client {
    /// A client whose STARTUP asked for this compression.
    pub(crate) fn new(compression: Option<Compression>) -> Client {
        Client {
            compression,
            ..Client::default()
        }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<Got> {
        self.rest.extend_from_slice(bytes);
        let mut got = Vec::new();
        while !self.rest.is_empty() {
            let formats = [
                (SegmentFormat::Plain, "segment"),
                (SegmentFormat::Lz4, "segment-lz4"),
            ];
            let segment = formats.into_iter().find_map(|(format, name)| {
                let header = SegmentHeader::decode(format, &self.rest)?.ok()?;
                Some((format, name, header))
            });
            match segment {
                Some((format, name, header)) => self.read_segment(format, name, header, &mut got),
                None => self.read_bare(&mut got),
            }
        }
        got
    }

    /// Reads what may be compressed in a way nobody told; such bodies count for nothing.
    pub(crate) fn read_lenient(&mut self, bytes: &[u8]) -> Vec<Got> {
        self.lenient = true;
        self.read(bytes)
    }

    fn read_segment(
        &mut self,
        format: SegmentFormat,
        name: &'static str,
        header: SegmentHeader,
        got: &mut Vec<Got>,
    ) {
        self.segments += 1;
        let payload = self.rest[format.header_len()..].to_vec();
        let length = header.payload as usize;
        check_payload(&payload, length)
            .expect("whole segments")
            .expect("a good CRC");
        assert!(length > 0, "no segment is empty");
        let mut plain = BytesMut::new();
        if header.uncompressed > 0 {
            decompress_segment(&payload[..length], header.uncompressed as usize, &mut plain)
                .expect("a good block");
        } else {
            plain.extend_from_slice(&payload[..length]);
        }
        self.rest = payload[length + TRAILER..].to_vec();
        if header.self_contained {
            assert!(self.parts.is_empty(), "no message is interrupted");
            let mut rest = &plain[..];
            while !rest.is_empty() {
                let (envelope, length) = envelope(rest, name).expect("whole envelopes");
                rest = &rest[length..];
                got.push(envelope);
            }
        } else {
            self.parts.extend_from_slice(&plain);
            if let Some((envelope, length)) = envelope(&self.parts, name) {
                assert_eq!(length, self.parts.len(), "parts of one envelope alone");
                got.push(envelope);
                self.parts.clear();
            }
        }
    }

    fn read_bare(&mut self, got: &mut Vec<Got>) {
        let (mut envelope, length) = envelope(&self.rest, "plain").expect("whole envelopes");
        if envelope.flags & Flags::COMPRESSION.0 != 0 && !self.lenient {
            let mut body = BytesMut::new();
            let compression = self.compression.expect("an agreed compression");
            decompress_body(compression, &envelope.body, 1 << 28, &mut body).expect("a good block");
            envelope.body = body.to_vec();
        }
        self.rest.drain(..length);
        got.push(envelope);
    }
}

fn envelope(bytes: &[u8], framing: &'static str) -> Option<(Got, usize)> {
    // v1 and v2 have streams of one byte.
    let header = if matches!(bytes.first()?, 0x81 | 0x82) {
        8
    } else {
        9
    };
    let mut raw = bytes.get(..header)?.to_vec();
    if header == 8 {
        let sign = if raw[2] & 0x80 != 0 { 0xFF } else { 0 };
        raw.insert(2, sign);
    }
    let decoded = Header::decode(raw[..9].try_into().unwrap());
    assert_eq!(decoded.direction, Direction::Response);
    let end = header + decoded.length as usize;
    let body = bytes.get(header..end)?.to_vec();
    let got = Got {
        framing,
        version: decoded.version,
        flags: decoded.flags.0,
        stream: decoded.stream.0,
        opcode: decoded.opcode,
        body,
    };
    Some((got, end))
}

/// A request's envelope.
pub(crate) fn request(version: u8, flags: u8, stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let header = Header {
        version,
        direction: Direction::Request,
        flags: Flags(flags),
        stream: StreamId(stream),
        opcode: Opcode(opcode),
        length: u32::try_from(body.len()).unwrap(),
    };
    [&header.encode()[..], body].concat()
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
    out.put_u32_le(helenus_core::crc::crc32(payload));
    out
}

/// STARTUP with these options, on stream 0.
pub(crate) fn startup(version: u8, options: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u16(u16::try_from(options.len() + 1).unwrap());
    for (name, value) in [("CQL_VERSION", "3.0.0")].iter().chain(options) {
        for text in [name, value] {
            body.put_u16(u16::try_from(text.len()).unwrap());
            body.put_slice(text.as_bytes());
        }
    }
    request(version, 0, 0, 1, &body)
}

/// OPTIONS.
pub(crate) fn options(version: u8, stream: i16) -> Vec<u8> {
    request(version, 0, stream, 5, &[])
}

/// A QUERY of this text, at consistency ONE without values.
pub(crate) fn query(version: u8, stream: i16, text: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(u32::try_from(text.len()).unwrap());
    body.put_slice(text.as_bytes());
    body.put_u16(1);
    if version >= 5 {
        body.put_u32(0);
    } else {
        body.put_u8(0);
    }
    request(version, 0, stream, 7, &body)
}

/// Bytes written as hex.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
