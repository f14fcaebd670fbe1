//! Durations in Cassandra's four notations.

use helenus_core::wire::WireWrite;

/// Months, days and nanoseconds, all of one sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duration {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Nanoseconds.
    pub nanoseconds: i64,
}

impl Duration {
    /// The value as cells hold it: three vints.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4);
        bytes.put_vint(i64::from(self.months));
        bytes.put_vint(i64::from(self.days));
        bytes.put_vint(self.nanoseconds);
        bytes
    }
}

/// What a unit counts.
#[derive(Clone, Copy)]
enum Field {
    Months,
    Days,
    Nanoseconds,
}

/// A unit: its name in messages, what it counts, and how much of it.
type Unit = (&'static str, Field, i64);

/// The units from the largest on: the order in which they must stand.
const UNITS: [Unit; 10] = [
    ("years", Field::Months, 12),
    ("months", Field::Months, 1),
    ("weeks", Field::Days, 7),
    ("days", Field::Days, 1),
    ("hours", Field::Nanoseconds, 3_600_000_000_000),
    ("minutes", Field::Nanoseconds, 60_000_000_000),
    ("seconds", Field::Nanoseconds, 1_000_000_000),
    ("milliseconds", Field::Nanoseconds, 1_000_000),
    ("microseconds", Field::Nanoseconds, 1_000),
    ("nanoseconds", Field::Nanoseconds, 1),
];

const YEARS: usize = 0;
const MONTHS: usize = 1;
const WEEKS: usize = 2;
const DAYS: usize = 3;
const HOURS: usize = 4;
const MINUTES: usize = 5;
const SECONDS: usize = 6;
const MILLISECONDS: usize = 7;
const MICROSECONDS: usize = 8;
const NANOSECONDS: usize = 9;

/// Reads `1y2mo3w4d5h6m7s8ms9us10ns`, `P1Y2M3DT4H5M6S`, `P4W` or `P0001-02-03T04:05:06`, each with a minus before it
/// or not.
///
/// # Errors
/// Cassandra's message: units out of order or repeated, a total that doesn't fit, or no duration at all.
pub fn parse(text: &str) -> Result<Duration, String> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let mut builder = Builder::default();
    match body.strip_prefix('P') {
        Some(iso) if iso.as_bytes().get(4) == Some(&b'-') => alternative(iso, &mut builder),
        Some(iso) => designated(iso, &mut builder),
        None => plain(body, &mut builder),
    }
    .map_err(|problem| match problem {
        Problem::Said(message) => message,
        Problem::NoDuration => format!("Unable to convert '{body}' to a duration"),
    })?;
    Ok(builder.build(negative))
}

/// Why there is no duration.
enum Problem {
    NoDuration,
    Said(String),
}

/// Splits a number off a text.
fn number(text: &str) -> Result<(i64, &str), Problem> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err(Problem::NoDuration);
    }
    let number = digits.parse().map_err(|_| {
        Problem::Said(format!(
            "java.lang.NumberFormatException: For input string: \"{digits}\""
        ))
    })?;
    Ok((number, rest))
}

/// `1h30m`
fn plain(mut text: &str, builder: &mut Builder) -> Result<(), Problem> {
    // The longer ones of those that begin alike stand first.
    const SYMBOLS: [(&str, usize); 11] = [
        ("ns", NANOSECONDS),
        ("us", MICROSECONDS),
        ("µs", MICROSECONDS),
        ("ms", MILLISECONDS),
        ("mo", MONTHS),
        ("y", YEARS),
        ("w", WEEKS),
        ("d", DAYS),
        ("h", HOURS),
        ("m", MINUTES),
        ("s", SECONDS),
    ];
    loop {
        let (count, rest) = number(text)?;
        let unit = SYMBOLS.iter().find(|(symbol, _)| {
            let head = rest.get(..symbol.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(symbol))
        });
        let Some(&(symbol, unit)) = unit else {
            return Err(Problem::NoDuration);
        };
        builder.add_in_order(unit, count)?;
        text = rest.get(symbol.len()..).unwrap_or_default();
        if text.is_empty() {
            return Ok(());
        }
    }
}

