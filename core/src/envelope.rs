//! The 9-byte header in front of every message, and the envelope it opens, its body undecoded.
//! Answers to native protocol v5, section 2.

use std::fmt;

use bytes::{BufMut, Bytes};

use crate::codes::Opcode;

/// Which way a message goes; the top bit of the version byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From client to server.
    Request,
    /// From server to client.
    Response,
}

/// An envelope's flags; undefined bits survive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag set.
    pub const NONE: Self = Self(0);
    /// The body is compressed (v3, v4).
    pub const COMPRESSION: Self = Self(0x01);
    /// The request asks for tracing, or the response begins with a tracing id.
    pub const TRACING: Self = Self(0x02);
    /// The body carries a custom payload (from v4).
    pub const CUSTOM_PAYLOAD: Self = Self(0x04);
    /// The response carries warnings (from v4).
    pub const WARNING: Self = Self(0x08);
    /// The client accepts a version that is still in beta.
    pub const USE_BETA: Self = Self(0x10);

    /// Whether every bit of `other` is set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These flags but those of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:#04x})", self.0)
    }
}

/// Ties a response to its request. Clients use 0 and above; servers push events on -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamId(pub i16);

impl StreamId {
    /// The stream of pushed events.
    pub const EVENT: Self = Self(-1);
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The header of an envelope, as it stands on the wire: nothing in it is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    /// The protocol version, without the direction bit (0 to 127).
    pub version: u8,
    /// The direction bit.
    pub direction: Direction,
    /// The flags.
    pub flags: Flags,
    /// The stream.
    pub stream: StreamId,
    /// The opcode.
    pub opcode: Opcode,
    /// The body's length in bytes. The wire's number is signed: one above `i32::MAX` was negative.
    pub length: u32,
}

impl Header {
    /// A header's length in bytes.
    pub const SIZE: usize = 9;

    /// Reads a header; any nine bytes are one.
    #[inline]
    #[must_use]
    pub const fn decode(bytes: &[u8; Self::SIZE]) -> Self {
        let [version, flags, s0, s1, opcode, l0, l1, l2, l3] = *bytes;
        Self {
            version: version & 0x7F,
            direction: if version & 0x80 == 0 {
                Direction::Request
            } else {
                Direction::Response
            },
            flags: Flags(flags),
            stream: StreamId(i16::from_be_bytes([s0, s1])),
            opcode: Opcode(opcode),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }

    /// The header's bytes.
    #[inline]
    #[must_use]
    pub const fn encode(&self) -> [u8; Self::SIZE] {
        let direction = match self.direction {
            Direction::Request => 0,
            Direction::Response => 0x80,
        };
        let [s0, s1] = self.stream.0.to_be_bytes();
        let [l0, l1, l2, l3] = self.length.to_be_bytes();
        let version = (self.version & 0x7F) | direction;
        [version, self.flags.0, s0, s1, self.opcode.0, l0, l1, l2, l3]
    }
}

/// One message with its body undecoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The header; its length is the body's.
    pub header: Header,
    /// The body as received: compressed if the flags say so.
    pub body: Bytes,
}

impl Envelope {
    /// Writes header and body.
    pub fn encode(&self, out: &mut impl BufMut) {
        out.put_slice(&self.header.encode());
        out.put_slice(&self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_nine_bytes_are_a_header_and_come_back() {
        for first in 0..=u8::MAX {
            let bytes = [first, !first, 0x80, 0x01, first, 0xFF, first, 0, 7];
            assert_eq!(Header::decode(&bytes).encode(), bytes);
        }
    }

    #[test]
    fn fields_stand_where_the_specification_puts_them() {
        let header = Header::decode(&[0x84, 0x0A, 0xFF, 0xFF, 0x0C, 0, 0, 1, 2]);
        assert_eq!(
            header,
            Header {
                version: 4,
                direction: Direction::Response,
                flags: Flags::TRACING.with(Flags::WARNING),
                stream: StreamId::EVENT,
                opcode: Opcode::EVENT,
                length: 258,
            }
        );
    }
}
