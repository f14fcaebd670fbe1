//! [`Retry`] and [`Owner`]: whether a request may be sent again, and whose fault it was that it must be.

use crate::codes::ErrorCode;

/// Whether a request that failed may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Retry {
    /// No: it would fail again, or it was run.
    Never,
    /// If running it twice does no harm: it may have been run.
    IfIdempotent,
    /// Yes: it wasn't run.
    Always,
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Who made the request, or configured the connection.
    Caller,
    /// The server.
    Peer,
    /// The network's, the server's or nobody's: it can't be told from here.
    Unknown,
}

impl Owner {
    /// Whose fault it is that a server answers with this code.
    #[must_use]
    pub const fn of(code: ErrorCode) -> Owner {
        match code {
            ErrorCode::PROTOCOL_ERROR
            | ErrorCode::BAD_CREDENTIALS
            | ErrorCode::SYNTAX_ERROR
            | ErrorCode::UNAUTHORIZED
            | ErrorCode::INVALID
            | ErrorCode::CONFIG_ERROR
            | ErrorCode::ALREADY_EXISTS
            | ErrorCode::UNPREPARED
            | ErrorCode::FUNCTION_FAILURE => Owner::Caller,
            _ => Owner::Peer,
        }
    }
}

impl ErrorCode {
    /// Whether a request that was answered with this code may be sent again; after
    /// [`UNPREPARED`](ErrorCode::UNPREPARED), once the statement is prepared again.
    #[must_use]
    pub const fn may_retry(self) -> Retry {
        match self {
            Self::UNAVAILABLE | Self::OVERLOADED | Self::IS_BOOTSTRAPPING | Self::UNPREPARED => {
                Retry::Always
            }
            Self::SERVER_ERROR
            | Self::TRUNCATE_ERROR
            | Self::READ_TIMEOUT
            | Self::READ_FAILURE
            | Self::WRITE_TIMEOUT
            | Self::WRITE_FAILURE
            | Self::CAS_WRITE_UNKNOWN => Retry::IfIdempotent,
            // What no code of ours says may be anything.
            code if !code.is_known() => Retry::IfIdempotent,
            _ => Retry::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_run_may_always_be_sent_again() {
        assert_eq!(ErrorCode::OVERLOADED.may_retry(), Retry::Always);
        assert_eq!(ErrorCode::UNPREPARED.may_retry(), Retry::Always);
        assert_eq!(ErrorCode::WRITE_TIMEOUT.may_retry(), Retry::IfIdempotent);
        assert_eq!(ErrorCode(0x7777).may_retry(), Retry::IfIdempotent);
        assert_eq!(ErrorCode::SYNTAX_ERROR.may_retry(), Retry::Never);
        assert_eq!(ErrorCode::ALREADY_EXISTS.may_retry(), Retry::Never);
        assert!(Retry::Never < Retry::IfIdempotent && Retry::IfIdempotent < Retry::Always);
    }
}
