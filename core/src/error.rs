//! [`Error`]: what went wrong, whose fault it was, and the ERROR that answers it. Nothing is formatted
//! before it is displayed. Answers to native protocol v5, section 9, in Cassandra's words.

mod kind;

use std::fmt;

use bytes::{BufMut, BytesMut};

pub use kind::ErrorKind;

use crate::codes::{ErrorCode, Opcode};
use crate::compression::CompressionError;
use crate::envelope::StreamId;
use crate::message::{ErrorDetail, ErrorResponse};
use crate::segment::CrcMismatch;
use crate::wire::{DecodeError, WireWrite, put_displayed};

/// An error of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A body doesn't decode. Scoped to its stream.
    Decode(DecodeError),
    /// The peer broke the protocol otherwise.
    Peer(PeerMisbehaved),
    /// The caller used a connection in a way it can't be used.
    Misuse(Misuse),
}

/// What becomes of a connection after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The error concerns one request: answer it and go on.
    Stream,
    /// The connection can't go on.
    Fatal,
}

/// How a peer broke the protocol. At most 24 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerMisbehaved {
    /// A protocol version that isn't spoken here.
    UnsupportedVersion(u8),
    /// A version in beta, without the flag that asks for it.
    BetaVersion(u8),
    /// A version older than those that this server takes.
    OldVersion {
        /// The envelope's version.
        got: u8,
        /// The oldest that is taken.
        oldest: u8,
    },
    /// Another version than the one agreed upon.
    VersionChanged {
        /// The envelope's version.
        got: u8,
        /// The connection's version.
        agreed: u8,
    },
    /// A message that only the other end may send.
    WrongDirection(Opcode),
    /// A request with the response bit in its version byte.
    ResponseBit(Opcode),
    /// A first byte of a response without the response bit: what answers doesn't speak the protocol.
    RequestBit(u8),
    /// An answer on a stream on which nothing was asked.
    UnknownStream(StreamId),
    /// An opcode that doesn't exist.
    UnknownOpcode(Opcode),
    /// A body length below zero; what follows can't be told.
    NegativeLength(i32),
    /// An envelope above the limit, before v5.
    EnvelopeTooLong {
        /// Its length in bytes, header included.
        length: u64,
        /// The limit in bytes, header included.
        limit: u64,
    },
    /// A v5 message above the limit.
    MessageTooLong {
        /// The body's length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A damaged segment header.
    SegmentHeader(CrcMismatch),
    /// A damaged segment payload.
    SegmentPayload(CrcMismatch),
    /// A body or a segment that doesn't decompress.
    Compression(CompressionError),
    /// An envelope that goes on beyond its self-contained segment.
    CutSegment,
    /// A self-contained segment amidst the parts of another message.
    InterruptedMessage,
    /// A message of several segments before authentication is complete.
    LongMessageBeforeLogin,
    /// A second malformed envelope in one segment.
    RepeatedErrors,
    /// Something other than OPTIONS or STARTUP before STARTUP.
    ExpectedStartup(Opcode),
    /// Something other than AUTH_RESPONSE during authentication.
    ExpectedAuthResponse(Opcode),
    /// A second STARTUP.
    AlreadyStarted(Opcode),
    /// A message that may not come now.
    Unexpected(Opcode),
    /// STARTUP without `CQL_VERSION`.
    MissingCqlVersion,
    /// A `CQL_VERSION` that is no version.
    InvalidCqlVersion(Box<str>),
    /// A `CQL_VERSION` below 3.0.0.
    UnsupportedCqlVersion(Box<str>),
    /// A `COMPRESSION` that isn't offered.
    UnknownCompression(Box<str>),
    /// snappy in v5.
    SnappyInV5,
    /// A custom payload before v4.
    PayloadBeforeV4,
    /// More requests or bytes in flight than allowed; the request was discarded.
    Overloaded,
    /// The handshake took too long.
    HandshakeTimeout,
    /// Nothing came for too long.
    IdleTimeout,
    /// Events it registered for were not read.
    EventsUnread,
}

/// How a caller misused a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// A ticket of another connection.
    #[error("the ticket belongs to another connection")]
    ForeignTicket,
    /// The connection is closed, or closing.
    #[error("the connection is closed")]
    Closed,
    /// An answer to a challenge that the server didn't make, or that was answered before.
    #[error("no challenge waits for an answer")]
    NotChallenged,
}

/// A command that was refused, with what it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected<T> {
    /// Why.
    pub reason: Misuse,
    /// The command's argument, handed back.
    pub value: T,
}

impl<T> fmt::Display for Rejected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<T: fmt::Debug> std::error::Error for Rejected<T> {}

