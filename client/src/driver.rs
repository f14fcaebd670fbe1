//! All of a client's connection but its socket: the protocol, what its users asked for, their wakers,
//! deadlines and closing. A pump moves bytes and waits; what it waits for, and when it ends, is decided
//! here.

use crate::backlog::Backlog;
use crate::calls::{Key, Outcome};
use crate::config::Config;
use crate::error::{Error, Lost};
use crate::result::QueryResult;
use crate::sent::Sent;
use crate::shared::{Shared, Stage, wake};
use bytes::{Buf, BytesMut};
use helenus_core::connection::{
    Answer, CallError, CallOptions, Challenge, ClientEvent, ClientNext, SendRefused,
};
use helenus_core::message::Undecoded;
use helenus_core::{ClientConnection, Extras, Header, ProtocolVersion, Pumped, Response, Turn};
use helenus_tls::Negotiated;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::task::{Poll, Waker, ready};
use std::time::Instant;

/// How much one read takes at most. A connection keeps a buffer of this size.
const READ: usize = 64 * 1024;

/// A client's end of one connection, to be pumped by an adapter as [`Pumped`] says.
///
/// A connection that ends with calls in flight fails them. So does a driver that is dropped: then the pump
/// says why first, with [`Driver::broken`].
#[derive(Debug)]
pub struct Driver {
    shared: Arc<Shared>,
    config: Arc<Config>,
    connection: ClientConnection,
    input: BytesMut,
    /// For sockets that read into initialised bytes only.
    slice: Vec<u8>,
    backlog: Backlog,
    sent: Sent,
    /// What became of calls, until their callers are told.
    outcomes: Vec<(Key, Outcome)>,
    /// Bytes of requests that were taken off the backlog since callers were told.
    taken: usize,
    cancelled: Vec<Key>,
    /// Who found no room, and waits in vain from this moment on.
    line: Option<Instant>,
    /// Answers and reads left before the next yield.
    quota: usize,
    has_ended: bool,
    /// Once the last client is gone: when to give up what is in flight.
    drain: Option<Instant>,
    /// Once the connection is over: why.
    over: Option<Lost>,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        config: Arc<Config>,
        version: ProtocolVersion,
        now: Instant,
    ) -> Self {
        let core = Arc::new(config.connection.clone());
        Driver {
            connection: ClientConnection::with_version(core, version, now),
            quota: config.budget.max(1),
            shared,
            config,
            input: BytesMut::new(),
            slice: Vec::new(),
            backlog: Backlog::default(),
            sent: Sent::default(),
            outcomes: Vec::new(),
            taken: 0,
            cancelled: Vec::new(),
            line: None,
            has_ended: false,
            drain: None,
            over: None,
        }
    }

    /// The socket broke. To be told before the driver is dropped, so that callers are.
    pub fn broken(&mut self, error: io::Error) {
        self.over.get_or_insert(Lost::Socket(Arc::new(error)));
    }

    /// The protocol state, to look at.
    pub fn connection(&self) -> &ClientConnection {
        &self.connection
    }

    /// Takes over what was asked for since the last turn.
    fn collect(&mut self, now: Instant) {
        let mut expired = Vec::new();
        let mut state = self.shared.lock();
        self.backlog.collect(&mut state.calls, &mut self.cancelled);
        state.calls.expire(now, &mut expired);
        self.line = state.calls.deadline();
        let is_closing = matches!(state.stage, Stage::Closing);
        drop(state);
        for key in self.cancelled.drain(..) {
            match self.sent.cancel(key) {
                Some(call) => drop(self.connection.cancel(call)),
                None => self.backlog.cancel(key),
            }
        }
        if is_closing && self.drain.is_none() {
            self.connection.close();
            self.drain = now.checked_add(self.config.drain_timeout);
        }
        self.backlog.expire(now, &mut expired);
        let late = |key| (key, Err(CallError::TimedOut { sent: false }.into()));
        self.outcomes.extend(expired.into_iter().map(late));
    }

    /// Handles what the connection has to tell, as far as the quota goes.
    fn run(&mut self, now: Instant, input: &mut BytesMut) {
        while self.quota > 0 {
            let mut challenge = None;
            match self.connection.next(now, input) {
                ClientNext::Stop(_) => return,
                ClientNext::Event(event) => match event {
                    ClientEvent::Ready => self.shared.connected(),
                    ClientEvent::Answer(call, answer) => {
                        if let Some((key, is_undecoded)) = self.sent.finish(call) {
                            let outcome = match is_undecoded {
                                true => Ok(undecoded(answer)),
                                false => outcome(answer),
                            };
                            self.outcomes.push((key, outcome));
                        }
                    }
                    ClientEvent::Failed(call, error) => {
                        if let Some((key, _)) = self.sent.finish(call) {
                            self.outcomes.push((key, Err(error.into())));
                        }
                    }
                    ClientEvent::Server(notice) => match notice.parse() {
                        Ok(event) => self.shared.publish(&event),
                        Err(error) => tracing::debug!(%error, "passed over an event"),
                    },
                    ClientEvent::Challenge(asked) => challenge = Some(asked),
                    ClientEvent::Closed(error) => {
                        tracing::debug!(%error, "a connection is over");
                        self.over.get_or_insert(error.into());
                    }
                    _ => {}
                },
            }
            self.quota -= 1;
            if let Some(challenge) = challenge {
                self.authenticate(&challenge);
            }
        }
    }

    fn authenticate(&mut self, challenge: &Challenge) {
        let token = match (&self.config.authenticator, challenge) {
            (Some(user), Challenge::Authenticator(class)) => user.initial(class),
            (Some(user), Challenge::Token(token)) => user.challenge(token.as_deref()),
            (None, challenge) => Err(format!("nobody to answer {challenge:?}")),
            (Some(_), _) => Err("an unknown kind of challenge".to_owned()),
        };
        let answered = token.and_then(|token| {
            let answered = self.connection.authenticate(token.as_deref());
            answered.map_err(|error| error.to_string())
        });
        if let Err(reason) = answered {
            self.over.get_or_insert(Lost::Authentication(reason));
        }
    }

    /// Hands requests to the connection, as far as it takes them.
    fn send(&mut self, now: Instant) {
        while let Some((queued, body)) = self.backlog.first() {
            if !queued.is_void {
                let mut options = CallOptions::default();
                options.timeout = match queued.deadline {
                    Some(deadline) => Some(deadline.saturating_duration_since(now)),
                    None => queued.timeout,
                };
                options.result_metadata = queued.metadata.as_ref();
                let (opcode, flags) = (queued.opcode, queued.flags);
                match self.connection.forward(now, opcode, flags, body, &options) {
                    Ok(call) => self.sent.insert(queued.key, call, queued.is_undecoded),
                    // What is over ends with what wasn't sent.
                    Err(SendRefused::Closed) => break,
                    Err(refused) if refused.is_temporary() => break,
                    Err(refused) => {
                        self.outcomes
                            .push((queued.key, Err(Error::Refused(refused))));
                    }
                }
            }
            self.taken += Header::SIZE + queued.length;
            self.backlog.pop();
        }
    }

    /// Tells callers what became of their calls, and who waits for room that there is some.
    fn tell(&mut self) {
        if self.outcomes.is_empty() && self.taken == 0 {
            return;
        }
        let mut wakers = Vec::with_capacity(self.outcomes.len() + 1);
        let mut state = self.shared.lock();
        for (key, outcome) in self.outcomes.drain(..) {
            wakers.extend(state.calls.complete(key, outcome));
        }
        state.calls.sent(std::mem::take(&mut self.taken));
        wakers.extend(state.calls.next_in_line());
        drop(state);
        wake(wakers);
    }

    /// What is to be done when all that could be done is.
    fn conclude(&mut self, now: Instant) -> Turn {
        let is_late = self.drain.is_some_and(|deadline| deadline <= now);
        if self.over.is_some() || self.connection.is_finished() || is_late {
            return Turn::Close;
        }
        if self.quota > 0 {
            return Turn::Wait;
        }
        self.quota = self.config.budget.max(1);
        Turn::Yield
    }
}

