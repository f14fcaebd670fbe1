//! [`ToCql`]: Rust types written as values. Answers to native protocol v5, section 6.

mod collections;
mod native;
mod pointers;
mod record;
mod tuples;

use std::ops::DerefMut;

use bytes::{BufMut, BytesMut};

use super::{CqlType, MaybeEmpty, MaybeUnset, Value, ValueError};
use crate::wire::WireWrite;

pub use record::RecordFields;

/// A Rust type that is written as values of some CQL types, straight into the output: those of [`FromCql`](super::FromCql), save
/// that `&str` is `str` here, and a user type is written with [`RecordFields`].
///
/// ```
/// use bytes::BytesMut;
/// use helenus_core::CqlType;
/// use helenus_core::types::{RecordFields, ToCql, ValueError, Written};
///
/// /// A user type.
/// struct Address {
///     street: String,
///     zip: Option<i32>,
/// }
///
/// impl ToCql for Address {
///     fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
///         RecordFields(&[("street", &self.street), ("zip", &self.zip)]).to_cql(ty, out)
///     }
/// }
///
/// let ty = CqlType::parse_class("UserType(ks,61,737472656574:UTF8Type,7a6970:Int32Type)")?;
/// let mut out = BytesMut::new();
/// Address { street: "Elm".into(), zip: None }.to_value(Some(&ty), &mut out)?;
/// assert_eq!(&out[..], b"\0\0\0\x0b\0\0\0\x03Elm\xff\xff\xff\xff");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ToCql {
    /// Appends the value's bytes, the inside of a \[value\], and says whether there is one.
    ///
    /// Without a type, as in a QUERY whose variables nobody described, the value is written as the CQL type that its Rust
    /// type stands for first: a `String` as `text`, a `Vec` as `list`, an array as `vector`.
    ///
    /// # Errors
    /// When the value isn't of the type, or longer than the protocol can say. What was written then isn't taken back.
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError>;

    /// Appends the whole \[value\], its length in front; of a null or unset one the length alone.
    ///
    /// # Errors
    /// As [`to_cql`](Self::to_cql).
    #[inline]
    fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        let start = out.len();
        out.put_i32(0);
        let written = self.to_cql(ty, out)?;
        let length = match written {
            Written::Value => length_since(start, out)?,
            Written::Null => -1,
            Written::Unset => -2,
        };
        patch(out, start, length);
        Ok(written)
    }

    /// How many bytes the value has where no type is given, if every value of that type has as many and a vector therefore
    /// stores them without lengths: see [`CqlType::fixed_size`].
    #[inline]
    fn own_size(&self) -> Option<usize> {
        None
    }
}

/// What [`ToCql`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Written {
    /// A value, perhaps of no bytes.
    Value,
    /// Nothing: a null.
    Null,
    /// Nothing: the variable is to be left unset.
    Unset,
}

impl<T: ToCql> ToCql for Option<T> {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match self {
            Some(value) => value.to_cql(ty, out),
            None => Ok(Written::Null),
        }
    }

    #[inline]
    fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match self {
            Some(value) => value.to_value(ty, out),
            None => {
                out.put_i32(-1);
                Ok(Written::Null)
            }
        }
    }

    #[inline]
    fn own_size(&self) -> Option<usize> {
        self.as_ref().and_then(ToCql::own_size)
    }
}

impl<T: ToCql> ToCql for MaybeUnset<T> {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match self {
            Self::Value(value) => value.to_cql(ty, out),
            Self::Unset => Ok(Written::Unset),
        }
    }
}

impl<T: ToCql> ToCql for MaybeEmpty<T> {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match (self, ty) {
            (Self::Value(value), _) => value.to_cql(ty, out),
            (Self::Empty, Some(ty)) if !ty.has_empty() => Err(ValueError::Mismatch(ty.clone())),
            (Self::Empty, _) => Ok(Written::Value),
        }
    }
}

impl ToCql for Value {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match ty {
            Some(ty) => self.encode(ty, out).map(|()| Written::Value),
            None => Err(ValueError::Untyped),
        }
    }
}

/// Whether a value of a Rust type may be written as this type. What is frozen isn't native, so that it is looked at last.
#[inline(always)]
fn check(ty: Option<&CqlType>, fits: impl Fn(&CqlType) -> bool) -> Result<(), ValueError> {
    match ty {
        Some(ty) if !fits(ty) && !fits(ty.strip_frozen()) => Err(mismatch(ty)),
        _ => Ok(()),
    }
}

#[cold]
fn mismatch(ty: &CqlType) -> ValueError {
    ValueError::Mismatch(ty.clone())
}

/// Writes how many elements a collection has.
pub(super) fn put_count(count: usize, out: &mut impl BufMut) -> Result<(), ValueError> {
    out.put_i32(i32::try_from(count).map_err(|_| ValueError::TooLong)?);
    Ok(())
}

/// Writes something behind its length, which is filled in afterwards.
pub(super) fn put_sized<B: BufMut + DerefMut<Target = [u8]>>(
    out: &mut B,
    write: impl FnOnce(&mut B) -> Result<(), ValueError>,
) -> Result<(), ValueError> {
    let start = out.len();
    out.put_i32(0);
    write(out)?;
    let length = length_since(start, out)?;
    patch(out, start, length);
    Ok(())
}

/// Writes an element of a vector: one of fixed size by itself, any other behind an unsigned vint of its length.
pub(super) fn put_vector_element<B: BufMut + DerefMut<Target = [u8]>>(
    out: &mut B,
    fixed: Option<usize>,
    write: impl FnOnce(&mut B) -> Result<(), ValueError>,
) -> Result<(), ValueError> {
    let start = out.len();
    if let Some(size) = fixed {
        write(out)?;
        // Of the types with a fixed size most have a value of no bytes too, but not within a vector.
        return match out.len().saturating_sub(start) == size {
            true => Ok(()),
            false => Err(ValueError::Empty),
        };
    }
    // A length below 128 takes a byte: longer elements move.
    out.put_u8(0);
    write(out)?;
    let length = out.len().saturating_sub(start.saturating_add(1));
    let mut prefix = [0; 9];
    let mut rest = &mut prefix[..];
    rest.put_unsigned_vint(length as u64);
    let prefix_length = 9 - rest.len();
    let (prefix, _) = prefix.split_at(prefix_length);
    out.put_bytes(0, prefix_length - 1);
    let end = start.saturating_add(1).saturating_add(length);
    if prefix_length > 1 {
        out.copy_within(start + 1..end, start + prefix_length);
    }
    if let Some(place) = out.get_mut(start..start + prefix_length) {
        place.copy_from_slice(prefix);
    }
    Ok(())
}

/// How many bytes stand behind the length at `start`.
#[inline]
fn length_since(start: usize, out: &[u8]) -> Result<i32, ValueError> {
    i32::try_from(out.len().saturating_sub(start.saturating_add(4)))
        .map_err(|_| ValueError::TooLong)
}

/// Overwrites the four bytes at `start`.
#[inline]
fn patch(out: &mut [u8], start: usize, length: i32) {
    let place = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut);
    if let Some(place) = place {
        *place = length.to_be_bytes();
    }
}
