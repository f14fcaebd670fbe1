//! `timestamp`, `date` and `time` as types of the crate `chrono`.
//!
//! A timestamp is written in whole milliseconds: what is finer is cut off, towards the past. A leap second is written as the
//! last nanosecond before it, as `time` has no room for it.

use ::chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Timelike, Utc};

use super::converted;
use crate::types::{Date, Time, Timestamp};

/// The days from the first of January of the year 1 to 1970-01-01, both counted.
const EPOCH: i32 = 719_163;
const SECOND: i64 = 1_000_000_000;

converted! {
    DateTime<Utc>, Timestamp,
    |timestamp| DateTime::from_timestamp_millis(timestamp.0),
    |moment| Timestamp(moment.timestamp_millis());

    NaiveDate, Date,
    |date| NaiveDate::from_num_days_from_ce_opt(date.days().checked_add(EPOCH)?),
    |date| Date::from_days(date.num_days_from_ce() - EPOCH);

    NaiveTime, Time,
    |time| {
        let seconds = u32::try_from(time.0.div_euclid(SECOND)).ok()?;
        let nanoseconds = u32::try_from(time.0.rem_euclid(SECOND)).ok()?;
        NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanoseconds)
    },
    |time| {
        let nanoseconds = i64::from(time.nanosecond()).min(SECOND - 1);
        Time(i64::from(time.num_seconds_from_midnight()) * SECOND + nanoseconds)
    };
}
