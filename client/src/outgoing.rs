//! A request on its way: borrowed from who makes it, and then as the pump finds it.

use crate::calls::Key;
use crate::statement::Payload;
use bytes::{BufMut, BytesMut};
use helenus_core::wire::WireWrite;
use helenus_core::{Flags, Opcode, ProtocolVersion, RequestBody, ResultMetadata};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    Request(RequestBody<'a>),
    /// As it came from elsewhere; nor is its answer decoded.
    Undecoded {
        opcode: Opcode,
        flags: Flags,
        body: &'a [u8],
    },
}

impl Content<'_> {
    pub(crate) const fn opcode(&self) -> Opcode {
        match self {
            Content::Request(request) => request.opcode(),
            Content::Undecoded { opcode, .. } => *opcode,
        }
    }

    pub(crate) const fn is_undecoded(&self) -> bool {
        matches!(self, Content::Undecoded { .. })
    }

    /// Whether the version can say it. What isn't decoded is its sender's matter.
    pub(crate) fn fits(&self, version: ProtocolVersion) -> bool {
        match self {
            Content::Request(request) => request.fits(version),
            Content::Undecoded { .. } => true,
        }
    }
}

/// A request and what goes with it, until there is room to encode it.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) content: Content<'a>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tracing: bool,
    pub(crate) payload: Option<&'a Payload>,
    /// What the rows of an answer without metadata are read with.
    pub(crate) metadata: Option<&'a Arc<ResultMetadata>>,
}

impl<'a> Outgoing<'a> {
    /// A request with nothing else.
    pub(crate) fn new(content: Content<'a>, timeout: Option<Duration>) -> Self {
        Outgoing {
            content,
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
        match &self.content {
            Content::Request(request) => {
                request.encode(version, out);
                flags
            }
            Content::Undecoded { flags, body, .. } => {
                out.put_slice(body);
                *flags
            }
        }
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
    /// Whether its answer is left undecoded.
    pub(crate) is_undecoded: bool,
    /// Not to be sent any more.
    pub(crate) is_void: bool,
}
