//! Requests: how they are written, and what is remembered of them until their answers come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::ClientConnection;
use super::error::SendRefused;
use crate::codes::{Opcode, ProtocolVersion};
use crate::connection::exchange::Closed;
use crate::envelope::{Flags, StreamId};
use crate::message::{RequestBody, ResultMetadata};
use crate::streams::{CallId, Found, MAX_STREAMS, Streams};
use crate::timers::DeadlineQueue;
use crate::transition::{Role, State, sent};
use crate::wire::WireWrite;

/// How a request is sent. The default is how the configuration says, with nothing attached.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CallOptions<'a> {
    /// How long to wait for the answer, instead of
    /// [`ClientConfig::request_timeout`](super::ClientConfig::request_timeout). A duration beyond the
    /// clock's range is for ever.
    pub timeout: Option<Duration>,
    /// Whether to ask for tracing.
    pub tracing: bool,
    /// A custom payload (from v4).
    pub payload: Option<&'a [(String, Option<Bytes>)]>,
    /// The metadata that describes the rows of the answer if the server leaves it out: what PREPARE, or an
    /// answer since, gave for the statement executed here.
    pub result_metadata: Option<&'a Arc<ResultMetadata>>,
}

impl<'a> CallOptions<'a> {
    /// These options with a deadline of their own.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// These options with tracing.
    #[must_use]
    pub const fn with_tracing(mut self) -> Self {
        self.tracing = true;
        self
    }

    /// These options with a custom payload.
    #[must_use]
    pub const fn with_payload(mut self, payload: &'a [(String, Option<Bytes>)]) -> Self {
        self.payload = Some(payload);
        self
    }

    /// These options with the metadata of the rows to come.
    #[must_use]
    pub const fn with_result_metadata(mut self, metadata: &'a Arc<ResultMetadata>) -> Self {
        self.result_metadata = Some(metadata);
        self
    }
}

/// What is remembered of a request.
#[derive(Debug)]
struct Call {
    metadata: Option<Arc<ResultMetadata>>,
    /// No byte of it stands before this position of the output.
    start: u64,
}

/// The requests in flight and their deadlines.
#[derive(Debug)]
pub(super) struct Calls {
    streams: Streams<Call>,
    deadlines: DeadlineQueue,
}

impl Calls {
    pub(super) const fn new() -> Calls {
        Calls {
            streams: Streams::new(),
            deadlines: DeadlineQueue::new(),
        }
    }

    /// Requests that wait for their answers.
    #[inline]
    pub(super) const fn count(&self) -> usize {
        self.streams.calls()
    }

    pub(super) const fn orphans(&self) -> usize {
        self.streams.orphans()
    }

    /// An answer came on this stream; with it goes the metadata that its request knew.
    #[inline]
    pub(super) fn answered(&mut self, stream: StreamId) -> Found<Option<Arc<ResultMetadata>>> {
        match self.streams.answered(stream) {
            Found::Call(id, call) => {
                self.deadlines.remove(id.key());
                Found::Call(id, call.metadata)
            }
            Found::Orphan => Found::Orphan,
            Found::Nothing => Found::Nothing,
        }
    }

    /// Gives a request up; false if it doesn't wait.
    pub(super) fn orphan(&mut self, id: CallId) -> bool {
        let is_waiting = self.streams.orphan(id).is_some();
        if is_waiting {
            self.deadlines.remove(id.key());
        }
        is_waiting
    }

    /// Gives the request up whose deadline passed first, if one has; and whether any of it was sent, of
    /// whose output everything before `position` was.
    pub(super) fn expire(&mut self, now: Instant, position: u64) -> Option<(CallId, bool)> {
        let (at, key) = self.deadlines.first()?;
        if at > now {
            return None;
        }
        self.deadlines.remove(key);
        let id = self.streams.on(key)?;
        let call = self.streams.orphan(id)?;
        Some((id, call.start < position))
    }

    /// The earliest deadline.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Some(self.deadlines.first()?.0)
    }

    /// Takes any request out, when no answer will come any more; and whether any of it was sent.
    pub(super) fn pop(&mut self, position: u64) -> Option<(CallId, bool)> {
        let (id, call) = self.streams.pop()?;
        Some((id, call.start < position))
    }
}

