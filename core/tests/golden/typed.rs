//! Values as Rust types: each golden value reads as what is listed and is written as the same bytes; each, cut anywhere, is
//! refused just where the dynamic codec refuses it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use bytes::{Bytes, BytesMut};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use helenus_core::CqlType;
use helenus_core::types::{
    Counter, Date, Decimal, Duration, FromCql, MaybeEmpty, Time, Timestamp, ToCql, Value,
    ValueError, Varint, Written,
};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::listed::{Address, Listed, Person};
use crate::types::cql_type;
use crate::vectors::{self, optional_hex};

type Pair<A, B> = (Option<A>, Option<B>);

/// A line of the file.
struct Case {
    id: Json,
    ty: CqlType,
    bytes: Option<Vec<u8>>,
    value: Json,
}

/// Checks a line as each of some Rust types; those behind a semicolon are written as another type if none is given.
macro_rules! table {
    ($case:ident, $name:ident; $($cql:literal => $($rust:ty),* $(; $typed:ty)?;)*) => {
        match $name {
            $($cql => {
                $(check::<$rust>(&$case, Untyped::Same);)*
                $(check::<$typed>(&$case, Untyped::Differs);)?
            })*
            other => panic!("{other} is in no line of the table"),
        }
    };
}

#[test]
fn values_read_as_rust_types_and_are_written_as_the_same_bytes() {
    let mut checked = 0;
    for line in vectors::lines("values.jsonl") {
        let name = line["type"].as_str().unwrap();
        let case = Case {
            id: line["id"].clone(),
            ty: cql_type(name, &line["udts"]),
            bytes: optional_hex(&line["hex"]),
            value: line["value"].clone(),
        };
        table! { case, name;
            "ascii" => &str, String;
            "text" => &str, String;
            "varchar" => &str, String;
            "tinyint" => i8;
            "smallint" => i16;
            "int" => i32;
            "bigint" => i64;
            "counter" => Counter;
            "varint" => Varint, BigInt;
            "decimal" => Decimal, BigDecimal;
            "double" => f64;
            "float" => f32;
            "boolean" => bool;
            "blob" => Vec<u8>, Bytes;
            "date" => Date;
            "time" => Time, NaiveTime, time::Time;
            "timestamp" => Timestamp;
            "duration" => Duration;
            "inet" => IpAddr;
            "uuid" => Uuid;
            "timeuuid" => Uuid;
            "list<int>" => Vec<Option<i32>>;
            "list<text>" => Vec<&str>, Vec<String>;
            "list<frozen<list<int>>>" => Vec<Vec<i32>>;
            "list<frozen<map<text, int>>>" => Vec<BTreeMap<&str, i32>>;
            "list<duration>" => Vec<Duration>;
            "set<int>" => Vec<i32>;
            "set<text>" => Vec<&str>;
            "set<frozen<tuple<int, text>>>" => Vec<Pair<i32, &str>>;
            "map<text, int>" => BTreeMap<String, Option<i32>>;
            "map<uuid, timestamp>" => BTreeMap<Uuid, Timestamp>;
            "map<text, frozen<list<int>>>" => BTreeMap<&str, Vec<i32>>;
            "map<inet, frozen<map<int, boolean>>>" => BTreeMap<IpAddr, BTreeMap<i32, bool>>;
            "tuple<int>" => (i32,);
            "tuple<int, text>" => Pair<i32, &str>;
            "tuple<int, text, double>" => (Option<i32>, Option<&str>, Option<f64>);
            "tuple<frozen<tuple<int, text>>, boolean>" => Pair<Pair<i32, &str>, bool>;
            "tuple<varint, decimal, inet, date>" => (Varint, Decimal, IpAddr, Date), (BigInt, BigDecimal, IpAddr, NaiveDate);
            "address" => Address;
            "person" => Person;
            "list<frozen<address>>" => Vec<Address>;
            "map<text, frozen<address>>" => BTreeMap<&str, Address>;
            "vector<float, 3>" => [f32; 3]; Vec<f32>;
            "vector<int, 2>" => [i32; 2]; Vec<i32>;
            "vector<uuid, 1>" => [Uuid; 1]; Vec<Uuid>;
            "vector<timestamp, 2>" => [Timestamp; 2]; Vec<DateTime<Utc>>;
            "vector<smallint, 2>" => [i16; 2]; Vec<i16>;
            "vector<tinyint, 3>" => [i8; 3]; Vec<i8>;
            "vector<date, 2>" => [Date; 2]; Vec<time::Date>;
            "vector<time, 1>" => [Time; 1]; Vec<NaiveTime>;
            "vector<text, 2>" => [&str; 2]; Vec<String>;
            "vector<blob, 2>" => [Bytes; 2]; Vec<Vec<u8>>;
            "vector<inet, 2>" => ; Vec<IpAddr>;
            "vector<frozen<list<int>>, 2>" => [Vec<i32>; 2]; Vec<Vec<i32>>;
            "vector<vector<float, 2>, 2>" => [[f32; 2]; 2]; Vec<Vec<f32>>;
            "vector<vector<text, 1>, 2>" => [[&str; 1]; 2]; Vec<[String; 1]>;
            "vector<frozen<tuple<int, text>>, 1>" => [Pair<i32, &str>; 1]; Vec<Pair<i32, &str>>;
            "list<vector<float, 2>>" => Vec<[f32; 2]>; Vec<Vec<f32>>;
            "map<text, vector<text, 2>>" => BTreeMap<&str, [&str; 2]>; BTreeMap<&str, Vec<&str>>;
            "tuple<vector<int, 2>, text>" => ([i32; 2], &str); (Vec<i32>, String);
            "'com.example.Opaque'" => Vec<u8>;
        }
        checked += 1;
    }
    assert_eq!(checked, 195);
}

