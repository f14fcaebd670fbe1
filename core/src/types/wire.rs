//! Types as the protocol describes them in metadata: the `[option]` of native protocol v5, section 4.2.5.2.

use std::sync::Arc;

use bytes::BufMut;

use super::{CqlType, MAX_TYPE_DEPTH, UserType};
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

const CUSTOM: u16 = 0x0000;
const LIST: u16 = 0x0020;
const MAP: u16 = 0x0021;
const SET: u16 = 0x0022;
const UDT: u16 = 0x0030;
const TUPLE: u16 = 0x0031;

impl CqlType {
    /// The type's id, and the version that brought it where that isn't v3.
    const fn native_id(&self) -> Option<(u16, ProtocolVersion)> {
        use ProtocolVersion::{V3, V4, V5};
        Some(match self {
            Self::Ascii => (0x0001, V3),
            Self::BigInt => (0x0002, V3),
            Self::Blob => (0x0003, V3),
            Self::Boolean => (0x0004, V3),
            Self::Counter => (0x0005, V3),
            Self::Decimal => (0x0006, V3),
            Self::Double => (0x0007, V3),
            Self::Float => (0x0008, V3),
            Self::Int => (0x0009, V3),
            Self::Timestamp => (0x000B, V3),
            Self::Uuid => (0x000C, V3),
            Self::Text => (0x000D, V3),
            Self::Varint => (0x000E, V3),
            Self::Timeuuid => (0x000F, V3),
            Self::Inet => (0x0010, V3),
            Self::Date => (0x0011, V4),
            Self::Time => (0x0012, V4),
            Self::SmallInt => (0x0013, V4),
            Self::TinyInt => (0x0014, V4),
            Self::Duration => (0x0015, V5),
            _ => return None,
        })
    }

    /// The type without parts that has this id.
    #[inline]
    pub(crate) const fn from_native_id(id: u16) -> Option<Self> {
        Some(match id {
            0x0001 => Self::Ascii,
            0x0002 => Self::BigInt,
            0x0003 => Self::Blob,
            0x0004 => Self::Boolean,
            0x0005 => Self::Counter,
            0x0006 => Self::Decimal,
            0x0007 => Self::Double,
            0x0008 => Self::Float,
            0x0009 => Self::Int,
            0x000B => Self::Timestamp,
            0x000C => Self::Uuid,
            // 0x000A was `text` of v1 and v2, the same as `varchar`.
            0x000A | 0x000D => Self::Text,
            0x000E => Self::Varint,
            0x000F => Self::Timeuuid,
            0x0010 => Self::Inet,
            0x0011 => Self::Date,
            0x0012 => Self::Time,
            0x0013 => Self::SmallInt,
            0x0014 => Self::TinyInt,
            0x0015 => Self::Duration,
            _ => return None,
        })
    }
}

/// Writes a type as metadata of this version describes it: types that came later, and vectors in every version, as
/// custom types by their class names. `frozen` isn't written.
pub fn write_type(out: &mut impl BufMut, ty: &CqlType, version: ProtocolVersion) {
    let ty = ty.strip_frozen();
    match ty {
        CqlType::List(element) => {
            out.put_u16(LIST);
            write_type(out, element, version);
        }
        CqlType::Set(element) => {
            out.put_u16(SET);
            write_type(out, element, version);
        }
        CqlType::Map(entry) => {
            out.put_u16(MAP);
            write_type(out, &entry.0, version);
            write_type(out, &entry.1, version);
        }
        CqlType::Udt(ty) => {
            out.put_u16(UDT);
            out.put_string(&ty.keyspace);
            out.put_string(&ty.name);
            out.put_u16(count(ty.fields.len()));
            for (name, field) in ty.fields.iter().take(usize::from(u16::MAX)) {
                out.put_string(name);
                write_type(out, field, version);
            }
        }
        CqlType::Tuple(elements) => {
            out.put_u16(TUPLE);
            out.put_u16(count(elements.len()));
            for element in elements.iter().take(usize::from(u16::MAX)) {
                write_type(out, element, version);
            }
        }
        CqlType::Custom(class) => {
            out.put_u16(CUSTOM);
            out.put_string(class);
        }
        _ => match ty.native_id() {
            Some((id, since)) if since <= version => out.put_u16(id),
            _ => {
                out.put_u16(CUSTOM);
                out.put_string(&ty.class_name());
            }
        },
    }
}