impl ClientConnection {
    /// Writes a request; its answer, or its failure, comes as an event.
    ///
    /// # Errors
    ///
    /// [`SendRefused`]; nothing is written then.
    #[inline]
    pub fn send(
        &mut self,
        now: Instant,
        request: &RequestBody<'_>,
        options: &CallOptions<'_>,
    ) -> Result<CallId, SendRefused> {
        let version = self.dialect.version;
        if !request.fits(version) {
            return Err(SendRefused::NotInVersion(version));
        }
        let mut flags = Flags::NONE;
        if options.tracing {
            flags = flags.with(Flags::TRACING);
        }
        if options.payload.is_some() {
            flags = flags.with(Flags::CUSTOM_PAYLOAD);
        }
        self.write(now, request.opcode(), flags, options, |out| {
            if let Some(payload) = options.payload {
                out.put_bytes_map(payload);
            }
            request.encode(version, out);
        })
    }

    /// Writes a request that somebody else encoded in this connection's version: its body, uncompressed,
    /// with what `flags` announce at its front. Unknown flags and opcodes are sent as they are; of the
    /// options, only timeout and metadata count.
    ///
    /// # Errors
    ///
    /// [`SendRefused`]; nothing is written then.
    pub fn forward(
        &mut self,
        now: Instant,
        opcode: Opcode,
        flags: Flags,
        body: &[u8],
        options: &CallOptions<'_>,
    ) -> Result<CallId, SendRefused> {
        let flags = flags.without(Flags::COMPRESSION);
        self.write(now, opcode, flags, options, |out| {
            out.extend_from_slice(body);
        })
    }

    #[inline]
    fn write(
        &mut self,
        now: Instant,
        opcode: Opcode,
        flags: Flags,
        options: &CallOptions<'_>,
        body: impl FnOnce(&mut BytesMut),
    ) -> Result<CallId, SendRefused> {
        let now = self.clock.set(now);
        self.may_send(opcode)?;
        if flags.contains(Flags::CUSTOM_PAYLOAD) && self.dialect.version < ProtocolVersion::V4 {
            return Err(SendRefused::NotInVersion(self.dialect.version));
        }
        let call = Call {
            metadata: options.result_metadata.cloned(),
            start: self.outbound.sealed_position(),
        };
        let Some(id) = self.calls.streams.take(call) else {
            return Err(SendRefused::TooManyInFlight);
        };
        let mark = self
            .outbound
            .begin(self.dialect.into(), id.stream(), opcode, flags);
        body(self.outbound.buffer());
        if self.outbound.is_too_long(mark) {
            self.outbound.abandon(mark);
            self.calls.streams.withdraw(id);
            return Err(SendRefused::TooLong);
        }
        self.outbound.finish(mark);
        self.stats.requests += 1;
        let timeout = options.timeout.or(self.config.request_timeout);
        if let Some(at) = timeout.and_then(|timeout| now.checked_add(timeout)) {
            self.calls.deadlines.insert(id.key(), at);
        }
        Ok(id)
    }

    /// Whether a request of this opcode would be taken now.
    #[inline]
    fn may_send(&self, opcode: Opcode) -> Result<(), SendRefused> {
        if !matches!(self.closed, Closed::No) || self.is_closing {
            return Err(SendRefused::Closed);
        }
        if self.state != State::Ready {
            return Err(SendRefused::NotReady);
        }
        if opcode.is_known() && sent(Role::Client, self.state, opcode).is_err() {
            return Err(SendRefused::OutOfPlace(opcode));
        }
        if self.calls.count() + self.calls.orphans() >= self.max_in_flight() {
            return Err(SendRefused::TooManyInFlight);
        }
        if self.unsent() >= self.config.limits.max_unsent.max(1) {
            return Err(SendRefused::TooMuchUnsent);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn max_in_flight(&self) -> usize {
        self.config.limits.max_in_flight.clamp(1, MAX_STREAMS)
    }
}
