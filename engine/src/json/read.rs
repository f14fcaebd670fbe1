//! Values from JSON: Cassandra's `fromJSONObject`, its messages included.

use std::collections::BTreeMap;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clip;
use super::parse::{Document, parse};
use crate::cql::ast::Literal;
use crate::functions::java_double;
use crate::literal;
use crate::schema::Table;
use crate::term::{Bound, assemble};

/// Why a document is no value of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What Cassandra calls a marshalling error: the caller says of what.
    Marshal(String),
    /// A whole message.
    Invalid(String),
}

type Outcome = Result<Option<Bytes>, Fault>;

fn marshal<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Marshal(message.into()))
}

/// The values of a table's columns in a document; `None` for columns that it doesn't name.
pub(crate) fn columns(
    table: &Table,
    text: &str,
    now: i64,
) -> Result<Vec<Option<Option<Bytes>>>, ErrorResponse> {
    let document = parse(text).map_err(|error| {
        ErrorResponse::invalid(format!(
            "Could not decode JSON string as a map: {error}. (String was: {})",
            clip(text)
        ))
    })?;
    let entries = match &document {
        Document::Null => return Err(no_document()),
        Document::Object(entries) => entries,
        other => {
            return Err(ErrorResponse::invalid(format!(
                "Could not decode JSON string as a map: it is of class {}. (String was: {})",
                class(other),
                clip(text)
            )));
        }
    };
    let mut named = by_name(entries);
    let mut values = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let read = named
            .remove(&*column.name)
            .map(|document| value(&column.ty, document, now));
        values.push(read.transpose().map_err(|fault| match fault {
            Fault::Marshal(message) => ErrorResponse::invalid(format!(
                "Error decoding JSON value for {}: {message}",
                column.name
            )),
            Fault::Invalid(message) => ErrorResponse::invalid(message),
        })?);
    }
    match named.keys().next() {
        None => Ok(values),
        Some(name) => Err(ErrorResponse::invalid(format!(
            "JSON values map contains unrecognized column: {}",
            clip(name)
        ))),
    }
}

/// The refusal of null in the place of a document.
pub(crate) fn no_document() -> ErrorResponse {
    ErrorResponse::invalid("Got null for INSERT JSON values")
}

/// Entries by the names they mean: in quotes exactly those, else in lower case. Of doubles the last one counts.
fn by_name<'d, 't>(
    entries: &'d [(std::borrow::Cow<'t, str>, Document<'t>)],
) -> BTreeMap<String, &'d Document<'t>> {
    let mut named: BTreeMap<String, &Document<'_>> = BTreeMap::new();
    for (name, value) in entries {
        named.insert(name.to_string(), value);
    }
    for (name, _) in entries {
        let exact = name
            .strip_prefix('"')
            .and_then(|name| name.strip_suffix('"'));
        let meant = exact.map_or_else(|| name.to_lowercase(), str::to_owned);
        if meant != **name
            && let Some(value) = named.remove(&**name)
        {
            named.insert(meant, value);
        }
    }
    named
}

/// The value that a document stands for; `now` is the current time in milliseconds.
pub(crate) fn value(ty: &CqlType, document: &Document<'_>, now: i64) -> Outcome {
    if *document == Document::Null {
        return Ok(None);
    }
    match ty {
        CqlType::Frozen(inner) => value(inner, document, now),
        CqlType::List(_)
        | CqlType::Set(_)
        | CqlType::Vector(..)
        | CqlType::Map(_)
        | CqlType::Tuple(_)
        | CqlType::Udt(_) => {
            match document {
                // A nested value may be a text that holds it.
                Document::Text(text) => match parse(text) {
                    Ok(inner) => nested(ty, &inner, now),
                    Err(error) => marshal(format!("Error decoding JSON string: {error}")),
                },
                document => nested(ty, document, now),
            }
        }
        CqlType::Blob | CqlType::Custom(_) => blob(document),
        CqlType::Boolean => boolean(document),
        CqlType::Varint | CqlType::Decimal => big(ty, document),
        CqlType::Float | CqlType::Double => float(ty, document),
        CqlType::Int
        | CqlType::BigInt
        | CqlType::SmallInt
        | CqlType::TinyInt
        | CqlType::Counter => integer(ty, document),
        _ => text(ty, document, now),
    }
}