/// `1Y2M3DT4H5M6S` or `4W`, behind the `P`.
fn designated(text: &str, builder: &mut Builder) -> Result<(), Problem> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let parts = [
        (
            date,
            [('Y', YEARS), ('M', MONTHS), ('W', WEEKS), ('D', DAYS)].as_slice(),
        ),
        (
            time.unwrap_or_default(),
            [('H', HOURS), ('M', MINUTES), ('S', SECONDS)].as_slice(),
        ),
    ];
    if text.is_empty() || time.is_some_and(str::is_empty) {
        return Err(Problem::NoDuration);
    }
    for (mut text, designators) in parts {
        while !text.is_empty() {
            let (count, rest) = number(text)?;
            let unit = designators
                .iter()
                .find(|(designator, _)| rest.starts_with(*designator));
            let Some(&(_, unit)) = unit else {
                return Err(Problem::NoDuration);
            };
            builder.add_in_order(unit, count)?;
            text = rest.get(1..).unwrap_or_default();
        }
    }
    Ok(())
}

/// `0001-02-03T04:05:06`, behind the `P`.
fn alternative(text: &str, builder: &mut Builder) -> Result<(), Problem> {
    let mut rest = text;
    let fields = [
        (YEARS, "-"),
        (MONTHS, "-"),
        (DAYS, "T"),
        (HOURS, ":"),
        (MINUTES, ":"),
        (SECONDS, ""),
    ];
    for (unit, separator) in fields {
        let (count, behind) = number(rest)?;
        rest = behind.strip_prefix(separator).ok_or(Problem::NoDuration)?;
        builder.add(unit, count)?;
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err(Problem::NoDuration),
    }
}

/// A duration under construction, its sign not yet applied.
#[derive(Default)]
struct Builder {
    months: i64,
    days: i64,
    nanoseconds: i64,
    last: Option<usize>,
}

impl Builder {
    fn add_in_order(&mut self, unit: usize, count: i64) -> Result<(), Problem> {
        let name = |unit: usize| UNITS.get(unit).map_or("", |&(name, ..)| name);
        let message = match self.last {
            Some(last) if last == unit => {
                format!(
                    "Invalid duration. The {} are specified multiple times",
                    name(unit)
                )
            }
            Some(last) if last > unit => {
                let (last, unit) = (name(last), name(unit));
                format!("Invalid duration. The {last} should be after {unit}")
            }
            _ => {
                self.last = Some(unit);
                return self.add(unit, count);
            }
        };
        Err(Problem::Said(message))
    }

    fn add(&mut self, unit: usize, count: i64) -> Result<(), Problem> {
        let Some(&(_, field, size)) = UNITS.get(unit) else {
            return Err(Problem::NoDuration);
        };
        let (total, limit, name) = match field {
            Field::Months => (&mut self.months, i64::from(i32::MAX), "months"),
            Field::Days => (&mut self.days, i64::from(i32::MAX), "days"),
            Field::Nanoseconds => (&mut self.nanoseconds, i64::MAX, "nanoseconds"),
        };
        let sum = count
            .checked_mul(size)
            .and_then(|added| total.checked_add(added))
            .filter(|&sum| sum <= limit);
        *total = sum.ok_or_else(|| {
            // Cassandra names this limit for all three.
            Problem::Said(format!(
                "Invalid duration. The total number of {name} must be less or equal to {}",
                i32::MAX
            ))
        })?;
        Ok(())
    }

    fn build(&self, negative: bool) -> Duration {
        let sign = if negative { -1 } else { 1 };
        let narrow = |value: i64| i32::try_from(value * sign).unwrap_or_default();
        Duration {
            months: narrow(self.months),
            days: narrow(self.days),
            nanoseconds: self.nanoseconds * sign,
        }
    }
}