impl Error {
    /// What becomes of the connection.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        match self {
            Error::Decode(_) => Scope::Stream,
            Error::Peer(error) => error.scope(),
            Error::Misuse(_) => Scope::Fatal,
        }
    }

    /// The code of the ERROR that answers it.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Error::Decode(_) => ErrorCode::PROTOCOL_ERROR,
            Error::Peer(error) => error.code(),
            Error::Misuse(_) => ErrorCode::SERVER_ERROR,
        }
    }

    /// Writes the body of the ERROR that answers it, which reads the same in every version. Its text is
    /// made in place. It is Cassandra's, which doesn't say where in a body the error is.
    #[cold]
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u32(self.code().0);
        match self {
            Error::Decode(DecodeError { kind, .. }) => match kind.words() {
                Some(words) => out.put_string(words),
                None => put_displayed(out, kind),
            },
            Error::Peer(PeerMisbehaved::UnsupportedVersion(version)) => {
                put_unsupported(out, *version);
            }
            Error::Peer(error) => put_displayed(out, error),
            Error::Misuse(error) => put_displayed(out, error),
        }
    }

    /// The ERROR that answers it, to keep. Where a connection is at hand,
    /// [`Responder::reject`](crate::Responder::reject) answers without making one.
    #[must_use]
    pub fn response(&self) -> ErrorResponse {
        ErrorResponse {
            code: self.code(),
            message: match self {
                Error::Decode(DecodeError { kind, .. }) => match kind.words() {
                    Some(words) => words.into(),
                    None => kind.to_string().into(),
                },
                other => other.to_string().into(),
            },
            detail: ErrorDetail::None,
        }
    }
}

impl PeerMisbehaved {
    /// What becomes of the connection. Where it depends on the framing, this is the milder one: see
    /// [`Event::Closed`](crate::connection::Event::Closed) for what did close a connection.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        match self {
            PeerMisbehaved::NegativeLength(_)
            | PeerMisbehaved::RequestBit(_)
            | PeerMisbehaved::UnknownStream(_)
            | PeerMisbehaved::SegmentHeader(_)
            | PeerMisbehaved::SegmentPayload(_)
            | PeerMisbehaved::LongMessageBeforeLogin
            | PeerMisbehaved::RepeatedErrors
            | PeerMisbehaved::HandshakeTimeout
            | PeerMisbehaved::IdleTimeout
            | PeerMisbehaved::EventsUnread => Scope::Fatal,
            _ => Scope::Stream,
        }
    }

    /// The code of the ERROR that answers it.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            PeerMisbehaved::EnvelopeTooLong { .. } | PeerMisbehaved::MessageTooLong { .. } => {
                ErrorCode::INVALID
            }
            PeerMisbehaved::Overloaded => ErrorCode::OVERLOADED,
            _ => ErrorCode::PROTOCOL_ERROR,
        }
    }
}

/// What is said of a version that isn't spoken, around its number.
const UNSUPPORTED_VERSION: [&str; 2] = [
    "Invalid or unsupported protocol version (",
    "); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)",
];

