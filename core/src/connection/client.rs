//! [`ClientConnection`]: the client's end of one connection.

mod answer;
mod calls;
mod config;
mod control;
mod error;
mod event;
mod handshake;
mod heartbeat;
mod retry;
mod stats;

use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

pub use answer::{Answer, Notice};
pub use calls::CallOptions;
pub use config::{ClientConfig, ClientLimits};
pub use error::{CallError, ClientError, SendRefused};
pub use event::{Challenge, ClientEvent, ClientNext};
pub use retry::{Owner, Retry};
pub use stats::ClientStats;

use self::calls::Calls;
use self::heartbeat::Heartbeat;
use super::event::Progress;
use super::exchange::Closed;
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::{Direction, StreamId};
use crate::error::{ErrorKind, PeerMisbehaved, Scope};
use crate::framing::inbound::{Inbound, ROOM_KEPT};
use crate::framing::lent::Lent;
use crate::framing::outbound::Outbound;
use crate::framing::{Dialect, Fault, Frame, Framing, Rules, Step};
use crate::message::{ResultMetadata, Supported, result_kind};
use crate::streams::{CallId, Found};
use crate::timers::{Clock, Deadline};
use crate::transition::{Role, State, received};

/// The client's end of one connection: bytes and time in; events, and bytes to send, out.
///
/// Its methods are of four kinds, and any order of calls is safe:
/// * in: [`next`](Self::next), [`handle_eof`](Self::handle_eof), [`handle_timeout`](Self::handle_timeout);
/// * out: [`poll_transmit`](Self::poll_transmit), [`take_output`](Self::take_output),
///   [`poll_timeout`](Self::poll_timeout), [`wants_read`](Self::wants_read),
///   [`read_hint`](Self::read_hint), [`is_finished`](Self::is_finished);
/// * commands: [`send`](Self::send), [`forward`](Self::forward), [`authenticate`](Self::authenticate),
///   [`cancel`](Self::cancel), [`close`](Self::close);
/// * queries: [`version`](Self::version), [`is_ready`](Self::is_ready), [`in_flight`](Self::in_flight), …
///
/// The handshake begins by itself: there is something to send from the start. The crate's documentation
/// shows the loop around it.
///
/// A request that was sent takes no memory but a place in a table that grows to the most requests in flight
/// at once: in the long run nothing is allocated for it.
pub struct ClientConnection {
    config: Arc<ClientConfig>,
    /// The version that this connection speaks, or tries to.
    dialect: Dialect,
    state: State,
    /// Whether the server accepted the version.
    is_agreed: bool,
    /// Whether a message of the handshake waits for its answer.
    is_awaiting: bool,
    /// How envelopes travel once STARTUP is answered.
    framing: Framing,
    supported: Option<Supported>,
    final_token: Option<Bytes>,
    keyspace: Option<Box<str>>,
    inbound: Inbound,
    pub(super) outbound: Outbound,
    calls: Calls,
    clock: Clock,
    handshake: Deadline,
    heartbeat: Heartbeat,
    /// When the room for long messages is given back, if there is any.
    room: Deadline,
    has_ended: bool,
    is_closing: bool,
    closed: Closed<ClientError>,
    /// Bytes the caller took to send, and may not have sent.
    taken: usize,
    /// The input that was left when more was needed: if there is another length of it, bytes have come.
    left: usize,
    stats: ClientStats,
}

/// What to do with an envelope on a connection that is ready.
enum Sorted {
    Answer(CallId, Option<Arc<ResultMetadata>>),
    Notice,
    /// It concerns nobody any more.
    Late,
    /// It concerns the connection.
    Own,
}

