//! [`RequestBody`]: any request, decoded and borrowed from its bytes.

use bytes::BytesMut;

use super::auth::AuthResponse;
use super::batch::Batch;
use super::execute::Execute;
use super::prepare::Prepare;
use super::query::{Query, QueryFlags, QueryParams};
use super::register::Register;
use super::startup::Startup;
use super::values::Values;
use crate::codes::{Opcode, ProtocolVersion};
use crate::wire::{DecodeError, DecodeErrorKind, RawValue, Reader};

/// A request. Decoding one allocates nothing; bytes behind it are ignored, as Apache Cassandra does.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RequestBody<'a> {
    /// STARTUP.
    Startup(Startup<'a>),
    /// OPTIONS.
    Options,
    /// QUERY.
    Query(Query<'a>),
    /// PREPARE.
    Prepare(Prepare<'a>),
    /// EXECUTE.
    Execute(Execute<'a>),
    /// BATCH.
    Batch(Batch<'a>),
    /// REGISTER.
    Register(Register<'a>),
    /// AUTH_RESPONSE.
    AuthResponse(AuthResponse<'a>),
}

impl<'a> RequestBody<'a> {
    /// Reads the message of a request: its body behind the custom payload.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedOpcode`] if no request has this opcode, otherwise what is wrong with
    /// the message and where.
    // Inlined whatever it takes: the caller looks at a part of the request, and the rest needn't be built.
    // Returned through memory an EXECUTE takes 437 instructions, and so 218.
    #[inline(always)]
    pub fn decode(
        opcode: Opcode,
        version: ProtocolVersion,
        reader: &mut Reader<'a>,
    ) -> Result<Self, DecodeError> {
        match opcode {
            Opcode::EXECUTE => Ok(Self::Execute(Execute::decode(reader, version)?)),
            Opcode::QUERY => Ok(Self::Query(Query::decode(reader, version)?)),
            other => Self::decode_rare(other, version, reader),
        }
    }

    #[inline(never)]
    fn decode_rare(
        opcode: Opcode,
        version: ProtocolVersion,
        reader: &mut Reader<'a>,
    ) -> Result<Self, DecodeError> {
        match opcode {
            Opcode::BATCH => Batch::decode(reader, version).map(Self::Batch),
            Opcode::PREPARE => Prepare::decode(reader, version).map(Self::Prepare),
            Opcode::OPTIONS => Ok(Self::Options),
            Opcode::STARTUP => Startup::decode(reader).map(Self::Startup),
            Opcode::REGISTER => Register::decode(reader, version).map(Self::Register),
            Opcode::AUTH_RESPONSE => AuthResponse::decode(reader).map(Self::AuthResponse),
            other => Err(reader.error(DecodeErrorKind::UnexpectedOpcode(other))),
        }
    }

    /// The opcode of the request.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::Startup(_) => Opcode::STARTUP,
            Self::Options => Opcode::OPTIONS,
            Self::Query(_) => Opcode::QUERY,
            Self::Prepare(_) => Opcode::PREPARE,
            Self::Execute(_) => Opcode::EXECUTE,
            Self::Batch(_) => Opcode::BATCH,
            Self::Register(_) => Opcode::REGISTER,
            Self::AuthResponse(_) => Opcode::AUTH_RESPONSE,
        }
    }

    /// Whether the version can say all of the request: a keyspace or a time of its own came with v5, unset
    /// values with v4.
    #[must_use]
    pub fn fits(&self, version: ProtocolVersion) -> bool {
        if version >= ProtocolVersion::V5 {
            return true;
        }
        let is_plain =
            |keyspace: Option<&str>, now: Option<i32>| keyspace.is_none() && now.is_none();
        let is_set = |values: Values<'_>| {
            version >= ProtocolVersion::V4
                || values.iter().all(|(_, value)| value != RawValue::Unset)
        };
        let suits = |params: &QueryParams<'_>| {
            is_plain(params.keyspace, params.now_in_seconds) && is_set(params.values)
        };
        match self {
            Self::Query(query) => suits(&query.params),
            Self::Execute(execute) => suits(&execute.params),
            Self::Prepare(prepare) => prepare.keyspace.is_none(),
            Self::Batch(batch) => {
                is_plain(batch.keyspace, batch.now_in_seconds)
                    && (version >= ProtocolVersion::V4
                        || batch
                            .statements
                            .iter()
                            .all(|statement| is_set(statement.values)))
            }
            _ => true,
        }
    }

    /// Whether a null, read from v3, may be written as only v3 has it; see [`Values::has_odd_nulls`].
    pub(crate) fn may_have_odd_nulls(&self) -> bool {
        let may = |params: &QueryParams<'_>| {
            let is_null_state =
                params.flags.contains(QueryFlags::PAGING_STATE) && params.paging_state.is_none();
            is_null_state || params.values.has_odd_nulls()
        };
        match self {
            Self::Query(query) => may(&query.params),
            Self::Execute(execute) => may(&execute.params),
            // What such flags announce means nothing in a batch, and is read all the same.
            Self::Batch(batch) => {
                batch.flags.contains(QueryFlags::PAGING_STATE)
                    || batch.flags.contains(QueryFlags::VALUES)
                    || batch.statements.has_odd_nulls()
            }
            _ => false,
        }
    }

    /// Writes the message of the request. What the version has no place for is left out.
    // Inlined for the reason that decoding is: which fields there are is known where the request is made.
    #[inline(always)]
    pub fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match self {
            Self::Execute(execute) => execute.encode(version, out),
            Self::Query(query) => query.encode(version, out),
            Self::Startup(startup) => startup.encode(out),
            Self::Options => {}
            Self::Prepare(prepare) => prepare.encode(version, out),
            Self::Batch(batch) => batch.encode(version, out),
            Self::Register(register) => register.encode(out),
            Self::AuthResponse(response) => response.encode(out),
        }
    }
}
