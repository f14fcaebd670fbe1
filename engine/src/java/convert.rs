//! Values in and out: serialized CQL values become Java's and the reverse, as Apache Cassandra's codecs do it.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::types::{CqlType, elements};
use helenus_core::wire::WireWrite as _;

use super::eval::{Stop, thrown};
use super::methods::Field;
use super::types::Primitive;
use super::value::{Record, Shape, Value};
use crate::term::{Elements, Fields, Pairs, begin_count, put_element};

/// The value of these bytes; null for none, and for an empty value of a type that has no such value in Java.
pub(super) fn read(ty: &CqlType, bytes: Option<&Bytes>) -> Value {
    let Some(bytes) = bytes else {
        return Value::Null;
    };
    let part = |ty: &CqlType, item: Option<&[u8]>| {
        read(ty, item.map(|item| bytes.slice_ref(item)).as_ref())
    };
    let sequence = |items: Vec<Value>| Value::Sequence(Rc::new(RefCell::new(items)));
    let fixed = |value: Option<Value>| value.unwrap_or(Value::Null);
    match ty {
        CqlType::Frozen(inner) => read(inner, Some(bytes)),
        CqlType::Ascii | CqlType::Text => Value::string(&String::from_utf8_lossy(bytes)),
        CqlType::Boolean => fixed(bytes.first().map(|byte| Value::Boolean(*byte != 0))),
        CqlType::TinyInt => fixed(array(bytes).map(|bytes| Value::Byte(i8::from_be_bytes(bytes)))),
        CqlType::SmallInt => {
            fixed(array(bytes).map(|bytes| Value::Short(i16::from_be_bytes(bytes))))
        }
        CqlType::Int => fixed(array(bytes).map(|bytes| Value::Int(i32::from_be_bytes(bytes)))),
        CqlType::BigInt | CqlType::Counter | CqlType::Time => {
            fixed(array(bytes).map(|bytes| Value::Long(i64::from_be_bytes(bytes))))
        }
        CqlType::Float => fixed(array(bytes).map(|bytes| Value::Float(f32::from_be_bytes(bytes)))),
        CqlType::Double => {
            fixed(array(bytes).map(|bytes| Value::Double(f64::from_be_bytes(bytes))))
        }
        CqlType::List(element) | CqlType::Set(element) => sequence(
            Elements::new(bytes)
                .map(|item| part(element, item))
                .collect(),
        ),
        CqlType::Vector(element, dimension) => {
            let items = elements::vector(bytes, ty, element, *dimension);
            let items = items.into_iter().flatten().map_while(Result::ok);
            sequence(items.map(|item| part(element, Some(item))).collect())
        }
        CqlType::Map(types) => {
            let entries = Pairs::new(bytes)
                .map(|(key, value)| (part(&types.0, Some(key)), part(&types.1, value)));
            Value::Map(Rc::new(RefCell::new(entries.collect())))
        }
        CqlType::Udt(user_type) => record(Shape::Udt(user_type.clone()), bytes),
        CqlType::Tuple(types) => record(Shape::Tuple(types.clone()), bytes),
        CqlType::Blob | CqlType::Custom(_) => Value::Opaque(bytes.clone()),
        _ if bytes.is_empty() => Value::Null,
        _ => Value::Opaque(bytes.clone()),
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn record(shape: Shape, bytes: &Bytes) -> Value {
    let mut fields: Vec<_> = Fields::new(bytes)
        .take(shape.len())
        .map(|field| field.map(|field| bytes.slice_ref(field)))
        .collect();
    fields.resize(shape.len(), None);
    Value::Record(Rc::new(Record {
        shape,
        fields: RefCell::new(fields),
    }))
}

/// The bytes of a value; `None` for null.
pub(super) fn write(ty: &CqlType, value: &Value) -> Result<Option<Bytes>, Stop> {
    if value.is_null() {
        return Ok(None);
    }
    let mut out = BytesMut::new();
    match (ty, value) {
        (CqlType::Frozen(inner), value) => return write(inner, value),
        (_, Value::Boolean(value)) => out.put_u8(u8::from(*value)),
        (_, Value::Byte(value)) => out.put_i8(*value),
        (_, Value::Short(value)) => out.put_i16(*value),
        (_, Value::Int(value)) => out.put_i32(*value),
        (_, Value::Long(value)) => out.put_i64(*value),
        (_, Value::Float(value)) => out.put_f32(*value),
        (_, Value::Double(value)) => out.put_f64(*value),
        (_, Value::String(units)) => put_text(units, &mut out),
        (CqlType::List(element) | CqlType::Set(element), Value::Sequence(items)) => {
            let items = items.borrow();
            begin_count(&mut out, items.len());
            for item in items.iter() {
                put_element(&mut out, Some(&present(element, item)?));
            }
        }
        (CqlType::Vector(element, dimension), Value::Sequence(items)) => {
            let items = items.borrow();
            if usize::try_from(*dimension) != Ok(items.len()) {
                return Err(thrown(
                    "java.lang.IllegalArgumentException",
                    Some(format!(
                        "Expected {dimension} elements, but got {}",
                        items.len()
                    )),
                ));
            }
            for item in items.iter() {
                let bytes = present(element, item)?;
                if element.fixed_size().is_none() {
                    out.put_unsigned_vint(bytes.len() as u64);
                }
                out.put_slice(&bytes);
            }
        }
        (CqlType::Map(types), Value::Map(entries)) => {
            let entries = entries.borrow();
            begin_count(&mut out, entries.len());
            for (key, value) in entries.iter() {
                put_element(&mut out, Some(&present(&types.0, key)?));
                put_element(&mut out, Some(&present(&types.1, value)?));
            }
        }
        (_, Value::Record(record)) => {
            for field in record.fields.borrow().iter() {
                put_element(&mut out, field.as_deref());
            }
        }
        (_, Value::Opaque(bytes)) => return Ok(Some(bytes.clone())),
        _ => return Ok(None),
    }
    Ok(Some(out.freeze()))
}

fn present(ty: &CqlType, value: &Value) -> Result<Bytes, Stop> {
    write(ty, value)?.ok_or_else(|| {
        thrown(
            "java.lang.NullPointerException",
            Some("Collection elements cannot be null".to_owned()),
        )
    })
}

/// Text as UTF-8, half characters as Java writes them.
fn put_text(units: &[u16], out: &mut BytesMut) {
    for c in char::decode_utf16(units.iter().copied()) {
        let c = c.unwrap_or('?');
        out.put_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Whether a field of that type may be read and written as such.
pub(super) fn is_field(ty: &CqlType, wanted: Field) -> bool {
    use Primitive::{Boolean, Byte, Double, Float, Int, Long, Short};
    matches!(
        (ty.strip_frozen(), wanted),
        (CqlType::Ascii | CqlType::Text, Field::String)
            | (CqlType::Boolean, Field::Primitive(Boolean))
            | (CqlType::TinyInt, Field::Primitive(Byte))
            | (CqlType::SmallInt, Field::Primitive(Short))
            | (CqlType::Int, Field::Primitive(Int))
            | (CqlType::BigInt | CqlType::Counter, Field::Primitive(Long))
            | (CqlType::Float, Field::Primitive(Float))
            | (CqlType::Double, Field::Primitive(Double))
    )
}
