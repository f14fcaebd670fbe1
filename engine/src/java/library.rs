//! What the methods do.

mod number;

use std::cell::RefCell;
use std::rc::Rc;

use super::convert;
use super::eval::{Machine, Stop, thrown};
use super::methods::{Field, Method};
use super::types::Primitive;
use super::value::{Record, Shape, Value};

type Outcome = Result<Value, Stop>;

/// Calls a method; of an instance method the receiver comes first.
pub(super) fn call(machine: &mut Machine<'_>, method: Method, arguments: &[Value]) -> Outcome {
    let none = Value::Null;
    let first = arguments.first().unwrap_or(&none);
    let second = arguments.get(1).unwrap_or(&none);
    let third = arguments.get(2).unwrap_or(&none);
    match method {
        Method::NewSequence => return Ok(Value::Sequence(Rc::default())),
        Method::NewMap => return Ok(Value::Map(Rc::default())),
        Method::NewRecord => return machine.new_record(),
        Method::ValueOfText => return machine.string(first.text()),
        _ => {}
    }
    match first {
        Value::Null => Err(thrown("java.lang.NullPointerException", None)),
        Value::String(units) => text(machine, method, units, second, third),
        Value::Sequence(items) => sequence(machine, method, items, second, third),
        Value::Map(entries) => map(machine, method, entries, second, third),
        Value::Record(record) => field(method, record, first, second, third),
        _ => number::call(machine, method, first, second),
    }
}

fn is_equal(first: &Value, second: &Value) -> Outcome {
    Ok(Value::Boolean(first.equals(second)))
}

fn units(value: &Value) -> Result<&[u16], Stop> {
    match value {
        Value::String(units) => Ok(units),
        _ => Err(thrown("java.lang.NullPointerException", None)),
    }
}

fn int(value: &Value) -> i32 {
    match value {
        Value::Int(value) => *value,
        _ => 0,
    }
}

/// Pays for a search through so many values for this one.
fn spend_search(machine: &Machine<'_>, len: usize, wanted: &Value) -> Result<(), Stop> {
    let each = match wanted {
        Value::String(units) => units.len() / 16,
        Value::Opaque(bytes) => bytes.len() / 32,
        _ => 0,
    };
    machine.spend((len / 4).saturating_add(len.saturating_mul(each)))
}

fn length(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

fn position(found: Option<usize>) -> Outcome {
    Ok(Value::Int(found.map_or(-1, length)))
}

fn find(text: &[u16], part: &[u16]) -> Option<usize> {
    match part.len() {
        0 => Some(0),
        len => text.windows(len).position(|window| window == part),
    }
}

fn text(
    machine: &mut Machine<'_>,
    method: Method,
    own: &Rc<[u16]>,
    second: &Value,
    third: &Value,
) -> Outcome {
    // Whatever looks through the text costs a step for some of its units.
    machine.spend(own.len() / 16)?;
    match method {
        Method::Length => Ok(Value::Int(length(own.len()))),
        Method::StringIsEmpty => Ok(Value::Boolean(own.is_empty())),
        Method::CharAt => match usize::try_from(int(second)).ok().and_then(|at| own.get(at)) {
            Some(unit) => Ok(Value::Char(*unit)),
            None => Err(out_of_text(format!(
                "String index out of range: {}",
                int(second)
            ))),
        },
        Method::Substring => {
            let end = match third {
                Value::Int(end) => *end,
                _ => length(own.len()),
            };
            let range = usize::try_from(int(second))
                .ok()
                .zip(usize::try_from(end).ok());
            match range.and_then(|(from, to)| own.get(from..to)) {
                Some(part) => machine.string(part.to_vec()),
                None => Err(out_of_text(format!(
                    "begin {}, end {end}, length {}",
                    int(second),
                    own.len()
                ))),
            }
        }
        Method::IndexOfText => {
            let part = units(second)?;
            machine.spend(own.len().saturating_mul(part.len()) / 16)?;
            position(find(own, part))
        }
        Method::IndexOfChar => position(match char::from_u32(int(second) as u32) {
            Some(c) => find(own, c.encode_utf16(&mut [0; 2])),
            None => own.iter().position(|unit| i32::from(*unit) == int(second)),
        }),
        Method::LastIndexOf => {
            let part = units(second)?;
            machine.spend(own.len().saturating_mul(part.len()) / 16)?;
            position(match part.len() {
                0 => Some(own.len()),
                len => own.windows(len).rposition(|window| window == part),
            })
        }
        Method::ContainsText => {
            let part = units(second)?;
            machine.spend(own.len().saturating_mul(part.len()) / 16)?;
            Ok(Value::Boolean(find(own, part).is_some()))
        }
        Method::StartsWith => Ok(Value::Boolean(own.starts_with(units(second)?))),
        Method::EndsWith => Ok(Value::Boolean(own.ends_with(units(second)?))),
        Method::EqualsIgnoreCase => {
            let other = match second {
                Value::String(other) => other,
                _ => return Ok(Value::Boolean(false)),
            };
            let lower = |units: &[u16]| {
                String::from_utf16_lossy(units)
                    .to_uppercase()
                    .to_lowercase()
            };
            Ok(Value::Boolean(
                own.len() == other.len() && lower(own) == lower(other),
            ))
        }
        Method::CompareText => {
            let other = units(second)?;
            let differing = own.iter().zip(other).find(|(a, b)| a != b);
            Ok(Value::Int(match differing {
                Some((a, b)) => i32::from(*a) - i32::from(*b),
                None => length(own.len()).wrapping_sub(length(other.len())),
            }))
        }
        Method::ToUpperCase => changed(machine, own, |text| text.to_uppercase()),
        Method::ToLowerCase => changed(machine, own, |text| text.to_lowercase()),
        Method::Trim => {
            let is_blank = |unit: &u16| *unit <= 0x20;
            let from = own
                .iter()
                .position(|unit| !is_blank(unit))
                .unwrap_or(own.len());
            let to = own
                .iter()
                .rposition(|unit| !is_blank(unit))
                .map_or(from, |last| last + 1);
            machine.string(own.get(from..to).unwrap_or_default().to_vec())
        }
        Method::Concatenate => {
            let other = units(second)?;
            machine.string([&own[..], other].concat())
        }
        Method::ReplaceChar => {
            let (Value::Char(from), Value::Char(to)) = (second, third) else {
                return Ok(Value::Null);
            };
            let replaced = own
                .iter()
                .map(|unit| if unit == from { *to } else { *unit });
            machine.string(replaced.collect())
        }
        Method::ReplaceText => replace(machine, own, units(second)?, units(third)?),
        Method::HashText => Ok(Value::Int(own.iter().fold(0i32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add((*unit).into())
        }))),
        Method::ParseInt => parsed(own).and_then(|value| match i32::try_from(value) {
            Ok(value) => Ok(Value::Int(value)),
            Err(_) => Err(no_number(own)),
        }),
        Method::ParseLong => parsed(own).map(Value::Long),
        Method::Equals => is_equal(&Value::String(own.clone()), second),
        _ => Ok(Value::String(own.clone())),
    }
}

