//! A client of a few lines around a connection, with everything a test wants to look at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use helenus_core::connection::{CallError, Challenge, ClientLimits, SendRefused};
use helenus_core::error::Error;
use helenus_core::message::{Query, QueryParams};
use helenus_core::testing::{Cuts, VirtualClock};
use helenus_core::{
    CallId, CallOptions, ClientConfig, ClientConnection, ClientError, ClientEvent, ClientNext,
    Consistency, Extras, Opcode, Progress, ProtocolVersion, RequestBody, Response, ServerEvent,
};

use crate::peer::{ready, requests};

/// An event, owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Ready,
    Challenge(Challenge),
    Answer(CallId, Result<(Response, Extras), Error>),
    Raw(CallId, Opcode, Bytes),
    Failed(CallId, CallError),
    Server(Option<ServerEvent>),
    Closed(ClientError),
}

pub(crate) struct Client {
    pub(crate) connection: ClientConnection,
    pub(crate) clock: VirtualClock,
    pub(crate) input: BytesMut,
    pub(crate) told: Vec<Told>,
    /// Whether answers are kept as bytes rather than decoded.
    pub(crate) raw: bool,
}

impl Client {
    pub(crate) fn new(config: ClientConfig) -> Client {
        let clock = VirtualClock::new(Instant::now());
        Client {
            connection: ClientConnection::new(Arc::new(config), clock.now()),
            clock,
            input: BytesMut::new(),
            told: Vec::new(),
            raw: false,
        }
    }

    /// Receives bytes cut like this, and takes what comes of each piece.
    pub(crate) fn receive(&mut self, bytes: &[u8], cuts: Cuts) {
        for piece in cuts.pieces(bytes) {
            self.input.extend_from_slice(piece);
            self.run();
        }
    }

    /// Takes events until nothing goes on.
    pub(crate) fn run(&mut self) -> Progress {
        loop {
            let event = match self.connection.next(self.clock.now(), &mut self.input) {
                ClientNext::Stop(progress) => return progress,
                ClientNext::Event(event) => event,
            };
            self.told.push(match event {
                ClientEvent::Ready => Told::Ready,
                ClientEvent::Challenge(challenge) => Told::Challenge(challenge),
                ClientEvent::Answer(call, answer) if self.raw => {
                    Told::Raw(call, answer.opcode(), answer.into_bytes())
                }
                ClientEvent::Answer(call, answer) => Told::Answer(call, answer.parse()),
                ClientEvent::Failed(call, error) => Told::Failed(call, error),
                ClientEvent::Server(notice) => Told::Server(notice.parse().ok()),
                ClientEvent::Closed(error) => Told::Closed(error),
                other => panic!("unexpected {other:?}"),
            });
        }
    }

    /// The events since it was last asked.
    pub(crate) fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    /// What is sent now.
    pub(crate) fn sent(&mut self) -> Vec<u8> {
        let mut sent = Vec::new();
        while let Some(mut transmit) = self.connection.poll_transmit() {
            sent.extend_from_slice(transmit.chunk());
            transmit.advance(transmit.remaining());
        }
        sent
    }

    /// The opcodes and streams of what is sent now, where it isn't compressed.
    pub(crate) fn asked(&mut self) -> Vec<(Opcode, i16)> {
        let sent = requests(&self.sent());
        sent.iter()
            .map(|(header, _)| (header.opcode, header.stream.0))
            .collect()
    }

    pub(crate) fn query(&mut self) -> CallId {
        self.try_query(&CallOptions::default()).unwrap()
    }

    pub(crate) fn try_query(&mut self, options: &CallOptions<'_>) -> Result<CallId, SendRefused> {
        let now = self.clock.now();
        self.connection.send(now, &SELECT, options)
    }

    /// Lets time pass, and says so.
    pub(crate) fn wait(&mut self, time: Duration) {
        self.clock.advance(time);
        self.connection.handle_timeout(self.clock.now());
        self.run();
    }
}

/// A QUERY.
pub(crate) const SELECT: RequestBody<'static> = RequestBody::Query(Query {
    query: "SELECT v FROM ks.t",
    params: QueryParams::new(Consistency::ONE),
});

pub(crate) fn version(number: u8) -> ProtocolVersion {
    ProtocolVersion::from_u8(number).unwrap()
}

/// A configuration that speaks this version alone, and doesn't ask first.
pub(crate) fn config(number: u8) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.versions = vec![version(number)];
    config.ask_options = false;
    config
}

pub(crate) fn limited(number: u8, limit: impl FnOnce(&mut ClientLimits)) -> ClientConfig {
    let mut config = config(number);
    limit(&mut config.limits);
    config
}

/// A client after the handshake of this configuration's version.
pub(crate) fn connected(config: ClientConfig) -> Client {
    let mut client = Client::new(config);
    client.sent();
    let version = client.connection.version().as_u8();
    client.receive(&ready(version), Cuts::Whole);
    assert_eq!(client.told(), [Told::Ready]);
    client
}

/// The answer of a void result.
pub(crate) fn answered(call: CallId) -> Told {
    Told::Answer(call, Ok((Response::Void, Extras::default())))
}
