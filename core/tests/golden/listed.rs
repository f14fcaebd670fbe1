//! Rust values from the JSON form of values.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use bytes::{Bytes, BytesMut};
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use helenus_core::CqlType;
use helenus_core::types::{
    Counter, Date, Decimal, Duration, FromCql, Record, RecordFields, Time, Timestamp, ToCql,
    ValueError, Varint, Written,
};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::values::{float, varint};
use crate::vectors::{hex, int, string};

/// What a line of the file lists, as a Rust value.
pub(crate) trait Listed<'j>: Sized {
    fn listed(json: &'j Json) -> Self;
}

macro_rules! listed {
    ($($rust:ty, |$json:ident| $value:expr;)*) => {$(
        impl<'j> Listed<'j> for $rust {
            fn listed($json: &'j Json) -> Self {
                $value
            }
        }
    )*};
}

listed! {
    i8, |json| int(json) as i8;
    i16, |json| int(json) as i16;
    i32, |json| int(json);
    i64, |json| json.as_i64().unwrap();
    f32, |json| float(json) as f32;
    f64, |json| float(json);
    bool, |json| json.as_bool().unwrap();
    &'j str, |json| json.as_str().unwrap();
    String, |json| string(json);
    Vec<u8>, |json| hex(json);
    Bytes, |json| hex(json).into();
    Uuid, |json| json.as_str().unwrap().parse().unwrap();
    IpAddr, |json| json.as_str().unwrap().parse().unwrap();
    Counter, |json| Counter(i64::listed(json));
    Timestamp, |json| Timestamp(i64::listed(json));
    Date, |json| Date::from_days(int(json));
    Time, |json| Time(i64::listed(json));
    Varint, |json| varint(json);
    BigInt, |json| json.as_str().unwrap().parse().unwrap();
    Decimal, |json| Decimal { unscaled: varint(&json["unscaled"]), scale: int(&json["scale"]) };
    BigDecimal, |json| BigDecimal::new(BigInt::listed(&json["unscaled"]), int(&json["scale"]).into());
    Duration, |json| Duration {
        months: int(&json["months"]),
        days: int(&json["days"]),
        nanoseconds: i64::listed(&json["nanoseconds"]),
    };
    DateTime<Utc>, |json| DateTime::UNIX_EPOCH + TimeDelta::milliseconds(i64::listed(json));
    NaiveDate, |json| NaiveDate::default() + TimeDelta::days(i64::listed(json));
    NaiveTime, |json| NaiveTime::MIN + TimeDelta::nanoseconds(i64::listed(json));
    time::OffsetDateTime, |json| {
        time::OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(i64::listed(json))
    };
    time::Date, |json| time::OffsetDateTime::UNIX_EPOCH.date() + time::Duration::days(i64::listed(json));
    time::Time, |json| time::Time::MIDNIGHT + time::Duration::nanoseconds(i64::listed(json));
}

impl<'j, T: Listed<'j>> Listed<'j> for Option<T> {
    fn listed(json: &'j Json) -> Self {
        (!json.is_null()).then(|| T::listed(json))
    }
}

impl<'j, T: Listed<'j>> Listed<'j> for Vec<T> {
    fn listed(json: &'j Json) -> Self {
        json.as_array().unwrap().iter().map(T::listed).collect()
    }
}

impl<'j, T: Listed<'j>, const N: usize> Listed<'j> for [T; N] {
    fn listed(json: &'j Json) -> Self {
        std::array::from_fn(|index| T::listed(&json[index]))
    }
}

impl<'j, K: Listed<'j> + Ord, V: Listed<'j>> Listed<'j> for BTreeMap<K, V> {
    fn listed(json: &'j Json) -> Self {
        let pairs = json.as_array().unwrap().iter();
        pairs
            .map(|pair| (K::listed(&pair[0]), V::listed(&pair[1])))
            .collect()
    }
}

macro_rules! tuple {
    ($($part:ident $index:literal),+) => {
        impl<'j, $($part: Listed<'j>),+> Listed<'j> for ($($part,)+) {
            fn listed(json: &'j Json) -> Self {
                ($($part::listed(&json[$index]),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

/// A user type, borrowed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Address<'a> {
    street: Option<&'a str>,
    zip: Option<i32>,
    tags: Option<Vec<&'a str>>,
}

impl<'a> FromCql<'a> for Address<'a> {
    fn accepts(ty: &CqlType) -> bool {
        Record::has::<&str>(ty, "street")
            && Record::has::<i32>(ty, "zip")
            && Record::has::<Vec<&str>>(ty, "tags")
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let record = Record::from_cql(ty, bytes)?;
        Ok(Self {
            street: record.get("street")?,
            zip: record.get("zip")?,
            tags: record.get("tags")?,
        })
    }
}

impl ToCql for Address<'_> {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        let fields: [(&str, &dyn ToCql); 3] = [
            ("street", &self.street),
            ("zip", &self.zip),
            ("tags", &self.tags),
        ];
        RecordFields(&fields).to_cql(ty, out)
    }
}

impl<'j> Listed<'j> for Address<'j> {
    fn listed(json: &'j Json) -> Self {
        Self {
            street: Listed::listed(&json["street"]),
            zip: Listed::listed(&json["zip"]),
            tags: Listed::listed(&json["tags"]),
        }
    }
}

/// A user type within which there is another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Person<'a> {
    name: Option<&'a str>,
    home: Option<Address<'a>>,
    born: Option<Date>,
}

impl<'a> FromCql<'a> for Person<'a> {
    fn accepts(ty: &CqlType) -> bool {
        Record::has::<&str>(ty, "name")
            && Record::has::<Address<'_>>(ty, "home")
            && Record::has::<Date>(ty, "born")
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let record = Record::from_cql(ty, bytes)?;
        Ok(Self {
            name: record.get("name")?,
            home: record.get("home")?,
            born: record.get("born")?,
        })
    }
}

impl ToCql for Person<'_> {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        let fields: [(&str, &dyn ToCql); 3] = [
            ("name", &self.name),
            ("home", &self.home),
            ("born", &self.born),
        ];
        RecordFields(&fields).to_cql(ty, out)
    }
}

impl<'j> Listed<'j> for Person<'j> {
    fn listed(json: &'j Json) -> Self {
        Self {
            name: Listed::listed(&json["name"]),
            home: Listed::listed(&json["home"]),
            born: Listed::listed(&json["born"]),
        }
    }
}
