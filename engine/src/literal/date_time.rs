//! Dates, times and timestamps from text, in the proleptic Gregorian calendar.

/// Days before 1970-01-01 that a date can name: the value of that day.
const EPOCH_DAY: i64 = 1 << 31;
const MILLIS_A_DAY: i64 = 86_400_000;
const NANOS_A_DAY: i64 = 86_400_000_000_000;

/// A date: days, with 1970-01-01 in the middle of the range of an unsigned int; either such a number or `yyyy-mm-dd`.
pub(super) fn date(text: &str) -> Result<Vec<u8>, String> {
    if is_integer(text) {
        let days: u32 = text
            .parse()
            .map_err(|_| format!("Unable to make unsigned int (for date) from: '{text}'"))?;
        return Ok(days.to_be_bytes().to_vec());
    }
    let parsed = calendar_date(text)
        .filter(|(_, rest)| rest.is_empty())
        .filter(|(date, _)| date.day <= days_in_month(date.year, date.month))
        .and_then(|(date, _)| u32::try_from(date.to_days() + EPOCH_DAY).ok());
    match parsed {
        Some(days) => Ok(days.to_be_bytes().to_vec()),
        None => Err(format!(
            "Unable to coerce '{text}' to a formatted date (long)"
        )),
    }
}

/// A time: nanoseconds since midnight, or `hh:mm:ss[.fffffffff]`.
pub(super) fn time(text: &str) -> Result<Vec<u8>, String> {
    if is_integer(text) {
        let nanos: Option<i64> = text.parse().ok();
        let nanos = nanos.filter(|nanos| (0..NANOS_A_DAY).contains(nanos));
        let nanos =
            nanos.ok_or_else(|| format!("Unable to make long (for time) from: '{text}'"))?;
        return Ok(nanos.to_be_bytes().to_vec());
    }
    match clock_time(text.trim()) {
        Some(nanos) => Ok(nanos.to_be_bytes().to_vec()),
        None => Err(format!(
            "(TimeType) Unable to coerce '{text}' to a formatted time (long)"
        )),
    }
}

fn clock_time(text: &str) -> Option<i64> {
    let (hours, rest) = number(text)?;
    let (minutes, rest) = number(rest.strip_prefix(':')?)?;
    let (seconds, rest) = number(rest.strip_prefix(':')?)?;
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let nanos = match rest.strip_prefix('.') {
        Some(fraction) if !fraction.is_empty() => nanos(fraction)?,
        None if rest.is_empty() => 0,
        _ => return None,
    };
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanos)
}

/// A timestamp: milliseconds since 1970, `now`, or a date with perhaps a time and a zone; nothing at all is an empty
/// value.
///
/// Zones are `Z`, `UTC`, `GMT` and offsets; those that need a database of zones are refused.
pub(super) fn timestamp(text: &str, now: i64) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.eq_ignore_ascii_case("now") {
        return Ok(now.to_be_bytes().to_vec());
    }
    if is_integer(text) {
        let millis: i64 = text
            .parse()
            .map_err(|_| format!("Unable to make long (for date) from: '{text}'"))?;
        return Ok(millis.to_be_bytes().to_vec());
    }
    match instant(text) {
        Some(millis) => Ok(millis.to_be_bytes().to_vec()),
        None => Err(format!("Unable to parse a date/time from '{text}'")),
    }
}

fn instant(text: &str) -> Option<i64> {
    let (mut date, rest) = calendar_date(text)?;
    if date.year.abs() > 9999 || text.starts_with('+') {
        return None;
    }
    // The 30th of February is its last day.
    date.day = date.day.min(days_in_month(date.year, date.month));
    let midnight = date.to_days() * MILLIS_A_DAY;
    let (of_day, rest) = match time_of_day(rest) {
        Some(parsed) => parsed,
        None if rest.starts_with('T') => return None,
        None => (0, rest),
    };
    let offset = match rest.strip_prefix(' ').unwrap_or(rest) {
        "" if rest.is_empty() => 0,
        "Z" | "UTC" | "GMT" | "UT" => 0,
        offset => zone_offset(offset)?,
    };
    Some(midnight + of_day - offset)
}

/// The milliseconds of `T04:05:06.789`, which may end behind its minutes; and what stands behind it.
fn time_of_day(text: &str) -> Option<(i64, &str)> {
    let (hours, rest) = number(text.strip_prefix([' ', 'T'])?)?;
    let (minutes, rest) = number(rest.strip_prefix(':')?)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    let (nanos, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(rest.len());
            let (fraction, rest) = rest.split_at(end);
            (nanos(fraction)?, rest)
        }
        None => (0, rest),
    };
    let midnight = hours == 24 && minutes == 0 && seconds == 0 && nanos == 0;
    if (hours > 23 && !midnight) || minutes > 59 || seconds > 59 {
        return None;
    }
    let millis = ((hours * 60 + minutes) * 60 + seconds) * 1000 + nanos / 1_000_000;
    Some((millis, rest))
}

/// The milliseconds of `+01`, `+0100` or `+01:00`.
fn zone_offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let text = text.get(1..)?;
    let digits: Vec<i64> = match text.as_bytes() {
        [a, b] => vec![digit(*a)?, digit(*b)?, 0, 0],
        [a, b, c, d] | [a, b, b':', c, d] => {
            vec![digit(*a)?, digit(*b)?, digit(*c)?, digit(*d)?]
        }
        _ => return None,
    };
    let [a, b, c, d] = digits.as_slice() else {
        return None;
    };
    let (hours, minutes) = (a * 10 + b, c * 10 + d);
    if minutes > 59 || hours * 60 + minutes > 18 * 60 {
        return None;
    }
    Some(sign * (hours * 60 + minutes) * 60_000)
}

fn digit(byte: u8) -> Option<i64> {
    char::from(byte).to_digit(10).map(i64::from)
}

/// A day of the calendar.
struct CalendarDate {
    year: i64,
    month: i64,
    day: i64,
}

impl CalendarDate {
    /// Days since 1970-01-01.
    fn to_days(&self) -> i64 {
        // Years that begin in March have their leap day at the end; 400 of them take 146,097 days.
        let year = if self.month <= 2 {
            self.year - 1
        } else {
            self.year
        };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let month = (self.month + 9) % 12;
        let of_year = (153 * month + 2) / 5 + self.day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }
}

/// `yyyy-mm-dd`: four digits, or a sign and more of them; and what stands behind it. The day is at most 31.
fn calendar_date(text: &str) -> Option<(CalendarDate, &str)> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let plus = text.starts_with('+');
    let fits = match text.starts_with(['-', '+']) {
        // A plus is for years that don't fit four digits.
        true => (4..=10).contains(&length) && (!plus || length > 4),
        false => length == 4,
    };
    if !fits {
        return None;
    }
    let (year, rest) = number(digits)?;
    let (month, rest) = two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = two_digits(rest.strip_prefix('-')?)?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = sign * year;
    Some((CalendarDate { year, month, day }, rest))
}

fn two_digits(text: &str) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    Some((number(digits).filter(|(_, rest)| rest.is_empty())?.0, rest))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A number of up to ten digits, and what stands behind it.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.len() > 10 {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// The nanoseconds of a fraction's digits, nine at most.
fn nanos(fraction: &str) -> Option<i64> {
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<9}").parse().ok()
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
