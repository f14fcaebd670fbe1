//! `floor`: times rounded down to a multiple of a duration. Answers to Cassandra's `TimeFcts.FloorFunction` and the
//! floors of its `Duration`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;
use helenus_core::wire::Reader;

use super::time::{DAY_MILLIS, add_months, civil, date, days_of_date, long, millis_of_time_uuid};
use super::{Environment, Function, given};
use crate::literal::text;

const DAY_NANOS: i64 = DAY_MILLIS * 1_000_000;

type Arguments<'a> = &'a [Option<Bytes>];
type Outcome = Result<Option<Bytes>, ErrorResponse>;

pub(super) fn candidates(name: &str, found: &mut Vec<Function>) {
    use CqlType::{Date, Duration, Time, Timestamp, Timeuuid};
    if name != "floor" {
        return;
    }
    let mut add = |arguments: Vec<CqlType>, returns, run| {
        found.push(Function::new(name, arguments, returns, run));
    };
    for time in [Timestamp, Timeuuid] {
        add(vec![time.clone(), Duration], Timestamp, of_timestamp);
        add(vec![time, Duration, Timestamp], Timestamp, of_timestamp);
    }
    add(vec![Date, Duration], Date, of_date);
    add(vec![Date, Duration, Date], Date, of_date);
    add(vec![Time, Duration], Time, of_time);
}

/// A duration that isn't negative.
struct Step {
    months: i64,
    days: i64,
    nanos: i64,
}

impl Step {
    fn read(arguments: Arguments<'_>) -> Result<Option<Self>, ErrorResponse> {
        let mut reader = Reader::new(given(arguments, 1));
        let (Ok(months), Ok(days), Ok(nanos)) = (reader.vint(), reader.vint(), reader.vint())
        else {
            return Ok(None);
        };
        if months < 0 || days < 0 || nanos < 0 {
            return Err(invalid(
                "Negative durations are not supported by the floor function",
            ));
        }
        Ok(Some(Self {
            months,
            days,
            nanos,
        }))
    }

    /// Days and nanoseconds in milliseconds.
    fn millis(&self) -> i64 {
        self.days
            .saturating_mul(DAY_MILLIS)
            .saturating_add(self.nanos / 1_000_000)
    }

    /// The last of the times that lie whole steps behind `start` and not behind `time`.
    fn floor(&self, time: i64, start: i64) -> Result<i64, ErrorResponse> {
        if start > time {
            return Err(invalid(
                "The floor function starting time is greater than the provided time",
            ));
        }
        let millis = self.millis();
        if self.months == 0 {
            return Ok(match millis {
                0 => time,
                step => time - time.saturating_sub(start) % step,
            });
        }
        let month = |time: i64| {
            let (year, month, _) = civil(time.div_euclid(DAY_MILLIS));
            year * 12 + month
        };
        let at = |steps: i64| {
            add_months(start, steps.saturating_mul(self.months))
                .saturating_add(steps.saturating_mul(millis))
        };
        let between = month(time) - month(start);
        // By the months alone there are at most so many steps; what is left of each makes them fewer.
        let mut most = between / self.months;
        if millis == 0 {
            return Ok(at(most));
        }
        let mut least = 0;
        while least < most {
            let middle = least + (most - least + 1) / 2;
            match at(middle) <= time {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        Ok(at(least).max(start))
    }
}

fn of_timestamp(function: &Function, arguments: Arguments<'_>, _: &Environment<'_>) -> Outcome {
    let millis = |value: &[u8]| Some(i64::from_be_bytes(value.try_into().ok()?));
    let time = match function.argument(0) {
        CqlType::Timeuuid => millis_of_time_uuid(given(arguments, 0)),
        _ => millis(given(arguments, 0)),
    };
    let start = match arguments.len() {
        3 => millis(given(arguments, 2)),
        _ => Some(0),
    };
    let (Some(time), Some(start), Some(step)) = (time, start, Step::read(arguments)?) else {
        return Ok(None);
    };
    if step.nanos % 1_000_000 != 0 {
        return Err(invalid(format!(
            "The floor cannot be computed for the {} duration as precision is below 1 millisecond",
            text(&CqlType::Duration, given(arguments, 1))
        )));
    }
    long(step.floor(time, start)?)
}

fn of_date(_: &Function, arguments: Arguments<'_>, _: &Environment<'_>) -> Outcome {
    let start = match arguments.len() {
        3 => days_of_date(given(arguments, 2)),
        _ => Some(0),
    };
    let (Some(day), Some(start), Some(step)) = (
        days_of_date(given(arguments, 0)),
        start,
        Step::read(arguments)?,
    ) else {
        return Ok(None);
    };
    if step.nanos != 0 {
        return Err(invalid(format!(
            "The floor on date values cannot be computed for the {} duration as precision is below 1 day",
            text(&CqlType::Duration, given(arguments, 1))
        )));
    }
    date(step.floor(day * DAY_MILLIS, start * DAY_MILLIS)?)
}

fn of_time(_: &Function, arguments: Arguments<'_>, _: &Environment<'_>) -> Outcome {
    let (Ok(time), Some(step)) = (
        given(arguments, 0).try_into().map(i64::from_be_bytes),
        Step::read(arguments)?,
    ) else {
        return Ok(None);
    };
    if step.months != 0 || step.days != 0 || step.nanos > DAY_NANOS {
        return Err(invalid(
            "For time values, the floor can only be computed for durations smaller that a day",
        ));
    }
    long(match step.nanos {
        0 => time,
        nanos => time - time % nanos,
    })
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ErrorResponse {
    ErrorResponse::invalid(message)
}
