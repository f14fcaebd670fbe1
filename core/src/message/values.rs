//! [`Values`]: the bound values of a statement, checked when they are decoded and read lazily, and
//! [`ValueList`], which builds them. Answers to native protocol v5, section 4.1.4.

use bytes::{BufMut, BytesMut};

use super::bind::{BindError, BindValues, Binder, Unset};
use super::result::ResultMetadata;
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, RawValue, Reader, WireWrite};

/// The bound values of a statement, with their names if the client gave names.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    bytes: &'a [u8],
    count: u16,
    named: bool,
    // Before v4 a length of -2 is a null as any negative one.
    version: ProtocolVersion,
}

impl<'a> Values<'a> {
    /// No value.
    pub const EMPTY: Self = Self {
        bytes: &[],
        count: 0,
        named: false,
        version: ProtocolVersion::LATEST,
    };

    /// Walks once over the values and keeps their bytes: no allocation.
    #[inline(always)]
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
        named: bool,
    ) -> Result<Self, DecodeError> {
        let count = reader.short()?;
        let start = reader.remaining();
        if named {
            *reader = skip_named(reader.clone(), version, count)?;
        } else {
            for _ in 0..count {
                reader.value(version)?;
            }
        }
        Ok(Self {
            bytes: reader.since(start),
            count,
            named,
            version,
        })
    }

    #[inline]
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_u16(self.count);
        if self.has_odd_nulls() {
            self.encode_each(out);
        } else {
            out.put_slice(self.bytes);
        }
    }

    #[cold]
    fn encode_each(&self, out: &mut BytesMut) {
        for (name, value) in self.iter() {
            if let Some(name) = name {
                out.put_string(name);
            }
            out.put_value(value);
        }
    }

    /// Whether a null has a length below -1, which means something else from v4 on.
    #[inline]
    pub(crate) fn has_odd_nulls(&self) -> bool {
        self.version < ProtocolVersion::V4 && self.is_odd()
    }

    #[inline(never)]
    fn is_odd(&self) -> bool {
        let mut reader = Reader::new(self.bytes);
        let mut odd = || {
            if self.named {
                reader.string().ok()?;
            }
            let length = reader.int().ok()?;
            match usize::try_from(length) {
                Ok(length) => reader.take(length).ok().map(|_| false),
                Err(_) => Some(length < -1),
            }
        };
        (0..self.count).any(|_| odd() == Some(true))
    }

    /// How many values there are.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no value.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the values carry names.
    #[inline]
    #[must_use]
    pub const fn is_named(&self) -> bool {
        self.named
    }

    /// The values in order, each with its name if they carry names.
    #[inline]
    #[must_use]
    pub const fn iter(&self) -> ValuesIter<'a> {
        ValuesIter {
            reader: Reader::new(self.bytes),
            left: self.count,
            named: self.named,
            version: self.version,
        }
    }
}

/// Walks over values with names; out of the way of those without.
#[inline(never)]
fn skip_named<'a>(
    mut reader: Reader<'a>,
    version: ProtocolVersion,
    count: u16,
) -> Result<Reader<'a>, DecodeError> {
    for _ in 0..count {
        reader.string()?;
        reader.value(version)?;
    }
    Ok(reader)
}

impl Default for Values<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.named == other.named && self.iter().eq(other.iter())
    }
}

impl<'a> IntoIterator for Values<'a> {
    type Item = (Option<&'a str>, RawValue<'a>);
    type IntoIter = ValuesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The values of a [`Values`].
#[derive(Debug, Clone)]
pub struct ValuesIter<'a> {
    reader: Reader<'a>,
    left: u16,
    named: bool,
    version: ProtocolVersion,
}

