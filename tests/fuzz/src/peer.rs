//! A client of a few lines around a connection: it asks, gives up and waits as it is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use helenus_core::connection::{CallError, ClientError, ClientNext, Progress};
use helenus_core::message::{Query, QueryParams, RequestBody};
use helenus_core::testing::{Cuts, VirtualClock};
use helenus_core::{
    CallId, CallOptions, ClientConfig, ClientConnection, ClientEvent, Consistency, Opcode,
};

/// What came up, as far as it is the same however the bytes are cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Ready,
    Challenge,
    /// The opcode and body of an answer, and whether it decodes.
    Answer(CallId, u8, Vec<u8>, bool),
    Failed(CallId, CallError),
    Event(Vec<u8>),
    Closed(ClientError),
}

pub(crate) struct Client {
    connection: ClientConnection,
    clock: VirtualClock,
    input: BytesMut,
    calls: Vec<CallId>,
    /// What came up so far.
    pub(crate) seen: Vec<Seen>,
    /// Everything sent.
    pub(crate) output: Vec<u8>,
}

impl Client {
    pub(crate) fn new(config: ClientConfig) -> Self {
        let clock = VirtualClock::new(Instant::now());
        Self {
            connection: ClientConnection::new(Arc::new(config), clock.now()),
            clock,
            input: BytesMut::new(),
            calls: Vec::new(),
            seen: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Receives bytes cut like this; asks as many questions as there is room for, up to `questions`, once it may.
    pub(crate) fn receive(&mut self, bytes: &[u8], cuts: Cuts, questions: usize) {
        for piece in cuts.pieces(bytes) {
            self.input.extend_from_slice(piece);
            self.run(questions);
        }
    }

    fn run(&mut self, questions: usize) {
        // Each event takes at least an envelope's header off what came, or is the end of a call.
        let mut patience = 1_000 + self.input.len() * 300;
        loop {
            patience -= 1;
            assert!(patience > 0, "events without end");
            self.flush();
            let seen = match self.connection.next(self.clock.now(), &mut self.input) {
                ClientNext::Stop(progress) => {
                    assert_ne!(progress, Progress::Blocked);
                    return;
                }
                ClientNext::Event(ClientEvent::Ready) => Seen::Ready,
                ClientNext::Event(ClientEvent::Challenge(_)) => Seen::Challenge,
                ClientNext::Event(ClientEvent::Answer(call, answer)) => {
                    let (opcode, body) = (answer.opcode().0, answer.body().to_vec());
                    Seen::Answer(call, opcode, body, answer.parse().is_ok())
                }
                ClientNext::Event(ClientEvent::Failed(call, error)) => Seen::Failed(call, error),
                ClientNext::Event(ClientEvent::Server(notice)) => Seen::Event(notice.to_vec()),
                ClientNext::Event(ClientEvent::Closed(error)) => Seen::Closed(error),
                ClientNext::Event(_) => continue,
            };
            match &seen {
                Seen::Ready => self.ask(questions),
                // Refused only when it is over.
                Seen::Challenge => drop(self.connection.authenticate(Some(b"\0name\0word"))),
                _ => {}
            }
            self.seen.push(seen);
        }
    }

    fn ask(&mut self, questions: usize) {
        let query = RequestBody::Query(Query {
            query: "SELECT",
            params: QueryParams::new(Consistency::ONE),
        });
        for number in 0..questions {
            let seconds = Duration::from_secs(1 + number as u64);
            let options = CallOptions::default().with_timeout(seconds);
            let now = self.clock.now();
            match self.connection.send(now, &query, &options) {
                Ok(call) => self.calls.push(call),
                Err(_) => return,
            }
        }
    }

    fn flush(&mut self) {
        while let Some(mut transmit) = self.connection.poll_transmit() {
            self.output.extend_from_slice(transmit.chunk());
            let length = transmit.remaining();
            transmit.advance(length);
        }
    }

    /// Does what has nothing to do with the server's bytes, in an order that `step` chooses.
    pub(crate) fn disturb(&mut self, step: u8) {
        match step % 8 {
            0 => self.clock.advance(Duration::from_secs(u64::from(step))),
            1 => self.connection.handle_timeout(self.clock.now()),
            2 | 3 => {
                if let Some(call) = self.calls.get(usize::from(step / 8)) {
                    self.connection.cancel(*call);
                }
            }
            4 => self.ask(3),
            5 if step > 0xF0 => self.connection.close(),
            6 => {
                let options = CallOptions::default();
                let (now, opcode) = (self.clock.now(), Opcode(step));
                let flags = helenus_core::Flags(step);
                let forwarded = self
                    .connection
                    .forward(now, opcode, flags, b"body", &options);
                self.calls.extend(forwarded.ok());
            }
            _ => self.connection.handle_timeout(Instant::now()),
        }
        self.run(0);
    }

    /// The server ends its side: every call has come to one end, and the connection to its own.
    ///
    /// # Panics
    /// If that doesn't hold.
    pub(crate) fn finish(&mut self) {
        self.connection.handle_eof(self.clock.now());
        self.run(0);
        if !self.connection.is_finished() {
            // Nothing is missing but the end of the handshake.
            self.clock.advance(Duration::from_secs(3600));
            self.connection.handle_timeout(self.clock.now());
            self.run(0);
        }
        assert!(self.connection.is_finished());
        let mut ended: Vec<CallId> = Vec::new();
        let mut closed = 0;
        for seen in &self.seen {
            match seen {
                Seen::Answer(call, ..) | Seen::Failed(call, _) => {
                    assert!(!ended.contains(call), "a call ends once");
                    assert!(self.calls.contains(call), "a call of ours");
                    ended.push(*call);
                }
                Seen::Closed(_) => closed += 1,
                _ => assert_eq!(closed, 0, "nothing comes behind the end"),
            }
        }
        assert!(closed <= 1);
        assert_eq!(self.connection.in_flight(), 0);
    }
}
