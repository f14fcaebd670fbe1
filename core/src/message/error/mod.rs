//! ERROR: the code, the message, and what each code adds. Answers to native protocol v5, section 9.

mod codec;
mod detail;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

pub use detail::{ErrorDetail, FailureReasons, WriteType};

use crate::codes::{Consistency, ErrorCode};

/// ERROR: a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorResponse {
    /// Why.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: Cow<'static, str>,
    /// What the code adds.
    pub detail: ErrorDetail,
}

impl ErrorResponse {
    /// An error whose code adds nothing.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: ErrorDetail::None,
        }
    }

    /// SERVER_ERROR.
    #[must_use]
    pub fn server_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::SERVER_ERROR, message)
    }

    /// PROTOCOL_ERROR.
    #[must_use]
    pub fn protocol_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::PROTOCOL_ERROR, message)
    }

    /// OVERLOADED.
    #[must_use]
    pub fn overloaded(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::OVERLOADED, message)
    }

    /// SYNTAX_ERROR.
    #[must_use]
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::SYNTAX_ERROR, message)
    }

    /// INVALID.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID, message)
    }

    /// UNAUTHORIZED.
    #[must_use]
    pub fn unauthorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::UNAUTHORIZED, message)
    }

    /// CONFIG_ERROR.
    #[must_use]
    pub fn config(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::CONFIG_ERROR, message)
    }

    /// BAD_CREDENTIALS.
    #[must_use]
    pub fn bad_credentials(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::BAD_CREDENTIALS, message)
    }

    /// UNAVAILABLE, in Apache Cassandra's words.
    #[must_use]
    pub fn unavailable(consistency: Consistency, required: i32, alive: i32) -> Self {
        Self {
            code: ErrorCode::UNAVAILABLE,
            message: format!("Cannot achieve consistency level {consistency}").into(),
            detail: ErrorDetail::Unavailable {
                consistency,
                required,
                alive,
            },
        }
    }

    /// ALREADY_EXISTS of a keyspace (`table` empty) or a table, in Apache Cassandra's words.
    #[must_use]
    pub fn already_exists(keyspace: &str, table: &str) -> Self {
        let message = if table.is_empty() {
            format!("Cannot add existing keyspace \"{keyspace}\"")
        } else {
            format!("Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
        };
        Self {
            code: ErrorCode::ALREADY_EXISTS,
            message: message.into(),
            detail: ErrorDetail::AlreadyExists {
                keyspace: keyspace.to_owned(),
                table: table.to_owned(),
            },
        }
    }

    /// UNPREPARED, in Apache Cassandra's words.
    #[must_use]
    pub fn unprepared(id: &[u8]) -> Self {
        // Without a formatter, which takes twice as long as a request that is answered well.
        let mut message = String::with_capacity(256);
        message.push_str("Prepared query with ID ");
        message.extend(
            id.iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .map(hex_digit),
        );
        message.push_str(
            " not found (either the query was not prepared on this host (maybe the host has been \
             restarted?) or you have prepared too many queries and it has been evicted from the \
             internal cache)",
        );
        Self {
            code: ErrorCode::UNPREPARED,
            message: message.into(),
            detail: ErrorDetail::Unprepared {
                id: Bytes::copy_from_slice(id),
            },
        }
    }

    /// FUNCTION_FAILURE.
    #[must_use]
    pub fn function_failure(
        keyspace: &str,
        function: &str,
        arguments: Vec<String>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: ErrorCode::FUNCTION_FAILURE,
            message: message.into(),
            detail: ErrorDetail::FunctionFailure {
                keyspace: keyspace.to_owned(),
                function: function.to_owned(),
                arguments,
            },
        }
    }
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ErrorResponse {}

/// The digit of a number below 16.
fn hex_digit(number: u8) -> char {
    char::from(
        b"0123456789abcdef"
            .get(usize::from(number))
            .copied()
            .unwrap_or(b'0'),
    )
}
