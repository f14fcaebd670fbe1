//! All of one connection but its socket: protocol, session, mailbox, deadlines and closing. A pump
//! moves bytes and waits; what it waits for, and when it ends, is decided here.

mod observe;
mod secured;

use crate::authentication::log_in;
use crate::clients::{ConnectionStage, Held};
use crate::dispatch::{Dispatched, Quota, dispatch};
use crate::hub::Hub;
use crate::mailbox::Mail;
use crate::metrics::Totals;
use crate::options::Options;
use crate::registry::Membership;
use crate::scratch::{SCRATCH, with_scratch, with_slice};
use crate::service::{PeerInfo, Service};
use crate::shares::Shares;
use crate::sync::contain;
use bytes::{Buf, BytesMut};
use helenus_core::connection::{OpcodeCounts, Stats};
use helenus_core::{Progress, Pumped, ServerConnection, Turn};
use std::sync::Arc;
use std::task::{Poll, Waker, ready};
use std::time::Instant;

/// A piece of an unfinished request up to this size is carried into the thread's buffer before the
/// next read; a longer one grows in place, so that no byte is copied again and again.
const CARRY: usize = 1024;

/// The room for mail that an idle connection keeps.
const KEPT_MAIL: usize = 64;

/// One connection of a server, to be pumped by an adapter as [`Pumped`] says.
#[derive(Debug)]
pub struct Driver<S: Service> {
    connection: ServerConnection,
    /// There from the moment it is opened; taken when the driver is dropped.
    session: Option<S::Session>,
    hub: Arc<Hub<S>>,
    peer: PeerInfo,
    membership: Membership,
    shares: Shares,
    options: Arc<Options>,
    /// The beginning of a request whose rest has not come, or requests not yet begun.
    input: BytesMut,
    /// The room of handled mail, swapped with the mailbox's.
    mail: Vec<Mail>,
    /// Requests and reads left before the next yield.
    quota: Quota,
    /// What reading stopped for when the connection was last looked at.
    progress: Progress,
    /// Why it isn't read.
    pause: Option<Pause>,
    eof: bool,
    /// Output that TLS has taken and the socket hasn't.
    sealed: usize,
    stage: Stage,
    /// How far the handshake was when it was last shown to others.
    shown: ConnectionStage,
    /// When the current turn began.
    began: Instant,
    /// What the server's counters have of this connection already.
    counted: Stats,
    received: u64,
    counted_received: u64,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Open,
    /// No more requests are taken; what is owed is still being answered and flushed. There is a time
    /// for it after a fault, and when the peer has closed its side, which looks the same whether it
    /// waits for answers or is gone; a drain has a time of its own.
    Ending {
        total: Option<Instant>,
    },
    /// The write side is shut down; what still comes is thrown away.
    Lingering {
        total: Instant,
        quiet: Instant,
        bytes: u64,
    },
    Closed,
}

/// Why a connection isn't read, though its client may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// For its own limits.
    Limits,
    /// For those it shares with others.
    Budgets,
    /// For the rate of requests.
    Rate,
}

impl<S: Service> Driver<S> {
    pub(crate) fn new(
        hub: Arc<Hub<S>>,
        peer: PeerInfo,
        (membership, shares, options): (Membership, Shares, Arc<Options>),
        connection: ServerConnection,
        now: Instant,
    ) -> Self {
        Driver {
            connection,
            session: None,
            quota: Quota {
                events: options.budget,
                ..Quota::default()
            },
            hub,
            peer,
            membership,
            shares,
            options,
            input: BytesMut::new(),
            mail: Vec::new(),
            progress: Progress::NeedInput,
            pause: None,
            eof: false,
            sealed: 0,
            stage: Stage::Open,
            shown: ConnectionStage::Established,
            began: now,
            counted: Stats::default(),
            received: 0,
            counted_received: 0,
        }
    }

    /// The protocol state, to look at.
    pub fn connection(&self) -> &ServerConnection {
        &self.connection
    }

    /// Opens the session, once what is known of the peer before its first request is known. False if the service panicked.
    pub(crate) fn open(&mut self) -> bool {
        let opened = contain("opening a session", || self.hub.service().open(&self.peer));
        self.session = opened;
        self.session.is_some()
    }

