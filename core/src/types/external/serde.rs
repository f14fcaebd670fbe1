//! Types and values serialized, for people and other programs to read.
//!
//! A type is its CQL text. A value is what comes nearest in a self-describing format: numbers and texts as such; `uuid`,
//! `inet` and `varint` as text; `blob` as hexadecimal digits; `date` as days and `timestamp` as milliseconds from 1970, `time`
//! as nanoseconds; `decimal` and `duration` as their parts; a map as pairs, since keys may be of any type; the value of no
//! bytes as `{"empty": true}`; a null as `null`.

use ::serde::ser::SerializeStruct;
use ::serde::{Serialize, Serializer};

use crate::types::{Counter, CqlType, Date, Decimal, Duration, Time, Timestamp, Value, Varint};

impl Serialize for CqlType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Varint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_struct("Decimal", 2)?;
        parts.serialize_field("unscaled", &self.unscaled)?;
        parts.serialize_field("scale", &self.scale)?;
        parts.end()
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_struct("Duration", 3)?;
        parts.serialize_field("months", &self.months)?;
        parts.serialize_field("days", &self.days)?;
        parts.serialize_field("nanoseconds", &self.nanoseconds)?;
        parts.end()
    }
}

impl Serialize for Counter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.days())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => {
                let mut empty = serializer.serialize_struct("Empty", 1)?;
                empty.serialize_field("empty", &true)?;
                empty.end()
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::BigInt(value)
            | Self::Counter(value)
            | Self::Timestamp(value)
            | Self::Time(value) => serializer.serialize_i64(*value),
            Self::Blob(bytes) | Self::Custom(bytes) => serializer.collect_str(&Hex(bytes)),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Decimal(value) => value.serialize(serializer),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::Float(value) => serializer.serialize_f32(*value),
            Self::Int(value) => serializer.serialize_i32(*value),
            Self::Uuid(value) | Self::Timeuuid(value) => serializer.collect_str(value),
            Self::Varint(value) => value.serialize(serializer),
            Self::Inet(value) => serializer.collect_str(value),
            Self::Date(value) => Date(*value).serialize(serializer),
            Self::SmallInt(value) => serializer.serialize_i16(*value),
            Self::TinyInt(value) => serializer.serialize_i8(*value),
            Self::Duration(value) => value.serialize(serializer),
            Self::List(items) | Self::Tuple(items) => serializer.collect_seq(items),
            Self::Set(items) | Self::Vector(items) => serializer.collect_seq(items),
            Self::Map(entries) => serializer.collect_seq(entries),
        }
    }
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
