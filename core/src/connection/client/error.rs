//! What goes wrong on a client's connection, whose fault it is, and whether to try again: [`ClientError`]
//! of the connection, [`CallError`] of one request, [`SendRefused`] of one that wasn't sent.

use std::fmt;
use std::sync::Arc;

use super::retry::{Owner, Retry};
use crate::codes::{ErrorCode, Opcode, ProtocolVersion};
use crate::compression::CompressionError;
use crate::error::PeerMisbehaved;
use crate::message::ErrorResponse;
use crate::transition::State;
use crate::wire::DecodeError;

/// Why a connection is over. Cloning it copies no text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
    /// The server doesn't speak the version.
    VersionRefused {
        /// The version that was tried.
        tried: ProtocolVersion,
        /// The next one of the configuration that the server may speak.
        next: Option<ProtocolVersion>,
        /// In the server's words.
        error: Arc<ErrorResponse>,
    },
    /// The server answered the handshake, or the connection as a whole, with an ERROR: wrong credentials
    /// come while [`State::Authenticating`].
    Refused {
        /// How far the connection had come.
        state: State,
        /// The server's ERROR.
        error: Arc<ErrorResponse>,
    },
    /// The server broke the protocol.
    Peer(PeerMisbehaved),
    /// A message of the handshake doesn't decode.
    Decode(DecodeError),
    /// The handshake took too long.
    HandshakeTimeout,
    /// The server gave no sign of life.
    Unresponsive,
    /// More requests were given up, and not answered, than
    /// [`ClientLimits::max_orphans`](super::ClientLimits::max_orphans).
    TooManyOrphans,
    /// The server ended the connection.
    Ended,
}

impl ClientError {
    /// The version to connect again with, if it was the version that the server refused.
    #[must_use]
    pub const fn step_down(&self) -> Option<ProtocolVersion> {
        match self {
            ClientError::VersionRefused { next, .. } => *next,
            _ => None,
        }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self {
            ClientError::VersionRefused { .. } => Owner::Caller,
            ClientError::Refused { error, .. } => Owner::of(error.code),
            ClientError::Peer(_) | ClientError::Decode(_) => Owner::Peer,
            ClientError::HandshakeTimeout
            | ClientError::Unresponsive
            | ClientError::TooManyOrphans
            | ClientError::Ended => Owner::Unknown,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::VersionRefused { tried, error, .. } => {
                write!(f, "the server doesn't speak {tried}: {}", error.message)
            }
            ClientError::Refused { error, .. } => write!(f, "the server refused: {error}"),
            ClientError::Peer(error) => write!(f, "the server broke the protocol: {error}"),
            ClientError::Decode(error) => {
                write!(
                    f,
                    "the server's part of the handshake doesn't decode: {error}"
                )
            }
            ClientError::HandshakeTimeout => f.write_str("the handshake took too long"),
            ClientError::Unresponsive => f.write_str("the server gave no sign of life"),
            ClientError::TooManyOrphans => {
                f.write_str("too many requests were given up and never answered")
            }
            ClientError::Ended => f.write_str("the server ended the connection"),
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClientError::VersionRefused { error, .. } | ClientError::Refused { error, .. } => {
                Some(&**error)
            }
            ClientError::Peer(error) => Some(error),
            ClientError::Decode(error) => Some(error),
            _ => None,
        }
    }
}

/// Why a request has no answer. An ERROR is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// It wasn't answered in time.
    TimedOut {
        /// Whether any of the request may have left.
        sent: bool,
    },
    /// The answer was longer than [`ClientLimits::max_envelope`](super::ClientLimits::max_envelope).
    TooLong {
        /// The answer's length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The answer doesn't decompress.
    Compression(CompressionError),
    /// The connection is over.
    Lost {
        /// Whether any of the request may have left.
        sent: bool,
        /// Why.
        reason: ClientError,
    },
}