fn expected(what: &str, document: &Document<'_>) -> Outcome {
    let text = java_text(document);
    marshal(format!(
        "Expected {what}, but got a {}: {}",
        class(document),
        clip(&text)
    ))
}

fn nested(ty: &CqlType, document: &Document<'_>, now: i64) -> Outcome {
    let bind = |ty: &CqlType, document: &Document<'_>| {
        Ok(value(ty, document, now)?.map_or(Bound::Null, Bound::Bytes))
    };
    let parts: Vec<Bound<'static>> = match (ty, document) {
        (CqlType::List(element) | CqlType::Vector(element, _), Document::Array(items)) => {
            if let CqlType::Vector(_, dimension) = ty
                && usize::try_from(*dimension) != Ok(items.len())
            {
                return marshal(format!(
                    "List had incorrect size: expected {dimension} but given {}; {}",
                    items.len(),
                    clip(&java_text(document))
                ));
            }
            if items.contains(&Document::Null) {
                return marshal("Invalid null element in list");
            }
            items
                .iter()
                .map(|item| bind(element, item))
                .collect::<Result<_, _>>()?
        }
        (CqlType::Set(element), Document::Array(items)) => {
            if items.contains(&Document::Null) {
                return marshal("Invalid null element in set");
            }
            items
                .iter()
                .map(|item| bind(element, item))
                .collect::<Result<_, _>>()?
        }
        (CqlType::Map(types), Document::Object(entries)) => {
            let mut parts = Vec::with_capacity(entries.len() * 2);
            for (key, item) in entries {
                if *item == Document::Null {
                    return marshal("Invalid null value in map");
                }
                parts.push(bind(&types.0, &Document::Text(key.clone()))?);
                parts.push(bind(&types.1, item)?);
            }
            parts
        }
        (CqlType::Tuple(types), Document::Array(items)) => {
            if types.len() != items.len() {
                let what = match items.len() < types.len() {
                    true => "is missing",
                    false => "contains extra",
                };
                let given = java_text(document);
                return marshal(format!(
                    "Tuple {what} items (expected {}): {}",
                    types.len(),
                    clip(&given)
                ));
            }
            let items = types.iter().zip(items);
            items
                .map(|(ty, item)| bind(ty, item))
                .collect::<Result<_, _>>()?
        }
        (CqlType::Udt(user_type), Document::Object(entries)) => {
            let mut named = by_name(entries);
            let mut parts = Vec::with_capacity(user_type.fields.len());
            for (name, ty) in &user_type.fields {
                parts.push(bind(ty, named.remove(&**name).unwrap_or(&Document::Null))?);
            }
            if let Some(name) = named.keys().next() {
                return marshal(format!(
                    "Unknown field '{}' in value of user defined type {}",
                    clip(name),
                    user_type.name
                ));
            }
            parts
        }
        (CqlType::List(_) | CqlType::Vector(..), document) => return expected("a list", document),
        (CqlType::Set(_), document) => return expected("a list (representing a set)", document),
        (CqlType::Tuple(_), document) => {
            return expected("a list representation of a tuple", document);
        }
        (_, document) => return expected("a map", document),
    };
    match assemble(ty, parts) {
        Ok(value) => Ok(Some(value)),
        Err(error) => marshal(error.message.into_owned()),
    }
}

fn blob(document: &Document<'_>) -> Outcome {
    let why = match document {
        Document::Text(text) => match text.strip_prefix("0x") {
            Some(digits) => {
                match literal::constant(&CqlType::Blob, &Literal::Blob(digits.into()), 0) {
                    Ok(value) => return Ok(Some(value.into())),
                    Err(error) => error.to_string(),
                }
            }
            None => format!(
                "String representation of blob is missing 0x prefix: {}",
                clip(text)
            ),
        },
        other => format!(
            "class java.lang.{} cannot be cast to class java.lang.String",
            class(other)
        ),
    };
    let text = java_text(document);
    marshal(format!(
        "Value '{}' is not a valid blob representation: {why}",
        clip(&text)
    ))
}