fn out_of_text(message: String) -> Stop {
    thrown("java.lang.StringIndexOutOfBoundsException", Some(message))
}

fn changed(machine: &mut Machine<'_>, own: &[u16], change: impl Fn(&str) -> String) -> Outcome {
    machine.string(
        change(&String::from_utf16_lossy(own))
            .encode_utf16()
            .collect(),
    )
}

fn replace(machine: &mut Machine<'_>, own: &[u16], from: &[u16], to: &[u16]) -> Outcome {
    machine.spend(own.len().saturating_mul(from.len() + to.len()) / 16)?;
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(unit) = own.get(at) {
        let here = own.get(at..).unwrap_or_default();
        if from.is_empty() {
            out.extend_from_slice(to);
        } else if here.starts_with(from) {
            out.extend_from_slice(to);
            at += from.len();
            continue;
        }
        out.push(*unit);
        at += 1;
    }
    if from.is_empty() {
        out.extend_from_slice(to);
    }
    machine.string(out)
}

fn parsed(own: &[u16]) -> Result<i64, Stop> {
    String::from_utf16(own)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| no_number(own))
}

fn no_number(own: &[u16]) -> Stop {
    let text = String::from_utf16_lossy(own);
    thrown(
        "java.lang.NumberFormatException",
        Some(format!("For input string: \"{text}\"")),
    )
}

fn sequence(
    machine: &mut Machine<'_>,
    method: Method,
    items: &Rc<RefCell<Vec<Value>>>,
    second: &Value,
    third: &Value,
) -> Outcome {
    let len = items.borrow().len();
    let place = || {
        usize::try_from(int(second))
            .ok()
            .filter(|at| *at < len)
            .ok_or_else(|| {
                thrown(
                    "java.lang.IndexOutOfBoundsException",
                    Some(format!(
                        "Index {} out of bounds for length {len}",
                        int(second)
                    )),
                )
            })
    };
    let is_second = |item: &Value| item.equals(second);
    match method {
        Method::Size => Ok(Value::Int(length(len))),
        Method::IsEmpty => Ok(Value::Boolean(len == 0)),
        Method::ListGet => {
            let at = place()?;
            Ok(items.borrow().get(at).cloned().unwrap_or(Value::Null))
        }
        Method::ListSet => {
            let at = place()?;
            Ok(match items.borrow_mut().get_mut(at) {
                Some(item) => std::mem::replace(item, third.clone()),
                None => Value::Null,
            })
        }
        Method::ListAdd => {
            machine.spend(4)?;
            items.borrow_mut().push(second.clone());
            Ok(Value::Boolean(true))
        }
        Method::SetAdd => {
            machine.spend(4)?;
            spend_search(machine, len, second)?;
            let known = items.borrow().iter().any(is_second);
            if !known {
                items.borrow_mut().push(second.clone());
            }
            Ok(Value::Boolean(!known))
        }
        Method::Contains => {
            spend_search(machine, len, second)?;
            Ok(Value::Boolean(items.borrow().iter().any(is_second)))
        }
        Method::IndexOf => {
            spend_search(machine, len, second)?;
            position(items.borrow().iter().position(is_second))
        }
        _ => Ok(Value::Sequence(items.clone())),
    }
}

