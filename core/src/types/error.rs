//! [`ValueError`]: bytes that are no value of their type, or a value that isn't of its type or of the Rust type it is read as.

use std::fmt;

use super::CqlType;

/// Why bytes are no value of a type, or a value can't be read or written as one. Displays as Apache Cassandra words it,
/// where it has words.
// The wide tag keeps a value that shares its place with an error in whole words: a `Uuid` behind a narrow one was moved
// in pieces, which costs 4 ns each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum ValueError {
    /// The wrong number of bytes.
    Length {
        /// What would be right.
        expected: &'static str,
        /// How many there are.
        length: usize,
    },
    /// A text isn't UTF-8.
    InvalidUtf8,
    /// A byte of an `ascii` value is above 127.
    InvalidAscii(u8),
    /// A `timeuuid` isn't of version 1; its first byte, whose upper half Cassandra shows for the version.
    NotTimeBased(u8),
    /// An address is neither 4 nor 16 bytes long; its first bytes.
    InvalidInet(Box<[u8]>),
    /// A collection ends early: "list", "set", "map".
    Truncated(&'static str),
    /// A collection's count of elements is negative.
    NegativeCount(&'static str),
    /// Bytes follow a collection's last element.
    Trailing(&'static str),
    /// A null where elements may not be null.
    NullElement,
    /// A tuple or user type ends within a field's length.
    CutFieldLength(usize),
    /// A tuple or user type ends within a field.
    CutField(usize),
    /// Bytes follow the last field: "tuple", "UDT".
    TrailingFields(&'static str),
    /// A vector of no bytes.
    EmptyVector,
    /// A vector ends early.
    TruncatedVector(CqlType),
    /// So many bytes follow a vector's last element.
    TrailingVector(usize, CqlType),
    /// A duration's integers are cut or out of range.
    InvalidDuration,
    /// A duration's months don't fit 32 bits.
    DurationMonths(i64),
    /// A duration's days don't fit 32 bits.
    DurationDays(i64),
    /// A duration's parts differ in sign.
    DurationSigns(i32, i32, i64),
    /// A value isn't of this type, or the type isn't one that a value can be read as.
    Mismatch(CqlType),
    /// A null, read as what can't be null.
    Null,
    /// The value of no bytes, read as what can't be empty.
    Empty,
    /// An unset value where only a statement's variable may be unset.
    Unset,
    /// A [`Value`](super::Value) to be written without a type.
    Untyped,
    /// A tuple or user type has no such field.
    NoField,
    /// A value of the type that the Rust type has no room for: the Rust type.
    OutOfRange(&'static str),
    /// A value to be encoded is longer than the protocol can say.
    TooLong,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, length } => write!(f, "{expected} ({length})"),
            Self::InvalidUtf8 => f.write_str("String didn't validate."),
            Self::InvalidAscii(byte) => {
                write!(f, "Invalid byte for ascii: {}", byte.cast_signed())
            }
            Self::NotTimeBased(first) => {
                write!(f, "Invalid version for TimeUUID type: {:#x}", first >> 4)
            }
            Self::InvalidInet(bytes) => {
                f.write_str("Expected 4 or 16 byte inetaddress; got ")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Truncated(kind) => write!(f, "Not enough bytes to read a {kind}"),
            Self::NegativeCount(kind) => {
                write!(f, "The data cannot be deserialized as a {kind}")
            }
            Self::Trailing(kind) => write!(f, "Unexpected extraneous bytes after {kind} value"),
            Self::NullElement => f.write_str("Null value read when not allowed"),
            Self::CutFieldLength(index) => {
                write!(f, "Not enough bytes to read size of {index}th component")
            }
            Self::CutField(index) => write!(f, "Not enough bytes to read {index}th component"),
            Self::TrailingFields(kind) => {
                write!(f, "Invalid remaining data after end of {kind} value")
            }
            Self::EmptyVector => f.write_str("Invalid empty vector value"),
            Self::TruncatedVector(ty) => write!(f, "Not enough bytes to read a {ty}"),
            Self::TrailingVector(extra, ty) => {
                write!(f, "Unexpected {extra} extraneous bytes after {ty} value")
            }
            Self::InvalidDuration => f.write_str("Invalid encoding of a duration"),
            Self::DurationMonths(months) => {
                write!(
                    f,
                    "The duration months must be a 32 bits integer but was: {months}"
                )
            }
            Self::DurationDays(days) => {
                write!(
                    f,
                    "The duration days must be a 32 bits integer but was: {days}"
                )
            }
            Self::DurationSigns(months, days, nanoseconds) => write!(
                f,
                "The duration months, days and nanoseconds must be all of the same sign \
                 ({months}, {days}, {nanoseconds})"
            ),
            Self::Mismatch(ty) => write!(f, "The value is not of type {ty}"),
            Self::Null => f.write_str("The value is null"),
            Self::Empty => f.write_str("The value is empty"),
            Self::Unset => f.write_str("The value is unset"),
            Self::Untyped => f.write_str("The type of the value isn't known"),
            Self::NoField => f.write_str("The type has no such field"),
            Self::OutOfRange(rust) => write!(f, "The value is out of range for {rust}"),
            Self::TooLong => f.write_str("The value is longer than 2147483647 bytes"),
        }
    }
}

impl std::error::Error for ValueError {}
