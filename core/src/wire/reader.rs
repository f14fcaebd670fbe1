//! [`Reader`]: a bounds-checked walk over received bytes, borrowing every item from them.
//! Answers to native protocol v5, section 3.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use uuid::Uuid;

use super::error::{DecodeError, DecodeErrorKind};
use super::primitives::{BytesMap, RawValue, StringList, StringMap, StringMultimap};
use crate::codes::{Consistency, ProtocolVersion};

/// Reads the protocol's notations from a byte slice. Nothing is allocated; a failed read says where it
/// failed and leaves the reader where it was or behind the item's length.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    // The offset of the slice's end, so that a position needs no second counter to be kept.
    end: usize,
}

impl<'a> Reader<'a> {
    /// A reader whose positions count from the slice's start.
    #[inline]
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            end: bytes.len(),
        }
    }

    /// A reader whose positions count from `base` bytes before the slice.
    #[inline]
    #[must_use]
    pub const fn at(bytes: &'a [u8], base: usize) -> Self {
        Self {
            rest: bytes,
            end: base.saturating_add(bytes.len()),
        }
    }

    /// The offset of the next byte.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.end.saturating_sub(self.rest.len())
    }

    /// The bytes not read yet.
    #[inline]
    #[must_use]
    pub const fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether every byte was read.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// An error of this kind at the next byte.
    #[inline]
    #[must_use]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        self.error_at(kind, self.position())
    }

    // Inlined: called out of line it would take the reader's address, and every reader would live in
    // memory for the sake of its failures.
    #[inline]
    pub(crate) fn error_at(&self, kind: DecodeErrorKind, position: usize) -> DecodeError {
        DecodeError::new(kind, u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`] if there are fewer.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        self.take_or(length, DecodeErrorKind::UnexpectedEnd)
    }

    /// A reader of the next `length` bytes alone, whose positions go on from this one's.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`] if there are fewer.
    #[inline]
    pub fn sub(&mut self, length: usize) -> Result<Reader<'a>, DecodeError> {
        let base = self.position();
        Ok(Reader::at(self.take(length)?, base))
    }

    #[inline]
    fn take_or(&mut self, length: usize, kind: DecodeErrorKind) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.error(kind)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, kind: DecodeErrorKind) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(self.error(kind)),
        }
    }

    /// A \[byte\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>(DecodeErrorKind::UnexpectedEnd)
            .map(|[byte]| byte)
    }

    /// A \[short\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn short(&mut self) -> Result<u16, DecodeError> {
        self.array(DecodeErrorKind::UnexpectedEnd)
            .map(u16::from_be_bytes)
    }

    /// An \[int\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn int(&mut self) -> Result<i32, DecodeError> {
        self.array(DecodeErrorKind::UnexpectedEnd)
            .map(i32::from_be_bytes)
    }

    /// A \[long\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn long(&mut self) -> Result<i64, DecodeError> {
        self.array(DecodeErrorKind::UnexpectedEnd)
            .map(i64::from_be_bytes)
    }

    /// A \[uuid\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn uuid(&mut self) -> Result<Uuid, DecodeError> {
        self.array(DecodeErrorKind::UnexpectedEnd)
            .map(Uuid::from_bytes)
    }

    /// A \[string\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::CutString`] or [`DecodeErrorKind::InvalidUtf8`].
    #[inline]
    pub fn string(&mut self) -> Result<&'a str, DecodeError> {
        let length = self
            .array(DecodeErrorKind::CutString)
            .map(u16::from_be_bytes)?;
        self.utf8(usize::from(length), DecodeErrorKind::CutString)
    }

    /// Steps over a \[string\], whatever its bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::CutString`].
    // Inlined whatever it takes, lest the reader live in memory.
    #[inline(always)]
    pub(crate) fn skip_string(&mut self) -> Result<(), DecodeError> {
        let length = self
            .array(DecodeErrorKind::CutString)
            .map(u16::from_be_bytes)?;
        self.take_or(usize::from(length), DecodeErrorKind::CutString)
            .map(|_| ())
    }

    /// A \[long string\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::CutLongString`], for a negative length too, or [`DecodeErrorKind::InvalidUtf8`].
    #[inline]
    pub fn long_string(&mut self) -> Result<&'a str, DecodeError> {
        let length = self
            .array(DecodeErrorKind::CutLongString)
            .map(i32::from_be_bytes)?;
        match usize::try_from(length) {
            Ok(length) => self.utf8(length, DecodeErrorKind::CutLongString),
            Err(_) => Err(self.error(DecodeErrorKind::CutLongString)),
        }
    }

    #[inline]
    fn utf8(&mut self, length: usize, cut: DecodeErrorKind) -> Result<&'a str, DecodeError> {
        let position = self.position();
        let bytes = self.take_or(length, cut)?;
        std::str::from_utf8(bytes)
            .map_err(|_| self.error_at(DecodeErrorKind::InvalidUtf8, position))
    }

    /// A \[bytes\]: `None` if the length is negative.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`] or [`DecodeErrorKind::CutBytes`].
    #[inline]
    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, DecodeError> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take_or(length, DecodeErrorKind::CutBytes).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// A \[short bytes\].
    ///
    /// # Errors
    /// [`DecodeErrorKind::CutShortBytes`].
    #[inline]
    pub fn short_bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self
            .array(DecodeErrorKind::CutShortBytes)
            .map(u16::from_be_bytes)?;
        self.take_or(usize::from(length), DecodeErrorKind::CutShortBytes)
    }

    /// A \[value\]. Before v4 every negative length is a null.
    ///
    /// # Errors
    /// [`DecodeErrorKind::InvalidValueLength`] for a length below -2 from v4 on,
    /// [`DecodeErrorKind::UnexpectedEnd`] or [`DecodeErrorKind::CutBytes`].
    #[inline]
    pub fn value(&mut self, version: ProtocolVersion) -> Result<RawValue<'a>, DecodeError> {
        let position = self.position();
        let length = self.int()?;
        match usize::try_from(length) {
            Ok(length) => self
                .take_or(length, DecodeErrorKind::CutBytes)
                .map(RawValue::Bytes),
            Err(_) if length == -1 || version < ProtocolVersion::V4 => Ok(RawValue::Null),
            Err(_) if length == -2 => Ok(RawValue::Unset),
            Err(_) => Err(self.error_at(DecodeErrorKind::InvalidValueLength(length), position)),
        }
    }

    /// A \[consistency\] that has a name.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`] or [`DecodeErrorKind::UnknownConsistency`].
    // Inlined whatever it takes, lest the reader live in memory.
    #[inline(always)]
    pub fn consistency(&mut self) -> Result<Consistency, DecodeError> {
        let position = self.position();
        let consistency = Consistency(self.short()?);
        if consistency.is_known() {
            return Ok(consistency);
        }
        Err(self.error_at(DecodeErrorKind::UnknownConsistency(consistency), position))
    }

    /// An \[inetaddr\]: an address without a port.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`] or [`DecodeErrorKind::InvalidInetLength`].
    pub fn inet_addr(&mut self) -> Result<IpAddr, DecodeError> {
        let position = self.position();
        match self.u8()? {
            4 => self
                .array::<4>(DecodeErrorKind::UnexpectedEnd)
                .map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
            16 => self
                .array::<16>(DecodeErrorKind::UnexpectedEnd)
                .map(|octets| IpAddr::V6(Ipv6Addr::from(octets))),
            length => Err(self.error_at(DecodeErrorKind::InvalidInetLength(length), position)),
        }
    }

    /// An \[inet\]: an address and a port.
    ///
    /// # Errors
    /// As [`Reader::inet_addr`], or [`DecodeErrorKind::InvalidPort`].
    pub fn inet(&mut self) -> Result<SocketAddr, DecodeError> {
        let address = self.inet_addr()?;
        let position = self.position();
        let port = self.int()?;
        match u16::try_from(port) {
            Ok(port) => Ok(SocketAddr::new(address, port)),
            Err(_) => Err(self.error_at(DecodeErrorKind::InvalidPort(port), position)),
        }
    }

    /// A \[string list\], every string of it checked.
    ///
    /// # Errors
    /// As [`Reader::string`], or [`DecodeErrorKind::UnexpectedEnd`].
    pub fn string_list(&mut self) -> Result<StringList<'a>, DecodeError> {
        let count = self.short()?;
        let start = self.rest;
        for _ in 0..count {
            self.string()?;
        }
        Ok(StringList::checked(self.since(start), count))
    }

    /// A \[string map\], every string of it checked.
    ///
    /// # Errors
    /// As [`Reader::string`], or [`DecodeErrorKind::UnexpectedEnd`].
    pub fn string_map(&mut self) -> Result<StringMap<'a>, DecodeError> {
        let count = self.short()?;
        let start = self.rest;
        for _ in 0..count {
            self.string()?;
            self.string()?;
        }
        Ok(StringMap::checked(self.since(start), count))
    }

    /// A \[string multimap\], every string of it checked.
    ///
    /// # Errors
    /// As [`Reader::string`], or [`DecodeErrorKind::UnexpectedEnd`].
    pub fn string_multimap(&mut self) -> Result<StringMultimap<'a>, DecodeError> {
        let count = self.short()?;
        let start = self.rest;
        for _ in 0..count {
            self.string()?;
            self.string_list()?;
        }
        Ok(StringMultimap::checked(self.since(start), count))
    }

    /// A \[bytes map\], every entry of it checked.
    ///
    /// # Errors
    /// As [`Reader::string`] and [`Reader::bytes`].
    pub fn bytes_map(&mut self) -> Result<BytesMap<'a>, DecodeError> {
        let count = self.short()?;
        let start = self.rest;
        for _ in 0..count {
            self.string()?;
            self.bytes()?;
        }
        Ok(BytesMap::checked(self.since(start), count))
    }

    /// What was read since the reader's rest was `start`.
    #[inline]
    pub(crate) fn since(&self, start: &'a [u8]) -> &'a [u8] {
        let length = start.len().saturating_sub(self.rest.len());
        start.get(..length).unwrap_or_default()
    }

    /// An \[unsigned vint\]: the first byte's leading ones count the bytes behind it.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn unsigned_vint(&mut self) -> Result<u64, DecodeError> {
        let first = self.u8()?;
        let extra = first.leading_ones();
        if extra == 0 {
            return Ok(u64::from(first));
        }
        let high = if extra >= 7 {
            0
        } else {
            u64::from(first & (0xFF >> (extra + 1)))
        };
        let bytes = self.take(extra as usize)?;
        Ok(bytes
            .iter()
            .fold(high, |value, byte| (value << 8) | u64::from(*byte)))
    }

    /// A \[vint\], zig-zag encoded.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnexpectedEnd`].
    #[inline]
    pub fn vint(&mut self) -> Result<i64, DecodeError> {
        let value = self.unsigned_vint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
