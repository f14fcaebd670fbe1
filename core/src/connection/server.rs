//! [`ServerConnection`]: the server's end of one connection.

mod control;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::BytesMut;

use super::config::ServerConfig;
use super::event::{Event, Next, Progress};
use super::exchange::{Closed, Exchange};
use super::handshake::{
    ClientOptions, TokenRange, needless_token, options, register, startup, token_range,
};
use super::request::{AuthToken, Request};
use super::responder::{Outbox, Responder};
use super::subscriptions::Subscriptions;
use super::ticket::Addressee;
use crate::codes::Opcode;
use crate::envelope::Header;
use crate::error::PeerMisbehaved;
use crate::framing::inbound::{Inbound, ROOM_KEPT};
use crate::framing::lent::Lent;
use crate::framing::{Frame, Rules, Step};
use crate::timers::{Clock, Deadline};
use crate::transition::{Role, State, Violation, received};

/// Numbers connections, so that each knows its own tickets.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// The server's end of one connection: bytes and time in; events, and bytes to send, out.
///
/// Its methods are of four kinds, and any order of calls is safe:
/// * in: [`next`](Self::next), [`handle_eof`](Self::handle_eof), [`handle_timeout`](Self::handle_timeout);
/// * out: [`poll_transmit`](Self::poll_transmit), [`take_output`](Self::take_output),
///   [`poll_timeout`](Self::poll_timeout), [`wants_read`](Self::wants_read),
///   [`read_hint`](Self::read_hint), [`is_finished`](Self::is_finished);
/// * commands: [`respond`](Self::respond), [`push`](Self::push), [`drain`](Self::drain);
/// * queries: [`version`](Self::version), [`is_ready`](Self::is_ready), [`stats`](Self::stats).
///
/// OPTIONS, STARTUP and REGISTER are answered here; the rest becomes an [`Event`]. The crate's
/// documentation shows the loop around it.
pub struct ServerConnection {
    config: Arc<ServerConfig>,
    outbox: Arc<dyn Outbox>,
    inbound: Inbound,
    exchange: Exchange,
    subscriptions: Subscriptions,
    throw_on_overload: bool,
    /// The longest message once it is ready.
    longest: usize,
    client_options: Option<ClientOptions>,
    clock: Clock,
    handshake: Deadline,
    idle: Deadline,
    /// When the room for long messages is given back, if there is any.
    room: Deadline,
    input: Input,
    draining: bool,
    /// Bytes the caller took to send, and may not have sent.
    taken: usize,
    /// The input that was left when more was needed: if there is another length of it, bytes have come.
    left: usize,
    /// The segments that were opened when a malformed envelope was last counted.
    segments: u64,
}

/// Whether more may come from the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    /// The peer has ended its side; what was received may still hold requests.
    Ended,
    /// And nothing is left of it.
    Exhausted,
}

impl ServerConnection {
    /// A connection that was accepted just now. Deferred answers go to `outbox`.
    #[must_use]
    pub fn new(config: Arc<ServerConfig>, outbox: Arc<dyn Outbox>, now: Instant) -> Self {
        ServerConnection {
            handshake: Deadline::new(now, config.handshake_timeout),
            idle: Deadline::new(now, config.idle_timeout),
            exchange: Exchange::new(
                CONNECTIONS.fetch_add(1, Ordering::Relaxed),
                config.limits.in_flight(),
            ),
            longest: config.limits.max_envelope,
            room: Deadline::new(now, Some(ROOM_KEPT)),
            config,
            outbox,
            inbound: Inbound::new(),
            subscriptions: Subscriptions::default(),
            throw_on_overload: false,
            client_options: None,
            clock: Clock::new(now),
            input: Input::Open,
            draining: false,
            taken: 0,
            left: 0,
            segments: 0,
        }
    }

    /// Takes the next message off `input`, and tells what is to be done about it.
    ///
    /// Always hand in the same buffer, to whose end new bytes are appended: exactly the bytes of whole
    /// messages are consumed, one message at a time. Call until it says [`Next::Stop`], and again after
    /// anything changed: bytes came, were sent, or a request was answered. A request that is lent is
    /// consumed when it is dropped; its bytes leave `input` at the latest with the call that says
    /// [`Next::Stop`].
    #[inline]
    pub fn next<'a>(&'a mut self, now: Instant, input: &'a mut BytesMut) -> Next<'a> {
        let now = self.clock.set(now);
        if input.len() != self.left {
            self.idle.restart(now);
            self.room.restart(now);
        }
        loop {
            if let Some(stop) = self.gate() {
                self.inbound.settle(input);
                return stop;
            }
            let rules = self.rules();
            let step = self.inbound.poll(input, &rules);
            if self.segments != self.inbound.segments() {
                self.segments = self.inbound.segments();
                self.exchange.forgive();
            }
            let frame = match step {
                Step::Frame(frame) => frame,
                Step::NeedInput => {
                    self.exchange.stats.bytes_discarded = self.inbound.discarded();
                    self.left = input.len();
                    return Next::Stop(self.starve());
                }
                Step::Fault(fault) => {
                    self.exchange.stats.bytes_discarded = self.inbound.discarded();
                    self.exchange.fault(fault);
                    continue;
                }
            };
            self.exchange.stats.requests += 1;
            let opcode = frame.header.opcode;
            match received(Role::Server, self.exchange.state, opcode) {
                Ok(state) => self.exchange.state = state,
                Err(violation) => {
                    self.refuse(&frame, violation, input);
                    continue;
                }
            }
            match opcode {
                Opcode::EXECUTE | Opcode::QUERY | Opcode::BATCH | Opcode::PREPARE => {
                    let (request, responder) = self.lend(&frame, input);
                    return Next::Event(Event::Request(request, responder));
                }
                Opcode::AUTH_RESPONSE if self.config.authenticator.is_some() => {
                    if let Some(token) = self.token(&frame, input) {
                        let (request, responder) = self.lend(&frame, input);
                        let token = AuthToken::new(request, token);
                        return Next::Event(Event::Authenticate(token, responder));
                    }
                }
                _ => self.answer(&frame, input),
            }
        }
    }

