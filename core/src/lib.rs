//! The Cassandra native protocol (CQL v3, v4, v5) as a sans-IO state machine.

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
mod framing;
pub mod message;
pub mod rows;
pub mod segment;
#[cfg(feature = "testing")]
pub mod testing;
mod timers;
pub mod transition;
pub mod types;
pub mod wire;

pub use codes::{Consistency, ErrorCode, Opcode, ProtocolVersion};
pub use connection::{
    Event, Next, Outbox, Progress, Reply, Request, RequestTicket, Responder, ServerConfig,
    ServerConnection,
};
pub use envelope::{Direction, Envelope, Flags, Header, StreamId};
pub use error::Error;
pub use message::{
    ColumnSpec, ErrorDetail, ErrorResponse, Extras, RequestBody, Response, ResultMetadata,
    ServerEvent,
};
pub use rows::RowsWriter;
pub use types::{CqlType, UserType};
pub use wire::{DecodeError, DecodeErrorKind, RawValue};
