//! From bytes to [`Value`]s. Answers to native protocol v5, section 6.

use std::net::IpAddr;

use uuid::Uuid;

use super::elements::{self, Fields};
use super::{CqlType, Decimal, Value, ValueError, Varint, validate};

impl Value {
    /// The value of these bytes, which are the inside of a \[bytes\].
    ///
    /// Memory is bounded by the bytes: each element of a collection takes at least four of them, and a `Value` 32.
    ///
    /// # Errors
    /// When the bytes are no value of the type; a text must be UTF-8 in earnest.
    pub fn decode(ty: &CqlType, bytes: &[u8]) -> Result<Self, ValueError> {
        let ty = ty.strip_frozen();
        if is_native(ty) {
            return native(ty, bytes);
        }
        match ty {
            CqlType::List(element) => {
                let mut list = elements::list(bytes)?;
                let mut items = Vec::with_capacity(list.capacity());
                for item in list.by_ref() {
                    items.push(optional(element, item?)?);
                }
                list.finish()?;
                Ok(Self::List(items))
            }
            CqlType::Set(element) => {
                let mut set = elements::set(bytes)?;
                let mut items = Vec::with_capacity(set.capacity());
                for item in set.by_ref() {
                    items.push(Self::decode(
                        element,
                        item?.ok_or(ValueError::NullElement)?,
                    )?);
                }
                set.finish()?;
                Ok(Self::Set(items))
            }
            CqlType::Map(entry) => {
                let mut map = elements::map(bytes)?;
                let mut entries = Vec::with_capacity(map.capacity() / 2);
                while let Some(key) = map.next() {
                    let key = Self::decode(&entry.0, key?.ok_or(ValueError::NullElement)?)?;
                    let value = map.next().unwrap_or(Err(ValueError::Truncated("map")))?;
                    entries.push((key, optional(&entry.1, value)?));
                }
                map.finish()?;
                Ok(Self::Map(entries))
            }
            CqlType::Tuple(types) => tuple(types.iter(), elements::fields(bytes), "tuple"),
            CqlType::Udt(ty) => tuple(
                ty.fields.iter().map(|(_, ty)| ty),
                elements::fields(bytes),
                "UDT",
            ),
            CqlType::Vector(element, dimension) => {
                let mut vector = elements::vector(bytes, ty, element, *dimension)?;
                let items = vector
                    .by_ref()
                    .map(|item| Self::decode(element, item?))
                    .collect::<Result<_, _>>()?;
                vector.finish()?;
                Ok(Self::Vector(items))
            }
            _ => Ok(Self::Custom(bytes.to_vec())),
        }
    }
}

fn is_native(ty: &CqlType) -> bool {
    ty.native_name().is_some()
}

/// A value of a type without parts.
fn native(ty: &CqlType, bytes: &[u8]) -> Result<Value, ValueError> {
    validate(ty, bytes)?;
    let text = || match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Value::Text(text.to_owned())),
        Err(_) => Err(ValueError::InvalidUtf8),
    };
    Ok(match ty {
        CqlType::Ascii | CqlType::Text => text()?,
        CqlType::Blob => Value::Blob(bytes.to_vec()),
        _ if bytes.is_empty() => Value::Empty,
        CqlType::BigInt => Value::BigInt(i64::from_be_bytes(array(bytes)?)),
        CqlType::Boolean => Value::Boolean(bytes != [0]),
        CqlType::Counter => Value::Counter(i64::from_be_bytes(array(bytes)?)),
        CqlType::Decimal => {
            let (scale, unscaled) = bytes
                .split_at_checked(4)
                .ok_or(ValueError::Truncated("decimal"))?;
            Value::Decimal(Decimal {
                unscaled: Varint::from_bytes(unscaled.to_vec()),
                scale: i32::from_be_bytes(array(scale)?),
            })
        }
        CqlType::Double => Value::Double(f64::from_be_bytes(array(bytes)?)),
        CqlType::Float => Value::Float(f32::from_be_bytes(array(bytes)?)),
        CqlType::Int => Value::Int(i32::from_be_bytes(array(bytes)?)),
        CqlType::Timestamp => Value::Timestamp(i64::from_be_bytes(array(bytes)?)),
        CqlType::Uuid => Value::Uuid(Uuid::from_bytes(array(bytes)?)),
        CqlType::Timeuuid => Value::Timeuuid(Uuid::from_bytes(array(bytes)?)),
        CqlType::Varint => Value::Varint(Varint::from_bytes(bytes.to_vec())),
        CqlType::Inet => Value::Inet(match <[u8; 4]>::try_from(bytes) {
            Ok(v4) => IpAddr::from(v4),
            Err(_) => IpAddr::from(array::<16>(bytes)?),
        }),
        CqlType::Date => Value::Date(u32::from_be_bytes(array(bytes)?)),
        CqlType::Time => Value::Time(i64::from_be_bytes(array(bytes)?)),
        CqlType::SmallInt => Value::SmallInt(i16::from_be_bytes(array(bytes)?)),
        CqlType::TinyInt => Value::TinyInt(i8::from_be_bytes(array(bytes)?)),
        CqlType::Duration => Value::Duration(elements::duration(bytes)?),
        _ => Value::Custom(bytes.to_vec()),
    })
}

/// Bytes whose number was checked before.
fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], ValueError> {
    bytes.try_into().map_err(|_| ValueError::Length {
        expected: "Wrong number of bytes",
        length: bytes.len(),
    })
}

fn optional(ty: &CqlType, bytes: Option<&[u8]>) -> Result<Option<Value>, ValueError> {
    bytes.map(|bytes| Value::decode(ty, bytes)).transpose()
}

fn tuple<'a>(
    types: impl Iterator<Item = &'a CqlType>,
    mut fields: Fields<'_>,
    kind: &'static str,
) -> Result<Value, ValueError> {
    let mut values = Vec::new();
    for ty in types {
        let Some(field) = fields.next() else {
            break;
        };
        values.push(optional(ty, field?)?);
    }
    if fields.is_empty() {
        Ok(Value::Tuple(values))
    } else {
        Err(ValueError::TrailingFields(kind))
    }
}