fn count(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Reads a type. A custom type whose class name is one of Cassandra's own becomes the type it stands for; any other stays
/// [`CqlType::Custom`].
///
/// # Errors
/// When the bytes end early, a type id is unknown or types nest deeper than [`MAX_TYPE_DEPTH`].
pub fn read_type(reader: &mut Reader<'_>) -> Result<CqlType, DecodeError> {
    let mut ahead = reader.clone();
    match CqlType::from_native_id(ahead.short()?) {
        Some(ty) => {
            *reader = ahead;
            Ok(ty)
        }
        None => read_nested(reader, MAX_TYPE_DEPTH),
    }
}

fn read_nested(reader: &mut Reader<'_>, depth: usize) -> Result<CqlType, DecodeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(reader.error(DecodeErrorKind::NestedTooDeep));
    };
    let start = reader.clone();
    Ok(match reader.short()? {
        CUSTOM => {
            let class = reader.string()?;
            CqlType::parse_class(class).unwrap_or_else(|_| CqlType::Custom(class.into()))
        }
        LIST => CqlType::List(Arc::new(read_nested(reader, depth)?)),
        SET => CqlType::Set(Arc::new(read_nested(reader, depth)?)),
        MAP => CqlType::Map(Arc::new((
            read_nested(reader, depth)?,
            read_nested(reader, depth)?,
        ))),
        UDT => {
            let keyspace = reader.string()?.into();
            let name = reader.string()?.into();
            // The count isn't trusted with an allocation: each field takes at least four bytes.
            let fields = (0..reader.short()?)
                .map(|_| Ok((reader.string()?.into(), read_nested(reader, depth)?)))
                .collect::<Result<_, DecodeError>>()?;
            CqlType::Udt(Arc::new(UserType {
                keyspace,
                name,
                fields,
            }))
        }
        TUPLE => CqlType::Tuple(
            (0..reader.short()?)
                .map(|_| read_nested(reader, depth))
                .collect::<Result<_, DecodeError>>()?,
        ),
        id => match CqlType::from_native_id(id) {
            Some(ty) => ty,
            None => return Err(start.error(DecodeErrorKind::UnknownType(id))),
        },
    })
}

/// Steps over a type, as [`read_type`] would read it but for what its strings say.
///
/// # Errors
/// As [`read_type`].
// Inlined, and types with parts read from a reader of their own, so that the caller's stays in registers.
#[inline(always)]
pub(crate) fn skip_type(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let mut ahead = reader.clone();
    if CqlType::from_native_id(ahead.short()?).is_none() {
        let mut whole = reader.clone();
        skip_nested(&mut whole, MAX_TYPE_DEPTH)?;
        ahead = whole;
    }
    *reader = ahead;
    Ok(())
}

fn skip_nested(reader: &mut Reader<'_>, depth: usize) -> Result<(), DecodeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(reader.error(DecodeErrorKind::NestedTooDeep));
    };
    let start = reader.clone();
    match reader.short()? {
        CUSTOM => reader.skip_string(),
        LIST | SET => skip_nested(reader, depth),
        MAP => {
            skip_nested(reader, depth)?;
            skip_nested(reader, depth)
        }
        UDT => {
            reader.skip_string()?;
            reader.skip_string()?;
            for _ in 0..reader.short()? {
                reader.skip_string()?;
                skip_nested(reader, depth)?;
            }
            Ok(())
        }
        TUPLE => {
            for _ in 0..reader.short()? {
                skip_nested(reader, depth)?;
            }
            Ok(())
        }
        id if CqlType::from_native_id(id).is_some() => Ok(()),
        id => Err(start.error(DecodeErrorKind::UnknownType(id))),
    }
}