impl ClientConnection {
    /// A connection that was opened just now, in the version that the configuration prefers.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>, now: Instant) -> ClientConnection {
        let version = config.preferred_version();
        ClientConnection::with_version(config, version, now)
    }

    /// A connection that was opened just now, in this version: the one that
    /// [`ClientError::step_down`] named.
    #[must_use]
    pub fn with_version(
        config: Arc<ClientConfig>,
        version: ProtocolVersion,
        now: Instant,
    ) -> ClientConnection {
        let mut connection = ClientConnection {
            dialect: Dialect {
                version,
                beta: false,
            },
            state: State::Negotiating,
            is_agreed: false,
            is_awaiting: false,
            framing: Framing::Bare(None),
            supported: None,
            final_token: None,
            keyspace: None,
            inbound: Inbound::new(),
            outbound: Outbound::new(Direction::Request),
            calls: Calls::new(),
            clock: Clock::new(now),
            handshake: Deadline::new(now, config.handshake_timeout),
            heartbeat: Heartbeat::new(now, config.heartbeat_interval, config.heartbeat_timeout),
            room: Deadline::new(now, Some(ROOM_KEPT)),
            has_ended: false,
            is_closing: false,
            closed: Closed::No,
            taken: 0,
            left: 0,
            stats: ClientStats::default(),
            config,
        };
        connection.begin();
        connection
    }

    /// Takes the next message off `input`, and tells what is to be done about it.
    ///
    /// Always hand in the same buffer, to whose end new bytes are appended: exactly the bytes of whole
    /// messages are consumed, one message at a time. Call until it says [`ClientNext::Stop`], and again
    /// after anything changed: bytes came, time passed, or a command was given. An answer that is lent is
    /// consumed when it is dropped; its bytes leave `input` at the latest with the call that says
    /// [`ClientNext::Stop`]. An answer that is there is handed out even if its deadline has passed.
    #[inline]
    pub fn next<'a>(&'a mut self, now: Instant, input: &'a mut BytesMut) -> ClientNext<'a> {
        let now = self.clock.set(now);
        if input.len() != self.left {
            self.heartbeat.heard(now);
            self.room.restart(now);
        }
        loop {
            if let Some(told) = self.gate() {
                self.inbound.settle(input);
                return told;
            }
            let frame = match self.inbound.poll(input, &self.rules()) {
                Step::Frame(frame) => frame,
                Step::Fault(fault) => match self.fault(fault) {
                    Some((call, error)) => {
                        return ClientNext::Event(ClientEvent::Failed(call, error));
                    }
                    None => continue,
                },
                Step::NeedInput => {
                    self.left = input.len();
                    match self.starve(now) {
                        Some(next) => return next,
                        None => continue,
                    }
                }
            };
            match self.sort(&frame) {
                Sorted::Answer(call, metadata) => {
                    let lent = Lent::new(&frame, &mut self.inbound, input);
                    note_keyspace(&mut self.keyspace, &lent);
                    self.stats.answers += 1;
                    self.stats.errors += u64::from(frame.header.opcode == Opcode::ERROR);
                    let answer = Answer::new(lent, metadata);
                    return ClientNext::Event(ClientEvent::Answer(call, answer));
                }
                Sorted::Notice => {
                    self.stats.events += 1;
                    let notice = Notice::new(Lent::new(&frame, &mut self.inbound, input));
                    return ClientNext::Event(ClientEvent::Server(notice));
                }
                Sorted::Late => drop(Lent::new(&frame, &mut self.inbound, input)),
                Sorted::Own => {
                    let body = Lent::new(&frame, &mut self.inbound, input).into_bytes();
                    match self.hear(&frame.header, frame.dialect, &body) {
                        Ok(Some(event)) => return ClientNext::Event(event),
                        Ok(None) => {}
                        Err(error) => self.end(error),
                    }
                }
            }
        }
    }

    /// Why nothing is read, if nothing is.
    #[inline]
    fn gate<'a>(&mut self) -> Option<ClientNext<'a>> {
        if matches!(self.closed, Closed::No) {
            let is_over = self.is_closing && self.calls.count() == 0;
            return is_over.then_some(ClientNext::Stop(Progress::Finished));
        }
        Some(self.farewell())
    }

    /// A connection that is over: each request in flight fails, then the error itself is told.
    #[cold]
    fn farewell<'a>(&mut self) -> ClientNext<'a> {
        if let Closed::Untold(reason) = &self.closed
            && let Some((call, sent)) = self.calls.pop(self.outbound.position())
        {
            let reason = reason.clone();
            return ClientNext::Event(ClientEvent::Failed(call, CallError::Lost { sent, reason }));
        }
        match std::mem::replace(&mut self.closed, Closed::Told) {
            Closed::Untold(error) => ClientNext::Event(ClientEvent::Closed(error)),
            _ => ClientNext::Stop(Progress::Finished),
        }
    }

    #[inline]
    fn rules(&self) -> Rules {
        let limits = &self.config.limits;
        let ready = self.state == State::Ready;
        Rules {
            role: Role::Client,
            agreed: self.is_agreed.then_some(self.dialect),
            limit: if ready {
                limits.max_envelope
            } else {
                limits.max_envelope.min(limits.max_envelope_before_ready)
            },
            room: usize::MAX,
            oldest: ProtocolVersion::V3,
            ready,
        }
    }

    /// What there is doesn't suffice for a message: now it shows who waited too long.
    fn starve<'a>(&mut self, now: Instant) -> Option<ClientNext<'a>> {
        if let Some((call, sent)) = self.calls.expire(now, self.outbound.position()) {
            self.stats.timed_out += 1;
            self.watch_orphans();
            return Some(ClientNext::Event(ClientEvent::Failed(
                call,
                CallError::TimedOut { sent },
            )));
        }
        if self.has_ended {
            self.end(ClientError::Ended);
            return None;
        }
        Some(ClientNext::Stop(Progress::NeedInput))
    }

    /// Whose envelope it is. What belongs to nobody ends the connection.
    #[inline]
    fn sort(&mut self, frame: &Frame) -> Sorted {
        let (opcode, stream) = (frame.header.opcode, frame.header.stream);
        if self.state != State::Ready || stream == StreamId(0) {
            return Sorted::Own;
        }
        let error = match received(Role::Client, self.state, opcode) {
            Err(_) => PeerMisbehaved::Unexpected(opcode),
            Ok(_) if opcode == Opcode::EVENT && stream.0 < 0 => return Sorted::Notice,
            Ok(_) if opcode == Opcode::EVENT => PeerMisbehaved::Unexpected(opcode),
            Ok(_) => match self.calls.answered(stream) {
                Found::Call(call, metadata) => return Sorted::Answer(call, metadata),
                Found::Orphan => {
                    self.stats.late += 1;
                    return Sorted::Late;
                }
                // An ERROR that concerns no request concerns the connection.
                Found::Nothing if opcode == Opcode::ERROR => return Sorted::Own,
                Found::Nothing => PeerMisbehaved::UnknownStream(stream),
            },
        };
        self.end(error.into());
        Sorted::Late
    }

    /// Received bytes that are no good envelope: those of one request's answer fail that, others all.
    #[cold]
    fn fault(&mut self, fault: Fault) -> Option<(CallId, CallError)> {
        let kind = fault.error.kind();
        let error = match fault.error {
            PeerMisbehaved::EnvelopeTooLong { length, limit }
            | PeerMisbehaved::MessageTooLong { length, limit } => {
                CallError::TooLong { length, limit }
            }
            PeerMisbehaved::Compression(error) => CallError::Compression(error),
            error => {
                self.end(error.into());
                return None;
            }
        };
        if fault.scope == Scope::Stream && self.state == State::Ready {
            match self.calls.answered(fault.stream) {
                Found::Call(call, _) => {
                    self.stats.faults.count(kind);
                    return Some((call, error));
                }
                Found::Orphan => {
                    self.stats.late += 1;
                    return None;
                }
                Found::Nothing => {}
            }
        }
        self.end(fault.error.into());
        None
    }

    /// Ends the connection; that is told by the next calls of `next`.
    #[cold]
    fn end(&mut self, error: ClientError) {
        if matches!(self.closed, Closed::No) {
            match &error {
                ClientError::Peer(error) => self.stats.faults.count(error.kind()),
                ClientError::Decode(_) => self.stats.faults.count(ErrorKind::Decode),
                _ => {}
            }
            self.closed = Closed::Untold(error);
        }
    }

    /// Ends a connection on which too many replies are overdue.
    fn watch_orphans(&mut self) {
        if self.calls.orphans() > self.config.limits.max_orphans {
            self.end(ClientError::TooManyOrphans);
        }
    }
}

/// Follows what USE did. Whether the answer decodes is its receiver's matter.
#[inline]
fn note_keyspace(keyspace: &mut Option<Box<str>>, lent: &Lent<'_>) {
    let header = lent.header();
    if header.opcode != Opcode::RESULT {
        return;
    }
    if let Ok(mut reader) = answer::message_at(header.flags, lent.body())
        && reader.int() == Ok(result_kind::SET_KEYSPACE)
        && let Ok(name) = reader.string()
    {
        *keyspace = Some(name.into());
    }
}

impl From<PeerMisbehaved> for ClientError {
    fn from(error: PeerMisbehaved) -> ClientError {
        ClientError::Peer(error)
    }
}

impl std::fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientConnection")
            .field("state", &self.state)
            .field("version", &self.dialect.version)
            .field("in_flight", &self.in_flight())
            .field("unsent", &self.unsent())
            .finish_non_exhaustive()
    }
}
