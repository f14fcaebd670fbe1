//! A server of a few lines around a connection: it answers, puts off and drops requests as it is told.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use helenus_core::connection::{
    Event, Next, Outbox, Progress, RequestTicket, ServerConfig, ServerConnection,
};
use helenus_core::error::Error;
use helenus_core::message::{ErrorResponse, Extras, Response, ServerEvent, StatusChange};
use helenus_core::testing::{Cuts, VirtualClock};

/// Answers that were put off.
#[derive(Default)]
struct Mailbox(Mutex<Vec<Mail>>);

type Mail = (RequestTicket, Response, Option<Box<Extras>>);

impl Outbox for Mailbox {
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>) {
        let mut mail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mail.push((ticket, response, extras));
    }
}

/// What becomes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Each is answered at once.
    Prompt,
    /// By the number that the request is: at once, later, not at all, or with a panic's remains.
    Erratic,
}

pub(crate) struct Server {
    connection: ServerConnection,
    mailbox: Arc<Mailbox>,
    clock: VirtualClock,
    habit: Habit,
    input: BytesMut,
    deferred: Vec<helenus_core::Reply>,
    /// Everything sent.
    pub(crate) output: Vec<u8>,
    /// The fatal error.
    pub(crate) closed: Option<Error>,
    /// What came to the service: opcodes and bodies.
    pub(crate) requests: Vec<(u8, Vec<u8>)>,
}

impl Server {
    pub(crate) fn new(config: ServerConfig, habit: Habit) -> Self {
        let mailbox = Arc::new(Mailbox::default());
        let clock = VirtualClock::new(Instant::now());
        Self {
            connection: ServerConnection::new(Arc::new(config), mailbox.clone(), clock.now()),
            mailbox,
            clock,
            habit,
            input: BytesMut::new(),
            deferred: Vec::new(),
            output: Vec::new(),
            closed: None,
            requests: Vec::new(),
        }
    }

    /// Receives bytes cut like this; answers and sends after each piece.
    pub(crate) fn receive(&mut self, bytes: &[u8], cuts: Cuts) {
        for piece in cuts.pieces(bytes) {
            if self.connection.is_finished() {
                return;
            }
            self.input.extend_from_slice(piece);
            self.run();
        }
    }

    /// Goes on until nothing does.
    fn run(&mut self) {
        loop {
            let progress = self.dispatch();
            let sent = self.flush();
            if progress != Progress::Blocked || sent == 0 {
                return;
            }
        }
    }

    fn dispatch(&mut self) -> Progress {
        // Each event takes at least an envelope's header off what came; faults of decompressed bytes have
        // their own, which were at least an eighth of that.
        let mut patience = 1_000 + self.input.len() * 300;
        loop {
            patience -= 1;
            assert!(patience > 0, "events without end");
            match self.connection.next(self.clock.now(), &mut self.input) {
                Next::Stop(progress) => return progress,
                Next::Event(Event::Request(request, responder)) => {
                    let number = self.requests.len();
                    self.requests
                        .push((request.opcode().0, request.body().to_vec()));
                    let response = match request.parse() {
                        Ok(_) => Response::Void,
                        Err(error) => error.response().into(),
                    };
                    drop(request);
                    match (self.habit, number % 4) {
                        (Habit::Prompt, _) | (_, 0) => responder.send(response),
                        (_, 1) => self.deferred.push(responder.defer()),
                        (_, 2) => drop(responder.defer()),
                        _ => drop(responder),
                    }
                }
                Next::Event(Event::Authenticate(token, responder)) => match token.bytes() {
                    Some(b"in") => responder.accept(None),
                    Some(b"more") => responder.challenge(None),
                    _ => responder.refuse(String::new()),
                },
                Next::Event(Event::Closed(error)) => {
                    assert_eq!(self.closed, None, "a fatal error is told once");
                    self.closed = Some(error);
                }
                Next::Event(_) => {}
            }
        }
    }

    fn flush(&mut self) -> usize {
        let mut sent = 0;
        while let Some(mut transmit) = self.connection.poll_transmit() {
            let length = transmit.chunk().len();
            assert_eq!(length, transmit.remaining(), "output is contiguous");
            self.output.extend_from_slice(transmit.chunk());
            transmit.advance(length);
            sent += length;
        }
        sent
    }

    /// Does what has nothing to do with the peer's bytes, in an order that `step` chooses.
    pub(crate) fn disturb(&mut self, step: u8) {
        match step % 8 {
            0 => self.clock.advance(Duration::from_secs(u64::from(step))),
            1 => self.connection.handle_timeout(self.clock.now()),
            2 => self.connection.push(&ServerEvent::StatusChange {
                change: StatusChange::Up,
                address: ([127, 0, 0, 1], 9042).into(),
            }),
            3 if step > 0xF0 => self.connection.drain(),
            4 => {
                if let Some(mut transmit) = self.connection.poll_transmit() {
                    let some = usize::from(step).min(transmit.remaining());
                    self.output.extend_from_slice(&transmit.chunk()[..some]);
                    transmit.advance(some);
                }
            }
            5 => {
                let mut spare = BytesMut::new();
                if self.connection.take_output(&mut spare) {
                    self.output.extend_from_slice(&spare);
                }
            }
            6 => {
                if let Some(reply) = self.deferred.pop() {
                    reply.error(ErrorResponse::invalid("late"));
                }
                self.take_mail();
            }
            _ => self.connection.handle_timeout(Instant::now()),
        }
    }

    fn take_mail(&mut self) {
        let mut mail = self
            .mailbox
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let taken = std::mem::take(&mut *mail);
        drop(mail);
        for (ticket, response, extras) in taken {
            // After a fatal error it comes back.
            drop(self.connection.respond(ticket, response, extras));
        }
    }

    /// The peer ends its side, and everything put off is answered.
    pub(crate) fn finish(&mut self) {
        self.connection.handle_eof(self.clock.now());
        // Each round answers what the one before let in.
        for _ in 0..1_000 {
            self.run();
            if self.connection.is_finished() {
                return;
            }
            self.deferred.clear();
            self.take_mail();
        }
        panic!("the connection doesn't finish");
    }
}
