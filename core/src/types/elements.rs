//! The parts of serialized collections, tuples and vectors, lent without a copy.
//! Answers to native protocol v5, sections 6.13 to 6.19, and Cassandra's `VectorType`.

use super::{CqlType, Duration, ValueError};
use crate::wire::Reader;

/// The elements of a serialized list or set, or the keys and values of a map in turn. An element of negative length is `None`.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    reader: Reader<'a>,
    left: u64,
    kind: &'static str,
}

/// The elements of a serialized list.
///
/// # Errors
/// When the count is cut or negative.
pub fn list(bytes: &[u8]) -> Result<Elements<'_>, ValueError> {
    Elements::new(bytes, "list", 1)
}

/// The elements of a serialized set.
///
/// # Errors
/// When the count is cut or negative.
pub fn set(bytes: &[u8]) -> Result<Elements<'_>, ValueError> {
    Elements::new(bytes, "set", 1)
}

/// The keys and values, in turn, of a serialized map.
///
/// # Errors
/// When the count is cut or negative.
pub fn map(bytes: &[u8]) -> Result<Elements<'_>, ValueError> {
    Elements::new(bytes, "map", 2)
}

impl<'a> Elements<'a> {
    fn new(bytes: &'a [u8], kind: &'static str, parts: u64) -> Result<Self, ValueError> {
        let mut reader = Reader::new(bytes);
        let count = reader.int().map_err(|_| ValueError::Truncated(kind))?;
        let count = u64::try_from(count).map_err(|_| ValueError::NegativeCount(kind))?;
        Ok(Self {
            reader,
            left: count * parts,
            kind,
        })
    }

    /// How many elements there are still, as the count claims: they may not be there. In a map keys and values both count.
    #[must_use]
    pub fn claimed(&self) -> u64 {
        self.left
    }

    /// How many elements the remaining bytes can hold at most: a safe capacity.
    #[must_use]
    pub fn capacity(&self) -> usize {
        let possible = self.reader.remaining().len() / 4;
        usize::try_from(self.left).map_or(possible, |left| left.min(possible))
    }

    /// Checks that no byte follows the last element.
    ///
    /// # Errors
    /// When some do.
    pub fn finish(self) -> Result<(), ValueError> {
        if self.reader.remaining().is_empty() {
            Ok(())
        } else {
            Err(ValueError::Trailing(self.kind))
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Option<&'a [u8]>, ValueError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element = self
            .reader
            .bytes()
            .map_err(|_| ValueError::Truncated(self.kind));
        if element.is_err() {
            self.left = 0;
        }
        Some(element)
    }
}

/// The fields of a serialized tuple or user type: as many as there are, which may be fewer than the type has.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    reader: Reader<'a>,
    index: usize,
}

/// The fields of a serialized tuple or user type.
#[must_use]
pub fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields {
        reader: Reader::new(bytes),
        index: 0,
    }
}

impl Fields<'_> {
    /// Whether no field is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reader.remaining().is_empty()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Option<&'a [u8]>, ValueError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_empty() {
            return None;
        }
        let index = self.index;
        self.index += 1;
        let mut field = || {
            let length = self
                .reader
                .int()
                .map_err(|_| ValueError::CutFieldLength(index))?;
            let Ok(length) = usize::try_from(length) else {
                return Ok(None);
            };
            self.reader
                .take(length)
                .map(Some)
                .map_err(|_| ValueError::CutField(index))
        };
        let field = field();
        if field.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(field)
    }
}

/// The elements of a serialized vector.
#[derive(Debug, Clone)]
pub struct VectorElements<'a> {
    reader: Reader<'a>,
    fixed: Option<usize>,
    left: u32,
    ty: &'a CqlType,
}

/// The elements of a serialized vector; `ty` is the vector's own type, `element` and `dimension` what it says.
///
/// # Errors
/// When there are no bytes at all.
pub fn vector<'a>(
    bytes: &'a [u8],
    ty: &'a CqlType,
    element: &CqlType,
    dimension: u32,
) -> Result<VectorElements<'a>, ValueError> {
    if bytes.is_empty() {
        return Err(ValueError::EmptyVector);
    }
    Ok(VectorElements {
        reader: Reader::new(bytes),
        fixed: element.fixed_size(),
        left: dimension,
        ty,
    })
}

impl VectorElements<'_> {
    /// How many elements the remaining bytes can hold at most: a safe capacity.
    #[must_use]
    pub fn capacity(&self) -> usize {
        let bytes = self.reader.remaining().len();
        // Without a fixed size each takes a byte at least, which says that it has none.
        let possible = bytes / self.fixed.unwrap_or(1).max(1);
        usize::try_from(self.left).map_or(possible, |left| left.min(possible))
    }

    /// Checks that no byte follows the last element.
    ///
    /// # Errors
    /// When some do.
    pub fn finish(self) -> Result<(), ValueError> {
        match self.reader.remaining().len() {
            0 => Ok(()),
            extra => Err(ValueError::TrailingVector(extra, self.ty.clone())),
        }
    }
}

impl<'a> Iterator for VectorElements<'a> {
    type Item = Result<&'a [u8], ValueError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let length = match self.fixed {
            Some(length) => Some(length),
            None => self
                .reader
                .unsigned_vint()
                .ok()
                .and_then(|length| usize::try_from(length).ok()),
        };
        let element = length.and_then(|length| self.reader.take(length).ok());
        if element.is_none() {
            self.left = 0;
        }
        Some(element.ok_or_else(|| ValueError::TruncatedVector(self.ty.clone())))
    }
}

/// Reads a serialized duration.
///
/// # Errors
/// When it is cut, its months or days don't fit 32 bits, or its parts differ in sign.
pub fn duration(bytes: &[u8]) -> Result<Duration, ValueError> {
    if bytes.len() < 3 {
        return Err(ValueError::Length {
            expected: "Expected at least 3 bytes for a duration",
            length: bytes.len(),
        });
    }
    let mut reader = Reader::new(bytes);
    let mut part = || reader.vint().map_err(|_| ValueError::InvalidDuration);
    let (months, days, nanoseconds) = (part()?, part()?, part()?);
    let months = i32::try_from(months).map_err(|_| ValueError::DurationMonths(months))?;
    let days = i32::try_from(days).map_err(|_| ValueError::DurationDays(days))?;
    let positive = months >= 0 && days >= 0 && nanoseconds >= 0;
    let negative = months <= 0 && days <= 0 && nanoseconds <= 0;
    if !positive && !negative {
        return Err(ValueError::DurationSigns(months, days, nanoseconds));
    }
    Ok(Duration {
        months,
        days,
        nanoseconds,
    })
}
