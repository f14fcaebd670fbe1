//! Values while a program runs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::types::{CqlType, UserType};

use super::types::Primitive;
use crate::functions::{java_double, java_float};

/// A value. A primitive and its box look the same.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// UTF-16 units.
    String(Rc<[u16]>),
    /// A list, or a set without doubles in the order of insertion.
    Sequence(Rc<RefCell<Vec<Value>>>),
    /// In the order of insertion.
    Map(Rc<RefCell<Vec<(Value, Value)>>>),
    Record(Rc<Record>),
    /// A serialized value that is only handed on.
    Opaque(Bytes),
}

/// A user type's or tuple's value.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) shape: Shape,
    /// Serialized fields.
    pub(super) fields: RefCell<Vec<Option<Bytes>>>,
}

/// What fields a record has.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Udt(Arc<UserType>),
    Tuple(Arc<[CqlType]>),
}

impl Shape {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Udt(ty) => ty.fields.len(),
            Self::Tuple(types) => types.len(),
        }
    }

    pub(super) fn field(&self, index: usize) -> Option<&CqlType> {
        match self {
            Self::Udt(ty) => ty.fields.get(index).map(|(_, ty)| ty),
            Self::Tuple(types) => types.get(index),
        }
    }
}

impl Value {
    pub(super) fn string(text: &str) -> Self {
        Self::String(text.encode_utf16().collect())
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value as a primitive of another type (JLS 5.1.2, 5.1.3).
    pub(super) fn converted(self, to: Primitive) -> Self {
        let (integer, float) = match self {
            Self::Byte(value) => (i64::from(value), f64::from(value)),
            Self::Short(value) => (i64::from(value), f64::from(value)),
            Self::Char(value) => (i64::from(value), f64::from(value)),
            Self::Int(value) => (i64::from(value), f64::from(value)),
            Self::Long(value) if to == Primitive::Float => return Self::Float(value as f32),
            Self::Long(value) => (value, value as f64),
            // From floating point to anything narrower than a long goes by way of an int, as Java's cast does.
            Self::Float(value) => (truncated(value.into(), to), f64::from(value)),
            Self::Double(value) => (truncated(value, to), value),
            other => return other,
        };
        match to {
            Primitive::Boolean => self,
            Primitive::Byte => Self::Byte(integer as i8),
            Primitive::Short => Self::Short(integer as i16),
            Primitive::Char => Self::Char(integer as u16),
            Primitive::Int => Self::Int(integer as i32),
            Primitive::Long => Self::Long(integer),
            Primitive::Float => Self::Float(match self {
                Self::Float(value) => value,
                _ => float as f32,
            }),
            Primitive::Double => Self::Double(float),
        }
    }

    /// What string concatenation makes of it.
    pub(super) fn text(&self) -> Vec<u16> {
        let text = match self {
            Self::Null => "null".to_owned(),
            Self::Boolean(value) => value.to_string(),
            Self::Byte(value) => value.to_string(),
            Self::Short(value) => value.to_string(),
            Self::Char(value) => return vec![*value],
            Self::Int(value) => value.to_string(),
            Self::Long(value) => value.to_string(),
            Self::Float(value) => java_float(*value),
            Self::Double(value) => java_double(*value),
            Self::String(units) => return units.to_vec(),
            Self::Sequence(items) => {
                return joined("[", items.borrow().iter(), "]", |item, out| {
                    out.extend(item.text())
                });
            }
            Self::Map(entries) => {
                return joined("{", entries.borrow().iter(), "}", |(key, value), out| {
                    out.extend(key.text());
                    out.push(u16::from(b'='));
                    out.extend(value.text());
                });
            }
            // Never asked for: the compiler refuses to make text of these.
            Self::Record(_) | Self::Opaque(_) => String::new(),
        };
        text.encode_utf16().collect()
    }

    /// What `equals` says of strings, boxes and opaque values; others the compiler refuses to compare.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Byte(a), Self::Byte(b)) => a == b,
            (Self::Short(a), Self::Short(b)) => a == b,
            (Self::Char(a), Self::Char(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Long(a), Self::Long(b)) => a == b,
            // Boxes compare bits, any NaN being the same.
            (Self::Float(a), Self::Float(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Self::Double(a), Self::Double(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Opaque(a), Self::Opaque(b)) => a == b,
            _ => false,
        }
    }
}

fn truncated(value: f64, to: Primitive) -> i64 {
    match to {
        Primitive::Long => value as i64,
        _ => i64::from(value as i32),
    }
}

fn joined<T>(
    open: &str,
    items: impl Iterator<Item = T>,
    close: &str,
    put: impl Fn(T, &mut Vec<u16>),
) -> Vec<u16> {
    let mut out: Vec<u16> = open.encode_utf16().collect();
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.extend(", ".encode_utf16());
        }
        put(item, &mut out);
    }
    out.extend(close.encode_utf16());
    out
}
