//! `CAST(x AS type)`. Answers to Cassandra's `CastFcts`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::number::{self, Number, TYPES};
use super::resolve::choose;
use super::time::{days_of_date, millis_of_time_uuid};
use super::{Argument, Environment, Function, given};
use crate::literal;

const DAY_MILLIS: i64 = 86_400_000;

/// The cast of this argument to a type.
pub(crate) fn cast(argument: &Argument<'_>, to: &CqlType) -> Result<Function, ErrorResponse> {
    let name = format!("cast_as_{to}");
    if argument.ty.as_ref() == Some(to) {
        let same = |_: &Function, arguments: &[Option<Bytes>], _: &Environment<'_>| {
            Ok(arguments.first().cloned().flatten())
        };
        return Ok(Function::new(&name, vec![to.clone()], to.clone(), same));
    }
    let mut candidates = Vec::new();
    let mut add =
        |from: CqlType, run| candidates.push(Function::new(&name, vec![from], to.clone(), run));
    match to {
        CqlType::Text | CqlType::Ascii => {
            for from in TYPES {
                add(from, number_text);
            }
            add(CqlType::Boolean, text);
            add(CqlType::Uuid, text);
            add(CqlType::Timeuuid, text);
            add(CqlType::Timestamp, text);
            add(CqlType::Date, text);
            add(CqlType::Time, text);
            add(CqlType::Inet, text);
            if *to == CqlType::Text {
                add(CqlType::Ascii, |_, arguments, _| {
                    Ok(arguments.first().cloned().flatten())
                });
            }
        }
        CqlType::Timestamp => {
            add(CqlType::Timeuuid, |_, arguments, _| {
                Ok(millis_of_time_uuid(given(arguments, 0)).map(long))
            });
            add(CqlType::Date, |_, arguments, _| {
                Ok(days_of_date(given(arguments, 0)).map(|days| long(days * DAY_MILLIS)))
            });
        }
        CqlType::Date => {
            add(CqlType::Timeuuid, |_, arguments, _| {
                Ok(millis_of_time_uuid(given(arguments, 0)).map(date))
            });
            add(CqlType::Timestamp, |_, arguments, _| {
                let millis = <[u8; 8]>::try_from(given(arguments, 0)).ok();
                Ok(millis.map(|millis| date(i64::from_be_bytes(millis))))
            });
        }
        to if TYPES.contains(to) && *to != CqlType::Counter => {
            for from in TYPES.into_iter().filter(|from| from != to) {
                add(from, converted);
            }
        }
        _ => {}
    }
    let from = argument
        .ty
        .as_ref()
        .map_or_else(|| "?".to_owned(), ToString::to_string);
    choose(
        &format!("system.{name}"),
        candidates,
        std::slice::from_ref(argument),
        Some(to),
    )?
    .ok_or_else(|| ErrorResponse::invalid(format!("{from} cannot be cast to {to}")))
}

fn long(value: i64) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

fn date(millis: i64) -> Bytes {
    let days = millis.div_euclid(DAY_MILLIS).wrapping_add(1 << 31);
    Bytes::copy_from_slice(&(days as u32).to_be_bytes())
}

fn converted(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    Ok(Number::decode(&function.argument(0), given(arguments, 0))
        .map(|number| number.encode(&function.returns)))
}

fn number_text(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let from = function.argument(0);
    Ok(number::text(&from, given(arguments, 0)).map(Into::into))
}

fn text(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let (ty, value) = (function.argument(0), given(arguments, 0));
    let text = match ty {
        CqlType::Boolean => value.first().map(|byte| (*byte != 0).to_string()),
        _ => literal::known_text(&ty, value, 'T'),
    };
    Ok(text.map(Into::into))
}
