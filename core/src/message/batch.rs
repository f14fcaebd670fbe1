//! BATCH. Answers to native protocol v5, section 4.1.7.

use bytes::{BufMut, BytesMut};

use super::query::{QueryFlags, QueryParams};
use super::values::{TooMany, Values};
use crate::codes::{Consistency, ProtocolVersion};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// What the statements of a batch share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchType {
    /// All of them are applied in the end, or none.
    Logged,
    /// They only travel together.
    Unlogged,
    /// They update counters.
    Counter,
}

/// BATCH: runs several statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batch<'a> {
    /// What the statements share.
    pub kind: BatchType,
    /// The statements.
    pub statements: BatchStatements<'a>,
    /// The consistency level.
    pub consistency: Consistency,
    /// The flags as received. Encoding sets and clears the bits of the fields below, and clears those of
    /// fields that a batch can't have.
    pub flags: QueryFlags,
    /// The consistency of the conditional part.
    pub serial_consistency: Option<Consistency>,
    /// The timestamp of what the statements write, in microseconds; never the least long.
    pub timestamp: Option<i64>,
    /// The keyspace that unqualified names mean (v5).
    pub keyspace: Option<&'a str>,
    /// What the statements take for now, in seconds from 1970 (v5).
    pub now_in_seconds: Option<i32>,
}

impl<'a> Batch<'a> {
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let position = reader.position();
        let kind = match reader.u8()? {
            0 => BatchType::Logged,
            1 => BatchType::Unlogged,
            2 => BatchType::Counter,
            other => {
                return Err(reader.error_at(DecodeErrorKind::InvalidBatchType(other), position));
            }
        };
        let statements = BatchStatements::decode(reader, version)?;
        // The rest has the layout of a query's parameters. Values and a page size have no place in a
        // batch; Apache Cassandra reads past them where their flags are set, and so do we.
        let params = QueryParams::decode_any(reader, version)?;
        Ok(Self {
            kind,
            statements,
            consistency: params.consistency,
            flags: params.flags,
            serial_consistency: params.serial_consistency,
            timestamp: params.timestamp,
            keyspace: params.keyspace,
            now_in_seconds: params.now_in_seconds,
        })
    }

    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_u8(match self.kind {
            BatchType::Logged => 0,
            BatchType::Unlogged => 1,
            BatchType::Counter => 2,
        });
        self.statements.encode(out);
        let flags = self
            .flags
            .set(QueryFlags::VALUES, false)
            .set(QueryFlags::PAGING_STATE, false)
            .set(QueryFlags::NAMES, false);
        let params = QueryParams {
            flags,
            serial_consistency: self.serial_consistency,
            timestamp: self.timestamp,
            keyspace: self.keyspace,
            now_in_seconds: self.now_in_seconds,
            ..QueryParams::new(self.consistency)
        };
        params.encode(version, out);
    }
}

/// What one statement of a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchStatementKind<'a> {
    /// A text.
    Query(&'a str),
    /// A prepared statement's id.
    Prepared(&'a [u8]),
}

/// One statement of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchStatement<'a> {
    /// The statement.
    pub kind: BatchStatementKind<'a>,
    /// Its bound values, which never carry names.
    pub values: Values<'a>,
}

impl<'a> BatchStatement<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>, version: ProtocolVersion) -> Result<Self, DecodeError> {
        let position = reader.position();
        let kind = match reader.u8()? {
            0 => BatchStatementKind::Query(reader.long_string()?),
            1 => BatchStatementKind::Prepared(reader.short_bytes()?),
            other => {
                return Err(reader.error_at(DecodeErrorKind::InvalidStatementKind(other), position));
            }
        };
        Ok(Self {
            kind,
            values: Values::decode(reader, version, false)?,
        })
    }

    /// Writes the statement, its values without names.
    fn encode(&self, out: &mut BytesMut) {
        match self.kind {
            BatchStatementKind::Query(query) => {
                out.put_u8(0);
                out.put_long_string(query);
            }
            BatchStatementKind::Prepared(id) => {
                out.put_u8(1);
                out.put_short_bytes(id);
            }
        }
        out.put_u16(self.values.len() as u16);
        for (_, value) in self.values.iter() {
            out.put_value(value);
        }
    }
}

/// The statements of a batch, checked when they are decoded and read lazily.
#[derive(Debug, Clone, Copy)]
pub struct BatchStatements<'a> {
    bytes: &'a [u8],
    count: u16,
    version: ProtocolVersion,
}

impl<'a> BatchStatements<'a> {
    fn decode(reader: &mut Reader<'a>, version: ProtocolVersion) -> Result<Self, DecodeError> {
        let count = reader.short()?;
        let start = reader.remaining();
        for _ in 0..count {
            BatchStatement::decode(reader, version)?;
        }
        Ok(Self {
            bytes: reader.since(start),
            count,
            version,
        })
    }

    fn encode(&self, out: &mut BytesMut) {
        out.put_u16(self.count);
        if self.has_odd_nulls() {
            self.iter().for_each(|statement| statement.encode(out));
        } else {
            out.put_slice(self.bytes);
        }
    }

    /// As [`Values::has_odd_nulls`], of any of them.
    pub(crate) fn has_odd_nulls(&self) -> bool {
        self.version < ProtocolVersion::V4
            && self
                .iter()
                .any(|statement| statement.values.has_odd_nulls())
    }

    /// How many statements there are.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no statement.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The statements in order.
    #[inline]
    #[must_use]
    pub const fn iter(&self) -> BatchStatementsIter<'a> {
        BatchStatementsIter {
            reader: Reader::new(self.bytes),
            left: self.count,
            version: self.version,
        }
    }
}

impl PartialEq for BatchStatements<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> IntoIterator for BatchStatements<'a> {
    type Item = BatchStatement<'a>;
    type IntoIter = BatchStatementsIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The statements of a [`BatchStatements`].
#[derive(Debug, Clone)]
pub struct BatchStatementsIter<'a> {
    reader: Reader<'a>,
    left: u16,
    version: ProtocolVersion,
}

impl<'a> Iterator for BatchStatementsIter<'a> {
    type Item = BatchStatement<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        BatchStatement::decode(&mut self.reader, self.version).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for BatchStatementsIter<'_> {}

/// Builds [`BatchStatements`] in their serialized form.
#[derive(Debug, Clone, Default)]
pub struct BatchStatementList {
    bytes: BytesMut,
    count: u16,
}

impl BatchStatementList {
    /// A list without statements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a statement; names of its values are dropped.
    ///
    /// # Errors
    /// [`TooMany`] from the 65,536th statement on.
    pub fn push(&mut self, statement: &BatchStatement<'_>) -> Result<(), TooMany> {
        self.count = self.count.checked_add(1).ok_or(TooMany)?;
        statement.encode(&mut self.bytes);
        Ok(())
    }

    /// The statements.
    #[must_use]
    pub fn as_statements(&self) -> BatchStatements<'_> {
        BatchStatements {
            bytes: &self.bytes,
            count: self.count,
            version: ProtocolVersion::LATEST,
        }
    }
}
