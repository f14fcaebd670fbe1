//! `varint` and `decimal` as types of the crate `bigdecimal` and of `num_bigint`, which it passes on.

use ::bigdecimal::BigDecimal;
use ::bigdecimal::num_bigint::BigInt;
use bytes::{BufMut, BytesMut};

use crate::types::{CqlType, Decimal, FromCql, ToCql, ValueError, Varint, Written};

impl<'a> FromCql<'a> for BigInt {
    fn accepts(ty: &CqlType) -> bool {
        Varint::accepts(ty)
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let varint = Varint::from_cql(ty, bytes)?;
        Ok(Self::from_signed_bytes_be(varint.as_bytes()))
    }
}

impl ToCql for BigInt {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        match ty {
            Some(ty) if !Varint::accepts(ty) => Err(ValueError::Mismatch(ty.clone())),
            _ => {
                out.put_slice(&self.to_signed_bytes_be());
                Ok(Written::Value)
            }
        }
    }
}

impl<'a> FromCql<'a> for BigDecimal {
    fn accepts(ty: &CqlType) -> bool {
        Decimal::accepts(ty)
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let decimal = Decimal::from_cql(ty, bytes)?;
        let unscaled = BigInt::from_signed_bytes_be(decimal.unscaled.as_bytes());
        Ok(Self::new(unscaled, i64::from(decimal.scale)))
    }
}

/// A scale beyond 32 bits doesn't fit a `decimal`.
impl ToCql for BigDecimal {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        if let Some(ty) = ty.filter(|ty| !Decimal::accepts(ty)) {
            return Err(ValueError::Mismatch(ty.clone()));
        }
        let (unscaled, scale) = self.as_bigint_and_scale();
        let Ok(scale) = i32::try_from(scale) else {
            return Err(ValueError::Mismatch(CqlType::Decimal));
        };
        out.put_i32(scale);
        out.put_slice(&unscaled.to_signed_bytes_be());
        Ok(Written::Value)
    }
}