fn map(
    machine: &mut Machine<'_>,
    method: Method,
    entries: &Rc<RefCell<Vec<(Value, Value)>>>,
    second: &Value,
    third: &Value,
) -> Outcome {
    let len = entries.borrow().len();
    spend_search(machine, len, second)?;
    let place = entries
        .borrow()
        .iter()
        .position(|(key, _)| key.equals(second));
    let value = || place.and_then(|at| entries.borrow().get(at).map(|(_, value)| value.clone()));
    let snapshot = |machine: &mut Machine<'_>, part: fn(&(Value, Value)) -> &Value| {
        machine.spend(len)?;
        let parts: Vec<_> = entries
            .borrow()
            .iter()
            .map(|entry| part(entry).clone())
            .collect();
        Ok(Value::Sequence(Rc::new(RefCell::new(parts))))
    };
    match method {
        Method::Size => Ok(Value::Int(length(len))),
        Method::IsEmpty => Ok(Value::Boolean(len == 0)),
        Method::MapGet => Ok(value().unwrap_or(Value::Null)),
        Method::MapGetOrDefault => Ok(value().unwrap_or_else(|| third.clone())),
        Method::ContainsKey => Ok(Value::Boolean(place.is_some())),
        Method::MapPut => {
            machine.spend(8)?;
            let mut entries = entries.borrow_mut();
            Ok(match place.and_then(|at| entries.get_mut(at)) {
                Some((_, value)) => std::mem::replace(value, third.clone()),
                None => {
                    entries.push((second.clone(), third.clone()));
                    Value::Null
                }
            })
        }
        Method::Keys => snapshot(machine, |(key, _)| key),
        Method::Values => snapshot(machine, |(_, value)| value),
        _ => Ok(Value::Map(entries.clone())),
    }
}

fn field(
    method: Method,
    record: &Rc<Record>,
    own: &Value,
    second: &Value,
    third: &Value,
) -> Outcome {
    let index = match second {
        Value::Int(index) => usize::try_from(*index)
            .ok()
            .filter(|index| *index < record.shape.len())
            .ok_or_else(|| {
                thrown(
                    "java.lang.ArrayIndexOutOfBoundsException",
                    Some(format!(
                        "Index {index} out of bounds for length {}",
                        record.shape.len()
                    )),
                )
            })?,
        _ => named(&record.shape, units(second)?)?,
    };
    let Some(ty) = record.shape.field(index) else {
        return Ok(Value::Null);
    };
    let set = |value| {
        if let Some(place) = record.fields.borrow_mut().get_mut(index) {
            *place = value;
        }
        Ok(own.clone())
    };
    match method {
        Method::Get(wanted) => {
            if !convert::is_field(ty, wanted) {
                return Err(no_codec(ty, wanted));
            }
            let value = convert::read(
                ty,
                record.fields.borrow().get(index).and_then(Option::as_ref),
            );
            Ok(match (value, wanted) {
                // The driver's accessors of primitives give 0 for null.
                (Value::Null, Field::Primitive(Primitive::Boolean)) => Value::Boolean(false),
                (Value::Null, Field::Primitive(primitive)) => Value::Int(0).converted(primitive),
                (value, _) => value,
            })
        }
        Method::Set(wanted) => match convert::is_field(ty, wanted) {
            true => set(convert::write(ty, third)?),
            false => Err(no_codec(ty, wanted)),
        },
        Method::SetToNull => set(None),
        _ => {
            let fields = record.fields.borrow();
            Ok(Value::Boolean(
                fields.get(index).is_none_or(Option::is_none),
            ))
        }
    }
}

fn named(shape: &Shape, name: &[u16]) -> Result<usize, Stop> {
    let name = String::from_utf16_lossy(name);
    // As the driver reads them: in quotes the exact name, else in any case.
    let exact = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    let is_same = |field: &str| match exact {
        Some(exact) => field == exact,
        None => field.eq_ignore_ascii_case(&name),
    };
    match shape {
        Shape::Udt(ty) => ty.fields.iter().position(|(field, _)| is_same(field)),
        Shape::Tuple(_) => None,
    }
    .ok_or_else(|| {
        thrown(
            "java.lang.IllegalArgumentException",
            Some(format!("{name} is not a field defined in this UDT")),
        )
    })
}

fn no_codec(ty: &helenus_core::types::CqlType, wanted: Field) -> Stop {
    let class = match wanted {
        Field::Primitive(primitive) => format!("java.lang.{}", primitive.boxed()),
        Field::String => "java.lang.String".to_owned(),
    };
    thrown(
        "org.apache.cassandra.cql3.functions.types.exceptions.CodecNotFoundException",
        Some(format!(
            "Codec not found for requested operation: [{ty} <-> {class}]"
        )),
    )
}
