//! [`FromCql`] for types without parts.

use std::borrow::Cow;
use std::net::IpAddr;

use bytes::Bytes;
use uuid::Uuid;

use super::{FromCql, refused};
use crate::types::elements;
use crate::types::{
    Counter, CqlType, Date, Decimal, Duration, Time, Timestamp, ValueError, Varint,
};

/// Values of one length: the Rust type, the CQL types, and how bytes become it.
macro_rules! fixed {
    ($($rust:ty, $cql:pat, $read:expr;)*) => {$(
        impl<'a> FromCql<'a> for $rust {
            #[inline]
            fn accepts(ty: &CqlType) -> bool {
                matches!(ty.strip_frozen(), $cql)
            }

            #[inline(always)]
            fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
                match bytes.and_then(|bytes| bytes.try_into().ok()) {
                    Some(bytes) => Ok($read(bytes)),
                    None => Err(refused(ty, bytes)),
                }
            }
        }
    )*};
}

fixed! {
    i8, CqlType::TinyInt, i8::from_be_bytes;
    i16, CqlType::SmallInt, i16::from_be_bytes;
    i32, CqlType::Int, i32::from_be_bytes;
    i64, CqlType::BigInt, i64::from_be_bytes;
    f32, CqlType::Float, f32::from_be_bytes;
    f64, CqlType::Double, f64::from_be_bytes;
    bool, CqlType::Boolean, |[byte]: [u8; 1]| byte != 0;
    Counter, CqlType::Counter, |bytes| Counter(i64::from_be_bytes(bytes));
    Timestamp, CqlType::Timestamp, |bytes| Timestamp(i64::from_be_bytes(bytes));
    Date, CqlType::Date, |bytes| Date(u32::from_be_bytes(bytes));
    Time, CqlType::Time, |bytes| Time(i64::from_be_bytes(bytes));
}

impl<'a> FromCql<'a> for Uuid {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Uuid | CqlType::Timeuuid)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        match bytes.and_then(|bytes| bytes.try_into().ok()) {
            Some(bytes) if matches!(ty, CqlType::Uuid) || fits_timeuuid(ty, bytes) => {
                Ok(Self::from_bytes(*bytes))
            }
            _ => Err(refused(ty, bytes)),
        }
    }
}

/// Whether a UUID may be of a type that isn't just `uuid`.
fn fits_timeuuid(ty: &CqlType, bytes: &[u8; 16]) -> bool {
    bytes[6] >> 4 == 1 || !matches!(ty.strip_frozen(), CqlType::Timeuuid)
}

impl<'a> FromCql<'a> for &'a str {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Text | CqlType::Ascii)
    }

    #[inline(always)]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        if let Some(bytes) = bytes
            && let Ok(text) = std::str::from_utf8(bytes)
            && (matches!(ty, CqlType::Text) || fits_other(ty, text))
        {
            return Ok(text);
        }
        Err(refused_text(ty, bytes))
    }
}

/// Whether a text may be of a type that isn't just `text`.
fn fits_other(ty: &CqlType, text: &str) -> bool {
    !matches!(ty.strip_frozen(), CqlType::Ascii) || text.is_ascii()
}

/// Why bytes aren't a text of this type. Cassandra, as Java, takes for UTF-8 what isn't: such a text is refused here
/// alone.
#[cold]
fn refused_text(ty: &CqlType, bytes: Option<&[u8]>) -> ValueError {
    match (ty.strip_frozen(), bytes) {
        (CqlType::Text, Some(_)) => ValueError::InvalidUtf8,
        _ => refused(ty, bytes),
    }
}

impl<'a> FromCql<'a> for &'a [u8] {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Blob | CqlType::Custom(_))
    }

    #[inline]
    fn from_cql(_: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        // Not `ok_or`: the error that isn't needed would be dropped, at the cost of a call a cell.
        match bytes {
            Some(bytes) => Ok(bytes),
            None => Err(ValueError::Null),
        }
    }
}

/// What is read as another type and then owned.
macro_rules! owned {
    ($($owned:ty, $borrowed:ty, $own:expr;)*) => {$(
        impl<'a> FromCql<'a> for $owned {
            #[inline]
            fn accepts(ty: &CqlType) -> bool {
                <$borrowed>::accepts(ty)
            }

            #[inline]
            fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
                <$borrowed>::from_cql(ty, bytes).map($own)
            }
        }
    )*};
}

owned! {
    String, &str, str::to_owned;
    Box<str>, &str, Box::from;
    Cow<'a, str>, &str, Cow::Borrowed;
    Vec<u8>, &[u8], <[u8]>::to_vec;
    Bytes, &[u8], Bytes::copy_from_slice;
}

impl<'a> FromCql<'a> for IpAddr {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Inet)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let octets = bytes.unwrap_or_default();
        if let Ok(octets) = <[u8; 4]>::try_from(octets) {
            Ok(Self::from(octets))
        } else if let Ok(octets) = <[u8; 16]>::try_from(octets) {
            Ok(Self::from(octets))
        } else {
            Err(refused(ty, bytes))
        }
    }
}

impl<'a> FromCql<'a> for Varint {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Varint)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        match bytes {
            Some(bytes @ [_, ..]) => Ok(Self::from_bytes(bytes.to_vec())),
            _ => Err(refused(ty, bytes)),
        }
    }
}

impl<'a> FromCql<'a> for Decimal {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Decimal)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        match bytes.and_then(<[u8]>::split_first_chunk) {
            Some((scale, unscaled)) => Ok(Self {
                unscaled: Varint::from_bytes(unscaled.to_vec()),
                scale: i32::from_be_bytes(*scale),
            }),
            None => Err(refused(ty, bytes)),
        }
    }
}

impl<'a> FromCql<'a> for Duration {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Duration)
    }

    #[inline]
    fn from_cql(_: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        elements::duration(bytes.ok_or(ValueError::Null)?)
    }
}
