//! [`ToCql`] for types without parts.

use std::net::IpAddr;

use bytes::{BufMut, Bytes, BytesMut};
use uuid::Uuid;

use super::{ToCql, Written, check};
use crate::types::{
    Counter, CqlType, Date, Decimal, Duration, Time, Timestamp, ValueError, Varint,
};
use crate::wire::{RawValue, WireWrite};

/// Values of one length: the Rust type, its CQL type, the size that vectors know of it, and its bytes.
macro_rules! fixed {
    ($($rust:ty, $cql:pat, $own_size:expr, |$value:ident| $bytes:expr;)*) => {$(
        impl ToCql for $rust {
            #[inline]
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                check(ty, |ty| matches!(ty, $cql))?;
                let $value = self;
                out.put_slice(&$bytes);
                Ok(Written::Value)
            }

            #[inline(always)]
            fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                check(ty, |ty| matches!(ty, $cql))?;
                let $value = self;
                put_fixed($bytes, out);
                Ok(Written::Value)
            }

            #[inline]
            fn own_size(&self) -> Option<usize> {
                $own_size
            }
        }
    )*};
}

fixed! {
    i8, CqlType::TinyInt, None, |value| value.to_be_bytes();
    i16, CqlType::SmallInt, None, |value| value.to_be_bytes();
    i32, CqlType::Int, Some(4), |value| value.to_be_bytes();
    i64, CqlType::BigInt, Some(8), |value| value.to_be_bytes();
    f32, CqlType::Float, Some(4), |value| value.to_be_bytes();
    f64, CqlType::Double, Some(8), |value| value.to_be_bytes();
    bool, CqlType::Boolean, Some(1), |value| [u8::from(*value)];
    Counter, CqlType::Counter, Some(8), |value| value.0.to_be_bytes();
    Timestamp, CqlType::Timestamp, Some(8), |value| value.0.to_be_bytes();
    Date, CqlType::Date, None, |value| value.0.to_be_bytes();
    Time, CqlType::Time, None, |value| value.0.to_be_bytes();
}

/// A length and a few bytes, put at once.
#[inline(always)]
fn put_fixed<const N: usize>(bytes: [u8; N], out: &mut BytesMut) {
    let mut sized = [0; 20];
    let (length, rest) = sized.split_at_mut(4);
    length.copy_from_slice(&(N as u32).to_be_bytes());
    rest[..N].copy_from_slice(&bytes);
    out.put_slice(&sized[..4 + N]);
}

impl ToCql for Uuid {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check_uuid(self, ty)?;
        out.put_slice(self.as_bytes());
        Ok(Written::Value)
    }

    #[inline(always)]
    fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check_uuid(self, ty)?;
        put_fixed(self.into_bytes(), out);
        Ok(Written::Value)
    }

    #[inline]
    fn own_size(&self) -> Option<usize> {
        Some(16)
    }
}

#[inline]
fn check_uuid(uuid: &Uuid, ty: Option<&CqlType>) -> Result<(), ValueError> {
    check(ty, |ty| matches!(ty, CqlType::Uuid | CqlType::Timeuuid))?;
    if ty.is_some_and(|ty| matches!(ty, CqlType::Timeuuid)) && uuid.get_version_num() != 1 {
        let [first, ..] = *uuid.as_bytes();
        return Err(ValueError::NotTimeBased(first));
    }
    Ok(())
}

/// Values whose bytes stand in memory as they are written: the Rust type, its CQL types and the bytes.
macro_rules! bytes {
    ($($rust:ty, $cql:pat, |$value:ident| $bytes:expr;)*) => {$(
        impl ToCql for $rust {
            #[inline]
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                check(ty, |ty| matches!(ty, $cql))?;
                let $value = self;
                out.put_slice($bytes);
                Ok(Written::Value)
            }

            #[inline(always)]
            fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                check(ty, |ty| matches!(ty, $cql))?;
                let $value = self;
                put_bytes($bytes, out)
            }
        }
    )*};
}

bytes! {
    [u8], CqlType::Blob | CqlType::Custom(_), |value| value;
    Vec<u8>, CqlType::Blob | CqlType::Custom(_), |value| value;
    Bytes, CqlType::Blob | CqlType::Custom(_), |value| value;
    Varint, CqlType::Varint, |value| value.as_bytes();
}

#[inline(always)]
fn put_bytes(bytes: &[u8], out: &mut BytesMut) -> Result<Written, ValueError> {
    let length = i32::try_from(bytes.len()).map_err(|_| ValueError::TooLong)?;
    out.put_i32(length);
    out.put_slice(bytes);
    Ok(Written::Value)
}

impl ToCql for str {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check_text(self, ty)?;
        out.put_slice(self.as_bytes());
        Ok(Written::Value)
    }

    #[inline(always)]
    fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check_text(self, ty)?;
        put_bytes(self.as_bytes(), out)
    }
}

#[inline]
fn check_text(text: &str, ty: Option<&CqlType>) -> Result<(), ValueError> {
    match ty {
        None | Some(CqlType::Text) => Ok(()),
        Some(ty) => check_ascii(text, ty),
    }
}

fn check_ascii(text: &str, ty: &CqlType) -> Result<(), ValueError> {
    check(Some(ty), |ty| matches!(ty, CqlType::Text | CqlType::Ascii))?;
    let other = text.bytes().find(|byte| !byte.is_ascii());
    match other.filter(|_| matches!(ty.strip_frozen(), CqlType::Ascii)) {
        Some(byte) => Err(ValueError::InvalidAscii(byte)),
        None => Ok(()),
    }
}

impl ToCql for IpAddr {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check(ty, |ty| matches!(ty, CqlType::Inet))?;
        match self {
            Self::V4(address) => out.put_slice(&address.octets()),
            Self::V6(address) => out.put_slice(&address.octets()),
        }
        Ok(Written::Value)
    }
}

impl ToCql for Decimal {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check(ty, |ty| matches!(ty, CqlType::Decimal))?;
        out.put_i32(self.scale);
        out.put_slice(self.unscaled.as_bytes());
        Ok(Written::Value)
    }
}

impl ToCql for Duration {
    #[inline]
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        check(ty, |ty| matches!(ty, CqlType::Duration))?;
        out.put_vint(i64::from(self.months));
        out.put_vint(i64::from(self.days));
        out.put_vint(self.nanoseconds);
        Ok(Written::Value)
    }
}

/// What was serialized before: written as it is, whatever the type.
impl ToCql for RawValue<'_> {
    #[inline]
    fn to_cql(&self, _: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match self {
            Self::Bytes(bytes) => {
                out.put_slice(bytes);
                Ok(Written::Value)
            }
            Self::Null => Ok(Written::Null),
            Self::Unset => Ok(Written::Unset),
        }
    }
}
