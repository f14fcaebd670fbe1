//! From [`Value`]s to bytes. Answers to native protocol v5, section 6.

use std::ops::DerefMut;

use bytes::BufMut;

use super::to_cql::{put_count, put_sized, put_vector_element};
use super::{CqlType, Value, ValueError};
use crate::wire::WireWrite;

impl Value {
    /// Appends the value's bytes, which are the inside of a \[bytes\], to a buffer: a `Vec<u8>` or a `BytesMut`.
    ///
    /// # Errors
    /// When the value isn't of the type, or longer than a \[bytes\] can be. What was written then isn't taken back.
    pub fn encode<B: BufMut + DerefMut<Target = [u8]>>(
        &self,
        ty: &CqlType,
        out: &mut B,
    ) -> Result<(), ValueError> {
        let ty = ty.strip_frozen();
        match (self, ty) {
            (Self::Text(text), CqlType::Text) => out.put_slice(text.as_bytes()),
            (Self::Text(text), CqlType::Ascii) if text.is_ascii() => out.put_slice(text.as_bytes()),
            (Self::BigInt(value), CqlType::BigInt) | (Self::Counter(value), CqlType::Counter) => {
                out.put_i64(*value);
            }
            (Self::Blob(bytes), CqlType::Blob) | (Self::Custom(bytes), CqlType::Custom(_)) => {
                out.put_slice(bytes);
            }
            (Self::Boolean(value), CqlType::Boolean) => out.put_u8(u8::from(*value)),
            (Self::Decimal(decimal), CqlType::Decimal) => {
                out.put_i32(decimal.scale);
                out.put_slice(decimal.unscaled.as_bytes());
            }
            (Self::Double(value), CqlType::Double) => out.put_f64(*value),
            (Self::Float(value), CqlType::Float) => out.put_f32(*value),
            (Self::Int(value), CqlType::Int) => out.put_i32(*value),
            (Self::Timestamp(value), CqlType::Timestamp) | (Self::Time(value), CqlType::Time) => {
                out.put_i64(*value);
            }
            (Self::Uuid(uuid), CqlType::Uuid) | (Self::Timeuuid(uuid), CqlType::Timeuuid) => {
                out.put_slice(uuid.as_bytes());
            }
            (Self::Varint(value), CqlType::Varint) => out.put_slice(value.as_bytes()),
            (Self::Inet(std::net::IpAddr::V4(address)), CqlType::Inet) => {
                out.put_slice(&address.octets());
            }
            (Self::Inet(std::net::IpAddr::V6(address)), CqlType::Inet) => {
                out.put_slice(&address.octets());
            }
            (Self::Date(value), CqlType::Date) => out.put_u32(*value),
            (Self::SmallInt(value), CqlType::SmallInt) => out.put_i16(*value),
            (Self::TinyInt(value), CqlType::TinyInt) => out.put_i8(*value),
            (Self::Duration(value), CqlType::Duration) => {
                out.put_vint(i64::from(value.months));
                out.put_vint(i64::from(value.days));
                out.put_vint(value.nanoseconds);
            }
            (Self::List(items), CqlType::List(element)) => {
                put_count(items.len(), out)?;
                for item in items {
                    put_optional(item.as_ref(), element, out)?;
                }
            }
            (Self::Set(items), CqlType::Set(element)) => {
                put_count(items.len(), out)?;
                for item in items {
                    put_sized(out, |out| item.encode(element, out))?;
                }
            }
            (Self::Map(entries), CqlType::Map(types)) => {
                put_count(entries.len(), out)?;
                for (key, value) in entries {
                    put_sized(out, |out| key.encode(&types.0, out))?;
                    put_optional(value.as_ref(), &types.1, out)?;
                }
            }
            (Self::Tuple(fields), CqlType::Tuple(types)) if fields.len() <= types.len() => {
                for (field, ty) in fields.iter().zip(types.iter()) {
                    put_optional(field.as_ref(), ty, out)?;
                }
            }
            (Self::Tuple(fields), CqlType::Udt(udt)) if fields.len() <= udt.fields.len() => {
                for (field, (_, ty)) in fields.iter().zip(&udt.fields) {
                    put_optional(field.as_ref(), ty, out)?;
                }
            }
            (Self::Vector(items), CqlType::Vector(element, dimension))
                if u32::try_from(items.len()) == Ok(*dimension) =>
            {
                let fixed = element.fixed_size();
                for item in items {
                    put_vector_element(out, fixed, |out| item.encode(element, out))?;
                }
            }
            (Self::Empty, ty) if super::validate(ty, &[]).is_ok() => {}
            _ => return Err(ValueError::Mismatch(ty.clone())),
        }
        Ok(())
    }
}

fn put_optional<B: BufMut + DerefMut<Target = [u8]>>(
    value: Option<&Value>,
    ty: &CqlType,
    out: &mut B,
) -> Result<(), ValueError> {
    match value {
        Some(value) => put_sized(out, |out| value.encode(ty, out)),
        None => {
            out.put_i32(-1);
            Ok(())
        }
    }
}