impl Pumped for Driver {
    fn turn(&mut self, now: Instant) -> Turn {
        self.collect(now);
        if (self.connection.poll_timeout()).is_some_and(|deadline| deadline <= now) {
            self.connection.handle_timeout(now);
        }
        let mut input = std::mem::take(&mut self.input);
        self.run(now, &mut input);
        self.input = input;
        self.send(now);
        self.tell();
        self.conclude(now)
    }

    fn read<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        self.quota = self.quota.saturating_sub(1);
        let mut input = std::mem::take(&mut self.input);
        // Takes the room back when nobody holds a piece of it, and allocates anew otherwise.
        input.reserve(READ);
        let outcome = read(&mut input);
        if let Poll::Ready(Ok(bytes)) = outcome {
            if bytes == 0 {
                self.has_ended = true;
                self.connection.handle_eof(now);
            }
            self.run(now, &mut input);
            self.tell();
        }
        self.input = input;
        outcome
    }

    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let mut slice = std::mem::take(&mut self.slice);
        slice.resize(READ, 0);
        let outcome = self.read(now, |buffer| {
            let bytes = ready!(read(&mut slice))?;
            let came = slice.get(..bytes).unwrap_or_default();
            buffer.extend_from_slice(came);
            Poll::Ready(Ok(came.len()))
        });
        self.slice = slice;
        outcome
    }

    fn poll_transmit(&mut self) -> Option<impl Buf> {
        self.connection.poll_transmit()
    }

    fn wants_read(&mut self) -> bool {
        !self.has_ended && self.connection.wants_read()
    }

    fn park(&mut self, waker: &Waker) -> bool {
        self.quota = self.config.budget.max(1);
        let mut state = self.shared.lock();
        let is_told_to_close = matches!(state.stage, Stage::Closing) && self.drain.is_none();
        if state.calls.has_queued() || is_told_to_close {
            return false;
        }
        match &mut state.pump {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let own = [self.line, self.drain, self.backlog.deadline()];
        let core = self.connection.poll_timeout();
        own.into_iter().chain([core]).flatten().min()
    }
}

