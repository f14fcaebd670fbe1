//! Values as JSON: Cassandra's `toJSONString`.

use std::fmt::Write as _;

use helenus_core::ErrorResponse;
use helenus_core::types::{CqlType, elements};

use crate::functions::json_scalar;
use crate::literal;
use crate::term::{Elements, Fields, Pairs};

/// The longest text of a map's key. Keys in keys double their backslashes with every level.
const MAX_KEY: usize = 1 << 20;

type Written = Result<(), ErrorResponse>;

/// Appends a value; a null or empty one must have been told apart before.
///
/// Fails with Invalid if a map's key becomes too long by being quoted.
pub(crate) fn write(ty: &CqlType, value: &[u8], out: &mut String) -> Written {
    match ty {
        CqlType::Frozen(inner) => return write(inner, value, out),
        CqlType::Ascii | CqlType::Text => quoted(&String::from_utf8_lossy(value), out),
        CqlType::List(element) | CqlType::Set(element) => {
            return items(Elements::new(value).map(|item| (&**element, item)), out);
        }
        CqlType::Vector(element, dimension) => {
            let parts = elements::vector(value, ty, element, *dimension);
            let parts = parts.into_iter().flatten().map_while(Result::ok);
            return items(parts.map(|item| (&**element, Some(item))), out);
        }
        CqlType::Map(types) => {
            out.push('{');
            for (index, (key, item)) in Pairs::new(value).enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                put_key(&types.0, key, out)?;
                out.push_str(": ");
                present(&types.1, item, out)?;
            }
            out.push('}');
        }
        CqlType::Tuple(types) => {
            let mut fields = Fields::new(value);
            return items(types.iter().map(|ty| (ty, fields.next().flatten())), out);
        }
        CqlType::Udt(user_type) => {
            let mut fields = Fields::new(value);
            out.push('{');
            for (index, (name, ty)) in user_type.fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&column_key(name));
                present(ty, fields.next().flatten(), out)?;
            }
            out.push('}');
        }
        CqlType::Blob | CqlType::Custom(_) => {
            out.push_str("\"0x");
            for byte in value {
                let _ = write!(out, "{byte:02x}");
            }
            out.push('"');
        }
        _ if value.is_empty() => out.push_str("\"\""),
        _ => match json_scalar(ty, value) {
            Some(number) => out.push_str(&number),
            None => quoted(&literal::text(ty, value), out),
        },
    }
    Ok(())
}

fn present(ty: &CqlType, value: Option<&[u8]>, out: &mut String) -> Written {
    match value {
        Some(value) => write(ty, value, out),
        None => {
            out.push_str("null");
            Ok(())
        }
    }
}

fn items<'a>(
    items: impl Iterator<Item = (&'a CqlType, Option<&'a [u8]>)>,
    out: &mut String,
) -> Written {
    out.push('[');
    for (index, (ty, item)) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        present(ty, item, out)?;
    }
    out.push(']');
    Ok(())
}

/// A map's key, which JSON wants as a string.
fn put_key(ty: &CqlType, key: &[u8], out: &mut String) -> Written {
    let mut text = String::new();
    write(ty, key, &mut text)?;
    if text.len() > MAX_KEY {
        return Err(ErrorResponse::invalid(format!(
            "A map's key takes more than {MAX_KEY} bytes as JSON"
        )));
    }
    match text.starts_with('"') {
        true => out.push_str(&text),
        false => quoted(&text, out),
    }
    Ok(())
}

/// The name of a column or field as an object's key, with the colon behind it: in quotes of its own unless it is
/// lower case.
pub(crate) fn column_key(name: &str) -> String {
    let mut out = String::new();
    match name.chars().any(char::is_uppercase) {
        true => quoted(&format!("\"{name}\""), &mut out),
        false => quoted(name, &mut out),
    }
    out.push_str(": ");
    out
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{C}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1F}' => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