fn boolean(document: &Document<'_>) -> Outcome {
    let value = match document {
        Document::Boolean(value) => *value,
        Document::Text(text) if text.eq_ignore_ascii_case("true") => true,
        Document::Text(text) if text.is_empty() || text.eq_ignore_ascii_case("false") => false,
        Document::Text(text) => {
            return marshal(format!("Unable to make boolean from '{}'", clip(text)));
        }
        other => return expected("a boolean value", other),
    };
    Ok(Some(Bytes::copy_from_slice(&[u8::from(value)])))
}

/// A number of any size.
fn big(ty: &CqlType, document: &Document<'_>) -> Outcome {
    let name = match ty {
        CqlType::Varint => "varint",
        _ => "decimal",
    };
    let wrong = |text: &str| {
        marshal(format!(
            "Value '{}' is not a valid representation of a {name} value",
            clip(text)
        ))
    };
    let text = match document {
        Document::Text(text) if text.is_empty() && *ty == CqlType::Decimal => {
            return Ok(Some(Bytes::new()));
        }
        Document::Text(_) | Document::Integer(_) | Document::Float(_) => java_text(document),
        other => return wrong(&java_text(other)),
    };
    let is_number =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    if !text.bytes().all(is_number) {
        return wrong(&text);
    }
    let literal = match ty {
        CqlType::Varint => Literal::Integer(text.as_str().into()),
        _ => Literal::Float(text.as_str().into()),
    };
    match literal::constant(ty, &literal, 0) {
        Ok(value) => Ok(Some(value.into())),
        Err(_) => wrong(&text),
    }
}

fn float(ty: &CqlType, document: &Document<'_>) -> Outcome {
    let is_float = *ty == CqlType::Float;
    let name = if is_float { "float" } else { "double" };
    let serialized = |value: f64| match is_float {
        true => Bytes::copy_from_slice(&(value as f32).to_be_bytes()),
        false => Bytes::copy_from_slice(&value.to_be_bytes()),
    };
    match document {
        Document::Integer(digits) | Document::Float(digits) => match digits.parse() {
            Ok(value) => Ok(Some(serialized(value))),
            Err(_) => expected(&format!("a {name} value"), document),
        },
        Document::Text(text) if text.is_empty() => Ok(Some(Bytes::new())),
        Document::Text(text) => match java_number(text, is_float) {
            Some(value) => Ok(Some(serialized(value))),
            None => marshal(format!("Unable to make {name} from '{}'", clip(text))),
        },
        other => expected(&format!("a {name} value"), other),
    }
}

/// A number as Java's `parseDouble` reads it, hexadecimal ones aside.
fn java_number(text: &str, is_float: bool) -> Option<f64> {
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    let (sign, magnitude) = match trimmed.strip_prefix(['-', '+']) {
        Some(rest) => (if trimmed.starts_with('-') { -1.0 } else { 1.0 }, rest),
        None => (1.0, trimmed),
    };
    match magnitude {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    let digits = magnitude
        .strip_suffix(['f', 'F', 'd', 'D'])
        .unwrap_or(magnitude);
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !is_plain {
        return None;
    }
    match is_float {
        true => digits
            .parse::<f32>()
            .ok()
            .map(|value| sign * f64::from(value)),
        false => digits.parse::<f64>().ok().map(|value| sign * value),
    }
}

fn integer(ty: &CqlType, document: &Document<'_>) -> Outcome {
    let (what, name) = match ty {
        CqlType::Int => ("an int value", "int"),
        CqlType::SmallInt => ("a short value", "short"),
        CqlType::TinyInt => ("a byte value", "byte"),
        _ => ("a bigint value", "long"),
    };
    let is_narrow = matches!(ty, CqlType::SmallInt | CqlType::TinyInt);
    let text = match document {
        Document::Text(text) if text.is_empty() => return Ok(Some(Bytes::new())),
        Document::Text(text) => text.to_string(),
        Document::Integer(digits) => (*digits).to_owned(),
        Document::Float(_) if is_narrow => java_text(document),
        other => return expected(what, other),
    };
    // Java reads a plus too.
    let digits = match text.strip_prefix('+') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => &text,
    };
    match literal::constant(ty, &Literal::Integer(digits.into()), 0) {
        Ok(value) => Ok(Some(value.into())),
        Err(_) if matches!(document, Document::Text(_)) || is_narrow => {
            marshal(format!("Unable to make {name} from '{}'", clip(&text)))
        }
        Err(_) => expected(what, document),
    }
}