impl CallError {
    /// Whose fault it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self {
            CallError::TimedOut { .. } => Owner::Unknown,
            CallError::TooLong { .. } => Owner::Caller,
            CallError::Compression(_) => Owner::Peer,
            CallError::Lost { reason, .. } => reason.owner(),
        }
    }

    /// Whether the request may be sent again, on this connection or another.
    #[must_use]
    pub const fn may_retry(&self) -> Retry {
        match self {
            CallError::TimedOut { sent: false } | CallError::Lost { sent: false, .. } => {
                Retry::Always
            }
            // It was run; only the answer would be too long again.
            CallError::TooLong { .. } => Retry::Never,
            CallError::TimedOut { .. } | CallError::Lost { .. } | CallError::Compression(_) => {
                Retry::IfIdempotent
            }
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::TimedOut { .. } => f.write_str("the request wasn't answered in time"),
            CallError::TooLong { length, limit } => write!(
                f,
                "the answer has {length} bytes, more than the {limit} that are taken"
            ),
            CallError::Compression(error) => write!(f, "the answer doesn't decompress: {error}"),
            CallError::Lost { reason, .. } => write!(f, "the connection was lost: {reason}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Compression(error) => Some(error),
            CallError::Lost { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Why a request wasn't sent. Nothing was written; the connection is as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SendRefused {
    /// The handshake isn't over.
    #[error("the connection isn't ready")]
    NotReady,
    /// As many requests as allowed wait for their answers.
    #[error("too many requests are in flight")]
    TooManyInFlight,
    /// As much output as allowed waits to be sent.
    #[error("too much output is waiting")]
    TooMuchUnsent,
    /// The connection is closed, or closing.
    #[error("the connection is closed")]
    Closed,
    /// The request isn't one that may be sent on a connection that is ready.
    #[error("{0} may not be sent now")]
    OutOfPlace(Opcode),
    /// The request says something that the connection's version can't: a keyspace or a time of its own
    /// before v5, an unset value or a payload before v4. Left out, it would be another request.
    #[error("{0} can't say all of the request")]
    NotInVersion(ProtocolVersion),
    /// The request is longer than an envelope can be.
    #[error("the request is longer than an envelope can be")]
    TooLong,
}

impl SendRefused {
    /// Whether the same request may be taken later on this connection: when it is ready, when something
    /// was answered, or when something was sent.
    #[must_use]
    pub const fn is_temporary(self) -> bool {
        matches!(
            self,
            SendRefused::NotReady | SendRefused::TooManyInFlight | SendRefused::TooMuchUnsent
        )
    }
}

/// Whether an ERROR says that the version isn't spoken. Cassandra 2 says it with a server error, 3 and
/// later with a protocol error and with a text of their own for versions in beta, Scylla with hers.
pub(super) fn refuses_version(error: &ErrorResponse) -> bool {
    let is_code = matches!(
        error.code,
        ErrorCode::PROTOCOL_ERROR | ErrorCode::SERVER_ERROR
    );
    let text = error.message.to_ascii_lowercase();
    let is_text = text.contains("unsupported protocol version")
        || text.contains("beta version of the protocol");
    is_code && is_text
}

/// The version to try after `tried` was refused: the next of the configuration's, unless the server's text
/// lists the versions it supports and this isn't among them.
///
/// `(supported versions are (3/v3, 4/v4))` is how Cassandra lists them; other texts list nothing.
pub(super) fn next_version(
    versions: &[ProtocolVersion],
    tried: ProtocolVersion,
    text: &str,
) -> Option<ProtocolVersion> {
    let listed = text
        .split_once("supported versions are")
        .map(|(_, list)| list);
    let is_listed = |version: &ProtocolVersion| {
        listed.is_none_or(|list| list.contains(&format!("{}/v", version.as_u8())))
    };
    let at = versions.iter().position(|version| *version == tried)?;
    versions.iter().skip(at + 1).copied().find(is_listed)
}

#[cfg(test)]
mod tests {
    use super::ProtocolVersion::{V3, V4, V5};
    use super::*;

    const LADDER: [ProtocolVersion; 3] = [V5, V4, V3];

    #[test]
    fn each_servers_refusal_of_a_version_is_known() {
        let protocol = [
            "Invalid or unsupported protocol version (5); supported versions are (3/v3, 4/v4)",
            "Invalid or unsupported protocol version (5); the lowest supported version is 3 and the greatest is 4",
            "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset",
            "Invalid or unsupported protocol version: 5",
        ];
        for text in protocol {
            assert!(
                refuses_version(&ErrorResponse::protocol_error(text)),
                "{text}"
            );
        }
        let wrapped = "io.netty.handler.codec.DecoderException: \
                       org.apache.cassandra.transport.ProtocolException: \
                       Invalid or unsupported protocol version: 4";
        assert!(refuses_version(&ErrorResponse::server_error(wrapped)));
        let other = ErrorResponse::protocol_error("Unknown compression algorithm: zstd");
        assert!(!refuses_version(&other));
        assert!(!refuses_version(&ErrorResponse::invalid(wrapped)));
    }

    #[test]
    fn the_next_version_is_one_that_the_server_lists() {
        let next = |tried, text| next_version(&LADDER, tried, text);
        assert_eq!(next(V5, "whatever"), Some(V4));
        assert_eq!(next(V4, "whatever"), Some(V3));
        assert_eq!(next(V3, "whatever"), None);
        assert_eq!(next(V5, "supported versions are (3/v3)"), Some(V3));
        assert_eq!(next(V5, "supported versions are (6/v6-beta)"), None);
        assert_eq!(next_version(&[V5, V3], V5, ""), Some(V3));
        assert_eq!(next_version(&[V4], V5, ""), None);
    }
}
