//! ERROR: the code, the message, and what each code adds. Answers to native protocol v5, section 9.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use bytes::{BufMut, Bytes, BytesMut};

use crate::codes::{Consistency, ErrorCode, ProtocolVersion};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// ERROR: a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorResponse {
    /// Why.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: Cow<'static, str>,
    /// What the code adds.
    pub detail: ErrorDetail,
}

/// What kind of write failed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WriteType(pub Cow<'static, str>);

impl WriteType {
    /// One statement.
    pub const SIMPLE: Self = Self(Cow::Borrowed("SIMPLE"));
    /// A logged batch; its log was written.
    pub const BATCH: Self = Self(Cow::Borrowed("BATCH"));
    /// An unlogged batch.
    pub const UNLOGGED_BATCH: Self = Self(Cow::Borrowed("UNLOGGED_BATCH"));
    /// A counter's update.
    pub const COUNTER: Self = Self(Cow::Borrowed("COUNTER"));
    /// The log of a logged batch.
    pub const BATCH_LOG: Self = Self(Cow::Borrowed("BATCH_LOG"));
    /// A conditional write.
    pub const CAS: Self = Self(Cow::Borrowed("CAS"));
    /// A materialized view's update.
    pub const VIEW: Self = Self(Cow::Borrowed("VIEW"));
    /// Change data.
    pub const CDC: Self = Self(Cow::Borrowed("CDC"));
}

impl fmt::Debug for WriteType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which replicas failed: their number up to v4, each with its reason in v5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureReasons {
    /// How many failed. v5 can't say it: it writes an empty map.
    Count(i32),
    /// Who failed, each with a code. Versions before v5 write how many there are.
    Map(Vec<(IpAddr, u16)>),
}

/// What an error's code adds to its message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorDetail {
    /// Nothing.
    None,
    /// Of UNAVAILABLE.
    Unavailable {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas it requires.
        required: i32,
        /// How many are alive.
        alive: i32,
    },
    /// Of WRITE_TIMEOUT.
    WriteTimeout {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// The kind of write.
        write_type: WriteType,
        /// How often a conditional write met another one; written in v5 if the kind is
        /// [`WriteType::CAS`].
        contentions: Option<u16>,
    },
    /// Of READ_TIMEOUT.
    ReadTimeout {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas answered.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Whether the replica that was asked for data answered.
        data_present: bool,
    },
    /// Of READ_FAILURE; v3 turns it into a READ_TIMEOUT.
    ReadFailure {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas answered.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Who failed.
        reasons: FailureReasons,
        /// Whether the replica that was asked for data answered.
        data_present: bool,
    },
    /// Of FUNCTION_FAILURE; v3 turns it into an INVALID.
    FunctionFailure {
        /// The function's keyspace.
        keyspace: String,
        /// Its name.
        function: String,
        /// The CQL types of its arguments.
        arguments: Vec<String>,
    },
    /// Of WRITE_FAILURE; v3 turns it into a WRITE_TIMEOUT.
    WriteFailure {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Who failed.
        reasons: FailureReasons,
        /// The kind of write.
        write_type: WriteType,
    },
    /// Of CAS_WRITE_UNKNOWN; versions before v5 turn it into a WRITE_TIMEOUT.
    CasWriteUnknown {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
    },
    /// Of ALREADY_EXISTS.
    AlreadyExists {
        /// The keyspace that exists, or that the table is in.
        keyspace: String,
        /// The table that exists; empty if it is the keyspace.
        table: String,
    },
    /// Of UNPREPARED.
    Unprepared {
        /// The unknown id.
        id: Bytes,
    },
}