/// Types whose values are texts.
fn text(ty: &CqlType, document: &Document<'_>, now: i64) -> Outcome {
    let what = match ty {
        CqlType::Ascii => "an ascii string",
        CqlType::Text => "a UTF-8 string",
        CqlType::Date => "a string representation of a date value",
        CqlType::Time => "a string representation of a time value",
        CqlType::Timestamp => "a long or a datestring representation of a timestamp value",
        CqlType::Inet => "a string representation of an inet value",
        CqlType::Uuid => "a string representation of a uuid",
        CqlType::Timeuuid => "a string representation of a timeuuid",
        _ => "a string representation of a duration",
    };
    let given = match document {
        Document::Text(text) => text,
        // A number that is an int to Java is refused, as Cassandra does.
        Document::Integer(digits)
            if *ty == CqlType::Timestamp
                && digits.parse::<i32>().is_err()
                && digits.parse::<i64>().is_ok() =>
        {
            let millis: i64 = digits.parse().unwrap_or_default();
            return Ok(Some(Bytes::copy_from_slice(&millis.to_be_bytes())));
        }
        other => return expected(what, other),
    };
    let keeps_empty = matches!(
        ty,
        CqlType::Inet | CqlType::Timestamp | CqlType::Uuid | CqlType::Timeuuid
    );
    if given.is_empty() && keeps_empty {
        return Ok(Some(Bytes::new()));
    }
    let written = match ty {
        CqlType::Uuid | CqlType::Timeuuid => Literal::Uuid(hyphenated(given).into()),
        // An empty text is no duration to the literal's parser, and none at all to Cassandra's.
        CqlType::Duration if given.is_empty() => Literal::Duration("0s".into()),
        CqlType::Duration => Literal::Duration((&**given).into()),
        _ => Literal::String((&**given).into()),
    };
    match literal::constant(ty, &written, now) {
        Ok(value) => Ok(Some(value.into())),
        Err(error) if *ty == CqlType::Duration => Err(Fault::Invalid(error.to_string())),
        Err(error) => match ty {
            CqlType::Uuid => marshal(format!("Unable to make UUID from '{}'", clip(given))),
            CqlType::Timeuuid if hyphenated(given).is_empty() => {
                marshal(format!("Unknown timeuuid representation: {}", clip(given)))
            }
            _ => marshal(error.to_string()),
        },
    }
}

/// The text if it has the form of a UUID, which is the only one Cassandra takes; else nothing.
fn hyphenated(text: &str) -> &str {
    let is_uuid = text.len() == 36 && uuid::Uuid::try_parse(text).is_ok();
    if is_uuid { text } else { "" }
}

/// The class that Cassandra's parser makes of a value.
fn class(document: &Document<'_>) -> &'static str {
    match document {
        Document::Null => "null",
        Document::Boolean(_) => "Boolean",
        Document::Integer(digits) if digits.parse::<i32>().is_ok() => "Integer",
        Document::Integer(digits) if digits.parse::<i64>().is_ok() => "Long",
        Document::Integer(_) => "BigInteger",
        Document::Float(_) => "Double",
        Document::Text(_) => "String",
        Document::Array(_) => "ArrayList",
        Document::Object(_) => "LinkedHashMap",
    }
}

/// The text that Java makes of a value.
fn java_text(document: &Document<'_>) -> String {
    match document {
        Document::Null => "null".to_owned(),
        Document::Boolean(value) => value.to_string(),
        Document::Integer(digits) => (*digits).to_owned(),
        Document::Float(digits) => digits
            .parse()
            .map_or_else(|_| (*digits).to_owned(), java_double),
        Document::Text(text) => text.to_string(),
        Document::Array(items) => {
            let items: Vec<_> = items.iter().map(java_text).collect();
            format!("[{}]", items.join(", "))
        }
        Document::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(name, value)| format!("{name}={}", java_text(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
