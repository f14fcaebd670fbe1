//! The Cassandra native protocol (CQL v3, v4, v5) as a sans-IO state machine.
//!
//! Bytes and the current time go in; events, bytes to send and error *values* come out. There is no
//! socket, clock, thread, lock or runtime in here: whoever owns the socket drives a [`ServerConnection`],
//! and so does a test that owns none. This is the whole loop:
//!
//! ```
//! use std::io::{self, Read, Write};
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use bytes::{Buf, BytesMut};
//! use helenus_core::message::{ErrorResponse, Extras, RequestBody, Response};
//! use helenus_core::{
//!     Event, Next, Outbox, Progress, Request, RequestTicket, Responder, ServerConfig, ServerConnection,
//! };
//!
//! /// Answers come at once here, so that none is ever delivered later.
//! struct NoMail;
//!
//! impl Outbox for NoMail {
//!     fn deliver(&self, _: RequestTicket, _: Response, _: Option<Box<Extras>>) {}
//! }
//!
//! /// The service: every statement is welcome and does nothing.
//! fn call(request: Request<'_>, responder: Responder<'_>) {
//!     match request.parse() {
//!         Ok(RequestBody::Query(_)) => responder.send(Response::Void),
//!         Ok(_) => responder.error(ErrorResponse::invalid("only QUERY is answered here")),
//!         Err(error) => responder.reject(&error),
//!     }
//! }
//!
//! fn serve(mut socket: impl Read + Write) -> io::Result<()> {
//!     let config = Arc::new(ServerConfig::default());
//!     let mut connection = ServerConnection::new(config, Arc::new(NoMail), Instant::now());
//!     let mut input = BytesMut::new();
//!     let mut scratch = vec![0; 64 << 10];
//!     loop {
//!         // Take events until nothing goes on.
//!         let progress = loop {
//!             match connection.next(Instant::now(), &mut input) {
//!                 Next::Stop(progress) => break progress,
//!                 Next::Event(Event::Request(request, responder)) => call(request, responder),
//!                 Next::Event(Event::Authenticate(_, responder)) => responder.accept(None),
//!                 Next::Event(Event::Closed(error)) => eprintln!("{error}"),
//!                 Next::Event(_) => {}
//!             }
//!         };
//!         // Send what there is: many answers, one write.
//!         while let Some(mut transmit) = connection.poll_transmit() {
//!             let written = socket.write(transmit.chunk())?;
//!             transmit.advance(written);
//!         }
//!         if connection.is_finished() {
//!             return Ok(());
//!         }
//!         if progress == Progress::NeedInput && connection.wants_read() {
//!             match socket.read(&mut scratch)? {
//!                 0 => connection.handle_eof(Instant::now()),
//!                 length => input.extend_from_slice(&scratch[..length]),
//!             }
//!         }
//!     }
//! }
//!
//! // A client's bytes instead of a socket: OPTIONS on stream 1, and the answer is SUPPORTED on stream 1.
//! # struct Wire(&'static [u8], Vec<u8>);
//! # impl Read for &mut Wire {
//! #     fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> { self.0.read(buffer) }
//! # }
//! # impl Write for &mut Wire {
//! #     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> { self.1.write(bytes) }
//! #     fn flush(&mut self) -> io::Result<()> { Ok(()) }
//! # }
//! let mut wire = Wire(&[4, 0, 0, 1, 5, 0, 0, 0, 0], Vec::new());
//! serve(&mut wire)?;
//! assert_eq!(wire.1[..5], [0x84, 0, 0, 1, 6]);
//! # io::Result::Ok(())
//! ```
//!
//! A pump on a runtime adds what a blocking loop can't show: it waits for its
//! [timeout](ServerConnection::poll_timeout) and for deferred answers beside the socket, and goes on
//! reading while a write waits.
//!
//! # What holds
//!
//! * Whatever a peer sends, and in whatever order the methods are called, nothing panics, recurses without
//!   bound or allocates more than the received bytes justify: at most three times their number (decompressed,
//!   if they were compressed) and 64 KiB a connection, and within its [`Limits`](connection::Limits).
//! * Input is consumed exactly, and the work on it is linear however it is cut.
//! * [Errors](error::Error) are values that know whose fault they are and which ERROR answers them.
//! * Each request is answered once: a [`Responder`] or [`Reply`] that is dropped answers SERVER_ERROR.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests may read clocks"
    )
)]

pub mod codes;
pub mod compression;
pub mod connection;
pub mod crc;
pub mod envelope;
pub mod error;
pub mod forward;
mod framing;
pub mod message;
mod pump;
pub mod rows;
pub mod segment;
mod streams;
#[cfg(feature = "testing")]
pub mod testing;
mod timers;
pub mod transition;
pub mod types;
pub mod wire;

pub use codes::{Consistency, ErrorCode, Opcode, ProtocolVersion};
pub use connection::{
    Answer, CallId, CallOptions, ClientConfig, ClientConnection, ClientError, ClientEvent,
    ClientNext, Event, Next, Outbox, Progress, Reply, Request, RequestTicket, Responder,
    ServerConfig, ServerConnection,
};
pub use envelope::{Direction, Envelope, Flags, Header, StreamId};
pub use error::Error;
pub use message::{
    ColumnSpec, ErrorDetail, ErrorResponse, Extras, RequestBody, Response, ResultMetadata,
    ServerEvent,
};
pub use pump::{Pumped, Turn};
pub use rows::RowsWriter;
pub use types::{CqlType, UserType};
pub use wire::{DecodeError, DecodeErrorKind, RawValue};
