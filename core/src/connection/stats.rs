//! [`Stats`]: plain counters of a connection. Nothing is shared: whoever drives the connection adds the
//! differences to what it publishes.

use crate::codes::ErrorCode;
use crate::error::{Error, Scope};

/// What a connection has seen since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Well-formed requests, those of the handshake included.
    pub requests: u64,
    /// Answers written.
    pub responses: u64,
    /// Events written.
    pub events: u64,
    /// Bytes of output that were sent.
    pub bytes_sent: u64,
    /// Answers that were ERRORs, whoever wrote them.
    pub errors: u64,
    /// Received envelopes and segments that broke the protocol.
    pub malformed: u64,
    /// Requests discarded for their length.
    pub too_long: u64,
    /// Requests discarded and answered OVERLOADED.
    pub overloaded: u64,
    /// Fatal errors: zero or one.
    pub fatal: u64,
}

impl Stats {
    /// Counts a fault by its kind.
    pub(crate) fn count(&mut self, error: &Error, scope: Scope) {
        match error.code() {
            ErrorCode::INVALID => self.too_long += 1,
            ErrorCode::OVERLOADED => self.overloaded += 1,
            _ => self.malformed += 1,
        }
        if scope == Scope::Fatal {
            self.fatal += 1;
        }
    }
}
