//! [`Layer`]: TLS between a pump and a driver, from the first byte of the handshake to the last alert.

use crate::error::Error;
use crate::maybe::Driver;
use crate::outgoing::Outgoing;
use crate::plaintext;
use crate::scratch::{with_buffer, with_slice};
use crate::session::{Outcome, Session};
use bytes::{Buf, BytesMut};
use helenus_core::Turn;
use std::convert::Infallible;
use std::task::{Poll, Waker, ready};
use std::time::{Duration, Instant};

/// Output is encrypted while less ciphertext than this is left unsent.
const LOW: usize = 16 * 1024;

/// The most plaintext that is encrypted at once.
const PIECE: usize = 64 * 1024;

/// The most bytes of unfinished records that are kept: more than the longest message of a handshake is cut into by
/// who means well.
const UNFINISHED: usize = 128 * 1024;

/// How long a client that was refused may take to read why, and how much of it is thrown away meanwhile.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1024 * 1024;

/// One connection's TLS.
#[derive(Debug)]
pub(crate) struct Layer {
    /// There unless it could not even begin.
    session: Option<Session>,
    /// The beginning of a record, or of a message of the handshake.
    incoming: Vec<u8>,
    outgoing: Outgoing,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Handshake {
        deadline: Option<Instant>,
        plaintext: Plaintext,
    },
    Open(End),
    /// Where TLS is optional, the client speaks without.
    Bypassed,
    /// What is there is sent, then the write side shut down; what still comes is thrown away.
    Failed {
        until: Instant,
        left: usize,
        is_shut: bool,
    },
    Closed,
}

/// What becomes of a client that speaks without TLS. Its first byte tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plaintext {
    Refused,
    Taken,
    /// The first byte was there.
    Excluded,
}

/// How far the end of our side is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    No,
    /// The peer is to be told, and the pump then this.
    Due(Turn),
    Told,
}

impl Layer {
    /// TLS whose handshake is to be over at `deadline`.
    pub(crate) fn new(session: Session, deadline: Option<Instant>, plaintext: Plaintext) -> Self {
        let mut layer = Layer {
            session: Some(session),
            incoming: Vec::new(),
            outgoing: Outgoing::default(),
            stage: Stage::Handshake {
                deadline,
                plaintext,
            },
        };
        // A client speaks first.
        if let Some(session) = &mut layer.session {
            session.receive(&mut [], &mut BytesMut::new(), &mut layer.outgoing);
        }
        layer
    }

    /// TLS that could not even begin.
    pub(crate) fn closed() -> Self {
        Layer {
            session: None,
            incoming: Vec::new(),
            outgoing: Outgoing::default(),
            stage: Stage::Closed,
        }
    }

    pub(crate) fn is_bypassed(&self) -> bool {
        matches!(self.stage, Stage::Bypassed)
    }

