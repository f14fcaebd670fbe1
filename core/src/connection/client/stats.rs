//! [`ClientStats`]: plain counters of a client's connection.

use crate::connection::stats::ErrorCounts;

/// What a client's connection has seen since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStats {
    /// Requests written, those of the handshake and heartbeats included.
    pub requests: u64,
    /// Answers handed out.
    pub answers: u64,
    /// Those of them that were ERRORs.
    pub errors: u64,
    /// Events handed out.
    pub events: u64,
    /// Bytes of output that were sent.
    pub bytes_sent: u64,
    /// Requests that weren't answered in time.
    pub timed_out: u64,
    /// Requests that were cancelled.
    pub cancelled: u64,
    /// Late replies to requests that were given up, discarded.
    pub late: u64,
    /// Received envelopes and segments that broke the protocol, or a limit, by their kind.
    pub faults: ErrorCounts,
    /// Heartbeats sent.
    pub heartbeats: u64,
}
