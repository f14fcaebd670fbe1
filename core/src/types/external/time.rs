//! `timestamp`, `date` and `time` as types of the crate `time`.
//!
//! A timestamp is written in whole milliseconds: what is finer is cut off, towards the past.

use ::time::OffsetDateTime;

use super::converted;
use crate::types::{Date, Time, Timestamp};

/// The Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;
const NANOSECONDS: i128 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

converted! {
    OffsetDateTime, Timestamp,
    |timestamp| {
        let nanoseconds = i128::from(timestamp.0) * NANOSECONDS;
        OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()
    },
    |moment| {
        let milliseconds = moment.unix_timestamp_nanos().div_euclid(NANOSECONDS);
        // The crate's years have at most six digits.
        Timestamp(i64::try_from(milliseconds).unwrap_or(i64::MAX))
    };

    ::time::Date, Date,
    |date| ::time::Date::from_julian_day(date.days().checked_add(EPOCH)?).ok(),
    |date| Date::from_days(date.to_julian_day() - EPOCH);

    ::time::Time, Time,
    |time| {
        let seconds = u32::try_from(time.0.div_euclid(SECOND)).ok()?;
        let nanoseconds = u32::try_from(time.0.rem_euclid(SECOND)).ok()?;
        let (minutes, second) = (seconds / 60, (seconds % 60) as u8);
        let hour = u8::try_from(minutes / 60).ok()?;
        ::time::Time::from_hms_nano(hour, (minutes % 60) as u8, second, nanoseconds).ok()
    },
    |time| {
        let (hour, minute, second, nanosecond) = time.as_hms_nano();
        let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        Time(seconds * SECOND + i64::from(nanosecond))
    };
}