impl<'a> Iterator for ValuesIter<'a> {
    type Item = (Option<&'a str>, RawValue<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        if self.named {
            let (item, reader) = next_named(self.reader.clone(), self.version)?;
            self.reader = reader;
            return Some(item);
        }
        Some((None, self.reader.value(self.version).ok()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

/// A value with its name, and the reader behind it; out of the way of those without, whose reader stays in registers.
#[inline(never)]
fn next_named<'a>(
    mut reader: Reader<'a>,
    version: ProtocolVersion,
) -> Option<((Option<&'a str>, RawValue<'a>), Reader<'a>)> {
    let name = reader.string().ok()?;
    let value = reader.value(version).ok()?;
    Some(((Some(name), value), reader))
}

impl ExactSizeIterator for ValuesIter<'_> {}

/// A statement can't bind more than 65,535 values, nor a batch hold more statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than 65,535 entries")]
pub struct TooMany;

/// Builds [`Values`] in their serialized form.
///
/// ```
/// use helenus_core::message::ValueList;
/// use helenus_core::RawValue;
///
/// let mut list = ValueList::new();
/// list.push(RawValue::Bytes(&[0, 0, 0, 7]))?;
/// list.push(RawValue::Null)?;
/// assert_eq!(list.as_values().len(), 2);
/// # Ok::<(), helenus_core::message::TooMany>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ValueList {
    bytes: BytesMut,
    count: u16,
    named: bool,
}

impl ValueList {
    /// A list without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A list whose values carry names; [`push_named`](Self::push_named) fills it.
    #[must_use]
    pub fn named() -> Self {
        Self {
            named: true,
            ..Self::default()
        }
    }

    /// Takes these values instead of what is in the list, whose buffer is used again: an allocation only if it is too
    /// small. Where the variables of the statement are given the values are checked against them and put into their order;
    /// otherwise they go as they are, with their names if they have any. The list is empty after an error.
    ///
    /// ```
    /// use helenus_core::message::ValueList;
    /// use helenus_core::{ColumnSpec, CqlType, RawValue, ResultMetadata};
    ///
    /// let variable = |name: &'static str, ty| ColumnSpec { keyspace: "ks".into(), table: "t".into(), name: name.into(), ty };
    /// let variables = ResultMetadata::new(vec![variable("k", CqlType::Int), variable("v", CqlType::Text)]);
    /// let mut list = ValueList::new();
    /// list.bind(&(7, None::<&str>), Some(&variables))?;
    /// assert!(list.as_values().iter().eq([(None, RawValue::Bytes(&[0, 0, 0, 7])), (None, RawValue::Null)]));
    /// let error = list.bind(&(7_i64, "seven"), Some(&variables)).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "k is of type int and can't be written from i64: The value is not of type int"
    /// );
    /// # Ok::<(), helenus_core::message::BindError>(())
    /// ```
    ///
    /// # Errors
    /// When the values don't fit the variables, or are more than 65,535.
    pub fn bind<V: BindValues + ?Sized>(
        &mut self,
        values: &V,
        variables: Option<&ResultMetadata>,
    ) -> Result<(), BindError> {
        self.clear();
        let columns = variables
            .filter(|variables| variables.is_described() || variables.column_count() == 0)
            .map(ResultMetadata::columns);
        let mut binder = Binder::new(&mut self.bytes, columns, Unset::Allowed);
        let bound = values.bind(&mut binder).and_then(|()| binder.finish());
        let checked = bound.and_then(|(count, named)| {
            let count = u16::try_from(count).map_err(|_| BindError::TooMany)?;
            Ok((count, named))
        });
        match checked {
            Ok((count, named)) => {
                self.count = count;
                self.named = named;
                Ok(())
            }
            Err(error) => {
                self.clear();
                Err(error)
            }
        }
    }

    /// Takes all values out, and the names that they may carry; the buffer is kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
        self.named = false;
    }

    /// Appends a value; in a list with names its name is empty.
    ///
    /// # Errors
    /// [`TooMany`] from the 65,536th value on.
    pub fn push(&mut self, value: RawValue<'_>) -> Result<(), TooMany> {
        self.push_named("", value)
    }

    /// Appends a value with its name, which a list without names drops.
    ///
    /// # Errors
    /// [`TooMany`] from the 65,536th value on.
    pub fn push_named(&mut self, name: &str, value: RawValue<'_>) -> Result<(), TooMany> {
        self.count = self.count.checked_add(1).ok_or(TooMany)?;
        if self.named {
            self.bytes.put_string(name);
        }
        self.bytes.put_value(value);
        Ok(())
    }

    /// The values.
    #[must_use]
    pub fn as_values(&self) -> Values<'_> {
        Values {
            bytes: &self.bytes,
            count: self.count,
            named: self.named,
            version: ProtocolVersion::LATEST,
        }
    }
}
