//! The answering half of a connection: the output, what is in flight, and how far the handshake came.
//! A [`Responder`](super::Responder) borrows it while its request borrows the input.

use bytes::BytesMut;

use super::limits::{Credit, InFlight};
use super::request::Request;
use super::stats::Stats;
use super::ticket::Addressee;
use crate::codes::{ErrorCode, Opcode};
use crate::envelope::{Direction, Flags, StreamId};
use crate::error::{Error, ErrorKind, PeerMisbehaved, Scope};
use crate::framing::outbound::{Mark, Outbound};
use crate::framing::{Dialect, Fault, Frame, Stamp};
use crate::message::{Extras, Response, ServerEvent};
use crate::transition::{Role, State, sent};

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) outbound: Outbound,
    pub(crate) in_flight: InFlight,
    pub(crate) state: State,
    /// What STARTUP settled.
    pub(crate) agreed: Option<Dialect>,
    pub(crate) stats: Stats,
    /// Malformed envelopes in a row within the current segment.
    errors_in_segment: u8,
    /// Whether the framing is v5's, which tolerates one of them.
    pub(crate) segmented: bool,
    /// The fatal error, and whether it was told.
    pub(crate) closed: Closed<Error>,
    /// Tells this connection's tickets from others'.
    pub(crate) id: u64,
}

/// Whether a connection is over.
#[derive(Debug)]
pub(crate) enum Closed<E> {
    No,
    /// The error is still to be told.
    Untold(E),
    Told,
}

/// Malformed envelopes in a row that a segment may hold.
const TOLERATED: u8 = 1;

impl Exchange {
    pub(crate) fn new(id: u64, allowed: Credit) -> Exchange {
        Exchange {
            outbound: Outbound::new(Direction::Response),
            in_flight: InFlight::new(allowed),
            state: State::Negotiating,
            agreed: None,
            stats: Stats::default(),
            errors_in_segment: 0,
            segmented: false,
            closed: Closed::No,
            id,
        }
    }

