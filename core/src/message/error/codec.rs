//! The wire form of an ERROR, stepped down to what each version knows. Answers to native protocol v5,
//! section 9.

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};

use super::{ErrorDetail, ErrorResponse, FailureReasons, WriteType};
use crate::codes::{Consistency, ErrorCode, ProtocolVersion};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

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
