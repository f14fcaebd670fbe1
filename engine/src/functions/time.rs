//! Functions of time and time UUIDs. Answers to Cassandra's `TimeFcts` and `UuidFcts`.

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;
use helenus_core::wire::Reader;

use super::{Environment, Function, given};

pub(super) const DAY_MILLIS: i64 = 86_400_000;
/// Ticks of 100 ns from the beginning of UUID time, 1582-10-15, to 1970.
const UUID_EPOCH: i64 = 0x01B2_1DD2_1381_4000;
/// A `date` counts days from here.
const DATE_CENTER: i64 = 1 << 31;

type Arguments<'a> = &'a [Option<Bytes>];
type Outcome = Result<Option<Bytes>, ErrorResponse>;

pub(super) fn candidates(name: &str, found: &mut Vec<Function>) {
    use CqlType::{BigInt, Date, Time, Timestamp, Timeuuid, Uuid};
    let mut add = |arguments: Vec<CqlType>, returns, run| {
        found.push(Function::new(name, arguments, returns, run))
    };
    match name {
        "now" | "currenttimeuuid" | "current_timeuuid" => add(vec![], Timeuuid, now),
        "uuid" => add(vec![], Uuid, uuid),
        "currenttimestamp" | "current_timestamp" => add(vec![], Timestamp, timestamp_now),
        "currentdate" | "current_date" => add(vec![], Date, |_, _, environment| {
            date(environment.context.now_millis)
        }),
        "currenttime" | "current_time" => add(vec![], Time, |_, _, environment| {
            long(environment.context.now_millis.rem_euclid(DAY_MILLIS) * 1_000_000)
        }),
        "totimestamp" | "to_timestamp" => {
            add(vec![Timeuuid], Timestamp, |_, arguments, _| {
                millis_of_uuid(arguments).map_or(Ok(None), long)
            });
            add(vec![Date], Timestamp, |_, arguments, _| {
                millis_of_date(arguments).map_or(Ok(None), long)
            });
        }
        "todate" | "to_date" => {
            add(vec![Timeuuid], Date, |_, arguments, _| {
                millis_of_uuid(arguments).map_or(Ok(None), date)
            });
            add(vec![Timestamp], Date, |_, arguments, _| {
                millis(arguments).map_or(Ok(None), date)
            });
        }
        "tounixtimestamp" | "to_unix_timestamp" => {
            add(vec![Timeuuid], BigInt, |_, arguments, _| {
                millis_of_uuid(arguments).map_or(Ok(None), long)
            });
            add(vec![Timestamp], BigInt, |_, arguments, _| {
                millis(arguments).map_or(Ok(None), long)
            });
            add(vec![Date], BigInt, |_, arguments, _| {
                millis_of_date(arguments).map_or(Ok(None), long)
            });
        }
        "mintimeuuid" | "min_timeuuid" => add(vec![Timestamp], Timeuuid, |_, arguments, _| {
            Ok(millis(arguments).map(|millis| time_uuid(uuid_ticks(millis), [0x80; 8])))
        }),
        "maxtimeuuid" | "max_timeuuid" => add(vec![Timestamp], Timeuuid, |_, arguments, _| {
            Ok(millis(arguments)
                .map(|millis| time_uuid(uuid_ticks(millis).wrapping_add(9_999), [0x7F; 8])))
        }),
        _ => {}
    }
}

fn timestamp_now(_: &Function, _: Arguments<'_>, environment: &Environment<'_>) -> Outcome {
    long(environment.context.now_millis)
}

/// `current_timestamp()`
pub(crate) fn current_timestamp() -> Function {
    Function::new(
        "current_timestamp",
        Vec::new(),
        CqlType::Timestamp,
        timestamp_now,
    )
}

/// The version 1 UUID of a time in ticks, its other half given.
pub(crate) fn time_uuid(ticks: i64, rest: [u8; 8]) -> Bytes {
    let ticks = ticks.to_be_bytes();
    let [a, b, c, d, e, f, g, h] = ticks;
    let mut out = BytesMut::with_capacity(16);
    out.put_slice(&[e, f, g, h, c, d, (a & 0x0F) | 0x10, b]);
    out.put_slice(&rest);
    out.freeze()
}

/// UUID ticks of a time in milliseconds from 1970.
fn uuid_ticks(millis: i64) -> i64 {
    millis.wrapping_mul(10_000).wrapping_add(UUID_EPOCH)
}

/// UUID ticks of a time in microseconds from 1970.
pub(crate) fn uuid_ticks_of_micros(micros: i64) -> i64 {
    micros.wrapping_mul(10).wrapping_add(UUID_EPOCH)
}

