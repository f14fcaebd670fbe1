//! [`FromCql`]: values read as Rust types. Answers to native protocol v5, section 6.

mod collections;
mod native;
#[cfg(test)]
mod tests;
mod tuples;

use super::{CqlType, MaybeEmpty, Value, ValueError, validate};

/// A Rust type that values of some CQL types can be read as, borrowing from the bytes where it can.
///
/// | CQL | Rust |
/// |---|---|
/// | `tinyint`, `smallint`, `int`, `bigint`, `counter` | `i8`, `i16`, `i32`, `i64`, [`Counter`](super::Counter) |
/// | `float`, `double`, `boolean` | `f32`, `f64`, `bool` |
/// | `text`, `ascii` | `&str`, `String`, `Box<str>`, `Cow<str>` |
/// | `blob` and types known by their class name alone | `&[u8]`, `Vec<u8>`, [`Bytes`](bytes::Bytes) |
/// | `uuid`, `timeuuid` | [`Uuid`](uuid::Uuid) |
/// | `inet` | [`IpAddr`](std::net::IpAddr) |
/// | `date`, `time`, `timestamp`, `duration` | [`Date`](super::Date), [`Time`](super::Time), [`Timestamp`](super::Timestamp), [`Duration`](super::Duration), and those of the features `time` and `chrono` |
/// | `varint`, `decimal` | [`Varint`](super::Varint), [`Decimal`](super::Decimal), and those of the feature `bigdecimal` |
/// | `list`, `set`, `vector` | `Vec`, [`Items`](super::Items) |
/// | `set` | `HashSet`, `BTreeSet` |
/// | `map` | `HashMap`, `BTreeMap`, [`Entries`](super::Entries) |
/// | `vector` | `[T; N]` |
/// | `tuple` | tuples of up to 16, [`Record`](super::Record) |
/// | user types | [`Record`](super::Record) |
/// | any | [`Value`] |
///
/// Types are strict: an `int` isn't read as an `i64`. A null is refused save by `Option`, and the value of no bytes save by
/// [`MaybeEmpty`].
///
/// ```
/// use helenus_core::CqlType;
/// use helenus_core::types::{FromCql, Record, ValueError};
///
/// /// A user type, borrowed.
/// struct Address<'a> {
///     street: &'a str,
///     zip: Option<i32>,
/// }
///
/// impl<'a> FromCql<'a> for Address<'a> {
///     fn accepts(ty: &CqlType) -> bool {
///         Record::has::<&str>(ty, "street") && Record::has::<i32>(ty, "zip")
///     }
///
///     fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
///         let record = Record::from_cql(ty, bytes)?;
///         Ok(Address { street: record.get("street")?, zip: record.get("zip")? })
///     }
/// }
///
/// let ty = CqlType::parse_class("UserType(ks,61,737472656574:UTF8Type,7a6970:Int32Type)")?;
/// assert!(Address::accepts(&ty));
/// // A field that isn't there is null.
/// let address = Address::from_cql(&ty, Some(b"\0\0\0\x04Elm "))?;
/// assert_eq!((address.street, address.zip), ("Elm ", None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FromCql<'a>: Sized {
    /// Whether values of this type can be read.
    fn accepts(ty: &CqlType) -> bool;

    /// Reads a value of a type that was accepted before; `None` is a null. Of another type it may read nonsense, but does
    /// not panic.
    ///
    /// # Errors
    /// When the bytes are no value of the type, or one that the Rust type has no room for.
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError>;
}

impl<'a, T: FromCql<'a>> FromCql<'a> for Option<T> {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        T::accepts(ty)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        match bytes {
            Some(_) => T::from_cql(ty, bytes).map(Some),
            None => Ok(None),
        }
    }
}

impl<'a, T: FromCql<'a>> FromCql<'a> for MaybeEmpty<T> {
    #[inline]
    fn accepts(ty: &CqlType) -> bool {
        T::accepts(ty)
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        match bytes {
            Some([]) if ty.has_empty() => Ok(Self::Empty),
            _ => T::from_cql(ty, bytes).map(Self::Value),
        }
    }
}

impl FromCql<'_> for Value {
    fn accepts(_: &CqlType) -> bool {
        true
    }

    fn from_cql(ty: &CqlType, bytes: Option<&[u8]>) -> Result<Self, ValueError> {
        Self::decode(ty, bytes.ok_or(ValueError::Null)?)
    }
}

/// Why bytes that aren't as a Rust type wants them aren't a value of their type, or none that it can hold.
#[cold]
fn refused(ty: &CqlType, bytes: Option<&[u8]>) -> ValueError {
    let Some(bytes) = bytes else {
        return ValueError::Null;
    };
    match validate(ty, bytes) {
        Err(error) => error,
        Ok(()) if bytes.is_empty() && ty.has_empty() => ValueError::Empty,
        Ok(()) => ValueError::Mismatch(ty.clone()),
    }
}
