//! [`Responder`] and [`Reply`]: the two ways to answer a request, at once and later.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::exchange::{Exchange, undecoded_error_code};
use super::ticket::{Addressee, RequestTicket};
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::{Flags, StreamId};
use crate::error::Error;
use crate::framing::outbound::Mark;
use crate::message::{ErrorResponse, Extras, Response, RowsHeader};
use crate::rows::RowsWriter;

/// Where deferred answers go: the mailbox of whoever drives the connection, which passes them on to
/// [`ServerConnection::respond`](super::ServerConnection::respond).
pub trait Outbox: Send + Sync {
    /// Takes an answer, from any thread.
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>);
}

/// Answers one request, at once. Dropped without an answer, it answers SERVER_ERROR.
#[must_use = "a dropped responder answers SERVER_ERROR"]
pub struct Responder<'a> {
    exchange: &'a mut Exchange,
    outbox: &'a Arc<dyn Outbox>,
    to: Addressee,
    progress: Writing,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy)]
enum Writing {
    Nothing,
    /// An envelope was begun, and can be taken back.
    Begun(Mark),
    Done,
}

impl<'a> Responder<'a> {
    pub(crate) fn new(
        exchange: &'a mut Exchange,
        outbox: &'a Arc<dyn Outbox>,
        to: Addressee,
    ) -> Responder<'a> {
        Responder {
            exchange,
            outbox,
            to,
            progress: Writing::Nothing,
        }
    }

    /// The request's stream.
    #[must_use]
    pub const fn stream(&self) -> StreamId {
        self.to.stream
    }

    /// The request's protocol version.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.to.dialect.version
    }

    /// Answers.
    pub fn send(mut self, response: Response) {
        self.write(&response, None);
    }

    /// Answers, with a tracing id, warnings or a payload.
    pub fn send_with(mut self, response: Response, extras: &Extras) {
        self.write(&response, Some(extras));
    }

    /// Answers with an ERROR.
    pub fn error(mut self, error: ErrorResponse) {
        self.write(&Response::Error(error), None);
    }

    /// Answers a request that [`parse`](super::Request::parse) found malformed with the ERROR of its error:
    /// no allocation. It is counted by its kind.
    #[cold]
    pub fn reject(mut self, error: &Error) {
        self.progress = Writing::Done;
        self.exchange.refuse(&self.to, error);
    }

    /// Answers with a body that wasn't decoded, its flags saying what it begins with: see
    /// [`forward`](crate::forward). It is copied into the output.
    #[inline]
    pub fn forward(mut self, opcode: Opcode, flags: Flags, body: &[u8]) {
        self.progress = Writing::Done;
        let mark = self.exchange.begin_undecoded(&self.to, opcode, flags);
        self.exchange.outbound.buffer().extend_from_slice(body);
        self.exchange.finish(mark, &self.to);
        if opcode == Opcode::ERROR {
            self.exchange.count_error(undecoded_error_code(flags, body));
        }
    }

    /// Answers with rows that `write` encodes straight into the output: no allocation, no copy.
    ///
    /// If `write` fails, its error is the answer; if it panics, a SERVER_ERROR is. What it wrote is taken
    /// back then.
    #[inline]
    pub fn rows(
        self,
        header: &RowsHeader<'_>,
        write: impl FnOnce(&mut RowsWriter<'_>) -> Result<(), ErrorResponse>,
    ) {
        self.rows_with(header, None, write);
    }

    /// As [`Responder::rows`], with a tracing id, warnings or a payload.
    #[inline]
    pub fn rows_with(
        mut self,
        header: &RowsHeader<'_>,
        extras: Option<&Extras>,
        write: impl FnOnce(&mut RowsWriter<'_>) -> Result<(), ErrorResponse>,
    ) {
        let mark = self.exchange.begin(&self.to, Opcode::RESULT, extras);
        self.progress = Writing::Begun(mark);
        let version = self.to.dialect.version;
        let mut writer = RowsWriter::new(self.exchange.outbound.buffer(), header, version);
        let outcome = write(&mut writer).and_then(|()| match writer.finish() {
            Ok(_) => Ok(()),
            Err(error) => Err(ErrorResponse::server_error(error.to_string())),
        });
        match outcome {
            Ok(()) => {
                self.progress = Writing::Done;
                self.exchange.finish(mark, &self.to);
            }
            Err(error) => self.write(&Response::Error(error), None),
        }
    }

    /// Lets the client in: AUTH_SUCCESS, and the connection is ready. For
    /// [`Event::Authenticate`](super::Event::Authenticate).
    pub fn accept(self, token: Option<Bytes>) {
        self.send(Response::AuthSuccess(token));
    }

    /// Goes on with authentication: AUTH_CHALLENGE. For
    /// [`Event::Authenticate`](super::Event::Authenticate).
    pub fn challenge(self, token: Option<Bytes>) {
        self.send(Response::AuthChallenge(token));
    }

    /// Keeps the client out: an ERROR of code `BAD_CREDENTIALS`. The client may try again. For
    /// [`Event::Authenticate`](super::Event::Authenticate).
    pub fn refuse(self, message: String) {
        self.error(ErrorResponse::bad_credentials(message));
    }

    /// Puts the answer off. The [`Reply`] may go to another thread.
    #[must_use = "a dropped reply answers SERVER_ERROR"]
    pub fn defer(mut self) -> Reply {
        self.progress = Writing::Done;
        self.exchange.forgive();
        Reply {
            ticket: Some(RequestTicket {
                connection: self.exchange.id,
                to: self.to,
            }),
            outbox: Arc::clone(self.outbox),
        }
    }

    fn write(&mut self, response: &Response, extras: Option<&Extras>) {
        if let Writing::Begun(mark) = self.progress {
            self.exchange.outbound.abandon(mark);
        }
        self.progress = Writing::Done;
        self.exchange.answer(&self.to, response, extras);
    }
}

impl Drop for Responder<'_> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.progress, Writing::Done) {
            self.write(&Response::Error(dropped()), None);
        }
    }
}

impl fmt::Debug for Responder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}

/// Answers one request, later and from any thread. Dropped without an answer, it answers SERVER_ERROR.
#[must_use = "a dropped reply answers SERVER_ERROR"]
pub struct Reply {
    ticket: Option<RequestTicket>,
    outbox: Arc<dyn Outbox>,
}

impl Reply {
    /// The request's protocol version.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.ticket
            .as_ref()
            .map_or(ProtocolVersion::LATEST, RequestTicket::version)
    }

    /// Answers.
    pub fn send(mut self, response: Response) {
        self.deliver(response, None);
    }

    /// Answers, with a tracing id, warnings or a payload.
    pub fn send_with(mut self, response: Response, extras: Extras) {
        self.deliver(response, Some(Box::new(extras)));
    }

    /// Answers with an ERROR.
    pub fn error(mut self, error: ErrorResponse) {
        self.deliver(Response::Error(error), None);
    }

    fn deliver(&mut self, response: Response, extras: Option<Box<Extras>>) {
        if let Some(ticket) = self.ticket.take() {
            self.outbox.deliver(ticket, response, extras);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.deliver(Response::Error(dropped()), None);
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("ticket", &self.ticket)
            .finish_non_exhaustive()
    }
}

/// What a request gets that nobody answered.
#[cold]
fn dropped() -> ErrorResponse {
    ErrorResponse::server_error("The request was dropped without an answer")
}