fn now(_: &Function, _: Arguments<'_>, environment: &Environment<'_>) -> Outcome {
    let context = environment.context;
    let call = environment.next_call();
    let mut rest = [0; 8];
    for (place, byte) in rest.iter_mut().zip(context.random) {
        *place = byte;
    }
    // The variant, then a multicast node, which no real one has.
    rest[0] = (rest[0] & 0x3F) | 0x80;
    rest[2] |= 0x01;
    let ticks = uuid_ticks(context.now_millis).wrapping_add(i64::from(call));
    Ok(Some(time_uuid(ticks, rest)))
}

fn uuid(_: &Function, _: Arguments<'_>, environment: &Environment<'_>) -> Outcome {
    let mut bytes = environment.context.random;
    for (place, byte) in bytes.iter_mut().zip(environment.next_call().to_be_bytes()) {
        *place ^= byte;
    }
    bytes[6] = (bytes[6] & 0x0F) | 0x40;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    Ok(Some(Bytes::copy_from_slice(&bytes)))
}

pub(super) fn long(value: i64) -> Outcome {
    Ok(Some(Bytes::copy_from_slice(&value.to_be_bytes())))
}

pub(super) fn date(millis: i64) -> Outcome {
    let days = millis.div_euclid(DAY_MILLIS).wrapping_add(DATE_CENTER);
    Ok(Some(Bytes::copy_from_slice(&(days as u32).to_be_bytes())))
}

fn millis(arguments: Arguments<'_>) -> Option<i64> {
    Some(i64::from_be_bytes(given(arguments, 0).try_into().ok()?))
}

fn millis_of_uuid(arguments: Arguments<'_>) -> Option<i64> {
    millis_of_time_uuid(given(arguments, 0))
}

/// Milliseconds from 1970 of a version 1 UUID.
pub(super) fn millis_of_time_uuid(uuid: &[u8]) -> Option<i64> {
    let &[e, f, g, h, c, d, a, b, ..] = uuid else {
        return None;
    };
    let ticks = i64::from_be_bytes([a & 0x0F, b, c, d, e, f, g, h]);
    Some(ticks.wrapping_sub(UUID_EPOCH).div_euclid(10_000))
}

fn millis_of_date(arguments: Arguments<'_>) -> Option<i64> {
    days_of_date(given(arguments, 0)).map(|days| days * DAY_MILLIS)
}

/// Days from 1970 of a serialized `date`.
pub(super) fn days_of_date(value: &[u8]) -> Option<i64> {
    Some(i64::from(u32::from_be_bytes(value.try_into().ok()?)) - DATE_CENTER)
}

/// A time or date and a duration.
pub(super) fn add(function: &Function, arguments: Arguments<'_>, _: &Environment<'_>) -> Outcome {
    shift(function, arguments, 1)
}

/// A time or date less a duration.
pub(super) fn subtract(
    function: &Function,
    arguments: Arguments<'_>,
    _: &Environment<'_>,
) -> Outcome {
    shift(function, arguments, -1)
}

fn shift(function: &Function, arguments: Arguments<'_>, sign: i64) -> Outcome {
    let is_date = function.returns == CqlType::Date;
    let start = if is_date {
        millis_of_date(arguments)
    } else {
        millis(arguments)
    };
    let duration = given(arguments, 1);
    let mut reader = Reader::new(duration);
    let (Some(start), Ok(months), Ok(days), Ok(nanos)) =
        (start, reader.vint(), reader.vint(), reader.vint())
    else {
        return Ok(None);
    };
    if is_date && nanos % (DAY_MILLIS * 1_000_000) != 0 {
        return Err(ErrorResponse::function_failure(
            "system",
            if sign > 0 { "_add" } else { "_substract" },
            vec!["date".to_owned(), "duration".to_owned()],
            format!(
                "the operation 'date {} duration' failed: The duration must have a day precision.",
                if sign > 0 { '+' } else { '-' }
            ),
        ));
    }
    let shifted = add_months(start, months.saturating_mul(sign))
        .saturating_add(days.saturating_mul(sign).saturating_mul(DAY_MILLIS))
        .saturating_add(nanos.saturating_mul(sign) / 1_000_000);
    if is_date {
        date(shifted)
    } else {
        long(shifted)
    }
}

/// A time so many months later, or on the last day of its month if that has none of its number; in milliseconds from
/// 1970.
pub(super) fn add_months(millis: i64, months: i64) -> i64 {
    /// A thousand million years, beyond which nothing is told apart.
    const MOST: i64 = 12_000_000_000;
    let (year, month, day) = civil(millis.div_euclid(DAY_MILLIS));
    let months = (year * 12 + month - 1)
        .saturating_add(months)
        .clamp(-MOST, MOST);
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    days_from_civil(year, month, day.min(days_in_month(year, month)))
        .saturating_mul(DAY_MILLIS)
        .saturating_add(millis.rem_euclid(DAY_MILLIS))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970 of a day of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a day counted from 1970.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}
