//! A request on its way: borrowed from who makes it, and then as the pump finds it.

use crate::calls::Key;
use crate::statement::Payload;
use bytes::BytesMut;
use helenus_core::wire::WireWrite;
use helenus_core::{Flags, Opcode, ProtocolVersion, RequestBody, ResultMetadata};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A request and what goes with it, until there is room to encode it.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) body: RequestBody<'a>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tracing: bool,
    pub(crate) payload: Option<&'a Payload>,
    /// What the rows of an answer without metadata are read with.
    pub(crate) metadata: Option<&'a Arc<ResultMetadata>>,
}

impl<'a> Outgoing<'a> {
    /// A request with nothing else.
    pub(crate) fn new(body: RequestBody<'a>, timeout: Option<Duration>) -> Self {
        Outgoing {
            body,
            timeout,
            tracing: false,
            payload: None,
            metadata: None,
        }
    }

    /// Writes the body, and gives the flags of its envelope. v3 carries no payload.
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) -> Flags {
        let mut flags = Flags::NONE;
        if self.tracing {
            flags = flags.with(Flags::TRACING);
        }
        if let Some(payload) = self.payload.filter(|_| version >= ProtocolVersion::V4) {
            flags = flags.with(Flags::CUSTOM_PAYLOAD);
            out.put_bytes_map(payload);
        }
        self.body.encode(version, out);
        flags
    }
}

/// A request that was encoded and waits to be sent.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) key: Key,
    pub(crate) opcode: Opcode,
    pub(crate) flags: Flags,
    /// The bytes of its body.
    pub(crate) length: usize,
    pub(crate) timeout: Option<Duration>,
    /// When the timeout ends, once the pump has seen the request.
    pub(crate) deadline: Option<Instant>,
    pub(crate) metadata: Option<Arc<ResultMetadata>>,
    /// Not to be sent any more.
    pub(crate) is_void: bool,
}
