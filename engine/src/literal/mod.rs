//! The values that literals stand for, in the serialized form of the type that wants them.
//!
//! Answers to `Constants.Literal` of Cassandra 5.0 and to the `fromString` of its types, texts of errors included.

mod date_time;
mod display;
mod duration;
mod inet;
mod number;

#[cfg(test)]
mod tests;

pub(crate) use display::{display, known_text, text};
pub use duration::{Duration, parse as parse_duration};

use helenus_core::types::CqlType;
use uuid::Uuid;

use crate::cql::ast::Literal;

/// Why a literal is no value of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// The type takes no literal of this kind; [`mismatch`] words it when the receiver's name is known.
    #[error("the type takes no such literal")]
    Mismatch,
    /// The kind is right and the text is wrong: Cassandra's message.
    #[error("{0}")]
    Invalid(String),
}

/// Whether a type takes literals of this kind, whatever their text.
pub fn accepts(ty: &CqlType, literal: &Literal) -> bool {
    use CqlType::*;
    match literal {
        Literal::String(_) => matches!(ty, Ascii | Text | Inet | Date | Time | Timestamp),
        Literal::Integer(_) => matches!(
            ty,
            BigInt
                | Counter
                | Date
                | Decimal
                | Double
                | Duration
                | Float
                | Int
                | SmallInt
                | Time
                | Timestamp
                | TinyInt
                | Varint
        ),
        Literal::Float(_) => matches!(ty, Decimal | Double | Float),
        Literal::Boolean(_) => matches!(ty, Boolean),
        Literal::Uuid(_) => matches!(ty, Uuid | Timeuuid),
        // A tinyint takes a blob in Cassandra too.
        Literal::Blob(_) => matches!(ty, Blob | TinyInt | Custom(_)),
        Literal::Duration(_) => matches!(ty, Duration),
    }
}

/// The serialized value of a literal for a type; `now` is the current time in milliseconds, which the timestamp
/// `'now'` stands for.
///
/// # Errors
/// [`LiteralError::Mismatch`] if the type takes no literals of this kind, [`LiteralError::Invalid`] if it takes not
/// this one.
pub fn constant(ty: &CqlType, literal: &Literal, now: i64) -> Result<Vec<u8>, LiteralError> {
    if !accepts(ty, literal) {
        return Err(LiteralError::Mismatch);
    }
    let value = match literal {
        Literal::String(text) => string(ty, text, now),
        Literal::Integer(digits) => integer(ty, digits),
        Literal::Float(text) => float(ty, text),
        Literal::Boolean(value) => Ok(vec![u8::from(*value)]),
        Literal::Uuid(text) => parse_uuid(ty, text),
        Literal::Blob(digits) => hex(digits),
        Literal::Duration(text) => duration::parse(text).map(|duration| duration.serialize()),
    };
    value.map_err(LiteralError::Invalid)
}

/// Cassandra's words for a literal whose kind the receiver's type doesn't take.
pub fn mismatch(literal: &Literal, receiver: &str, ty: &CqlType) -> String {
    let (kind, text) = match literal {
        Literal::String(text) => ("STRING", text.to_string()),
        Literal::Integer(text) => ("INTEGER", text.to_string()),
        Literal::Float(text) => ("FLOAT", text.to_string()),
        Literal::Boolean(value) => ("BOOLEAN", value.to_string()),
        Literal::Uuid(text) => ("UUID", text.to_string()),
        Literal::Blob(digits) => ("HEX", format!("0x{digits}")),
        Literal::Duration(text) => ("DURATION", text.to_string()),
    };
    format!("Invalid {kind} constant ({text}) for \"{receiver}\" of type {ty}")
}

fn string(ty: &CqlType, text: &str, now: i64) -> Result<Vec<u8>, String> {
    match ty {
        CqlType::Ascii if !text.is_ascii() => Err(String::from(
            "Invalid ASCII character in string literal: \
             java.nio.charset.UnmappableCharacterException: Input length = 1",
        )),
        CqlType::Inet => inet::parse(text),
        CqlType::Date => date_time::date(text),
        CqlType::Time => date_time::time(text),
        CqlType::Timestamp => date_time::timestamp(text, now),
        _ => Ok(text.as_bytes().to_vec()),
    }
}

fn integer(ty: &CqlType, digits: &str) -> Result<Vec<u8>, String> {
    match ty {
        CqlType::Int => fixed::<i32, 4>(digits, "int", i32::to_be_bytes),
        CqlType::SmallInt => fixed::<i16, 2>(digits, "short", i16::to_be_bytes),
        CqlType::TinyInt => fixed::<i8, 1>(digits, "byte", i8::to_be_bytes),
        CqlType::Date => date_time::date(digits),
        CqlType::Time => date_time::time(digits),
        CqlType::Timestamp => date_time::timestamp(digits, 0),
        CqlType::Decimal | CqlType::Double | CqlType::Float => float(ty, digits),
        CqlType::Varint => number::varint(digits),
        CqlType::Duration => duration::parse(digits).map(|duration| duration.serialize()),
        _ => fixed::<i64, 8>(digits, "long", i64::to_be_bytes),
    }
}

fn fixed<T: std::str::FromStr, const N: usize>(
    digits: &str,
    name: &str,
    bytes: fn(T) -> [u8; N],
) -> Result<Vec<u8>, String> {
    match digits.parse() {
        Ok(value) => Ok(bytes(value).to_vec()),
        Err(_) => Err(format!("Unable to make {name} from '{digits}'")),
    }
}

fn float(ty: &CqlType, text: &str) -> Result<Vec<u8>, String> {
    match ty {
        CqlType::Decimal => number::decimal(text),
        CqlType::Float => {
            let value: f32 = text
                .parse()
                .map_err(|_| format!("Unable to make float from '{text}'"))?;
            Ok(value.to_be_bytes().to_vec())
        }
        _ => {
            let value: f64 = text
                .parse()
                .map_err(|_| format!("Unable to make double from '{text}'"))?;
            Ok(value.to_be_bytes().to_vec())
        }
    }
}

fn parse_uuid(ty: &CqlType, text: &str) -> Result<Vec<u8>, String> {
    let uuid = Uuid::try_parse(text).map_err(|_| format!("Unable to make UUID from '{text}'"))?;
    if *ty == CqlType::Timeuuid && uuid.get_version_num() != 1 {
        return Err(String::from("TimeUUID supports only version 1 UUIDs"));
    }
    Ok(uuid.as_bytes().to_vec())
}

/// Bytes from pairs of hexadecimal digits.
fn hex(digits: &str) -> Result<Vec<u8>, String> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        u8::try_from(high? * 16 + low?).ok()
    };
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes
        .filter(|_| rest.is_empty())
        .ok_or_else(|| format!("cannot parse '{digits}' as hex bytes"))
}
