//! Walking the elements of serialized tuples, collections and vectors without decoding them
//! (native protocol v5, section 6).

use helenus_core::types::CqlType;

/// The bytes are no value of their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// A cursor over a serialized value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A collection's `[int]` count; negative ones count as malformed.
    pub(super) fn count(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.int()?).map_err(|_| Malformed)
    }

    /// `[bytes]`: `None` is null.
    pub(super) fn bytes(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match usize::try_from(self.int()?) {
            Ok(len) => self.take(len).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// An element of a vector: bare when its type has a fixed length, else behind an `[unsigned vint]` length.
    pub(super) fn vector_element(&mut self, fixed: Option<usize>) -> Result<&'a [u8], Malformed> {
        let len = match fixed {
            Some(len) => len,
            None => self.unsigned_vint()?,
        };
        self.take(len)
    }

    fn int(&mut self) -> Result<i32, Malformed> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = tail;
        Ok(i32::from_be_bytes(*head))
    }

    /// As many further bytes as the first has leading ones; its remaining bits come first.
    fn unsigned_vint(&mut self) -> Result<usize, Malformed> {
        let (&first, tail) = self.0.split_first().ok_or(Malformed)?;
        self.0 = tail;
        let extra = first.leading_ones() as usize;
        let head = u64::from(first) & (0xFF_u64 >> extra);
        let value = self
            .take(extra)?
            .iter()
            .fold(head, |value, &byte| (value << 8) | u64::from(byte));
        usize::try_from(value).map_err(|_| Malformed)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = tail;
        Ok(head)
    }
}

/// The length of a type's values within a vector, where Cassandra counts it as fixed.
pub(crate) fn fixed_len(ty: &CqlType) -> Option<usize> {
    match ty {
        CqlType::Boolean => Some(1),
        CqlType::Int | CqlType::Float => Some(4),
        CqlType::BigInt | CqlType::Double | CqlType::Timestamp => Some(8),
        CqlType::Uuid | CqlType::Timeuuid => Some(16),
        CqlType::Vector(element, dimension) => {
            fixed_len(element)?.checked_mul(usize::try_from(*dimension).ok()?)
        }
        CqlType::Frozen(inner) => fixed_len(inner),
        _ => None,
    }
}
