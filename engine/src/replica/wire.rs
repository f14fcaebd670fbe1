//! The small items of the encoding: keys, places, deletions.

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::wire::{Reader, WireWrite as _};

use super::{EncodingError, VERSION};
use crate::readers::{Position, RingBound};
use crate::storage::{ClusteringBound, DecoratedKey, DeletionTime, Token};

pub(super) fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    out.put_unsigned_vint(bytes.len() as u64);
    out.put_slice(bytes);
}

pub(super) fn put_deletion(out: &mut BytesMut, deletion: DeletionTime) {
    out.put_i64(deletion.timestamp);
    out.put_vint(deletion.local_seconds);
}

pub(super) fn put_bound(out: &mut BytesMut, bound: &ClusteringBound) {
    match bound {
        ClusteringBound::Start => out.put_u8(0),
        ClusteringBound::Before(sort) => {
            out.put_u8(1);
            put_bytes(out, sort);
        }
        ClusteringBound::After(sort) => {
            out.put_u8(2);
            put_bytes(out, sort);
        }
        ClusteringBound::End => out.put_u8(3),
    }
}

pub(super) fn put_ring_bound(out: &mut BytesMut, bound: RingBound) {
    match bound {
        RingBound::Start => out.put_u8(0),
        RingBound::Before(token) => {
            out.put_u8(1);
            out.put_i64(token.0);
        }
        RingBound::After(token) => {
            out.put_u8(2);
            out.put_i64(token.0);
        }
        RingBound::End => out.put_u8(3),
    }
}

pub(super) fn put_position(out: &mut BytesMut, position: &Position) {
    put_bytes(out, &position.key.key);
    put_bound(out, &position.bound);
}

/// A message being read.
#[derive(Debug)]
pub(super) struct Input<'a> {
    reader: Reader<'a>,
    /// The buffer that what is read may share; otherwise it is copied.
    shared: Option<&'a Bytes>,
}

impl<'a> Input<'a> {
    /// Of a message whose content outlives it: it is copied, lest a small part of it keep all of the buffer.
    pub(super) fn copying(bytes: &'a [u8]) -> Result<Self, EncodingError> {
        Self::begin(bytes, None)
    }

    /// Of a message whose content is used for as long as the message is.
    pub(super) fn sharing(bytes: &'a Bytes) -> Result<Self, EncodingError> {
        Self::begin(bytes, Some(bytes))
    }

    fn begin(bytes: &'a [u8], shared: Option<&'a Bytes>) -> Result<Self, EncodingError> {
        let mut input = Self {
            reader: Reader::new(bytes),
            shared,
        };
        match input.u8()? {
            VERSION => Ok(input),
            other => Err(EncodingError::Version(other)),
        }
    }

    /// An error at the next byte.
    pub(super) fn malformed(&self, what: &'static str) -> EncodingError {
        EncodingError::Malformed {
            what,
            offset: u32::try_from(self.reader.position()).unwrap_or(u32::MAX),
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), EncodingError> {
        match self.reader.is_empty() {
            true => Ok(()),
            false => Err(self.malformed("bytes behind the end")),
        }
    }

    pub(super) fn u8(&mut self) -> Result<u8, EncodingError> {
        Ok(self.reader.u8()?)
    }

    /// Flags of which only `known` may be set.
    pub(super) fn flags(&mut self, known: u8) -> Result<u8, EncodingError> {
        match self.u8()? {
            flags if flags & !known == 0 => Ok(flags),
            _ => Err(self.malformed("unknown flags")),
        }
    }

    pub(super) fn i64(&mut self) -> Result<i64, EncodingError> {
        Ok(self.reader.long()?)
    }

    pub(super) fn u128(&mut self) -> Result<u128, EncodingError> {
        let bytes = self.reader.take(16)?;
        Ok(bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u128::from(*byte)))
    }

    pub(super) fn vint(&mut self) -> Result<i64, EncodingError> {
        Ok(self.reader.vint()?)
    }

    pub(super) fn u32(&mut self) -> Result<u32, EncodingError> {
        let value = self.reader.unsigned_vint()?;
        u32::try_from(value).map_err(|_| self.malformed("a number out of range"))
    }

    /// A number of items, each of which takes at least so many bytes.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, EncodingError> {
        let count = self.reader.unsigned_vint()?;
        let room = self.reader.remaining().len() / least;
        match usize::try_from(count) {
            Ok(count) if count <= room => Ok(count),
            _ => Err(self.malformed("a count of more than there is")),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<Bytes, EncodingError> {
        let len = self.reader.unsigned_vint()?;
        let taken = self
            .reader
            .take(usize::try_from(len).unwrap_or(usize::MAX))?;
        Ok(match self.shared {
            Some(bytes) => bytes.slice_ref(taken),
            None => Bytes::copy_from_slice(taken),
        })
    }

    pub(super) fn key(&mut self) -> Result<DecoratedKey, EncodingError> {
        Ok(DecoratedKey::new(self.bytes()?))
    }

    pub(super) fn deletion(&mut self) -> Result<DeletionTime, EncodingError> {
        Ok(DeletionTime {
            timestamp: self.i64()?,
            local_seconds: self.vint()?,
        })
    }

    pub(super) fn bound(&mut self) -> Result<ClusteringBound, EncodingError> {
        Ok(match self.u8()? {
            0 => ClusteringBound::Start,
            1 => ClusteringBound::Before(self.bytes()?),
            2 => ClusteringBound::After(self.bytes()?),
            3 => ClusteringBound::End,
            _ => return Err(self.malformed("no such bound")),
        })
    }

    pub(super) fn ring_bound(&mut self) -> Result<RingBound, EncodingError> {
        Ok(match self.u8()? {
            0 => RingBound::Start,
            1 => RingBound::Before(Token(self.i64()?)),
            2 => RingBound::After(Token(self.i64()?)),
            3 => RingBound::End,
            _ => return Err(self.malformed("no such bound of the ring")),
        })
    }

    pub(super) fn position(&mut self) -> Result<Position, EncodingError> {
        let key = self.key()?;
        Ok(Position::new(key, self.bound()?))
    }
}