    /// Bytes of memory that its buffers have.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.incoming.capacity() + self.outgoing.capacity()
    }

    pub(crate) fn turn(&mut self, driver: &mut impl Driver, now: Instant) -> Turn {
        match &mut self.stage {
            Stage::Handshake { deadline, .. } => {
                if deadline.is_some_and(|deadline| deadline <= now) {
                    driver.handle_failure(&Error::TimedOut);
                    return self.closes();
                }
                match driver.turn(now) {
                    Turn::Wait | Turn::Yield => Turn::Wait,
                    Turn::ShutdownWrite | Turn::Close => self.closes(),
                }
            }
            Stage::Open(_) => self.turn_open(driver, now),
            Stage::Bypassed => driver.turn(now),
            Stage::Failed { until, left, .. } if *until <= now || *left == 0 => self.closes(),
            Stage::Failed { is_shut, .. } => {
                if *is_shut || !self.outgoing.is_empty() {
                    return Turn::Wait;
                }
                *is_shut = true;
                match &self.session {
                    // It is a server that clients wait for, and whose last word is lost if it has left too early.
                    Some(session) if session.is_server() => Turn::ShutdownWrite,
                    _ => self.closes(),
                }
            }
            Stage::Closed => Turn::Close,
        }
    }

    fn closes(&mut self) -> Turn {
        self.stage = Stage::Closed;
        Turn::Close
    }

    fn turn_open(&mut self, driver: &mut impl Driver, now: Instant) -> Turn {
        if let Stage::Open(End::Due(turn)) = self.stage
            && (turn == Turn::Close || self.outgoing.is_empty())
        {
            self.stage = Stage::Open(End::Told);
            return turn;
        }
        driver.handle_unsent(self.outgoing.remaining());
        match (driver.turn(now), &self.stage) {
            (turn @ (Turn::ShutdownWrite | Turn::Close), Stage::Open(End::No)) => {
                if let Some(session) = &mut self.session {
                    session.close(&mut self.incoming, &mut self.outgoing);
                }
                self.stage = Stage::Open(End::Due(turn));
                Turn::Wait
            }
            (turn, _) => turn,
        }
    }

    pub(crate) fn read<E>(
        &mut self,
        driver: &mut impl Driver,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let begun = std::mem::take(&mut self.incoming);
        let outcome = with_buffer(&begun, |buffer| {
            let bytes = ready!(read(buffer))?;
            self.received(driver, now, buffer, bytes);
            Poll::Ready(Ok(bytes))
        });
        self.keep(begun, outcome)
    }

    pub(crate) fn read_slice<E>(
        &mut self,
        driver: &mut impl Driver,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let begun = std::mem::take(&mut self.incoming);
        let outcome = with_slice(&begun, |slice| {
            let (_, room) = slice.split_at_mut(begun.len());
            let bytes = ready!(read(room))?.min(room.len());
            self.received(driver, now, &mut slice[..begun.len() + bytes], bytes);
            Poll::Ready(Ok(bytes))
        });
        self.keep(begun, outcome)
    }

    /// What was begun stays so if nothing came.
    fn keep<T>(&mut self, begun: Vec<u8>, outcome: Poll<T>) -> Poll<T> {
        if outcome.is_pending() {
            self.incoming = begun;
        }
        outcome
    }

    /// Handles `bytes`, of which the last `came` are new, and keeps what it can't use yet.
    fn received(&mut self, driver: &mut impl Driver, now: Instant, bytes: &mut [u8], came: usize) {
        if came == 0 {
            return self.ended(driver, now);
        }
        let used = match &mut self.stage {
            Stage::Handshake { plaintext, .. } => {
                let about_plaintext = std::mem::replace(plaintext, Plaintext::Excluded);
                match (about_plaintext, bytes.first()) {
                    (Plaintext::Excluded, _) | (_, Some(&plaintext::TLS_HANDSHAKE)) => {
                        self.shake_hands(driver, now, bytes)
                    }
                    (Plaintext::Taken, _) => {
                        self.stage = Stage::Bypassed;
                        driver.handle_handshake(now, None);
                        return give(driver, now, bytes);
                    }
                    (Plaintext::Refused, _) => match plaintext::refusal(bytes) {
                        Some(refusal) => {
                            self.outgoing.put(&refusal);
                            return self.fail(driver, now, &Error::Plaintext);
                        }
                        None => self.shake_hands(driver, now, bytes),
                    },
                }
            }
            Stage::Open(_) => self.decrypt(driver, now, bytes),
            Stage::Failed { left, .. } => {
                *left = left.saturating_sub(came);
                return;
            }
            Stage::Bypassed | Stage::Closed => return,
        };
        let left = bytes.get(used..).unwrap_or_default();
        if left.len() > UNFINISHED {
            return self.fail(driver, now, &Error::NotTls);
        }
        if !matches!(self.stage, Stage::Failed { .. }) {
            self.incoming.extend_from_slice(left);
        }
    }

    /// How many bytes were used up.
    fn shake_hands(&mut self, driver: &mut impl Driver, now: Instant, bytes: &mut [u8]) -> usize {
        let Some(session) = &mut self.session else {
            return bytes.len();
        };
        // The peer's first data may come with the end of its handshake.
        let mut plain = BytesMut::new();
        let outcome = session.receive(bytes, &mut plain, &mut self.outgoing);
        if !session.is_handshaking() && outcome.error.is_none() {
            self.stage = Stage::Open(End::No);
            driver.handle_handshake(now, Some(session.negotiated()));
            give(driver, now, &plain);
        }
        self.conclude(driver, now, &outcome);
        outcome.used
    }

    /// How many bytes were used up.
    fn decrypt(&mut self, driver: &mut impl Driver, now: Instant, bytes: &mut [u8]) -> usize {
        let Some(session) = &mut self.session else {
            return bytes.len();
        };
        let (outgoing, mut outcome) = (&mut self.outgoing, Outcome::default());
        let _ = driver.read(now, |plain| {
            let before = plain.len();
            outcome = session.receive(bytes, plain, outgoing);
            match plain.len() - before {
                // None of the data; no bytes at all would be the end.
                0 => Poll::Pending,
                came => Poll::Ready(Ok::<_, Infallible>(came)),
            }
        });
        self.conclude(driver, now, &outcome);
        outcome.used
    }

    fn conclude(&mut self, driver: &mut impl Driver, now: Instant, outcome: &Outcome) {
        if let Some(error) = &outcome.error {
            self.fail(driver, now, error);
        } else if outcome.has_ended {
            end(driver, now);
        }
    }

    /// The peer's side of the socket is closed.
    fn ended(&mut self, driver: &mut impl Driver, now: Instant) {
        match self.stage {
            Stage::Handshake { .. } => {
                driver.handle_failure(&Error::Ended);
                self.stage = Stage::Closed;
            }
            // Envelopes say how long they are: one that was cut off is seen without an alert before the end.
            Stage::Open(_) => end(driver, now),
            Stage::Bypassed | Stage::Failed { .. } | Stage::Closed => self.stage = Stage::Closed,
        }
    }

    /// Ends the connection; why is in the output, if it can be told.
    fn fail(&mut self, driver: &mut impl Driver, now: Instant, error: &Error) {
        driver.handle_failure(error);
        self.incoming = Vec::new();
        self.stage = Stage::Failed {
            until: now + LINGER,
            left: LINGER_BYTES,
            is_shut: false,
        };
    }

    pub(crate) fn poll_transmit(&mut self, driver: &mut impl Driver) -> Option<&mut Outgoing> {
        while self.outgoing.remaining() < LOW && self.seal(driver) {}
        (!self.outgoing.is_empty()).then_some(&mut self.outgoing)
    }

    /// Encrypts a piece of the driver's output. False if there is none.
    fn seal(&mut self, driver: &mut impl Driver) -> bool {
        let (Stage::Open(End::No), Some(session)) = (&self.stage, &mut self.session) else {
            return false;
        };
        let Some(mut transmit) = driver.poll_transmit() else {
            return false;
        };
        let piece = transmit.chunk();
        let piece = piece.get(..PIECE).unwrap_or(piece);
        let length = piece.len();
        let outcome = session.seal(&mut self.incoming, piece, &mut self.outgoing);
        transmit.advance(length);
        drop(transmit);
        self.incoming.drain(..outcome.used);
        if let Some(error) = outcome.error {
            driver.handle_failure(&error);
            self.stage = Stage::Closed;
            return false;
        }
        length > 0
    }

    pub(crate) fn wants_read(&mut self, driver: &mut impl Driver) -> bool {
        match self.stage {
            Stage::Handshake { .. } | Stage::Failed { .. } => true,
            Stage::Open(_) | Stage::Bypassed => driver.wants_read(),
            Stage::Closed => false,
        }
    }

    pub(crate) fn park(&mut self, driver: &mut impl Driver, waker: &Waker) -> bool {
        self.outgoing.release();
        match self.stage {
            Stage::Open(End::Due(turn)) if turn == Turn::Close || self.outgoing.is_empty() => false,
            Stage::Handshake { .. } | Stage::Open(_) | Stage::Bypassed => driver.park(waker),
            Stage::Failed { is_shut, .. } => is_shut || !self.outgoing.is_empty(),
            Stage::Closed => false,
        }
    }

    pub(crate) fn poll_timeout(&self, driver: &impl Driver) -> Option<Instant> {
        match self.stage {
            Stage::Handshake { deadline, .. } => {
                deadline.into_iter().chain(driver.poll_timeout()).min()
            }
            Stage::Open(_) | Stage::Bypassed => driver.poll_timeout(),
            Stage::Failed { until, .. } => Some(until),
            Stage::Closed => None,
        }
    }
}

/// Gives the driver `bytes` as one read.
fn give(driver: &mut impl Driver, now: Instant, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let _ = driver.read(now, |buffer| {
        buffer.extend_from_slice(bytes);
        Poll::Ready(Ok::<_, Infallible>(bytes.len()))
    });
}

/// Tells the driver that nothing more comes.
fn end(driver: &mut impl Driver, now: Instant) {
    let _ = driver.read(now, |_| Poll::Ready(Ok::<_, Infallible>(0)));
}
