//! [`DecodeError`]: what was wrong with received bytes, and where. A value of twelve bytes; its text is
//! made only when it is displayed.

use std::fmt;

use crate::codes::{Consistency, ErrorCode, Opcode, ProtocolVersion};

/// Bytes that don't decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecodeError {
    /// What was wrong.
    pub kind: DecodeErrorKind,
    /// Where: bytes from the start of the body, of the item that doesn't decode.
    pub offset: u32,
}

impl DecodeError {
    /// An error of this kind at this offset.
    #[inline]
    #[must_use]
    pub const fn new(kind: DecodeErrorKind, offset: u32) -> Self {
        Self { kind, offset }
    }

    /// The code of the ERROR that answers it: always a protocol error. (Apache Cassandra answers cut
    /// numbers with a server error that carries a Java exception.)
    #[inline]
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        ErrorCode::PROTOCOL_ERROR
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {} of the body)", self.kind, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Why bytes don't decode. Displays as Apache Cassandra words it, where it has words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The body ends within a number, an id or a length.
    UnexpectedEnd,
    /// The body ends within a \[string\].
    CutString,
    /// The body ends within a \[long string\], or its length is negative.
    CutLongString,
    /// The body ends within \[short bytes\].
    CutShortBytes,
    /// The body ends within \[bytes\] or a \[value\].
    CutBytes,
    /// A string isn't UTF-8.
    InvalidUtf8,
    /// A \[value\]'s length is below -2.
    InvalidValueLength(i32),
    /// A count is negative, or more than the bytes behind it can hold.
    InvalidCount(i32),
    /// An \[inet\] is neither 4 nor 16 bytes long.
    InvalidInetLength(u8),
    /// A port isn't within 0 to 65535.
    InvalidPort(i32),
    /// A \[vint\] doesn't fit its type.
    VintOutOfRange,
    /// No such consistency level.
    UnknownConsistency(Consistency),
    /// No such batch type.
    InvalidBatchType(u8),
    /// A batch's statement is neither a text (0) nor prepared (1).
    InvalidStatementKind(u8),
    /// A default timestamp is the least long, which no cell may have.
    TimestampOutOfBounds,
    /// A statement asks for pages of no rows; the offset is that of its parameters.
    ZeroPageSize,
    /// No such event type.
    UnknownEventType,
    /// The event type isn't defined in this version.
    EventNotInVersion(ProtocolVersion),
    /// No such kind of change in an event or a schema change.
    UnknownChange,
    /// No such target of a schema change.
    UnknownSchemaTarget,
    /// The opcode isn't one that can be decoded here.
    UnexpectedOpcode(Opcode),
    /// No such kind of RESULT.
    UnknownResultKind(i32),
    /// No such type id.
    UnknownType(u16),
    /// A type nests deeper than [`MAX_TYPE_DEPTH`](crate::types::MAX_TYPE_DEPTH).
    NestedTooDeep,
}

impl DecodeErrorKind {
    /// What it says, if it says the same each time.
    pub(crate) const fn words(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnexpectedEnd => "Not enough bytes to read a fixed-size item",
            Self::CutString => {
                "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length"
            }
            Self::CutLongString => {
                "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"
            }
            Self::CutShortBytes => {
                "Not enough bytes to read a byte array preceded by its 2 bytes length"
            }
            Self::CutBytes => {
                "Not enough bytes to read a byte array preceded by its 4 bytes length"
            }
            Self::InvalidUtf8 => "Cannot decode string as UTF8",
            Self::VintOutOfRange => "Variable-length integer out of range",
            Self::ZeroPageSize => "The page size cannot be 0",
            Self::UnknownEventType => "Invalid value for Type",
            Self::UnknownChange => "Invalid kind of change",
            Self::UnknownSchemaTarget => "Invalid target of a schema change",
            Self::NestedTooDeep => "A type is nested too deep",
            _ => return None,
        })
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidValueLength(length) => write!(f, "Invalid ByteBuf length {length}"),
            Self::InvalidCount(count) => write!(f, "Invalid count {count}"),
            Self::InvalidInetLength(length) => write!(f, "Invalid length {length} of an address"),
            Self::InvalidPort(port) => write!(f, "Invalid port {port}"),
            Self::UnknownConsistency(Consistency(code)) => {
                write!(f, "Unknown code {code} for a consistency level")
            }
            // Java's bytes are signed.
            Self::InvalidBatchType(code) => {
                write!(f, "Invalid BATCH message type {}", code.cast_signed())
            }
            Self::InvalidStatementKind(code) => write!(
                f,
                "Invalid query kind in BATCH messages. Must be 0 or 1 but got {}",
                code.cast_signed()
            ),
            Self::TimestampOutOfBounds => write!(
                f,
                "Out of bound timestamp, must be in [{}, {}] (got {})",
                i64::MIN + 1,
                i64::MAX,
                i64::MIN
            ),
            // Of all types only this one came later than v3.
            Self::EventNotInVersion(version) => write!(
                f,
                "Event TRACE_COMPLETE not valid for protocol version {number}/{version}",
                number = version.as_u8()
            ),
            Self::UnexpectedOpcode(opcode) => write!(f, "Unexpected opcode {opcode}"),
            Self::UnknownResultKind(kind) => write!(f, "Unknown kind {kind} of result"),
            Self::UnknownType(id) => write!(f, "Unknown type id {id:#06x}"),
            fixed => f.write_str(fixed.words().unwrap_or_default()),
        }
    }
}