    /// Why nothing is read, if nothing is.
    #[inline]
    fn gate<'a>(&mut self) -> Option<Next<'a>> {
        if !self.exchange.is_open() {
            let told = std::mem::replace(&mut self.exchange.closed, Closed::Told);
            return Some(match told {
                Closed::Untold(error) => Next::Event(Event::Closed(error)),
                _ => Next::Stop(Progress::Finished),
            });
        }
        if self.draining || self.input == Input::Exhausted {
            return Some(Next::Stop(Progress::Finished));
        }
        self.is_blocked().then_some(Next::Stop(Progress::Blocked))
    }

    /// Whether a limit keeps further messages out.
    #[inline]
    fn is_blocked(&self) -> bool {
        let limits = &self.config.limits;
        if self.exchange.outbound.unsent() + self.taken >= limits.max_unsent.max(1) {
            return true;
        }
        self.exchange.in_flight.is_full() && !self.throw_on_overload && !self.inbound.is_begun()
    }

    #[inline]
    fn rules(&self) -> Rules {
        let ready = self.exchange.state == State::Ready;
        Rules {
            role: Role::Server,
            agreed: self.exchange.agreed,
            limit: if ready {
                self.longest
            } else {
                self.longest
                    .min(self.config.limits.max_envelope_before_login)
            },
            room: if self.throw_on_overload {
                self.exchange.in_flight.room()
            } else {
                usize::MAX
            },
            oldest: self.config.oldest_version,
            ready,
        }
    }

    /// What there is doesn't suffice for a message.
    fn starve(&mut self) -> Progress {
        if self.input == Input::Open {
            return Progress::NeedInput;
        }
        self.input = Input::Exhausted;
        Progress::Finished
    }

    /// Hands a request and the right to answer it out.
    #[inline]
    fn lend<'a>(
        &'a mut self,
        frame: &Frame,
        input: &'a mut BytesMut,
    ) -> (Request<'a>, Responder<'a>) {
        let to = Addressee {
            stream: frame.header.stream,
            opcode: frame.header.opcode,
            dialect: frame.dialect,
            bytes: Header::SIZE + frame.body,
            taken: self.clock.now(),
        };
        self.exchange.in_flight.take(to.bytes);
        (
            Request::new(Lent::new(frame, &mut self.inbound, input)),
            Responder::new(&mut self.exchange, &self.outbox, to),
        )
    }

    /// A message that may not come now.
    #[cold]
    fn refuse(&mut self, frame: &Frame, violation: Violation, input: &mut BytesMut) {
        drop(Lent::new(frame, &mut self.inbound, input));
        let opcode = frame.header.opcode;
        let error = match violation {
            Violation::ExpectedStartup => PeerMisbehaved::ExpectedStartup(opcode),
            Violation::ExpectedAuthResponse => PeerMisbehaved::ExpectedAuthResponse(opcode),
            Violation::AlreadyStarted => PeerMisbehaved::AlreadyStarted(opcode),
            Violation::Unexpected => PeerMisbehaved::Unexpected(opcode),
        };
        self.exchange.reject(frame, &error.into());
    }

    /// Where the token of an AUTH_RESPONSE stands; `None` if it doesn't decode, which was answered.
    fn token(&mut self, frame: &Frame, input: &mut BytesMut) -> Option<TokenRange> {
        let request = Request::new(Lent::new(frame, &mut self.inbound, input));
        match token_range(&request) {
            Ok(token) => {
                // It is lent afterwards: not to be consumed yet.
                request.keep();
                Some(token)
            }
            Err(error) => {
                drop(request);
                self.exchange.reject(frame, &error);
                None
            }
        }
    }

    /// Answers a message that is no event.
    fn answer(&mut self, frame: &Frame, input: &mut BytesMut) {
        let request = Request::new(Lent::new(frame, &mut self.inbound, input));
        let config = &self.config;
        let exchange = &mut self.exchange;
        let mut agreement = None;
        let outcome = match frame.header.opcode {
            Opcode::OPTIONS => options(config, exchange, &request),
            Opcode::REGISTER => register(&mut self.subscriptions, exchange, &request),
            Opcode::AUTH_RESPONSE => needless_token(exchange, &request),
            _ => startup(config, exchange, &request).map(|found| agreement = Some(found)),
        };
        drop(request);
        if let Some((agreement, client_options)) = agreement {
            self.client_options = Some(client_options);
            self.throw_on_overload = agreement.throw_on_overload;
            self.longest = self.config.limits.longest(self.exchange.agreed);
            self.inbound.switch(agreement.framing);
        }
        if let Err(error) = outcome {
            self.exchange.reject(frame, &error);
        }
    }
}

impl std::fmt::Debug for ServerConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConnection")
            .field("state", &self.exchange.state)
            .field("version", &self.version())
            .field("in_flight", &self.in_flight())
            .field("unsent", &self.unsent())
            .finish_non_exhaustive()
    }
}
