//! An order-preserving form of every CQL type: the bytes of two values' forms compare as Cassandra's comparators
//! compare the values. A form delimits itself: none is a prefix of another of the same type.

use helenus_core::types::elements::{self, Elements, VectorElements};
use helenus_core::types::{CqlType, ValueError};

use super::decimal;

/// Opens a value that isn't there: `null` within a tuple or collection.
const NULL: u8 = 0;
/// Opens a value of no bytes, which sorts before all others.
const EMPTY: u8 = 1;
/// Opens a value.
const VALUE: u8 = 2;
/// Opens bytes that are no value of the type: they sort last, by their bytes.
const MALFORMED: u8 = 3;
/// Closes a list, set or map; less than what opens an element.
const END: u8 = 0;
/// Opens an element of a list, set or map.
const ELEMENT: u8 = 1;

/// Appends the form of a serialized value to `out`; with `descending`, that of the opposite order.
///
/// Equal forms mean values equal to Cassandra: `1.0` and `1.00`, or a varint with and without superfluous sign bytes.
/// Bytes that are no value of the type get a form too: total over all input. A form is at most 2 × the value + 16
/// bytes long, per level of nesting one more byte an element; a decimal takes up to 2.5 bytes for each of its own.
///
/// ```
/// use helenus_core::CqlType;
/// use helenus_engine::types::comparable::encode;
///
/// let form = |int: i32, descending| {
///     let mut out = Vec::new();
///     encode(&CqlType::Int, &int.to_be_bytes(), descending, &mut out);
///     out
/// };
/// assert!(form(-1, false) < form(1, false));
/// assert!(form(-1, true) > form(1, true));
/// ```
pub fn encode(ty: &CqlType, value: &[u8], descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    ascending(ty, value, out);
    if descending {
        out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
    }
}

fn ascending(ty: &CqlType, value: &[u8], out: &mut Vec<u8>) {
    match ty {
        CqlType::Ascii
        | CqlType::Text
        | CqlType::Blob
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Custom(_) => bytes(value, out),
        CqlType::Frozen(inner) => ascending(inner, value, out),
        CqlType::Tuple(types) => marked(value, out, |out| tuple(types.iter(), value, out)),
        CqlType::Udt(udt) => {
            marked(value, out, |out| {
                tuple(udt.fields.iter().map(|(_, ty)| ty), value, out)
            });
        }
        _ if value.is_empty() => out.push(EMPTY),
        CqlType::Boolean => scalar(value, out, |[byte]: [u8; 1]| [u8::from(byte != 0)]),
        CqlType::TinyInt => scalar(value, out, |[byte]: [u8; 1]| [byte ^ 0x80]),
        CqlType::SmallInt => scalar(value, out, |v| {
            (u16::from_be_bytes(v) ^ 1 << 15).to_be_bytes()
        }),
        CqlType::Int => scalar(value, out, |v| {
            (u32::from_be_bytes(v) ^ 1 << 31).to_be_bytes()
        }),
        CqlType::BigInt | CqlType::Counter | CqlType::Timestamp => {
            scalar(value, out, |v| {
                (u64::from_be_bytes(v) ^ 1 << 63).to_be_bytes()
            });
        }
        CqlType::Date => scalar(value, out, |v: [u8; 4]| v),
        CqlType::Time => scalar(value, out, |v: [u8; 8]| v),
        CqlType::Float => scalar(value, out, |v| float(u32::from_be_bytes(v)).to_be_bytes()),
        CqlType::Double => scalar(value, out, |v| double(u64::from_be_bytes(v)).to_be_bytes()),
        CqlType::Uuid => scalar(value, out, uuid),
        CqlType::Timeuuid => scalar(value, out, |v| timeuuid(v).to_be_bytes()),
        CqlType::Varint => {
            out.push(VALUE);
            varint(value, out);
        }
        CqlType::Decimal => {
            out.push(VALUE);
            if !decimal::encode(value, out) {
                out.pop();
                malformed(value, out);
            }
        }
        CqlType::List(element) => marked(value, out, |out| {
            collection(&[element], elements::list(value)?, out)
        }),
        CqlType::Set(element) => marked(value, out, |out| {
            collection(&[element], elements::set(value)?, out)
        }),
        CqlType::Map(pair) => marked(value, out, |out| {
            collection(&[&pair.0, &pair.1], elements::map(value)?, out)
        }),
        CqlType::Vector(element, dimension) => marked(value, out, |out| {
            vector(
                elements::vector(value, ty, element, *dimension)?,
                element,
                out,
            )
        }),
        // Types the descriptor may gain later compare by their bytes, as Cassandra's default does.
        _ => malformed(value, out),
    }
}

