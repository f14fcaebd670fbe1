//! Comparing serialized values as Cassandra's types do.

use std::cmp::Ordering;

use helenus_core::types::CqlType;

use super::comparable;

/// Compares two serialized values of a type: the order of [`comparable::encode`]'s forms, without building them for
/// scalar types. Total over all bytes.
///
/// ```
/// use std::cmp::Ordering;
/// use helenus_core::CqlType;
/// use helenus_engine::types::compare;
///
/// // 0.5 and 0.50: a scale, then the unscaled value.
/// assert_eq!(compare(&CqlType::Decimal, &[0, 0, 0, 1, 5], &[0, 0, 0, 2, 50]), Ordering::Equal);
/// ```
pub fn compare(ty: &CqlType, a: &[u8], b: &[u8]) -> Ordering {
    let fast = match ty {
        CqlType::Ascii
        | CqlType::Text
        | CqlType::Blob
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Custom(_) => Some(a.cmp(b)),
        CqlType::TinyInt => by(a, b, i8::from_be_bytes),
        CqlType::SmallInt => by(a, b, i16::from_be_bytes),
        CqlType::Int => by(a, b, i32::from_be_bytes),
        CqlType::BigInt | CqlType::Counter | CqlType::Timestamp => by(a, b, i64::from_be_bytes),
        CqlType::Date => by(a, b, u32::from_be_bytes),
        CqlType::Time => by(a, b, u64::from_be_bytes),
        CqlType::Float => by(a, b, |v| comparable::float(u32::from_be_bytes(v))),
        CqlType::Double => by(a, b, |v| comparable::double(u64::from_be_bytes(v))),
        CqlType::Uuid => by(a, b, comparable::uuid),
        CqlType::Timeuuid => by(a, b, comparable::timeuuid),
        CqlType::Frozen(inner) => Some(compare(inner, a, b)),
        _ => None,
    };
    fast.unwrap_or_else(|| {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        comparable::encode(ty, a, false, &mut left);
        comparable::encode(ty, b, false, &mut right);
        left.cmp(&right)
    })
}

/// Compares what both are read as; `None` unless both have that length.
fn by<const N: usize, T: Ord>(a: &[u8], b: &[u8], read: impl Fn([u8; N]) -> T) -> Option<Ordering> {
    Some(read(a.try_into().ok()?).cmp(&read(b.try_into().ok()?)))
}