impl ErrorResponse {
    /// An error whose code adds nothing.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: ErrorDetail::None,
        }
    }

    /// SERVER_ERROR.
    #[must_use]
    pub fn server_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::SERVER_ERROR, message)
    }

    /// PROTOCOL_ERROR.
    #[must_use]
    pub fn protocol_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::PROTOCOL_ERROR, message)
    }

    /// OVERLOADED.
    #[must_use]
    pub fn overloaded(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::OVERLOADED, message)
    }

    /// SYNTAX_ERROR.
    #[must_use]
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::SYNTAX_ERROR, message)
    }

    /// INVALID.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID, message)
    }

    /// UNAUTHORIZED.
    #[must_use]
    pub fn unauthorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::UNAUTHORIZED, message)
    }

    /// CONFIG_ERROR.
    #[must_use]
    pub fn config(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::CONFIG_ERROR, message)
    }

    /// BAD_CREDENTIALS.
    #[must_use]
    pub fn bad_credentials(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::BAD_CREDENTIALS, message)
    }

    /// UNAVAILABLE, in Apache Cassandra's words.
    #[must_use]
    pub fn unavailable(consistency: Consistency, required: i32, alive: i32) -> Self {
        Self {
            code: ErrorCode::UNAVAILABLE,
            message: format!("Cannot achieve consistency level {consistency}").into(),
            detail: ErrorDetail::Unavailable {
                consistency,
                required,
                alive,
            },
        }
    }

    /// ALREADY_EXISTS of a keyspace (`table` empty) or a table, in Apache Cassandra's words.
    #[must_use]
    pub fn already_exists(keyspace: &str, table: &str) -> Self {
        let message = if table.is_empty() {
            format!("Cannot add existing keyspace \"{keyspace}\"")
        } else {
            format!("Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
        };
        Self {
            code: ErrorCode::ALREADY_EXISTS,
            message: message.into(),
            detail: ErrorDetail::AlreadyExists {
                keyspace: keyspace.to_owned(),
                table: table.to_owned(),
            },
        }
    }

    /// UNPREPARED, in Apache Cassandra's words.
    #[must_use]
    pub fn unprepared(id: &[u8]) -> Self {
        let message = format!(
            "Prepared query with ID {id:02x} not found (either the query was not prepared on this \
             host (maybe the host has been restarted?) or you have prepared too many queries and it \
             has been evicted from the internal cache)",
            id = Hex(id)
        );
        Self {
            code: ErrorCode::UNPREPARED,
            message: message.into(),
            detail: ErrorDetail::Unprepared {
                id: Bytes::copy_from_slice(id),
            },
        }
    }

    /// FUNCTION_FAILURE.
    #[must_use]
    pub fn function_failure(
        keyspace: &str,
        function: &str,
        arguments: Vec<String>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: ErrorCode::FUNCTION_FAILURE,
            message: message.into(),
            detail: ErrorDetail::FunctionFailure {
                keyspace: keyspace.to_owned(),
                function: function.to_owned(),
                arguments,
            },
        }
    }
}

impl From<DecodeError> for ErrorResponse {
    /// The answer to a body that doesn't decode.
    fn from(error: DecodeError) -> Self {
        Self::new(error.code(), error.kind.to_string())
    }
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ErrorResponse {}

/// Bytes in hexadecimal.
struct Hex<'a>(&'a [u8]);

