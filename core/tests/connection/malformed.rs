//! Errors are values: every way to break the protocol, as tables. Each case says which ERROR answers it, on
//! which stream, what becomes of the connection and which counter moves. Whatever the case and the cuts,
//! that is all that happens: nothing unwinds, no other counter moves, nothing but the ERROR is sent, the
//! memory used follows the bytes received, and an open connection goes on as if nothing had been.

mod bodies;
mod compression;
mod framing;
mod handshake;
mod limits;
mod segments;

use helenus_allocations::peak_of;
use helenus_core::compression::Compression;
use helenus_core::connection::ServerConfig;
use helenus_core::error::ErrorKind;
use helenus_core::message::Response;
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ErrorCode, Opcode};

use crate::client::{Client, options, request, segment, startup};
use crate::server::{Server, Service};

/// Where a connection stands when the bytes come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing was said yet.
    Fresh,
    /// The server asked for authentication.
    Authenticating,
    /// Requests may be made.
    Ready,
}

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The next request is answered.
    GoesOn,
    /// It is over once the ERROR is sent, and reads nothing more.
    Closes,
}

/// One way to break the protocol.
#[derive(Debug, Clone)]
struct Case {
    name: String,
    version: u8,
    compression: Option<&'static str>,
    stage: Stage,
    config: ServerConfig,
    /// What comes.
    bytes: Vec<u8>,
    kind: ErrorKind,
    /// The ERROR's stream, code and a part of its message.
    stream: i16,
    code: ErrorCode,
    message: String,
    then: Then,
}

impl Case {
    /// Bytes that break the protocol on a connection that is ready: a protocol error on stream 9, and the
    /// connection goes on.
    fn new(name: impl Into<String>, version: u8, bytes: Vec<u8>, kind: ErrorKind) -> Case {
        Case {
            name: name.into(),
            version,
            compression: None,
            stage: Stage::Ready,
            config: ServerConfig::default(),
            bytes,
            kind,
            stream: 9,
            code: ErrorCode::PROTOCOL_ERROR,
            message: String::new(),
            then: Then::GoesOn,
        }
    }

    /// Before STARTUP.
    fn fresh(self) -> Case {
        Case {
            stage: Stage::Fresh,
            ..self
        }
    }

    /// While the server waits for a token.
    fn authenticating(mut self) -> Case {
        self.config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".into());
        self.stage = Stage::Authenticating;
        self
    }

    fn compressed(self, name: &'static str) -> Case {
        Case {
            compression: Some(name),
            ..self
        }
    }

    fn says(self, message: impl Into<String>) -> Case {
        Case {
            message: message.into(),
            ..self
        }
    }

    fn on_stream(self, stream: i16) -> Case {
        Case { stream, ..self }
    }

    fn code(self, code: ErrorCode) -> Case {
        Case { code, ..self }
    }

    fn closes(self) -> Case {
        Case {
            then: Then::Closes,
            ..self
        }
    }

    fn configured(mut self, change: impl FnOnce(&mut ServerConfig)) -> Case {
        change(&mut self.config);
        self
    }

    /// Whether this end speaks in segments when the bytes come.
    fn in_segments(&self) -> bool {
        self.version == 5 && self.stage != Stage::Fresh
    }

    fn client(&self) -> Client {
        Client::new(self.compression.and_then(Compression::from_name))
    }

    /// A server at the case's stage.
    fn server(&self) -> Server {
        let mut server = Server::new(self.config.clone(), service());
        if self.stage != Stage::Fresh {
            let options: Vec<_> = self
                .compression
                .map(|name| ("COMPRESSION", name))
                .into_iter()
                .collect();
            server.receive(&startup(self.version, &options), Cuts::Whole);
            server.sent();
        }
        assert_eq!(server.connection.is_ready(), self.stage == Stage::Ready);
        server
    }

