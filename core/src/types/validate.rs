//! Whether bytes are a value of a type, by Apache Cassandra's rules and without an allocation.
//! Answers to Cassandra's `serializers` and `VectorType`.

use super::elements::{self, Fields};
use super::{CqlType, ValueError};

/// Checks that `bytes` are a value of `ty`. No bytes are a valid empty value of most types, but not of `smallint`,
/// `tinyint`, `date`, `time`, `duration`, collections and vectors.
///
/// # Errors
/// With what is wrong, in Cassandra's words.
pub fn validate(ty: &CqlType, bytes: &[u8]) -> Result<(), ValueError> {
    match ty {
        CqlType::Frozen(inner) => validate(inner, bytes),
        CqlType::Blob | CqlType::Custom(_) | CqlType::Varint => Ok(()),
        CqlType::Ascii => match bytes.iter().find(|byte| !byte.is_ascii()) {
            Some(byte) => Err(ValueError::InvalidAscii(*byte)),
            None => Ok(()),
        },
        CqlType::Text => validate_text(bytes),
        CqlType::BigInt | CqlType::Counter => length(bytes, &[0, 8], "Expected 8 or 0 byte long"),
        CqlType::Boolean => length(bytes, &[0, 1], "Expected 1 or 0 byte value"),
        CqlType::Decimal => match bytes.len() {
            1..4 => length(bytes, &[], "Expected 0 or at least 4 bytes"),
            _ => Ok(()),
        },
        CqlType::Double => length(bytes, &[0, 8], "Expected 8 or 0 byte value for a double"),
        CqlType::Float => length(bytes, &[0, 4], "Expected 4 or 0 byte value for a float"),
        CqlType::Int => length(bytes, &[0, 4], "Expected 4 or 0 byte int"),
        CqlType::Timestamp => length(bytes, &[0, 8], "Expected 8 or 0 byte long for date"),
        CqlType::Uuid => length(bytes, &[0, 16], "UUID should be 16 or 0 bytes"),
        CqlType::Timeuuid => {
            length(bytes, &[0, 16], "UUID should be 16 or 0 bytes")?;
            match bytes {
                [first, _, _, _, _, _, version, ..] if version >> 4 != 1 => {
                    Err(ValueError::NotTimeBased(*first))
                }
                _ => Ok(()),
            }
        }
        CqlType::Inet => match bytes.len() {
            0 | 4 | 16 => Ok(()),
            length => Err(ValueError::InvalidInet(bytes[..length.min(32)].into())),
        },
        CqlType::Date => length(bytes, &[4], "Expected 4 byte long for date"),
        CqlType::Time => length(bytes, &[8], "Expected 8 byte long for time"),
        CqlType::SmallInt => length(bytes, &[2], "Expected 2 bytes for a smallint"),
        CqlType::TinyInt => length(bytes, &[1], "Expected 1 byte for a tinyint"),
        CqlType::Duration => elements::duration(bytes).map(|_| ()),
        CqlType::List(element) => {
            let mut list = elements::list(bytes)?;
            for item in list.by_ref() {
                if let Some(item) = item? {
                    validate(element, item)?;
                }
            }
            list.finish()
        }
        CqlType::Set(element) => {
            let mut set = elements::set(bytes)?;
            for item in set.by_ref() {
                validate(element, item?.ok_or(ValueError::NullElement)?)?;
            }
            set.finish()
        }
        CqlType::Map(entry) => {
            let mut map = elements::map(bytes)?;
            let mut is_key = true;
            for item in map.by_ref() {
                let ty = if is_key { &entry.0 } else { &entry.1 };
                validate(ty, item?.ok_or(ValueError::NullElement)?)?;
                is_key = !is_key;
            }
            map.finish()
        }
        CqlType::Tuple(types) => validate_fields(types.iter(), elements::fields(bytes), "tuple"),
        CqlType::Udt(ty) => {
            let types = ty.fields.iter().map(|(_, ty)| ty);
            validate_fields(types, elements::fields(bytes), "UDT")
        }
        CqlType::Vector(element, dimension) => {
            let mut vector = elements::vector(bytes, ty, element, *dimension)?;
            for item in vector.by_ref() {
                validate(element, item?)?;
            }
            vector.finish()
        }
    }
}

fn length(bytes: &[u8], right: &[usize], expected: &'static str) -> Result<(), ValueError> {
    if right.contains(&bytes.len()) {
        Ok(())
    } else {
        Err(ValueError::Length {
            expected,
            length: bytes.len(),
        })
    }
}

fn validate_fields<'a>(
    types: impl Iterator<Item = &'a CqlType>,
    mut fields: Fields<'_>,
    kind: &'static str,
) -> Result<(), ValueError> {
    for ty in types {
        match fields.next() {
            None => return Ok(()),
            Some(Ok(Some(field))) => validate(ty, field)?,
            Some(field) => {
                field?;
            }
        }
    }
    if fields.is_empty() {
        Ok(())
    } else {
        Err(ValueError::TrailingFields(kind))
    }
}

/// Cassandra's idea of UTF-8, which is Java's: lone surrogates and the two-byte form of NUL pass.
fn validate_text(mut bytes: &[u8]) -> Result<(), ValueError> {
    while let Err(error) = std::str::from_utf8(bytes) {
        let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
        bytes = match rest {
            [0xC0, 0x80, after @ ..] | [0xED, 0xA0..=0xBF, 0x80..=0xBF, after @ ..] => after,
            _ => return Err(ValueError::InvalidUtf8),
        };
    }
    Ok(())
}