    #[inline]
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.closed, Closed::No)
    }

    /// Begins an answer whose body follows.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        to: &Addressee,
        opcode: Opcode,
        extras: Option<&Extras>,
    ) -> Mark {
        let stamp = Stamp::from(to.dialect);
        let mark = self.outbound.begin(stamp, to.stream, opcode, Flags::NONE);
        if let Some(extras) = extras {
            let flags = extras.encode(to.dialect.version, self.outbound.buffer());
            self.outbound.set_flags(mark, flags);
        }
        mark
    }

    /// Begins an answer that nobody decoded: its body follows, and its flags say what that begins with.
    #[inline]
    pub(crate) fn begin_undecoded(&mut self, to: &Addressee, opcode: Opcode, flags: Flags) -> Mark {
        let flags = flags.without(Flags::COMPRESSION).without(Flags::USE_BETA);
        self.outbound
            .begin(to.dialect.into(), to.stream, opcode, flags)
    }

    /// Ends the answer of a request.
    #[inline]
    pub(crate) fn finish(&mut self, mark: Mark, to: &Addressee) {
        self.outbound.finish(mark);
        self.in_flight.answer(to.bytes);
        self.stats.responses += 1;
        self.stats.answered.count(to.opcode);
        self.errors_in_segment = 0;
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, to: &Addressee, response: &Response, extras: Option<&Extras>) {
        let opcode = response.opcode();
        let mark = match response {
            Response::Undecoded(undecoded) => self.begin_undecoded(to, opcode, undecoded.flags),
            _ => self.begin(to, opcode, extras),
        };
        response.encode(to.dialect.version, self.outbound.buffer());
        let errors = self.errors_in_segment;
        self.finish(mark, to);
        if opcode == Opcode::ERROR {
            self.count_error(error_code(response));
        }
        if opcode == Opcode::AUTH_SUCCESS {
            self.move_on(opcode);
        }
        if let Response::Error(error) = response
            && error.code == ErrorCode::PROTOCOL_ERROR
        {
            self.errors_in_segment = errors;
            self.stats.faults.count(ErrorKind::Decode);
            self.malformed();
        }
    }

    /// Answers a message of the handshake, which isn't counted as a request in flight.
    pub(crate) fn reply(
        &mut self,
        request: &Request<'_>,
        opcode: Opcode,
        body: impl FnOnce(&mut BytesMut),
    ) {
        let stamp = request.dialect().into();
        self.outbound.make_room();
        let mark = self
            .outbound
            .begin(stamp, request.stream(), opcode, Flags::NONE);
        body(self.outbound.buffer());
        self.outbound.finish(mark);
        self.stats.responses += 1;
        self.stats.answered.count(request.opcode());
        self.errors_in_segment = 0;
        self.move_on(opcode);
    }

    /// The state after this answer.
    fn move_on(&mut self, opcode: Opcode) {
        if let Ok(state) = sent(Role::Server, self.state, opcode) {
            self.state = state;
        }
    }

    /// Writes an event; it belongs to no request.
    pub(crate) fn event(&mut self, dialect: Dialect, event: &ServerEvent) {
        let mark = self
            .outbound
            .begin(dialect.into(), StreamId::EVENT, Opcode::EVENT, Flags::NONE);
        event.encode(dialect.version, self.outbound.buffer());
        self.outbound.finish(mark);
        self.stats.events += 1;
    }

    /// Answers what is no good envelope, and closes the connection if it must be.
    #[cold]
    pub(crate) fn fault(&mut self, fault: Fault) {
        let error = Error::Peer(fault.error);
        if !fault.is_answered {
            self.stats.faults.count(error.kind());
            self.error(fault.stamp, fault.stream, &error);
        }
        if fault.scope == Scope::Fatal {
            self.end(error);
        } else if error.code() == ErrorCode::PROTOCOL_ERROR {
            self.malformed();
        }
    }

    /// Writes an ERROR that answers no request in flight.
    #[cold]
    fn error(&mut self, stamp: Stamp, stream: StreamId, error: &Error) {
        self.outbound.make_room();
        let mark = self
            .outbound
            .begin(stamp, stream, Opcode::ERROR, Flags::NONE);
        error.encode(self.outbound.buffer());
        self.outbound.finish(mark);
        self.stats.responses += 1;
        self.count_error(Some(error.code()));
    }

    /// Counts an answer that was an ERROR; `None` is a code that nobody decoded.
    #[cold]
    pub(crate) fn count_error(&mut self, code: Option<ErrorCode>) {
        self.stats.errors += 1;
        self.stats.error_codes.count(code);
    }

    /// Answers a request that doesn't decode.
    #[cold]
    pub(crate) fn refuse(&mut self, to: &Addressee, error: &Error) {
        let mark = self.begin(to, Opcode::ERROR, None);
        error.encode(self.outbound.buffer());
        let errors = self.errors_in_segment;
        self.finish(mark, to);
        self.count_error(Some(error.code()));
        self.errors_in_segment = errors;
        self.stats.faults.count(error.kind());
        self.malformed();
    }

    /// Answers a message of the handshake with an ERROR. Before STARTUP it goes to stream 0, as Cassandra
    /// has it, unless STARTUP decoded and was refused for what it says.
    #[cold]
    pub(crate) fn reject(&mut self, frame: &Frame, error: &Error) {
        self.stats.faults.count(error.kind());
        let is_refused_startup =
            self.state == State::Starting && !matches!(error, Error::Decode(_));
        let stream = match self.state {
            State::Negotiating | State::Starting if !is_refused_startup => StreamId(0),
            _ => frame.header.stream,
        };
        self.error(frame.dialect.into(), stream, error);
        self.stats.answered.count(frame.header.opcode);
        if self.state == State::Starting {
            self.move_on(Opcode::ERROR);
        }
    }

    /// Counts a malformed envelope; a second in a row within one segment closes the connection.
    #[cold]
    fn malformed(&mut self) {
        self.errors_in_segment = self.errors_in_segment.saturating_add(1);
        if self.segmented && self.errors_in_segment > TOLERATED {
            self.close(PeerMisbehaved::RepeatedErrors.into());
        }
    }

    /// A segment was opened.
    #[inline]
    pub(crate) fn forgive(&mut self) {
        self.errors_in_segment = 0;
    }

    /// Closes the connection for an error that nothing answers.
    #[cold]
    pub(crate) fn close(&mut self, error: Error) {
        if self.is_open() {
            self.stats.faults.count(error.kind());
            self.end(error);
        }
    }

    /// Ends the connection; the error is told by the next call of `next`.
    fn end(&mut self, error: Error) {
        if self.is_open() {
            self.stats.fatal += 1;
            self.closed = Closed::Untold(error);
        }
    }

    /// Makes everything written ready to be sent, and credits its requests to its end.
    #[inline]
    pub(crate) fn seal(&mut self) {
        self.outbound.seal();
        self.in_flight.seal(self.outbound.sealed_position());
    }

    /// Takes the first bytes off the output: they were sent.
    #[inline]
    pub(crate) fn advance(&mut self, sent: usize) {
        self.outbound.advance(sent);
        self.sent(sent);
    }

    /// So many more bytes were sent.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.stats.bytes_sent += bytes as u64;
        self.in_flight.sent(self.stats.bytes_sent);
    }
}

/// The code of an answer that is an ERROR.
#[cold]
fn error_code(response: &Response) -> Option<ErrorCode> {
    match response {
        Response::Error(error) => Some(error.code),
        Response::Undecoded(undecoded) => undecoded_error_code(undecoded.flags, &undecoded.body),
        _ => None,
    }
}

/// The code of an ERROR that nobody decoded, if nothing stands before it.
#[cold]
pub(crate) fn undecoded_error_code(flags: Flags, body: &[u8]) -> Option<ErrorCode> {
    let prefixed = [Flags::TRACING, Flags::CUSTOM_PAYLOAD, Flags::WARNING];
    if prefixed.iter().any(|flag| flags.contains(*flag)) {
        return None;
    }
    body.first_chunk()
        .map(|code| ErrorCode(u32::from_be_bytes(*code)))
}
