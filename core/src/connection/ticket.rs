//! [`RequestTicket`]: the right to answer one request, once.

use std::time::Instant;

use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::StreamId;
use crate::framing::Dialect;

/// The right to answer one request of one connection, once.
///
/// Not `Clone`: whoever holds it owes the answer. Tickets travel inside a [`Reply`](super::Reply) and come
/// back through an [`Outbox`](super::Outbox) into
/// [`ServerConnection::respond`](super::ServerConnection::respond), which knows a foreign one.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a request without an answer leaves its client waiting"]
pub struct RequestTicket {
    pub(crate) connection: u64,
    pub(crate) to: Addressee,
}

impl RequestTicket {
    /// The request's stream.
    #[must_use]
    pub const fn stream(&self) -> StreamId {
        self.to.stream
    }

    /// The request's opcode.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.to.opcode
    }

    /// When the connection took the request, by its caller's clock.
    #[must_use]
    pub const fn taken(&self) -> Instant {
        self.to.taken
    }

    /// The request's protocol version.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.to.dialect.version
    }
}

/// Whom an answer goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addressee {
    pub(crate) stream: StreamId,
    pub(crate) opcode: Opcode,
    pub(crate) dialect: Dialect,
    /// The request's bytes, which count as in flight until the answer is sent.
    pub(crate) bytes: usize,
    pub(crate) taken: Instant,
}
