//! Values as constants of CQL, for traces to show what was bound.

use std::fmt::{self, Write};

use helenus_core::CqlType;
use helenus_core::types::Value;

/// Characters of a value that are shown, as with Cassandra.
const LONGEST: usize = 1000;

/// The bytes of a value of this type as CQL writes it; bytes that are no such value as a blob.
pub(super) fn cql_literal(ty: &CqlType, bytes: Option<&[u8]>) -> String {
    let mut out = String::new();
    let written = match bytes.map(|bytes| (bytes, Value::decode(ty, bytes))) {
        None => write!(out, "null"),
        Some((_, Ok(value))) => put(&mut out, ty, Some(&value)),
        Some((bytes, Err(_))) => put(&mut out, ty, Some(&Value::Blob(bytes.to_vec()))),
    };
    // Writing to a string can't fail.
    debug_assert!(written.is_ok());
    if let Some((end, _)) = out.char_indices().nth(LONGEST) {
        out.truncate(end);
        out.push_str("...'");
    }
    out
}

fn put(out: &mut String, ty: &CqlType, value: Option<&Value>) -> fmt::Result {
    let Some(value) = value else {
        return out.write_str("null");
    };
    match (ty.strip_frozen(), value) {
        (_, Value::Text(text)) => write!(out, "'{}'", text.replace('\'', "''")),
        (_, Value::Inet(address)) => write!(out, "'{address}'"),
        (_, Value::Blob(bytes) | Value::Custom(bytes)) => {
            out.write_str("0x")?;
            bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
        }
        (_, Value::BigInt(n) | Value::Counter(n) | Value::Timestamp(n) | Value::Time(n)) => {
            write!(out, "{n}")
        }
        (_, Value::Boolean(flag)) => write!(out, "{flag}"),
        (_, Value::Decimal(n)) => write!(
            out,
            "{}E{}",
            n.unscaled,
            i64::from(n.scale).saturating_neg()
        ),
        (_, Value::Double(n)) => write!(out, "{n:?}"),
        (_, Value::Float(n)) => write!(out, "{n:?}"),
        (_, Value::Int(n)) => write!(out, "{n}"),
        (_, Value::SmallInt(n)) => write!(out, "{n}"),
        (_, Value::TinyInt(n)) => write!(out, "{n}"),
        (_, Value::Date(days)) => write!(out, "{days}"),
        (_, Value::Varint(n)) => write!(out, "{n}"),
        (_, Value::Uuid(id) | Value::Timeuuid(id)) => write!(out, "{id}"),
        (_, Value::Duration(d)) => write!(out, "{}mo{}d{}ns", d.months, d.days, d.nanoseconds),
        (CqlType::List(ty), Value::List(items)) => list(
            out,
            ['[', ']'],
            items.iter().map(|item| (&**ty, item.as_ref())),
        ),
        (CqlType::Vector(ty, _), Value::Vector(items)) => list(
            out,
            ['[', ']'],
            items.iter().map(|item| (&**ty, Some(item))),
        ),
        (CqlType::Set(ty), Value::Set(items)) => list(
            out,
            ['{', '}'],
            items.iter().map(|item| (&**ty, Some(item))),
        ),
        (CqlType::Tuple(types), Value::Tuple(items)) => list(
            out,
            ['(', ')'],
            types.iter().zip(items.iter().map(Option::as_ref)),
        ),
        (CqlType::Map(types), Value::Map(entries)) => {
            let mut before = '{';
            for (key, value) in entries {
                separate(out, &mut before)?;
                put(out, &types.0, Some(key))?;
                out.write_str(": ")?;
                put(out, &types.1, value.as_ref())?;
            }
            end(out, before, '}')
        }
        (CqlType::Udt(ty), Value::Tuple(items)) => {
            let mut before = '{';
            for ((name, ty), item) in ty.fields.iter().zip(items) {
                separate(out, &mut before)?;
                write!(out, "{}: ", helenus_core::types::quoted(name))?;
                put(out, ty, item.as_ref())?;
            }
            end(out, before, '}')
        }
        _ => out.write_str("''"),
    }
}

fn list<'a>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl Iterator<Item = (&'a CqlType, Option<&'a Value>)>,
) -> fmt::Result {
    let mut before = open;
    for (ty, item) in items {
        separate(out, &mut before)?;
        put(out, ty, item)?;
    }
    end(out, before, close)
}

/// What stands before an element: the opening bracket, then commas.
fn separate(out: &mut String, before: &mut char) -> fmt::Result {
    match std::mem::replace(before, ',') {
        ',' => out.write_str(", "),
        open => out.write_char(open),
    }
}

fn end(out: &mut String, before: char, close: char) -> fmt::Result {
    if before != ',' {
        out.write_char(before)?;
    }
    out.write_char(close)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn shown(ty: &CqlType, value: &Value) -> String {
        let mut bytes = Vec::new();
        value.encode(ty, &mut bytes).unwrap();
        cql_literal(ty, Some(&bytes))
    }

    #[test]
    fn values_are_written_as_cql_reads_them() {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = CqlType::List(Arc::new(CqlType::Int));
        let map = CqlType::Map(Arc::new((CqlType::Text, CqlType::Boolean)));
        let tuple = CqlType::Tuple(vec![CqlType::Int, CqlType::Text].into());
        assert_eq!(shown(&CqlType::Int, &Value::Int(-7)), "-7");
        assert_eq!(shown(&CqlType::Text, &text("it's")), "'it''s'");
        assert_eq!(
            shown(&CqlType::Blob, &Value::Blob(vec![0xCA, 0xFE])),
            "0xcafe"
        );
        assert_eq!(
            shown(
                &list,
                &Value::List(vec![Some(Value::Int(1)), Some(Value::Int(2))])
            ),
            "[1, 2]"
        );
        assert_eq!(shown(&list, &Value::List(vec![])), "[]");
        assert_eq!(
            shown(
                &map,
                &Value::Map(vec![(text("a"), Some(Value::Boolean(true)))])
            ),
            "{'a': true}"
        );
        assert_eq!(
            shown(&tuple, &Value::Tuple(vec![None, Some(text("x"))])),
            "(null, 'x')"
        );
        assert_eq!(cql_literal(&CqlType::Int, None), "null");
        assert_eq!(cql_literal(&CqlType::Int, Some(&[1, 2])), "0x0102");
    }

    #[test]
    fn a_long_value_is_cut() {
        let literal = shown(&CqlType::Text, &Value::Text("x".repeat(5000)));
        assert_eq!(literal.len(), 1000 + 4);
        assert!(literal.ends_with("x...'"));
    }
}