/// Zero bytes escaped, a terminator below every continuation.
fn bytes(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len() + 2);
    let mut pieces = value.split(|&byte| byte == 0);
    out.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.extend_from_slice(&[0, 0xFF]);
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(&[0, 0]);
}

fn malformed(value: &[u8], out: &mut Vec<u8>) {
    out.push(MALFORMED);
    bytes(value, out);
}

fn marked(
    value: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), ValueError>,
) {
    let start = out.len();
    out.push(VALUE);
    if write(out).is_err() {
        out.truncate(start);
        malformed(value, out);
    }
}

fn scalar<const N: usize>(value: &[u8], out: &mut Vec<u8>, map: impl FnOnce([u8; N]) -> [u8; N]) {
    match <[u8; N]>::try_from(value) {
        Ok(value) => {
            out.push(VALUE);
            out.extend_from_slice(&map(value));
        }
        Err(_) => malformed(value, out),
    }
}

/// Java's order: -0 before 0, one NaN after everything.
pub(super) fn float(bits: u32) -> u32 {
    let bits = if f32::from_bits(bits).is_nan() {
        0x7FC0_0000
    } else {
        bits
    };
    if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// As [`float`].
pub(super) fn double(bits: u64) -> u64 {
    let bits = if f64::from_bits(bits).is_nan() {
        0x7FF8 << 48
    } else {
        bits
    };
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// `UUIDType`: by version; of version 1 by time, of others by the first half; then by the second half.
pub(super) fn uuid(value: [u8; 16]) -> [u8; 16] {
    let whole = u128::from_be_bytes(value);
    let (high, low) = ((whole >> 64) as u64, whole as u64);
    let version = high >> 12 & 0xF;
    let rest = if version == 1 {
        time_first(high) & !(0xF << 60)
    } else {
        // The version's own bits move to the front; those above it move down over them.
        (high >> 16 << 12) | (high & 0xFFF)
    };
    (u128::from(version << 60 | rest) << 64 | u128::from(low)).to_be_bytes()
}

/// `TimeUUIDType`: by time, then by the second half as signed bytes.
pub(super) fn timeuuid(value: [u8; 16]) -> u128 {
    let whole = u128::from_be_bytes(value);
    let (high, low) = ((whole >> 64) as u64, whole as u64);
    u128::from(time_first(high) ^ 1 << 63) << 64 | u128::from(low ^ 0x8080_8080_8080_8080)
}

/// A version 1 UUID's first half with the timestamp's high bits in front.
fn time_first(high: u64) -> u64 {
    high << 48 | (high << 16 & 0xFFFF_0000_0000) | high >> 32
}

/// The sign, the length, the bytes, without superfluous sign bytes.
fn varint(value: &[u8], out: &mut Vec<u8>) {
    let mut digits = value;
    while let Some((&first, rest)) = digits.split_first()
        && let Some(&second) = rest.first()
        && ((first == 0 && second < 0x80) || (first == 0xFF && second >= 0x80))
    {
        digits = rest;
    }
    let negative = digits.first().is_some_and(|&first| first >= 0x80);
    let flip = if negative { 0xFF } else { 0 };
    out.push(u8::from(!negative));
    match u8::try_from(digits.len()) {
        Ok(len) if len < 0xFF => out.push(len ^ flip),
        _ => {
            out.push(0xFF ^ flip);
            let len = u32::try_from(digits.len()).unwrap_or(u32::MAX);
            out.extend(len.to_be_bytes().map(|byte| byte ^ flip));
        }
    }
    out.extend_from_slice(digits);
}

fn component(ty: &CqlType, value: Option<&[u8]>, out: &mut Vec<u8>) {
    match value {
        None => out.push(NULL),
        Some(value) => {
            out.push(VALUE);
            ascending(ty, value, out);
        }
    }
}

/// Missing components are null; what lies beyond the declared ones doesn't count.
fn tuple<'a>(
    types: impl Iterator<Item = &'a CqlType>,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    let mut fields = elements::fields(value);
    for ty in types {
        component(ty, fields.next().transpose()?.flatten(), out);
    }
    Ok(())
}

/// Elements in turn; of two that agree as far as the shorter goes, the shorter is first.
fn collection(
    types: &[&CqlType],
    mut elements: Elements<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    while elements.claimed() > 0 {
        out.push(ELEMENT);
        for ty in types {
            component(ty, elements.next().transpose()?.flatten(), out);
        }
    }
    out.push(END);
    Ok(())
}

fn vector(
    mut elements: VectorElements<'_>,
    ty: &CqlType,
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    for element in elements.by_ref() {
        ascending(ty, element?, out);
    }
    elements.finish()
}

#[cfg(test)]
mod tests;
