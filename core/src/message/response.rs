//! [`Response`]: any answer to a request.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::auth::{Authenticate, decode_token};
use super::error::ErrorResponse;
use super::result::{Prepared, ResultMetadata, Rows, RowsView, kind};
use super::schema_change::SchemaChange;
use super::supported::Supported;
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::Flags;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// An answer to a request. Events aren't answers: see [`ServerEvent`](super::ServerEvent).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Response {
    /// READY.
    Ready,
    /// AUTHENTICATE.
    Authenticate(Authenticate),
    /// SUPPORTED.
    Supported(Supported),
    /// RESULT without anything.
    Void,
    /// RESULT with rows.
    Rows(Rows),
    /// RESULT of USE: the keyspace.
    SetKeyspace(Arc<str>),
    /// RESULT of PREPARE.
    Prepared(Box<Prepared>),
    /// RESULT of a statement that changed the schema.
    SchemaChange(SchemaChange),
    /// AUTH_CHALLENGE with its token.
    AuthChallenge(Option<Bytes>),
    /// AUTH_SUCCESS with its token.
    AuthSuccess(Option<Bytes>),
    /// ERROR.
    Error(ErrorResponse),
    /// Any of them, as a proxy received it.
    Undecoded(Undecoded),
}

/// A response that was not decoded, for who passes it on: see [`forward`](crate::forward).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecoded {
    /// The opcode, known or not.
    pub opcode: Opcode,
    /// The flags; compression and beta are left to the connection.
    pub flags: Flags,
    /// The body, uncompressed. Tracing id, warnings and payload, if the flags announce them, stand at its front:
    /// nothing is put before it.
    pub body: Bytes,
}

impl Response {
    /// The opcode of the response.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::Ready => Opcode::READY,
            Self::Authenticate(_) => Opcode::AUTHENTICATE,
            Self::Supported(_) => Opcode::SUPPORTED,
            Self::Void
            | Self::Rows(_)
            | Self::SetKeyspace(_)
            | Self::Prepared(_)
            | Self::SchemaChange(_) => Opcode::RESULT,
            Self::AuthChallenge(_) => Opcode::AUTH_CHALLENGE,
            Self::AuthSuccess(_) => Opcode::AUTH_SUCCESS,
            Self::Error(_) => Opcode::ERROR,
            Self::Undecoded(undecoded) => undecoded.opcode,
        }
    }

    /// Writes the message of the response, which stands behind its [`Extras`](super::Extras). What the
    /// version has no place for is left out or stepped down as Apache Cassandra does.
    pub fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match self {
            Self::Ready => {}
            Self::Authenticate(authenticate) => authenticate.encode(out),
            Self::Supported(supported) => supported.encode(out),
            Self::Void => out.put_i32(kind::VOID),
            Self::Rows(rows) => {
                out.put_i32(kind::ROWS);
                rows.encode(version, out);
            }
            Self::SetKeyspace(keyspace) => {
                out.put_i32(kind::SET_KEYSPACE);
                out.put_string(keyspace);
            }
            Self::Prepared(prepared) => {
                out.put_i32(kind::PREPARED);
                prepared.encode(version, out);
            }
            Self::SchemaChange(change) => {
                out.put_i32(kind::SCHEMA_CHANGE);
                change.encode(version, out);
            }
            Self::AuthChallenge(token) | Self::AuthSuccess(token) => {
                out.put_bytes_field(token.as_deref());
            }
            Self::Error(error) => error.encode(version, out),
            Self::Undecoded(undecoded) => out.put_slice(&undecoded.body),
        }
    }

    /// Reads the message that stands from `at` on in a response's body. Rows share the body; everything
    /// else is copied. Bytes behind the message are ignored.
    ///
    /// Memory: at most 32 bytes for each byte read.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedOpcode`] if no response has this opcode,
    /// [`DecodeErrorKind::UnknownResultKind`], and otherwise what is wrong with the message and where.
    pub fn decode(
        opcode: Opcode,
        version: ProtocolVersion,
        body: &Bytes,
        at: usize,
    ) -> Result<Self, DecodeError> {
        Self::decode_with(opcode, version, body, at, None)
    }

    /// Reads a response as [`decode`](Self::decode) does; rows that came without a description of their columns get the
    /// metadata that the request was sent with. Neither is copied: nothing is allocated for such rows.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and [`DecodeErrorKind::InvalidCount`] if the metadata has another number of columns.
    pub fn decode_with(
        opcode: Opcode,
        version: ProtocolVersion,
        body: &Bytes,
        at: usize,
        metadata: Option<&Arc<ResultMetadata>>,
    ) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(body);
        reader.take(at)?;
        let reader = &mut reader;
        match opcode {
            Opcode::RESULT => Self::decode_result(reader, version, body, metadata),
            Opcode::ERROR => ErrorResponse::decode(reader, version).map(Self::Error),
            Opcode::READY => Ok(Self::Ready),
            Opcode::AUTHENTICATE => Authenticate::decode(reader).map(Self::Authenticate),
            Opcode::SUPPORTED => Supported::decode(reader).map(Self::Supported),
            Opcode::AUTH_CHALLENGE => decode_token(reader).map(Self::AuthChallenge),
            Opcode::AUTH_SUCCESS => decode_token(reader).map(Self::AuthSuccess),
            other => Err(reader.error(DecodeErrorKind::UnexpectedOpcode(other))),
        }
    }

    fn decode_result(
        reader: &mut Reader<'_>,
        version: ProtocolVersion,
        body: &Bytes,
        metadata: Option<&Arc<ResultMetadata>>,
    ) -> Result<Self, DecodeError> {
        let position = reader.position();
        match reader.int()? {
            kind::VOID => Ok(Self::Void),
            kind::ROWS => {
                let view = RowsView::read(reader, version)?;
                view.to_rows(body, metadata).map(Self::Rows)
            }
            kind::SET_KEYSPACE => Ok(Self::SetKeyspace(reader.string()?.into())),
            kind::PREPARED => {
                Prepared::decode(reader, version).map(|prepared| Self::Prepared(Box::new(prepared)))
            }
            kind::SCHEMA_CHANGE => SchemaChange::decode(reader, version).map(Self::SchemaChange),
            other => Err(reader.error_at(DecodeErrorKind::UnknownResultKind(other), position)),
        }
    }
}

impl From<ErrorResponse> for Response {
    fn from(error: ErrorResponse) -> Self {
        Self::Error(error)
    }
}
