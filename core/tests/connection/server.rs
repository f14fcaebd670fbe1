//! A server of a few lines around a connection, with everything a test wants to look at.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus_core::connection::{
    Event, Next, Outbox, Progress, Request, RequestTicket, Responder, ServerConfig,
    ServerConnection,
};
use helenus_core::error::Error;
use helenus_core::message::{ErrorResponse, Extras, Response};
use helenus_core::testing::{Cuts, VirtualClock};

/// Answers that were deferred, until the server fetches them.
#[derive(Default)]
pub(crate) struct Mailbox(Mutex<Vec<Mail>>);

/// A deferred answer.
pub(crate) type Mail = (RequestTicket, Response, Option<Box<Extras>>);

impl Mailbox {
    pub(crate) fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Outbox for Mailbox {
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>) {
        self.0.lock().unwrap().push((ticket, response, extras));
    }
}

/// What a test does with requests.
pub(crate) type Service = Box<dyn FnMut(Request<'_>, Responder<'_>)>;

pub(crate) struct Server {
    pub(crate) connection: ServerConnection,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) clock: VirtualClock,
    pub(crate) input: BytesMut,
    pub(crate) output: Vec<u8>,
    pub(crate) closed: Option<Error>,
    service: Service,
}

impl Server {
    pub(crate) fn new(config: ServerConfig, service: Service) -> Server {
        let mailbox = Arc::new(Mailbox::default());
        let clock = VirtualClock::new(Instant::now());
        Server {
            connection: ServerConnection::new(Arc::new(config), mailbox.clone(), clock.now()),
            mailbox,
            clock,
            input: BytesMut::new(),
            output: Vec::new(),
            closed: None,
            service,
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

    /// Takes requests until nothing goes on, then sends.
    pub(crate) fn run(&mut self) -> Progress {
        loop {
            let progress = self.dispatch();
            let sent = self.flush();
            if progress != Progress::Blocked || sent == 0 {
                return progress;
            }
        }
    }

    /// Takes requests until nothing goes on; sends nothing.
    pub(crate) fn dispatch(&mut self) -> Progress {
        loop {
            match self.connection.next(self.clock.now(), &mut self.input) {
                Next::Stop(progress) => return progress,
                Next::Event(Event::Request(request, responder)) => {
                    (self.service)(request, responder);
                }
                Next::Event(Event::Authenticate(token, responder)) => {
                    authenticate(token.bytes(), responder);
                }
                Next::Event(Event::Closed(error)) => {
                    assert_eq!(self.closed, None, "a fatal error is told once");
                    self.closed = Some(error);
                }
                Next::Event(other) => panic!("unexpected {other:?}"),
            }
        }
    }

    /// Sends everything; how much that was.
    pub(crate) fn flush(&mut self) -> usize {
        let mut sent = 0;
        while let Some(mut transmit) = self.connection.poll_transmit() {
            let chunk = transmit.chunk();
            assert_eq!(chunk.len(), transmit.remaining(), "output is contiguous");
            self.output.extend_from_slice(chunk);
            let length = chunk.len();
            transmit.advance(length);
            sent += length;
        }
        sent
    }

    /// What was sent since it was last asked.
    pub(crate) fn sent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }
}

/// Cassandra's PasswordAuthenticator with its first users; `more` gets a challenge, which it hasn't.
fn authenticate(token: Option<&[u8]>, responder: Responder<'_>) {
    let parts: Vec<&[u8]> = token.unwrap_or_default().split(|byte| *byte == 0).collect();
    match parts[..] {
        [_, b"cassandra", b"cassandra"] | [_, b"probe", b"probe"] => responder.accept(None),
        [b"more"] => responder.challenge(Some(b"and?"[..].into())),
        _ if token.is_some_and(|token| token.len() > 1 << 16) => {
            responder.error(ErrorResponse::invalid(
                "Key length is longer than maximum of 65535",
            ));
        }
        _ => responder.refuse("Provided username and/or password are incorrect".to_owned()),
    }
}