    fn hold(&self, cuts: Cuts) {
        let label = format!("v{} {}, {cuts:?}", self.version, self.name);
        let mut server = self.server();
        // The buffer is the caller's, and no part of what the connection may use.
        server.input.reserve(self.bytes.len());
        let before = server.connection.stats().clone();
        let peak = peak_of(|| server.receive(&self.bytes, cuts));
        let bound = 3 * self.bytes.len() as u64 + (64 << 10);
        assert!(peak <= bound, "{label}: {peak} bytes live, {bound} allowed");

        let got = self.client().read(&server.sent());
        assert_eq!(got.len(), 1, "{label}: {got:?}");
        let error = &got[0];
        assert_eq!(error.opcode, Opcode::ERROR, "{label}");
        let answer = (error.stream, ErrorCode(error.code()));
        assert_eq!(
            answer,
            (self.stream, self.code),
            "{label}: {}",
            error.message()
        );
        assert!(
            error.message().contains(&self.message),
            "{label}: {}",
            error.message()
        );

        let stats = server.connection.stats();
        let moved = (stats.faults - before.faults).iter().collect::<Vec<_>>();
        assert_eq!(moved, [(self.kind, 1)], "{label}");
        assert_eq!(stats.errors - before.errors, 1, "{label}");
        assert_eq!(stats.fatal, u64::from(self.then == Then::Closes), "{label}");
        match self.then {
            Then::GoesOn => self.goes_on(&mut server, &label),
            Then::Closes => {
                let closed = server.closed.take().map(|error| error.kind());
                assert_eq!(closed, Some(self.kind), "{label}");
                assert!(server.connection.is_finished(), "{label}");
                server.input.extend_from_slice(&options(self.version, 77));
                server.run();
                assert!(server.sent().is_empty(), "{label}: silent when closed");
            }
        }
    }

    fn goes_on(&self, server: &mut Server, label: &str) {
        assert_eq!(server.closed, None, "{label}");
        assert!(server.input.is_empty(), "{label}: consumed to its end");
        let (next, answer) = match self.stage {
            Stage::Authenticating => {
                let token = b"\0\0\0\x14\0cassandra\0cassandra";
                (
                    request(self.version, 0, 77, 0x0F, token),
                    Opcode::AUTH_SUCCESS,
                )
            }
            _ => (options(self.version, 77), Opcode::SUPPORTED),
        };
        server.receive(&self.framed(&next), Cuts::Whole);
        let got = self.client().read(&server.sent());
        assert_eq!(got.len(), 1, "{label}");
        assert_eq!((got[0].stream, got[0].opcode), (77, answer), "{label}");
    }

    /// An envelope as it travels at the case's stage.
    fn framed(&self, envelope: &[u8]) -> Vec<u8> {
        framed(self.in_segments(), self.compression, envelope)
    }
}

fn framed(in_segments: bool, compression: Option<&str>, envelope: &[u8]) -> Vec<u8> {
    match (in_segments, compression) {
        (false, _) => envelope.to_vec(),
        (true, None) => segment(SegmentFormat::Plain, true, envelope),
        (true, Some(_)) => segment(SegmentFormat::Lz4, true, envelope),
    }
}

/// A request with this body on stream 9, as it travels on a ready connection.
fn ready(version: u8, opcode: Opcode, body: &[u8]) -> Vec<u8> {
    framed(version == 5, None, &request(version, 0, 9, opcode.0, body))
}

/// Requests that decode are answered with Void.
fn service() -> Service {
    Box::new(|request, responder| match request.parse() {
        Ok(_) => responder.send(Response::Void),
        Err(error) => responder.reject(&error),
    })
}

/// Holds every case: in one piece, in the pieces of a network, and byte by byte unless that takes too long.
fn hold(cases: impl IntoIterator<Item = Case>) {
    for case in cases {
        case.hold(Cuts::Whole);
        case.hold(Cuts::Every(1460));
        if case.bytes.len() <= 10_000 {
            case.hold(Cuts::BYTES);
        }
    }
}

/// A \[string\].
fn string(text: &str) -> Vec<u8> {
    [
        &u16::try_from(text.len()).unwrap().to_be_bytes(),
        text.as_bytes(),
    ]
    .concat()
}

/// A \[long string\].
fn long_string(text: &str) -> Vec<u8> {
    [
        &u32::try_from(text.len()).unwrap().to_be_bytes(),
        text.as_bytes(),
    ]
    .concat()
}