impl helenus_tls::Driver for Driver {
    /// The first request waits in the output already.
    fn handle_handshake(&mut self, _now: Instant, _negotiated: Option<Negotiated>) {}

    fn handle_failure(&mut self, error: &helenus_tls::Error) {
        self.over.get_or_insert(Lost::Tls(error.clone()));
    }

    /// What is encrypted is bounded, and nobody shares a budget with it.
    fn handle_unsent(&mut self, _bytes: usize) {}
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.tell();
        let reason = self.over.take().unwrap_or(Lost::Dropped);
        let error = |sent| Error::Lost {
            sent,
            reason: reason.clone(),
        };
        let sent: HashSet<Key> = self.sent.keys().collect();
        self.shared
            .end(error(false), |key| error(sent.contains(&key)));
    }
}

/// What an answer means to its caller.
fn outcome(answer: Answer<'_>) -> Outcome {
    let (response, extras) = answer.parse().map_err(Error::Malformed)?;
    QueryResult::new(response, extras)
}

/// An answer that goes on as it came.
fn undecoded(answer: Answer<'_>) -> QueryResult {
    let header = *answer.header();
    QueryResult {
        response: Response::Undecoded(Undecoded {
            opcode: header.opcode,
            flags: header.flags,
            body: answer.into_bytes(),
        }),
        extras: Extras::default(),
    }
}

#[cfg(test)]
mod tests;