    fn take_mail(&mut self) {
        let mut mail = std::mem::take(&mut self.mail);
        self.membership.mailbox.collect(&mut mail);
        for item in mail.drain(..) {
            match item {
                Mail::Answer(ticket, response, extras) => {
                    let place = OpcodeCounts::place(ticket.opcode());
                    let elapsed = self.began.saturating_duration_since(ticket.taken());
                    // A connection that ended in the meantime has no use for it.
                    let answered = self.connection.respond(ticket, response, extras).is_ok();
                    if let (true, Some(place)) = (answered, place) {
                        self.hub.metrics().answered(place, elapsed, 1);
                    }
                }
                Mail::Login(identity) => {
                    self.membership.record.set_user(Arc::clone(&identity.name));
                    if let Some(session) = &mut self.session {
                        let service = self.hub.service();
                        contain("telling who logged in", || {
                            service.authenticated(session, identity);
                        });
                    }
                }
                Mail::Event(event) => self.connection.push(&event),
                Mail::Options(options) => {
                    self.connection.reconfigure(Arc::clone(&options.connection));
                    self.options = options;
                }
                Mail::Drain if self.session.is_none() => self.stage = Stage::Closed,
                Mail::Drain => self.connection.drain(),
                Mail::Abort => self.stage = Stage::Closed,
            }
        }
        // These were counted one by one.
        self.counted.answered = self.connection.stats().answered;
        if mail.capacity() <= KEPT_MAIL {
            self.mail = mail;
        }
    }

    fn received(&mut self, now: Instant, bytes: usize, input: &mut BytesMut) {
        self.received += bytes as u64;
        if bytes == 0 {
            self.eof = true;
            self.connection.handle_eof(now);
        }
        if let Stage::Lingering {
            quiet, bytes: left, ..
        } = &mut self.stage
        {
            *quiet = now + self.options.linger.quiet;
            *left = left.saturating_sub(bytes as u64);
            input.clear();
            return;
        }
        self.run(now, input);
    }

    fn run(&mut self, now: Instant, input: &mut BytesMut) {
        let Some(session) = &mut self.session else {
            return;
        };
        let outcome = dispatch(
            &mut self.connection,
            now,
            input,
            self.hub.service(),
            session,
            &mut self.quota,
            |session, token, responder| match self.hub.authenticator() {
                Some(authenticator) => {
                    let from = (&self.peer, &self.membership.mailbox);
                    log_in(&self.hub, authenticator, from, session, &token, responder);
                }
                None => self
                    .hub
                    .service()
                    .authenticate(now, session, token, responder),
            },
        );
        if let Dispatched::Stopped(progress) = outcome {
            self.progress = progress;
        }
        if matches!(outcome, Dispatched::Stopped(Progress::Finished)) {
            input.clear();
            if matches!(self.stage, Stage::Open) {
                let is_bounded = self.eof || self.connection.stats().fatal > 0;
                let total = is_bounded.then(|| now + self.options.linger.total);
                self.stage = Stage::Ending { total };
            }
        }
    }

    /// Goes from ending to lingering to closed, as far as the time has come.
    fn advance_stage(&mut self, now: Instant) -> Option<Turn> {
        match self.stage {
            Stage::Ending { .. } if self.connection.is_finished() && self.sealed == 0 => {
                if self.eof {
                    self.stage = Stage::Closed;
                    return Some(Turn::Close);
                }
                let linger = &self.options.linger;
                self.stage = Stage::Lingering {
                    total: now + linger.total,
                    quiet: now + linger.quiet,
                    bytes: linger.bytes,
                };
                Some(Turn::ShutdownWrite)
            }
            Stage::Ending { total } if total.is_some_and(|total| total <= now) => Some(Turn::Close),
            Stage::Lingering {
                total,
                quiet,
                bytes,
            } if self.eof || bytes == 0 || total.min(quiet) <= now => Some(Turn::Close),
            Stage::Closed => Some(Turn::Close),
            _ => None,
        }
    }

    /// Reads once; a message that is no continuation goes into a buffer with so much room.
    fn read_into<E>(
        &mut self,
        now: Instant,
        room: usize,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        self.quota.events = self.quota.events.saturating_sub(1);
        if self.input.len() > CARRY {
            let mut input = std::mem::take(&mut self.input);
            input.reserve(self.connection.read_hint().min(SCRATCH));
            let outcome = read(&mut input);
            if let Poll::Ready(Ok(bytes)) = outcome {
                self.received(now, bytes, &mut input);
            }
            self.input = input;
            self.release_input();
            return outcome;
        }
        with_scratch(room, |buffer| {
            buffer.extend_from_slice(&self.input);
            let bytes = ready!(read(buffer))?;
            self.received(now, bytes, buffer);
            self.input.clear();
            self.input.extend_from_slice(buffer);
            self.release_input();
            Poll::Ready(Ok(bytes))
        })
    }

    /// An idle connection keeps no buffer.
    fn release_input(&mut self) {
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
    }

