//! QUERY, and the parameters that it shares with EXECUTE and BATCH.
//! Answers to native protocol v5, section 4.1.4.

use bytes::{BufMut, BytesMut};

use super::values::Values;
use crate::codes::{Consistency, ProtocolVersion};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// The flags of a statement's parameters: an \[int\] in v5, a \[byte\] before. Undefined bits survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct QueryFlags(pub u32);

impl QueryFlags {
    /// Values follow.
    pub const VALUES: Self = Self(0x0001);
    /// The client knows the result's metadata and wants rows without it.
    pub const SKIP_METADATA: Self = Self(0x0002);
    /// A page size follows.
    pub const PAGE_SIZE: Self = Self(0x0004);
    /// A paging state follows.
    pub const PAGING_STATE: Self = Self(0x0008);
    /// A serial consistency follows.
    pub const SERIAL_CONSISTENCY: Self = Self(0x0010);
    /// A default timestamp follows.
    pub const TIMESTAMP: Self = Self(0x0020);
    /// The values carry names; means nothing without [`VALUES`](Self::VALUES).
    pub const NAMES: Self = Self(0x0040);
    /// A keyspace follows (v5).
    pub const KEYSPACE: Self = Self(0x0080);
    /// The time to take for now follows (v5).
    pub const NOW_IN_SECONDS: Self = Self(0x0100);

    /// Whether every bit of `other` is set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags, those of `other` set or cleared.
    #[inline]
    #[must_use]
    pub const fn set(self, other: Self, on: bool) -> Self {
        if on {
            Self(self.0 | other.0)
        } else {
            Self(self.0 & !other.0)
        }
    }

    #[inline]
    fn decode(reader: &mut Reader<'_>, version: ProtocolVersion) -> Result<Self, DecodeError> {
        if version >= ProtocolVersion::V5 {
            return Ok(Self(reader.int()?.cast_unsigned()));
        }
        // The two bits that v5 added mean nothing before it. (Apache Cassandra reads a keyspace all
        // the same.)
        Ok(Self(u32::from(reader.u8()?)).set(Self::KEYSPACE, false))
    }

    /// Writes these flags behind a consistency, which always stands in front of them: in one piece.
    #[inline]
    fn encode(self, consistency: Consistency, version: ProtocolVersion, out: &mut BytesMut) {
        let [a, b] = consistency.0.to_be_bytes();
        if version >= ProtocolVersion::V5 {
            let [f0, f1, f2, f3] = self.0.to_be_bytes();
            out.put_slice(&[a, b, f0, f1, f2, f3]);
        } else {
            out.put_slice(&[a, b, (self.0 & 0x7F) as u8]);
        }
    }
}

/// What a statement is run with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryParams<'a> {
    /// The consistency level.
    pub consistency: Consistency,
    /// The flags as received. Encoding sets and clears the bits of the fields below.
    pub flags: QueryFlags,
    /// The bound values.
    pub values: Values<'a>,
    /// How many rows a page shall have; negative: no paging. Zero is refused when it is decoded.
    pub page_size: Option<i32>,
    /// Where to go on: what an earlier page's metadata carried.
    pub paging_state: Option<&'a [u8]>,
    /// The consistency of the conditional part of a statement.
    pub serial_consistency: Option<Consistency>,
    /// The timestamp of what the statement writes, in microseconds; never the least long.
    pub timestamp: Option<i64>,
    /// The keyspace that unqualified names mean (v5).
    pub keyspace: Option<&'a str>,
    /// What the statement takes for now, in seconds from 1970 (v5).
    pub now_in_seconds: Option<i32>,
}

impl<'a> QueryParams<'a> {
    /// Parameters with a consistency level and nothing else.
    #[must_use]
    pub const fn new(consistency: Consistency) -> Self {
        Self {
            consistency,
            flags: QueryFlags(0),
            values: Values::EMPTY,
            page_size: None,
            paging_state: None,
            serial_consistency: None,
            timestamp: None,
            keyspace: None,
            now_in_seconds: None,
        }
    }

    /// Whether the client wants rows without metadata.
    #[inline]
    #[must_use]
    pub const fn skip_metadata(&self) -> bool {
        self.flags.contains(QueryFlags::SKIP_METADATA)
    }

