//! The Cassandra native protocol (CQL v3, v4, v5) as a sans-IO state machine.
//!
//! Bytes and the current time go in; events, bytes to send and error *values* come out. There is no
//! socket, clock, thread, lock or runtime in here: whoever owns the socket drives a [`ServerConnection`] or a
//! [`ClientConnection`], and so does a test that owns none.
//!
//! # A server
//!
//! This is the whole loop:
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
//! # A client
//!
//! The same loop from the other side. The handshake begins by itself, and requests are told apart by their
//! [`CallId`]s, so that any number may be in flight:
//!
//! ```
//! use std::error::Error;
//! use std::io::{Read, Write};
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use bytes::{Buf, BytesMut};
//! use helenus_core::message::{Query, QueryParams, RequestBody, Response};
//! use helenus_core::{
//!     CallOptions, ClientConfig, ClientConnection, ClientEvent, ClientNext, Consistency, Progress,
//! };
//!
//! /// Connects, asks one question and closes.
//! fn ask(
//!     mut socket: impl Read + Write,
//!     config: ClientConfig,
//!     question: &RequestBody<'_>,
//! ) -> Result<Response, Box<dyn Error>> {
//!     let mut connection = ClientConnection::new(Arc::new(config), Instant::now());
//!     let mut input = BytesMut::new();
//!     let mut scratch = vec![0; 64 << 10];
//!     let mut answered = None;
//!     loop {
//!         // Take events until nothing goes on. They borrow the connection: commands come after them.
//!         let (mut is_ready, mut is_challenged) = (false, false);
//!         let progress = loop {
//!             match connection.next(Instant::now(), &mut input) {
//!                 ClientNext::Stop(progress) => break progress,
//!                 ClientNext::Event(ClientEvent::Ready) => is_ready = true,
//!                 ClientNext::Event(ClientEvent::Challenge(_)) => is_challenged = true,
//!                 ClientNext::Event(ClientEvent::Answer(_, answer)) => answered = Some(answer.parse()?.0),
//!                 // It says whether to send the request again.
//!                 ClientNext::Event(ClientEvent::Failed(_, error)) => return Err(error.into()),
//!                 // It says whether to connect again with a lower version.
//!                 ClientNext::Event(ClientEvent::Closed(error)) => return Err(error.into()),
//!                 ClientNext::Event(_) => {}
//!             }
//!         };
//!         if is_challenged {
//!             connection.authenticate(Some(b"\0user\0password"))?;
//!         }
//!         if is_ready {
//!             connection.send(Instant::now(), question, &CallOptions::default())?;
//!         }
//!         if answered.is_some() {
//!             connection.close();
//!         }
//!         // Send what there is: many requests, one write.
//!         while let Some(mut transmit) = connection.poll_transmit() {
//!             let written = socket.write(transmit.chunk())?;
//!             transmit.advance(written);
//!         }
//!         if connection.is_finished() {
//!             return answered.ok_or_else(|| "closed before it was asked".into());
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
//! // A server's bytes instead of a socket, one message a read: SUPPORTED, READY, and a RESULT on stream 1.
//! # struct Wire(std::vec::IntoIter<&'static [u8]>);
//! # impl Read for Wire {
//! #     fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
//! #         self.0.next().unwrap_or_default().read(buffer)
//! #     }
//! # }
//! # impl Write for Wire {
//! #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> { Ok(bytes.len()) }
//! #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
//! # }
//! let answers: Vec<&[u8]> = vec![
//!     b"\x84\0\0\0\x06\0\0\0\x02\0\0",
//!     b"\x84\0\0\0\x02\0\0\0\0",
//!     b"\x84\0\0\x01\x08\0\0\0\x04\0\0\0\x01",
//! ];
//! # let wire = Wire(answers.into_iter());
//! let mut config = ClientConfig::default();
//! config.versions = vec![helenus_core::ProtocolVersion::V4];
//! let params = QueryParams::new(Consistency::ONE);
//! let question = RequestBody::Query(Query { query: "TRUNCATE ks.t", params });
//! assert_eq!(ask(wire, config, &question)?, Response::Void);
//! # Ok::<(), Box<dyn Error>>(())
//! ```
//!
//! # Around it
//!
//! A pump on a runtime adds what a blocking loop can't show: it waits for its
//! [timeout](ServerConnection::poll_timeout) and for deferred answers beside the socket, and goes on
//! reading while a write waits. Tests join both ends in memory, over a network as bad as they like: the
//! feature `testing` has the `Pair` for it.
//!
//! # What holds
//!
//! * Whatever a peer sends, and in whatever order the methods are called, nothing panics, recurses without
//!   bound or allocates more than the received bytes justify: at most three times their number (decompressed,
//!   if they were compressed) and 64 KiB a connection, and within its [`Limits`](connection::Limits).
//! * Input is consumed exactly, and the work on it is linear however it is cut.
//! * [Errors](error::Error) are values that know whose fault they are and which ERROR answers them; a client's
//!   say whether the request [may be sent again](connection::CallError::may_retry).
//! * Each request is answered once: a [`Responder`] or [`Reply`] that is dropped answers SERVER_ERROR. Each
//!   request of a client ends once, answered or failed, and its stream isn't used again before its reply.

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
pub mod framing;
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
    BindValues, ColumnSpec, ErrorDetail, ErrorResponse, Extras, RequestBody, Response,
    ResultMetadata, ServerEvent,
};
pub use pump::{Pumped, Turn};
pub use rows::{FromRow, RowsWriter};
pub use types::{CqlType, FromCql, ToCql, UserType};
pub use wire::{DecodeError, DecodeErrorKind, RawValue};
