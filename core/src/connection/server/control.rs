//! What a server connection offers besides `next`: the other ways in and out, commands and queries.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;

use super::{Input, ServerConnection};
use crate::codes::ProtocolVersion;
use crate::connection::config::ServerConfig;
use crate::connection::exchange::Closed;
use crate::connection::handshake::ClientOptions;
use crate::connection::limits::Credit;
use crate::connection::stats::Stats;
use crate::connection::ticket::RequestTicket;
use crate::connection::transmit::Transmit;
use crate::error::{Misuse, PeerMisbehaved, Rejected};
use crate::message::{Extras, Response, ServerEvent};
use crate::timers::Deadline;
use crate::transition::State;

impl ServerConnection {
    /// The peer has ended its side. What was received before is still taken and answered.
    pub fn handle_eof(&mut self, now: Instant) {
        self.clock.set(now);
        if self.input == Input::Open {
            self.input = Input::Ended;
        }
    }

    /// Time has passed; call it when [`ServerConnection::poll_timeout`] has come, then
    /// [`ServerConnection::next`].
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.set(now);
        if self.room().is_some_and(|room| room.is_over(now)) {
            self.inbound.give_room_back();
        }
        let error = match self.deadline() {
            Some((deadline, error)) if deadline.is_over(now) => error,
            _ => return,
        };
        self.exchange.close(error.into());
    }

    /// When [`ServerConnection::handle_timeout`] is to be called, at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.deadline().and_then(|(deadline, _)| deadline.at());
        let room = self.room().and_then(Deadline::at);
        deadline.into_iter().chain(room).min()
    }

    /// When the room for long messages is given back, if there is any that is empty.
    fn room(&self) -> Option<&Deadline> {
        self.inbound.holds_room().then_some(&self.room)
    }

    /// The deadline that counts at the moment, and what passing it means.
    fn deadline(&self) -> Option<(Deadline, PeerMisbehaved)> {
        if !self.exchange.is_open() || self.draining {
            return None;
        }
        let idle = (self.exchange.in_flight.requests() == 0)
            .then_some((self.idle, PeerMisbehaved::IdleTimeout));
        let handshake = (self.exchange.state != State::Ready)
            .then_some((self.handshake, PeerMisbehaved::HandshakeTimeout));
        let passing = |(deadline, _): &(Deadline, PeerMisbehaved)| deadline.at();
        [handshake, idle]
            .into_iter()
            .flatten()
            .filter(|end| passing(end).is_some())
            .min_by_key(passing)
    }

    /// The bytes to send now, if there are any. Advance it by what was written; the rest comes again.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.settle_taken();
        self.exchange.seal();
        if self.exchange.outbound.sendable().is_empty() {
            return None;
        }
        Some(Transmit::from_server(&mut self.exchange))
    }

    /// Swaps all bytes to send for `spare`, which is emptied first; for who needs to own what is written.
    /// False if there are none. Calling it again says that what it gave before was sent.
    pub fn take_output(&mut self, spare: &mut BytesMut) -> bool {
        self.settle_taken();
        self.exchange.seal();
        let length = self.exchange.outbound.sendable().len();
        if length == 0 {
            return false;
        }
        self.exchange.outbound.take(spare);
        self.taken = length;
        true
    }

    /// What was taken before was sent.
    #[inline]
    fn settle_taken(&mut self) {
        if self.taken > 0 {
            self.exchange.sent(self.taken);
            self.taken = 0;
        }
    }

    /// Whether reading more bytes would serve.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.exchange.is_open() && self.input == Input::Open && !self.draining && !self.is_blocked()
    }

    /// How many bytes to make room for before reading: 4 to 64 KiB, whatever the peer announced.
    #[must_use]
    pub fn read_hint(&self) -> usize {
        self.inbound.read_hint()
    }

    /// Whether everything is answered and sent, and nothing will come any more: shut down.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let is_sent = self.exchange.outbound.unsent() == 0;
        match self.exchange.closed {
            Closed::Told => is_sent,
            Closed::Untold(_) => false,
            Closed::No => {
                let is_over = self.draining || self.input == Input::Exhausted;
                is_over && is_sent && self.exchange.in_flight.unanswered() == 0
            }
        }
    }

    /// Answers a deferred request.
    ///
    /// # Errors
    ///
    /// [`Misuse::ForeignTicket`] if it is another connection's, [`Misuse::Closed`] after a fatal error; the
    /// ticket and the answer come back.
    #[expect(
        clippy::result_large_err,
        reason = "the answer is handed back as it came"
    )]
    pub fn respond(
        &mut self,
        ticket: RequestTicket,
        response: Response,
        extras: Option<Box<Extras>>,
    ) -> Result<(), Rejected<(RequestTicket, Response)>> {
        let reason = if ticket.connection != self.exchange.id {
            Misuse::ForeignTicket
        } else if !self.exchange.is_open() {
            Misuse::Closed
        } else {
            self.exchange
                .answer(&ticket.to, &response, extras.as_deref());
            return Ok(());
        };
        Err(Rejected {
            reason,
            value: (ticket, response),
        })
    }

    /// Tells the peer of an event, if it is ready and has registered for such.
    ///
    /// A peer that doesn't read its events is closed when twice [`Limits::max_unsent`] are waiting.
    ///
    /// [`Limits::max_unsent`]: crate::connection::Limits::max_unsent
    pub fn push(&mut self, event: &ServerEvent) {
        let Some(dialect) = self.exchange.agreed else {
            return;
        };
        if !self.exchange.is_open() || !self.subscriptions.contains(event) {
            return;
        }
        let unsent = self.exchange.outbound.unsent() + self.taken;
        if unsent >= self.config.limits.max_unsent.saturating_mul(2) {
            self.exchange.close(PeerMisbehaved::EventsUnread.into());
            return;
        }
        self.exchange.event(dialect, event);
    }

    /// Other limits and deadlines hold from now on; what was negotiated stays. The deadlines count from when
    /// they began.
    pub fn reconfigure(&mut self, config: Arc<ServerConfig>) {
        self.handshake.set_length(config.handshake_timeout);
        self.idle.set_length(config.idle_timeout);
        self.exchange.in_flight.limit(config.limits.in_flight());
        self.longest = config.limits.longest(self.exchange.agreed);
        self.config = config;
    }

    /// Beside [`Limits`], allows no more than so many requests and bytes in flight, until the next call: for
    /// budgets that several connections have together, of which this one may use what others leave. What is
    /// in flight already stays.
    ///
    /// [`Limits`]: crate::connection::Limits
    #[inline]
    pub fn allow(&mut self, requests: usize, bytes: usize) {
        self.exchange.in_flight.allow(Credit { requests, bytes });
    }

    /// Whether the peer asked to be told OVERLOADED where others wait: then reading goes on.
    #[must_use]
    pub const fn throws_on_overload(&self) -> bool {
        self.throw_on_overload
    }

    /// Whether a request has begun to arrive and isn't there as a whole: reading goes on until it is.
    #[must_use]
    pub fn is_receiving(&self) -> bool {
        self.inbound.is_begun()
    }

    /// Takes no further request. The connection is finished when all that were taken are answered and the
    /// answers sent.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// The version STARTUP agreed upon. (v6-beta counts as v5.)
    #[must_use]
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.exchange.agreed.map(|agreed| agreed.version)
    }

    /// What the client said of itself in STARTUP, 4 KiB of it at most; given away once, when STARTUP was
    /// accepted.
    pub fn take_client_options(&mut self) -> Option<ClientOptions> {
        self.client_options.take()
    }

    /// Whether the handshake is over, authentication included.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.exchange.state == State::Ready
    }

    /// Requests taken whose answers aren't sent, and their bytes.
    #[must_use]
    pub fn in_flight(&self) -> (usize, usize) {
        (
            self.exchange.in_flight.requests(),
            self.exchange.in_flight.bytes(),
        )
    }

    /// Bytes that came, are no request in flight yet, and were taken off the input: the beginning of a message
    /// of several segments, or what a compressed segment held.
    #[must_use]
    pub fn gathered(&self) -> usize {
        self.inbound.gathered()
    }

    /// Bytes of output not sent yet.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.exchange.outbound.unsent() + self.taken
    }

    /// What the connection has seen so far.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.exchange.stats
    }
}