    /// The parameters of a QUERY or EXECUTE, which may not ask for pages of no rows.
    #[inline(always)]
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let position = reader.position();
        let params = Self::decode_any(reader, version)?;
        if params.page_size == Some(0) {
            return Err(reader.error_at(DecodeErrorKind::ZeroPageSize, position));
        }
        Ok(params)
    }

    /// The parameters of any statement, whatever their page size.
    #[inline(always)]
    pub(super) fn decode_any(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let mut copy = reader.clone();
        let params = Self::decode_fields(&mut copy, version)?;
        *reader = copy;
        Ok(params)
    }

    /// Reads from a reader of its own, which stays in registers.
    #[inline(always)]
    fn decode_fields(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let consistency = reader.consistency()?;
        let flags = QueryFlags::decode(reader, version)?;
        let values = if flags.contains(QueryFlags::VALUES) {
            Values::decode(reader, version, flags.contains(QueryFlags::NAMES))?
        } else {
            Values::EMPTY
        };
        let page_size = if flags.contains(QueryFlags::PAGE_SIZE) {
            Some(reader.int()?)
        } else {
            None
        };
        let mut params = Self {
            flags,
            values,
            page_size,
            ..Self::new(consistency)
        };
        let common = QueryFlags::VALUES.0
            | QueryFlags::NAMES.0
            | QueryFlags::SKIP_METADATA.0
            | QueryFlags::PAGE_SIZE.0;
        if flags.0 & !common == 0 {
            return Ok(params);
        }
        if flags.contains(QueryFlags::PAGING_STATE) {
            params.paging_state = reader.value(version)?.bytes();
        }
        if flags.contains(QueryFlags::SERIAL_CONSISTENCY) {
            params.serial_consistency = Some(reader.consistency()?);
        }
        if flags.contains(QueryFlags::TIMESTAMP) {
            let position = reader.position();
            let timestamp = reader.long()?;
            if timestamp == i64::MIN {
                return Err(reader.error_at(DecodeErrorKind::TimestampOutOfBounds, position));
            }
            params.timestamp = Some(timestamp);
        }
        if version >= ProtocolVersion::V5 {
            if flags.contains(QueryFlags::KEYSPACE) {
                params.keyspace = Some(reader.string()?);
            }
            if flags.contains(QueryFlags::NOW_IN_SECONDS) {
                params.now_in_seconds = Some(reader.int()?);
            }
        }
        Ok(params)
    }

    #[inline(always)]
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let v5 = version >= ProtocolVersion::V5;
        let keyspace = self.keyspace.filter(|_| v5);
        let now_in_seconds = self.now_in_seconds.filter(|_| v5);
        // A paging state may be sent as a null, and values as none at all.
        let has_values = self.flags.contains(QueryFlags::VALUES) || !self.values.is_empty();
        let has_paging_state =
            self.flags.contains(QueryFlags::PAGING_STATE) || self.paging_state.is_some();
        let named = if has_values && !self.values.is_empty() {
            self.values.is_named()
        } else {
            self.flags.contains(QueryFlags::NAMES)
        };
        let flags = self
            .flags
            .set(QueryFlags::VALUES, has_values)
            .set(QueryFlags::NAMES, named)
            .set(QueryFlags::PAGE_SIZE, self.page_size.is_some())
            .set(QueryFlags::PAGING_STATE, has_paging_state)
            .set(
                QueryFlags::SERIAL_CONSISTENCY,
                self.serial_consistency.is_some(),
            )
            .set(QueryFlags::TIMESTAMP, self.timestamp.is_some())
            .set(QueryFlags::KEYSPACE, keyspace.is_some())
            .set(QueryFlags::NOW_IN_SECONDS, now_in_seconds.is_some());
        flags.encode(self.consistency, version, out);
        if has_values {
            self.values.encode(out);
        }
        if let Some(page_size) = self.page_size {
            out.put_i32(page_size);
        }
        if has_paging_state {
            out.put_bytes_field(self.paging_state);
        }
        if let Some(consistency) = self.serial_consistency {
            out.put_consistency(consistency);
        }
        if let Some(timestamp) = self.timestamp {
            out.put_i64(timestamp);
        }
        if let Some(keyspace) = keyspace {
            out.put_string(keyspace);
        }
        if let Some(now) = now_in_seconds {
            out.put_i32(now);
        }
    }
}

/// QUERY: runs a statement given as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query<'a> {
    /// The statement.
    pub query: &'a str,
    /// What it is run with.
    pub params: QueryParams<'a>,
}

impl<'a> Query<'a> {
    #[inline(always)]
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let query = reader.long_string()?;
        Ok(Self {
            query,
            params: QueryParams::decode(reader, version)?,
        })
    }

    #[inline(always)]
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_long_string(self.query);
        self.params.encode(version, out);
    }
}
