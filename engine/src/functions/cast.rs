//! `CAST(x AS type)`. Answers to Cassandra's `CastFcts`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::number::{Number, TYPES, decimal_text, java_double, java_float};
use super::resolve::choose;
use super::time::{civil, days_of_date, millis_of_time_uuid};
use super::{Argument, Environment, Function, given};

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
                add(from, number);
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

fn number(
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
    Ok(Number::decode(&from, given(arguments, 0)).map(|number| {
        match number {
            Number::Float(float) if from == CqlType::Float => java_float(float as f32),
            Number::Float(float) => java_double(float),
            Number::Integer(integer) => integer.to_string(),
            Number::Varint(big) => big.to_string(),
            Number::Decimal(unscaled, scale) => decimal_text(&unscaled, scale),
        }
        .into()
    }))
}

fn text(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let value = given(arguments, 0);
    Ok(value_text(&function.argument(0), value).map(Into::into))
}

/// A value of a native type as Cassandra prints it.
fn value_text(ty: &CqlType, value: &[u8]) -> Option<String> {
    Some(match ty {
        CqlType::Boolean => if value.first()? == &0 {
            "false"
        } else {
            "true"
        }
        .to_owned(),
        CqlType::Uuid | CqlType::Timeuuid => uuid::Uuid::from_slice(value).ok()?.to_string(),
        CqlType::Inet => match value.len() {
            4 => std::net::Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).to_string(),
            // Java doesn't shorten runs of zeros.
            _ => std::net::Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?)
                .segments()
                .map(|segment| format!("{segment:x}"))
                .join(":"),
        },
        CqlType::Date => date_text(days_of_date(value)?),
        CqlType::Timestamp => {
            let millis = i64::from_be_bytes(value.try_into().ok()?);
            let time = millis.rem_euclid(DAY_MILLIS);
            format!(
                "{}T{:02}:{:02}:{:02}.{:03}Z",
                date_text(millis.div_euclid(DAY_MILLIS)),
                time / 3_600_000,
                time / 60_000 % 60,
                time / 1_000 % 60,
                time % 1_000
            )
        }
        CqlType::Time => {
            let nanos = i64::from_be_bytes(value.try_into().ok()?);
            let seconds = nanos.div_euclid(1_000_000_000);
            format!(
                "{:02}:{:02}:{:02}.{:09}",
                seconds / 3_600,
                seconds / 60 % 60,
                seconds % 60,
                nanos.rem_euclid(1_000_000_000)
            )
        }
        _ => return None,
    })
}

fn date_text(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}
