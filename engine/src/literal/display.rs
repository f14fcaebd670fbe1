//! Values as text: as Java prints those of native types, and as literals that read back.

use std::fmt::Write as _;

use helenus_core::types::{CqlType, elements, quoted};
use helenus_core::wire::Reader;

use crate::functions::{civil, number_text};
use crate::term::{Elements, Fields, Pairs};

const DAY_MILLIS: i64 = 86_400_000;
const NANOS_A_SECOND: i64 = 1_000_000_000;

/// The text of a date, time, timestamp, duration, address or UUID, as JSON has it; of anything else its bytes.
pub(crate) fn text(ty: &CqlType, value: &[u8]) -> String {
    known_text(ty, value, ' ').unwrap_or_else(|| hex(value))
}

/// A value as a literal of CQL.
pub(crate) fn display(ty: &CqlType, value: &[u8]) -> String {
    let mut out = String::new();
    put(ty, Some(value), &mut out);
    out
}

fn hex(value: &[u8]) -> String {
    let mut out = String::from("0x");
    for byte in value {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// What Java prints of a value, with a sign of choice between a timestamp's date and time.
pub(crate) fn known_text(ty: &CqlType, value: &[u8], between: char) -> Option<String> {
    Some(match ty {
        CqlType::Uuid | CqlType::Timeuuid => uuid::Uuid::from_slice(value).ok()?.to_string(),
        CqlType::Inet => match value.len() {
            4 => std::net::Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).to_string(),
            // Java doesn't shorten runs of zeros.
            _ => std::net::Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?)
                .segments()
                .map(|segment| format!("{segment:x}"))
                .join(":"),
        },
        CqlType::Date => {
            let days = i64::from(u32::from_be_bytes(value.try_into().ok()?)) - (1 << 31);
            let (year, month, day) = civil(days);
            format!("{}-{month:02}-{day:02}", year_text(year))
        }
        CqlType::Timestamp => timestamp(i64::from_be_bytes(value.try_into().ok()?), between),
        CqlType::Time => {
            let nanos = i64::from_be_bytes(value.try_into().ok()?);
            let seconds = nanos.div_euclid(NANOS_A_SECOND);
            format!(
                "{:02}:{:02}:{:02}.{:09}",
                seconds / 3_600,
                seconds / 60 % 60,
                seconds % 60,
                nanos.rem_euclid(NANOS_A_SECOND)
            )
        }
        CqlType::Duration => {
            let mut reader = Reader::new(value);
            duration(
                reader.vint().ok()?,
                reader.vint().ok()?,
                reader.vint().ok()?,
            )
        }
        _ => return None,
    })
}

/// A year of four digits at least; with a sign if it takes more.
fn year_text(year: i64) -> String {
    match year {
        10_000.. => format!("+{year}"),
        0.. => format!("{year:04}"),
        _ => format!("-{:04}", year.unsigned_abs()),
    }
}

fn timestamp(millis: i64, between: char) -> String {
    let (year, month, day) = civil(millis.div_euclid(DAY_MILLIS));
    // The year of its era: before the year 1 comes the year 1 before it.
    let year = if year > 0 { year } else { 1 - year };
    let time = millis.rem_euclid(DAY_MILLIS);
    format!(
        "{}-{month:02}-{day:02}{between}{:02}:{:02}:{:02}.{:03}Z",
        year_text(year),
        time / 3_600_000,
        time / 60_000 % 60,
        time / 1_000 % 60,
        time % 1_000
    )
}

fn duration(months: i64, days: i64, nanos: i64) -> String {
    let mut out = String::new();
    if months < 0 || days < 0 || nanos < 0 {
        out.push('-');
    }
    let mut put = |count: u64, units: &[(u64, &str)]| {
        let mut left = count;
        for (size, unit) in units {
            if left >= *size {
                let _ = write!(out, "{}{unit}", left / size);
                left %= size;
            }
        }
    };
    put(months.unsigned_abs(), &[(12, "y"), (1, "mo")]);
    put(days.unsigned_abs(), &[(1, "d")]);
    put(
        nanos.unsigned_abs(),
        &[
            (3_600_000_000_000, "h"),
            (60_000_000_000, "m"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ],
    );
    out
}

fn put(ty: &CqlType, value: Option<&[u8]>, out: &mut String) {
    let Some(value) = value else {
        return out.push_str("null");
    };
    match ty {
        CqlType::Frozen(inner) => put(inner, Some(value), out),
        CqlType::Ascii | CqlType::Text => quote(&String::from_utf8_lossy(value), out),
        CqlType::List(element) => {
            all(
                Elements::new(value).map(|item| (&**element, item)),
                ['[', ']'],
                out,
            );
        }
        CqlType::Set(element) => {
            all(
                Elements::new(value).map(|item| (&**element, item)),
                ['{', '}'],
                out,
            );
        }
        CqlType::Vector(element, dimension) => {
            let items = elements::vector(value, ty, element, *dimension);
            let items = items.into_iter().flatten().map_while(Result::ok);
            all(items.map(|item| (&**element, Some(item))), ['[', ']'], out);
        }
        CqlType::Map(types) => {
            out.push('{');
            for (index, (key, item)) in Pairs::new(value).enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                put(&types.0, Some(key), out);
                out.push_str(": ");
                put(&types.1, item, out);
            }
            out.push('}');
        }
        CqlType::Tuple(types) => {
            let mut fields = Fields::new(value);
            all(
                types.iter().map(|ty| (ty, fields.next().flatten())),
                ['(', ')'],
                out,
            );
        }
        CqlType::Udt(user_type) => {
            let mut fields = Fields::new(value);
            out.push('{');
            for (index, (name, ty)) in user_type.fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                let _ = write!(out, "{}: ", quoted(name));
                put(ty, fields.next().flatten(), out);
            }
            out.push('}');
        }
        CqlType::Blob | CqlType::Custom(_) => out.push_str(&hex(value)),
        _ if value.is_empty() => out.push_str("null"),
        CqlType::Boolean => out.push_str(if value.first() == Some(&0) {
            "false"
        } else {
            "true"
        }),
        CqlType::Date | CqlType::Time | CqlType::Timestamp | CqlType::Inet => {
            quote(&known_text(ty, value, 'T').unwrap_or_default(), out);
        }
        _ => match known_text(ty, value, 'T').or_else(|| number_text(ty, value)) {
            Some(text) => out.push_str(&text),
            None => out.push_str(&hex(value)),
        },
    }
}

fn all<'a>(
    items: impl Iterator<Item = (&'a CqlType, Option<&'a [u8]>)>,
    [open, close]: [char; 2],
    out: &mut String,
) {
    out.push(open);
    for (index, (ty, item)) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        put(ty, item, out);
    }
    out.push(close);
}

fn quote(text: &str, out: &mut String) {
    out.push('\'');
    out.push_str(&text.replace('\'', "''"));
    out.push('\'');
}