impl fmt::LowerHex for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl ErrorResponse {
    /// Writes the body of the ERROR, stepping down to a code that the version knows as Apache Cassandra
    /// does.
    pub fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let code = self.code_in(version);
        out.put_u32(code.0);
        out.put_string(&self.message);
        match &self.detail {
            ErrorDetail::None => {}
            ErrorDetail::Unavailable {
                consistency,
                required,
                alive,
            } => {
                out.put_consistency(*consistency);
                out.put_i32(*required);
                out.put_i32(*alive);
            }
            ErrorDetail::WriteTimeout {
                consistency,
                received,
                block_for,
                write_type,
                contentions,
            } => {
                put_counts(*consistency, *received, *block_for, out);
                out.put_string(&write_type.0);
                if version >= ProtocolVersion::V5 && *write_type == WriteType::CAS {
                    out.put_u16(contentions.unwrap_or(0));
                }
            }
            ErrorDetail::ReadTimeout {
                consistency,
                received,
                block_for,
                data_present,
            } => {
                put_counts(*consistency, *received, *block_for, out);
                out.put_u8(u8::from(*data_present));
            }
            ErrorDetail::ReadFailure {
                consistency,
                received,
                block_for,
                reasons,
                data_present,
            } => {
                put_counts(*consistency, *received, *block_for, out);
                reasons.encode(version, out);
                out.put_u8(u8::from(*data_present));
            }
            ErrorDetail::FunctionFailure {
                keyspace,
                function,
                arguments,
            } => {
                if version >= ProtocolVersion::V4 {
                    out.put_string(keyspace);
                    out.put_string(function);
                    out.put_string_list(arguments);
                }
            }
            ErrorDetail::WriteFailure {
                consistency,
                received,
                block_for,
                reasons,
                write_type,
            } => {
                put_counts(*consistency, *received, *block_for, out);
                reasons.encode(version, out);
                out.put_string(&write_type.0);
            }
            ErrorDetail::CasWriteUnknown {
                consistency,
                received,
                block_for,
            } => {
                put_counts(*consistency, *received, *block_for, out);
                if version < ProtocolVersion::V5 {
                    out.put_string(&WriteType::CAS.0);
                }
            }
            ErrorDetail::AlreadyExists { keyspace, table } => {
                out.put_string(keyspace);
                out.put_string(table);
            }
            ErrorDetail::Unprepared { id } => out.put_short_bytes(id),
        }
    }

    /// The code that clients of this version know, as Apache Cassandra steps down.
    fn code_in(&self, version: ProtocolVersion) -> ErrorCode {
        match (self.code, &self.detail) {
            (_, ErrorDetail::CasWriteUnknown { .. }) if version < ProtocolVersion::V5 => {
                ErrorCode::WRITE_TIMEOUT
            }
            (_, ErrorDetail::ReadFailure { .. }) if version < ProtocolVersion::V4 => {
                ErrorCode::READ_TIMEOUT
            }
            (_, ErrorDetail::WriteFailure { .. }) if version < ProtocolVersion::V4 => {
                ErrorCode::WRITE_TIMEOUT
            }
            (ErrorCode::FUNCTION_FAILURE | ErrorCode::CDC_WRITE_FAILURE, _)
                if version < ProtocolVersion::V4 =>
            {
                ErrorCode::INVALID
            }
            (code, _) => code,
        }
    }

    pub(crate) fn decode(
        reader: &mut Reader<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let code = ErrorCode(reader.int()?.cast_unsigned());
        let message = Cow::Owned(reader.string()?.to_owned());
        let detail = ErrorDetail::decode(code, reader, version)?;
        Ok(Self {
            code,
            message,
            detail,
        })
    }
}

