//! What a statement is executed with and can't know by itself: time and randomness come from the caller.

use helenus_core::ProtocolVersion;

/// The circumstances of one execution. An engine given the same context, statement and data answers the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The write timestamp, microseconds from 1970. No two executions share one, and later ones get greater ones:
    /// list elements are ordered by it.
    pub timestamp: i64,
    /// Seconds from 1970: what decides whether a cell has expired.
    pub now_seconds: i64,
    /// Milliseconds from 1970: what `now()` and the like say.
    pub now_millis: i64,
    /// Random bytes, fresh for each execution: they seed `uuid()`, `now()` and the paths of list elements.
    pub random: [u8; 16],
    /// The protocol version of the client.
    pub version: ProtocolVersion,
}