/// How a value is written whose type nobody gave.
#[derive(PartialEq)]
enum Untyped {
    Same,
    Differs,
}

fn check<'a, T>(case: &'a Case, untyped: Untyped)
where
    T: FromCql<'a> + ToCql + Listed<'a> + Debug,
{
    let Case { id, ty, value, .. } = case;
    assert!(T::accepts(ty), "{id}");
    let Some(bytes) = &case.bytes else {
        assert_eq!(Option::<T>::from_cql(ty, None).unwrap().map(drop), None);
        assert_eq!(T::from_cql(ty, None).unwrap_err(), ValueError::Null, "{id}");
        return assert_eq!(write(&None::<T>, Some(ty)), [0xFF; 4], "{id}");
    };
    if value["empty"] == true {
        let empty = MaybeEmpty::<T>::from_cql(ty, Some(bytes)).unwrap();
        assert_eq!(T::from_cql(ty, Some(bytes)).unwrap_err(), ValueError::Empty);
        assert_eq!(write(&empty, Some(ty)), [0; 4], "{id}");
        return assert!(empty.value().is_none(), "{id}");
    }
    let read = T::from_cql(ty, Some(bytes)).unwrap();
    // As text, in which a NaN equals itself.
    assert_eq!(
        format!("{read:?}"),
        format!("{:?}", T::listed(value)),
        "{id}"
    );
    let mut sized = (bytes.len() as u32).to_be_bytes().to_vec();
    sized.extend_from_slice(bytes);
    assert_eq!(write(&read, Some(ty)), sized, "{id}");
    assert_eq!(
        write(&read, None) == sized,
        untyped == Untyped::Same,
        "{id}"
    );
    for cut in 0..bytes.len() {
        let cut = &bytes[..cut];
        match (T::from_cql(ty, Some(cut)), Value::decode(ty, cut)) {
            (Ok(_), Ok(_)) => {}
            (Err(ValueError::Empty), Ok(Value::Empty)) => {}
            // A tuple that ends early has nulls for the rest.
            (Err(ValueError::Null), Ok(Value::Tuple(_))) => {}
            (Err(typed), Err(dynamic)) => assert_eq!(typed, dynamic, "{id}"),
            (typed, dynamic) => panic!("{id} {cut:?}: {typed:?}, {dynamic:?}"),
        }
    }
}

/// A value as \[value\]; written by its inside alone it is the same.
fn write(value: &dyn ToCql, ty: Option<&CqlType>) -> Vec<u8> {
    let mut out = BytesMut::new();
    let written = value.to_value(ty, &mut out).unwrap();
    let mut inside = BytesMut::new();
    assert_eq!(value.to_cql(ty, &mut inside), Ok(written));
    assert_eq!(out[4..], inside[..]);
    assert_eq!(written == Written::Null, out[..4] == [0xFF; 4]);
    out.to_vec()
}

/// Dates and moments that the other crates have no room for are errors, and values that they have room for come back.
#[test]
fn what_other_crates_have_no_room_for_is_out_of_range() {
    let date = |days: i32| Date::from_days(days).0.to_be_bytes();
    assert_eq!(
        NaiveDate::from_cql(&CqlType::Date, Some(&date(i32::MAX))),
        Err(ValueError::OutOfRange(std::any::type_name::<NaiveDate>()))
    );
    assert_eq!(
        time::Date::from_cql(&CqlType::Date, Some(&date(i32::MIN))),
        Err(ValueError::OutOfRange(std::any::type_name::<time::Date>()))
    );
    let long = |value: i64| value.to_be_bytes();
    for moment in [i64::MIN, i64::MAX] {
        let bytes = long(moment);
        assert!(DateTime::<Utc>::from_cql(&CqlType::Timestamp, Some(&bytes)).is_err());
        assert!(time::OffsetDateTime::from_cql(&CqlType::Timestamp, Some(&bytes)).is_err());
    }
    for time in [-1, 86_400_000_000_000] {
        let bytes = long(time);
        assert!(NaiveTime::from_cql(&CqlType::Time, Some(&bytes)).is_err());
        assert!(time::Time::from_cql(&CqlType::Time, Some(&bytes)).is_err());
    }
    let before = time::OffsetDateTime::UNIX_EPOCH - time::Duration::nanoseconds(1);
    assert_eq!(write(&before, Some(&CqlType::Timestamp))[4..], long(-1));
    let before = DateTime::<Utc>::UNIX_EPOCH - chrono::TimeDelta::nanoseconds(1);
    assert_eq!(write(&before, Some(&CqlType::Timestamp))[4..], long(-1));
}

/// What the file lists is what a value serializes as, user types aside, whose fields a `Value` doesn't name.
#[test]
fn values_serialize_as_they_are_listed() {
    for line in vectors::lines("values.jsonl") {
        let (Some(bytes), true) = (optional_hex(&line["hex"]), line["udts"].is_null()) else {
            continue;
        };
        let ty = cql_type(line["type"].as_str().unwrap(), &line["udts"]);
        let value = serde_json::to_value(Value::decode(&ty, &bytes).unwrap()).unwrap();
        // JSON has no words for numbers that aren't finite, and a float's own digits are fewer.
        if !line["type"].as_str().unwrap().contains("float") && !line["value"].is_string() {
            assert_eq!(value, line["value"], "{}", line["id"]);
        }
        assert_eq!(serde_json::to_value(&ty).unwrap(), ty.to_string());
    }
}