/// A \[string\] of what [`PeerMisbehaved::UnsupportedVersion`] displays. A storm of strangers is told it:
/// formatting would make it dearer than the answer to OPTIONS.
fn put_unsupported(out: &mut BytesMut, version: u8) {
    let digits = [version / 100, version / 10 % 10, version % 10].map(|digit| b'0' + digit);
    let leading_zeros = match version {
        0..10 => 2,
        10..100 => 1,
        100.. => 0,
    };
    let number = digits.get(leading_zeros..).unwrap_or_default();
    let [before, after] = UNSUPPORTED_VERSION;
    out.put_u16((before.len() + number.len() + after.len()) as u16);
    out.put_slice(before.as_bytes());
    out.put_slice(number);
    out.put_slice(after.as_bytes());
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Decode(error) => error.fmt(f),
            Error::Peer(error) => error.fmt(f),
            Error::Misuse(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl std::error::Error for PeerMisbehaved {}

impl fmt::Display for PeerMisbehaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerMisbehaved::UnsupportedVersion(version) => {
                let [before, after] = UNSUPPORTED_VERSION;
                write!(f, "{before}{version}{after}")
            }
            PeerMisbehaved::BetaVersion(version) => write!(
                f,
                "Beta version of the protocol used ({version}/v{version}-beta), \
                 but USE_BETA flag is unset"
            ),
            PeerMisbehaved::OldVersion { got, oldest } => write!(
                f,
                "Rejecting Protocol Version {got}/v{got} < {oldest}/v{oldest}."
            ),
            PeerMisbehaved::VersionChanged { got, agreed } => write!(
                f,
                "Invalid message version. Got {got}/v{got} but previous messages \
                 on this connection had version {agreed}/v{agreed}"
            ),
            PeerMisbehaved::WrongDirection(opcode) => write!(
                f,
                "Wrong protocol direction (expected RESPONSE, got REQUEST) \
                 for opcode {} ({opcode})",
                opcode.0
            ),
            PeerMisbehaved::ResponseBit(opcode) => write!(
                f,
                "Wrong protocol direction (expected REQUEST, got RESPONSE) \
                 for opcode {} ({opcode})",
                opcode.0
            ),
            PeerMisbehaved::RequestBit(byte) => {
                write!(
                    f,
                    "No response of the protocol begins with the byte {byte:#04x}"
                )
            }
            PeerMisbehaved::UnknownStream(stream) => {
                write!(
                    f,
                    "An answer came on stream {stream}, where nothing was asked"
                )
            }
            PeerMisbehaved::UnknownOpcode(opcode) => write!(f, "Unknown opcode {}", opcode.0),
            PeerMisbehaved::NegativeLength(length) => write!(
                f,
                "Invalid value for envelope header body length field: {length}"
            ),
            PeerMisbehaved::EnvelopeTooLong { length, limit } => write!(
                f,
                "Request is too big: length {length} exceeds maximum allowed length {limit}."
            ),
            PeerMisbehaved::MessageTooLong { length, limit } => write!(
                f,
                "CQL Message of size {length} bytes exceeds allowed maximum of {limit} bytes"
            ),
            PeerMisbehaved::SegmentHeader(crc) => crc_mismatch(f, "header", *crc),
            PeerMisbehaved::SegmentPayload(crc) => crc_mismatch(f, "body", *crc),
            PeerMisbehaved::Compression(error) => error.fmt(f),
            PeerMisbehaved::CutSegment => {
                f.write_str("An envelope goes on beyond its self-contained frame")
            }
            PeerMisbehaved::InterruptedMessage => {
                f.write_str("A self-contained frame interrupts a message of several frames")
            }
            PeerMisbehaved::LongMessageBeforeLogin => {
                f.write_str("A message of several frames came before authentication was complete")
            }
            PeerMisbehaved::RepeatedErrors => {
                f.write_str("More than one malformed message in a frame")
            }
            PeerMisbehaved::ExpectedStartup(opcode) => {
                write!(
                    f,
                    "Unexpected message {opcode}, expecting STARTUP or OPTIONS"
                )
            }
            PeerMisbehaved::ExpectedAuthResponse(opcode) => {
                write!(f, "Unexpected message {opcode}, expecting SASL_RESPONSE")
            }
            PeerMisbehaved::AlreadyStarted(opcode) => write!(
                f,
                "Unexpected message {opcode}, the connection is already initialized"
            ),
            PeerMisbehaved::Unexpected(opcode) => write!(f, "Unexpected message {opcode}"),
            PeerMisbehaved::MissingCqlVersion => {
                f.write_str("Missing value CQL_VERSION in STARTUP message")
            }
            PeerMisbehaved::InvalidCqlVersion(text) => write!(f, "Invalid version value: {text}"),
            PeerMisbehaved::UnsupportedCqlVersion(text) => write!(
                f,
                "CQL version {text} is not supported by the binary protocol \
                 (supported version are >= 3.0.0)"
            ),
            PeerMisbehaved::UnknownCompression(name) => {
                write!(f, "Unknown compression algorithm: {name}")
            }
            PeerMisbehaved::SnappyInV5 => {
                f.write_str("Snappy compression is not supported in protocol V5")
            }
            PeerMisbehaved::PayloadBeforeV4 => f.write_str(
                "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4",
            ),
            PeerMisbehaved::Overloaded => {
                f.write_str("Request breached the limit on requests or bytes in flight")
            }
            PeerMisbehaved::HandshakeTimeout => f.write_str("The handshake took too long"),
            PeerMisbehaved::IdleTimeout => f.write_str("The connection was idle for too long"),
            PeerMisbehaved::EventsUnread => f.write_str("Too many events were not read"),
        }
    }
}

fn crc_mismatch(f: &mut fmt::Formatter<'_>, part: &str, crc: CrcMismatch) -> fmt::Result {
    write!(
        f,
        "invalid, unrecoverable CRC mismatch detected in frame {part}. Read {}, Computed {}",
        crc.read.cast_signed(),
        crc.computed.cast_signed()
    )
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Error {
        Error::Decode(error)
    }
}

impl From<PeerMisbehaved> for Error {
    fn from(error: PeerMisbehaved) -> Error {
        Error::Peer(error)
    }
}

impl From<Misuse> for Error {
    fn from(error: Misuse) -> Error {
        Error::Misuse(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unsupported_version_is_told_what_it_displays() {
        for version in 0..=u8::MAX {
            let error = Error::Peer(PeerMisbehaved::UnsupportedVersion(version));
            let (mut told, mut displayed) = (BytesMut::new(), BytesMut::new());
            error.encode(&mut told);
            displayed.put_u32(ErrorCode::PROTOCOL_ERROR.0);
            displayed.put_string(&error.to_string());
            assert_eq!(told, displayed);
        }
    }

    #[test]
    fn an_error_is_small_enough_for_a_hot_path() {
        assert!(size_of::<PeerMisbehaved>() <= 24);
        assert!(size_of::<Error>() <= 32);
    }

    #[test]
    fn too_long_is_invalid_and_the_rest_is_a_protocol_error() {
        let long = PeerMisbehaved::MessageTooLong {
            length: 2,
            limit: 1,
        };
        assert_eq!(long.code(), ErrorCode::INVALID);
        assert_eq!(
            PeerMisbehaved::AlreadyStarted(Opcode::STARTUP).code(),
            ErrorCode::PROTOCOL_ERROR
        );
    }

    #[test]
    fn drivers_find_the_words_they_search_for() {
        let text = PeerMisbehaved::UnsupportedVersion(66).to_string();
        assert_eq!(
            text,
            "Invalid or unsupported protocol version (66); \
             supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"
        );
    }
}
