//! What a client's connection offers besides `next` and sending: the other ways in and out, commands and
//! queries.

use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::heartbeat::Pulse;
use super::{ClientConnection, ClientError, ClientStats};
use crate::codes::ProtocolVersion;
use crate::compression::Compression;
use crate::connection::exchange::Closed;
use crate::connection::transmit::Transmit;
use crate::error::Misuse;
use crate::framing::Framing;
use crate::message::Supported;
use crate::segment::SegmentFormat;
use crate::streams::CallId;
use crate::timers::Deadline;
use crate::transition::State;

impl ClientConnection {
    /// The server has ended its side. What was received before is still taken; then the connection is over.
    pub fn handle_eof(&mut self, now: Instant) {
        self.clock.set(now);
        self.has_ended = true;
    }

    /// Time has passed; call it when [`ClientConnection::poll_timeout`] has come and what was received is
    /// handed in, then [`ClientConnection::next`].
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        if !matches!(self.closed, Closed::No) {
            return;
        }
        if self.room().is_some_and(|room| room.is_over(now)) {
            self.inbound.give_room_back();
        }
        if self.state != State::Ready {
            if self.handshake.is_over(now) {
                self.end(ClientError::HandshakeTimeout);
            }
            return;
        }
        match self.heartbeat.pulse(now) {
            Pulse::Alive => {}
            Pulse::Ask => self.ask(now),
            Pulse::Dead => self.end(ClientError::Unresponsive),
        }
    }

    /// When [`ClientConnection::handle_timeout`] is to be called, at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !matches!(self.closed, Closed::No) {
            return None;
        }
        if self.state != State::Ready {
            return self.handshake.at();
        }
        let room = self.room().and_then(Deadline::at);
        let deadlines = [self.calls.deadline(), self.heartbeat.at(), room];
        deadlines.into_iter().flatten().min()
    }

    /// When the room for long messages is given back, if there is any that is empty.
    fn room(&self) -> Option<&Deadline> {
        self.inbound.holds_room().then_some(&self.room)
    }

    /// The bytes to send now, if there are any. Advance it by what was written; the rest comes again.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.settle_taken();
        self.outbound.seal();
        if self.outbound.sendable().is_empty() {
            return None;
        }
        Some(Transmit::from_client(self))
    }

    /// Swaps all bytes to send for `spare`, which is emptied first; for who needs to own what is written.
    /// False if there are none. Calling it again says that what it gave before was sent.
    pub fn take_output(&mut self, spare: &mut BytesMut) -> bool {
        self.settle_taken();
        self.outbound.seal();
        let length = self.outbound.sendable().len();
        if length == 0 {
            return false;
        }
        self.outbound.take(spare);
        self.taken = length;
        true
    }

    /// What was taken before was sent.
    #[inline]
    fn settle_taken(&mut self) {
        self.stats.bytes_sent += std::mem::take(&mut self.taken) as u64;
    }

    /// Takes the first bytes off the output: they were sent.
    #[inline]
    pub(in crate::connection) fn advance(&mut self, sent: usize) {
        self.outbound.advance(sent);
        self.stats.bytes_sent += sent as u64;
    }

    /// Whether reading more bytes would serve.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        let is_over = self.is_closing && self.calls.count() == 0;
        matches!(self.closed, Closed::No) && !self.has_ended && !is_over
    }

    /// How many bytes to make room for before reading: 4 to 64 KiB, whatever the server announced.
    #[must_use]
    pub fn read_hint(&self) -> usize {
        self.inbound.read_hint()
    }

    /// Whether nothing will come any more, and nothing is left to send: shut down. After a fatal error,
    /// what wasn't sent never will be.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match self.closed {
            Closed::Told => true,
            Closed::Untold(_) => false,
            Closed::No => self.is_closing && self.calls.count() == 0 && self.unsent() == 0,
        }
    }

    /// Answers a [`ClientEvent::Challenge`](super::ClientEvent::Challenge).
    ///
    /// # Errors
    ///
    /// [`Misuse::NotChallenged`] if none waits for an answer, [`Misuse::Closed`] if the connection is over.
    pub fn authenticate(&mut self, token: Option<&[u8]>) -> Result<(), Misuse> {
        if !matches!(self.closed, Closed::No) || self.is_closing {
            return Err(Misuse::Closed);
        }
        if self.state != State::Authenticating || self.is_awaiting {
            return Err(Misuse::NotChallenged);
        }
        self.answer_challenge(token);
        Ok(())
    }

    /// Gives a request up: it won't come up in an event any more. Its stream is used again when its reply
    /// has come, which is discarded without being decoded; the server isn't told. False if it isn't in
    /// flight.
    pub fn cancel(&mut self, call: CallId) -> bool {
        let is_open = matches!(self.closed, Closed::No);
        let is_waiting = self.calls.orphan(call);
        if is_waiting && is_open {
            self.stats.cancelled += 1;
            self.watch_orphans();
        }
        is_waiting
    }

    /// Takes no further request. The connection is finished when those in flight are answered, or have
    /// failed, and everything is sent.
    pub fn close(&mut self) {
        self.is_closing = true;
    }

    /// The version that was agreed upon, or that this connection tries.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.dialect.version
    }

    /// The compression that was demanded in STARTUP, if one was.
    #[must_use]
    pub const fn compression(&self) -> Option<Compression> {
        match self.framing {
            Framing::Bare(compression) => compression,
            Framing::Segments(SegmentFormat::Lz4) => Some(Compression::Lz4),
            Framing::Segments(SegmentFormat::Plain) => None,
        }
    }

    /// The keyspace that the last USE that was answered has set.
    #[must_use]
    pub fn keyspace(&self) -> Option<&str> {
        self.keyspace.as_deref()
    }

    /// What the server said it supports, if it was asked.
    #[must_use]
    pub const fn supported(&self) -> Option<&Supported> {
        self.supported.as_ref()
    }

    /// The token that came with AUTH_SUCCESS.
    #[must_use]
    pub const fn final_token(&self) -> Option<&Bytes> {
        self.final_token.as_ref()
    }

    /// Whether the handshake is over, authentication included.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Requests that wait for their answers.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.calls.count()
    }

    /// Requests that were given up, and whose replies didn't come yet.
    #[must_use]
    pub const fn orphans(&self) -> usize {
        self.calls.orphans()
    }

    /// How many more requests could be in flight.
    #[must_use]
    pub fn capacity(&self) -> usize {
        let used = self.calls.count() + self.calls.orphans();
        self.max_in_flight().saturating_sub(used)
    }

    /// Bytes of output not sent yet.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.outbound.unsent() + self.taken
    }

    /// What the connection has seen so far.
    #[must_use]
    pub const fn stats(&self) -> &ClientStats {
        &self.stats
    }
}
