//! Rust types for those CQL types whose representation alone wouldn't tell them apart, and for values that are there
//! without being one: [`MaybeEmpty`], [`MaybeUnset`].

/// A `counter`: so that no `bigint` is taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Counter(pub i64);

/// A `timestamp`: milliseconds from 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

/// A `date`: days, where 2³¹ is 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub u32);

impl Date {
    /// 1970-01-01.
    pub const EPOCH: Self = Self(1 << 31);

    /// The date so many days from 1970-01-01: every 32-bit number of days has one.
    #[must_use]
    pub const fn from_days(days: i32) -> Self {
        Self(Self::EPOCH.0.wrapping_add_signed(days))
    }

    /// Days from 1970-01-01.
    #[must_use]
    pub const fn days(self) -> i32 {
        self.0.wrapping_sub(Self::EPOCH.0).cast_signed()
    }
}

impl Default for Date {
    /// 1970-01-01.
    fn default() -> Self {
        Self::EPOCH
    }
}

/// A `time`: nanoseconds from midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

/// A value that may be the one of no bytes that `int`, `uuid`, `varint` and most other types have besides null. A `T` alone
/// refuses it with [`ValueError::Empty`](super::ValueError::Empty).
///
/// A text or blob of no bytes is a value like any other: `MaybeEmpty<String>` never is `Empty`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MaybeEmpty<T> {
    /// No bytes.
    #[default]
    Empty,
    /// A value.
    Value(T),
}

impl<T> MaybeEmpty<T> {
    /// The value, if it isn't the empty one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Empty => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// A value to bind that may be left unset: what the row has then stays, where a null would delete it. v3 can't say so: its
/// servers take an unset value for a null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MaybeUnset<T> {
    /// Leaves what is there.
    #[default]
    Unset,
    /// A value.
    Value(T),
}