    /// Counts what the connection holds.
    fn hold(&mut self) {
        let (requests, bytes) = self.connection.in_flight();
        let arriving = self.input.len() + self.connection.gathered();
        let bytes = bytes + arriving + self.connection.unsent() + self.sealed;
        let held = Held {
            requests: requests as u64,
            bytes: bytes as u64,
        };
        self.shares.hold(held);
        self.membership.record.set_held(held);
    }

    /// Whether reading goes on though shared budgets are used up: to finish what has begun, or to answer
    /// that they are.
    fn reads_on(&self) -> bool {
        self.has_begun() || self.connection.throws_on_overload()
    }

    /// Whether a part of something has come whose rest hasn't.
    fn has_begun(&self) -> bool {
        let is_waiting = self.progress == Progress::NeedInput && !self.input.is_empty();
        is_waiting || self.connection.is_receiving()
    }

    /// Counts what the connection is not read for any more.
    fn note_pause(&mut self) {
        let is_blocked = self.progress == Progress::Blocked;
        let pause = match self.stage {
            Stage::Open if self.eof => None,
            Stage::Open if is_blocked && self.shares.is_delayed(&self.connection) => {
                Some(Pause::Rate)
            }
            Stage::Open if !self.reads_on() && !self.shares.have_room() => Some(Pause::Budgets),
            Stage::Open if is_blocked => Some(Pause::Limits),
            _ => None,
        };
        if pause != self.pause {
            self.pause = pause;
            self.hub.metrics().add(&Totals {
                paused_for_limits: u64::from(pause == Some(Pause::Limits)),
                paused_for_budgets: u64::from(pause == Some(Pause::Budgets)),
                paused_for_rate: u64::from(pause == Some(Pause::Rate)),
                ..Totals::default()
            });
        }
    }
}

impl<S: Service> Pumped for Driver<S> {
    fn turn(&mut self, now: Instant) -> Turn {
        self.settle(now);
        self.take_mail();
        if self
            .connection
            .poll_timeout()
            .is_some_and(|deadline| deadline <= now)
        {
            self.connection.handle_timeout(now);
        }
        if matches!(self.stage, Stage::Open | Stage::Ending { .. }) {
            self.hold();
            let has_begun = self.has_begun();
            self.shares.allow(&mut self.connection, has_begun, now);
            let mut input = std::mem::take(&mut self.input);
            self.run(now, &mut input);
            self.input = input;
            self.release_input();
        }
        self.count();
        if self.shown != ConnectionStage::Ready {
            self.show_stage();
        }
        self.advance_stage(now).unwrap_or_else(|| {
            self.hold();
            self.note_pause();
            if self.quota.events > 0 {
                return Turn::Wait;
            }
            self.quota.events = self.options.budget;
            Turn::Yield
        })
    }

    fn read<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        self.read_into(now, SCRATCH, read)
    }

    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        // The buffer gets the room that it needs when it is known how much came.
        self.read_into(now, 0, |buffer| {
            with_slice(|slice| {
                let bytes = ready!(read(slice))?;
                let came = slice.get(..bytes).unwrap_or_default();
                buffer.extend_from_slice(came);
                Poll::Ready(Ok(came.len()))
            })
        })
    }

    fn poll_transmit(&mut self) -> Option<impl Buf> {
        self.connection.poll_transmit()
    }

    fn wants_read(&mut self) -> bool {
        match self.stage {
            Stage::Open if !self.eof => {
                self.connection.wants_read() && (self.reads_on() || self.shares.have_room())
            }
            Stage::Lingering { .. } => !self.eof,
            _ => false,
        }
    }

    fn park(&mut self, waker: &Waker) -> bool {
        self.quota.events = self.options.budget;
        let is_read = matches!(self.stage, Stage::Open) && !self.eof;
        // There was no room when it was last looked at, or is none now: what is given back wakes us.
        let waits_for_room =
            is_read && !self.reads_on() && (self.shares.starved || !self.shares.have_room());
        if waits_for_room && self.shares.poll_room(waker) {
            return false;
        }
        self.membership.mailbox.park(waker)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let own = match self.stage {
            Stage::Open => self.shares.delayed,
            Stage::Ending { total } => total,
            Stage::Lingering { total, quiet, .. } => Some(total.min(quiet)),
            Stage::Closed => return None,
        };
        own.into_iter().chain(self.connection.poll_timeout()).min()
    }
}

impl<S: Service> Drop for Driver<S> {
    fn drop(&mut self) {
        self.count();
        self.log_end();
        self.hub.metrics().add(&Totals {
            connections_closed: 1,
            ..Totals::default()
        });
        if let Some(session) = self.session.take() {
            contain("closing a session", || self.hub.service().close(session));
        }
    }
}

#[cfg(test)]
mod tests;