impl ErrorDetail {
    fn decode(
        code: ErrorCode,
        reader: &mut Reader<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        Ok(match code {
            ErrorCode::UNAVAILABLE => Self::Unavailable {
                consistency: Consistency(reader.short()?),
                required: reader.int()?,
                alive: reader.int()?,
            },
            ErrorCode::WRITE_TIMEOUT => {
                let (consistency, received, block_for) = read_counts(reader)?;
                let write_type = WriteType::decode(reader)?;
                let contended = version >= ProtocolVersion::V5 && write_type == WriteType::CAS;
                let contentions = if contended {
                    Some(reader.short()?)
                } else {
                    None
                };
                Self::WriteTimeout {
                    consistency,
                    received,
                    block_for,
                    write_type,
                    contentions,
                }
            }
            ErrorCode::READ_TIMEOUT => {
                let (consistency, received, block_for) = read_counts(reader)?;
                let data_present = reader.u8()? != 0;
                Self::ReadTimeout {
                    consistency,
                    received,
                    block_for,
                    data_present,
                }
            }
            ErrorCode::READ_FAILURE => {
                let (consistency, received, block_for) = read_counts(reader)?;
                let reasons = FailureReasons::decode(reader, version)?;
                let data_present = reader.u8()? != 0;
                Self::ReadFailure {
                    consistency,
                    received,
                    block_for,
                    reasons,
                    data_present,
                }
            }
            ErrorCode::WRITE_FAILURE => {
                let (consistency, received, block_for) = read_counts(reader)?;
                let reasons = FailureReasons::decode(reader, version)?;
                let write_type = WriteType::decode(reader)?;
                Self::WriteFailure {
                    consistency,
                    received,
                    block_for,
                    reasons,
                    write_type,
                }
            }
            ErrorCode::FUNCTION_FAILURE => Self::FunctionFailure {
                keyspace: reader.string()?.to_owned(),
                function: reader.string()?.to_owned(),
                arguments: reader.string_list()?.iter().map(str::to_owned).collect(),
            },
            ErrorCode::CAS_WRITE_UNKNOWN => {
                let (consistency, received, block_for) = read_counts(reader)?;
                Self::CasWriteUnknown {
                    consistency,
                    received,
                    block_for,
                }
            }
            ErrorCode::ALREADY_EXISTS => Self::AlreadyExists {
                keyspace: reader.string()?.to_owned(),
                table: reader.string()?.to_owned(),
            },
            ErrorCode::UNPREPARED => Self::Unprepared {
                id: Bytes::copy_from_slice(reader.short_bytes()?),
            },
            _ => Self::None,
        })
    }
}

impl WriteType {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let name = reader.string()?;
        let known = [
            Self::SIMPLE,
            Self::BATCH,
            Self::UNLOGGED_BATCH,
            Self::COUNTER,
            Self::BATCH_LOG,
            Self::CAS,
            Self::VIEW,
            Self::CDC,
        ];
        let known = known.into_iter().find(|known| known.0 == name);
        Ok(known.unwrap_or_else(|| Self(Cow::Owned(name.to_owned()))))
    }
}

impl FailureReasons {
    fn decode(reader: &mut Reader<'_>, version: ProtocolVersion) -> Result<Self, DecodeError> {
        let position = reader.position();
        let count = reader.int()?;
        if version < ProtocolVersion::V5 {
            return Ok(Self::Count(count));
        }
        // An address with its code takes seven bytes at least.
        let room = reader.remaining().len() / 7;
        let fits = usize::try_from(count).ok().filter(|count| *count <= room);
        let Some(count) = fits else {
            return Err(reader.error_at(DecodeErrorKind::InvalidCount(count), position));
        };
        let mut reasons = Vec::with_capacity(count);
        for _ in 0..count {
            reasons.push((reader.inet_addr()?, reader.short()?));
        }
        Ok(Self::Map(reasons))
    }

    fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match (self, version) {
            // The counts before it tell v3 all it may know.
            (_, ProtocolVersion::V3) => {}
            (Self::Count(count), ProtocolVersion::V4) => out.put_i32(*count),
            (Self::Map(reasons), ProtocolVersion::V4) => {
                out.put_i32(i32::try_from(reasons.len()).unwrap_or(i32::MAX));
            }
            (Self::Count(_), ProtocolVersion::V5) => out.put_i32(0),
            (Self::Map(reasons), ProtocolVersion::V5) => {
                let reasons = reasons.get(..i32::MAX as usize).unwrap_or(reasons);
                out.put_i32(reasons.len() as i32);
                for (address, reason) in reasons {
                    out.put_inet_addr(*address);
                    out.put_u16(*reason);
                }
            }
        }
    }
}

fn put_counts(consistency: Consistency, received: i32, block_for: i32, out: &mut BytesMut) {
    out.put_consistency(consistency);
    out.put_i32(received);
    out.put_i32(block_for);
}

fn read_counts(reader: &mut Reader<'_>) -> Result<(Consistency, i32, i32), DecodeError> {
    Ok((Consistency(reader.short()?), reader.int()?, reader.int()?))
}
