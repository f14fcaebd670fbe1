//! The Cassandra native protocol (CQL v3, v4, v5) as a sans-IO state machine.

pub mod codes;
pub mod envelope;
pub mod message;
pub mod rows;
pub mod types;
pub mod wire;

pub use codes::{Consistency, ErrorCode, Opcode, ProtocolVersion};
pub use envelope::{Direction, Envelope, Flags, Header, StreamId};
pub use message::{
    ColumnSpec, ErrorDetail, ErrorResponse, Extras, RequestBody, Response, ResultMetadata,
    ServerEvent,
};
pub use rows::RowsWriter;
pub use types::{CqlType, UserType};
pub use wire::{DecodeError, DecodeErrorKind, RawValue};
