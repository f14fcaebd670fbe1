//! [`Value`]: a CQL value of any type, owned.

use std::net::IpAddr;

use uuid::Uuid;

use super::Varint;

/// A CQL value. What of it fits a type is the type's matter: [`Value::encode`] refuses what doesn't.
///
/// A null is `None` where a `Value` may be missing: in collections, tuples and columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// The value of no bytes that most types have besides null.
    Empty,
    /// `ascii` and `text`.
    Text(String),
    /// `bigint`
    BigInt(i64),
    /// `blob`
    Blob(Vec<u8>),
    /// `boolean`
    Boolean(bool),
    /// `counter`
    Counter(i64),
    /// `decimal`
    Decimal(Decimal),
    /// `double`
    Double(f64),
    /// `float`
    Float(f32),
    /// `int`
    Int(i32),
    /// `timestamp`: milliseconds from 1970.
    Timestamp(i64),
    /// `uuid`
    Uuid(Uuid),
    /// `varint`
    Varint(Varint),
    /// `timeuuid`
    Timeuuid(Uuid),
    /// `inet`
    Inet(IpAddr),
    /// `date`: days, where 2³¹ is 1970-01-01.
    Date(u32),
    /// `time`: nanoseconds from midnight.
    Time(i64),
    /// `smallint`
    SmallInt(i16),
    /// `tinyint`
    TinyInt(i8),
    /// `duration`
    Duration(Duration),
    /// `list<…>`; a null element is `None`.
    List(Vec<Option<Value>>),
    /// `set<…>`, in the order of the bytes.
    Set(Vec<Value>),
    /// `map<…>`, in the order of the bytes; a null value is `None`.
    Map(Vec<(Value, Option<Value>)>),
    /// `tuple<…>` and user types: as many fields as there were, which may be fewer than the type has.
    Tuple(Vec<Option<Value>>),
    /// `vector<…>`
    Vector(Vec<Value>),
    /// A type known by its class name alone: its bytes.
    Custom(Vec<u8>),
}

/// A decimal number: `unscaled × 10^-scale`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The number without its point.
    pub unscaled: Varint,
    /// Digits behind the point; negative ones are zeros before it.
    pub scale: i32,
}

/// A duration. Its parts don't convert into each other: months and days differ in length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Nanoseconds.
    pub nanoseconds: i64,
}
