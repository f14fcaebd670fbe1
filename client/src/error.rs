//! [`Error`]: what goes wrong for a user of a client, whose fault it is, and whether to try again.

use helenus_core::connection::{CallError, ClientError, Owner, Retry, SendRefused};
use helenus_core::message::{BindError, TooMany};
use helenus_core::rows::RowError;
use helenus_core::{DecodeError, ErrorResponse, Opcode, ProtocolVersion};
use std::io;
use std::sync::Arc;

/// Why a call has no result. Cloning it copies little.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered ERROR.
    #[error(transparent)]
    Server(Box<ErrorResponse>),
    /// No answer came in time, or none that can be read.
    #[error(transparent)]
    Call(CallError),
    /// The connection is over.
    #[error("the connection is over: {reason}")]
    Lost {
        /// Whether any of the request may have left.
        sent: bool,
        /// Why.
        reason: Lost,
    },
    /// The request can't be sent as it is.
    #[error(transparent)]
    Refused(SendRefused),
    /// The values can't be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The rows aren't as they were to be read.
    #[error(transparent)]
    Row(#[from] RowError),
    /// More than 65,535 statements, values or types of events.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    /// The answer doesn't decode.
    #[error("the answer doesn't decode: {0}")]
    Malformed(helenus_core::Error),
    /// The answer isn't of a kind that answers this request, or the result isn't of the kind asked for.
    #[error("the answer is of another kind than expected: {0}")]
    Unexpected(Opcode),
    /// The server had forgotten the statement, and its variables, or its id in a batch, are others now: its
    /// values are to be bound anew.
    #[error("the prepared statement is another one since the schema changed")]
    StatementChanged,
    /// A stream of events was read more slowly than events came, and some were lost.
    #[error("events came faster than they were read")]
    SlowReader,
}

/// Why a connection is over, or didn't come about.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The protocol's side of it: the server refused, broke the protocol, fell silent or ended the
    /// connection.
    #[error(transparent)]
    Connection(#[from] ClientError),
    /// The socket broke, or didn't connect.
    #[error(transparent)]
    Socket(Arc<io::Error>),
    /// TLS failed: the server isn't trusted, doesn't trust the client, or doesn't speak it.
    #[error(transparent)]
    Tls(helenus_tls::Error),
    /// The client couldn't say who it is.
    #[error("authentication failed: {0}")]
    Authentication(String),
    /// The connection was dropped: the runtime that ran it ended, or what was in flight took longer than
    /// [`Config::drain_timeout`](crate::Config::drain_timeout) after the last client was gone.
    #[error("it was dropped")]
    Dropped,
}

impl Error {
    /// The failure to open a socket.
    #[must_use]
    pub fn socket(error: io::Error) -> Self {
        let reason = Lost::Socket(Arc::new(error));
        Error::Lost {
            sent: false,
            reason,
        }
    }

    /// Whether the call may be made again, on this connection if it isn't over, or on another.
    #[must_use]
    pub fn may_retry(&self) -> Retry {
        match self {
            Error::Server(error) => error.code.may_retry(),
            Error::Call(error) => error.may_retry(),
            Error::Lost { sent: false, .. } => Retry::Always,
            Error::Lost { sent: true, .. } | Error::Malformed(_) => Retry::IfIdempotent,
            _ => Retry::Never,
        }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self {
            Error::Server(error) => Owner::of(error.code),
            Error::Call(error) => error.owner(),
            Error::Lost { reason, .. } => match reason {
                Lost::Connection(error) => error.owner(),
                Lost::Socket(_) | Lost::Tls(_) => Owner::Unknown,
                Lost::Authentication(_) | Lost::Dropped => Owner::Caller,
            },
            Error::Malformed(_) | Error::Unexpected(_) => Owner::Peer,
            _ => Owner::Caller,
        }
    }

    /// The version to connect again with, if the server refused this one.
    pub(crate) fn step_down(&self) -> Option<ProtocolVersion> {
        match self {
            Error::Lost {
                reason: Lost::Connection(error),
                ..
            } => error.step_down(),
            _ => None,
        }
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Lost { sent, reason } => Error::Lost {
                sent,
                reason: reason.into(),
            },
            error => Error::Call(error),
        }
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Error::Malformed(error.into())
    }
}
