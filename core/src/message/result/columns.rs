//! [`ColumnsView`]: the description of columns, borrowed from its body. Answers to native protocol v5, sections 4.2.5.2
//! and 4.2.5.4.

use bytes::Bytes;

use super::column::ColumnSpec;
use super::metadata::{GLOBAL_TABLES_SPEC, NO_METADATA, ResultMetadata};
use crate::types::{CqlType, read_type, skip_type};
use crate::wire::{DecodeError, DecodeErrorKind, Reader};

/// The description of a result's columns or of a statement's variables, lent by the body it came in.
#[derive(Debug, Clone)]
pub struct ColumnsView<'a> {
    // The description alone.
    reader: Reader<'a>,
    flags: i32,
    count: u32,
}

impl<'a> ColumnsView<'a> {
    /// Steps over the description that `count` and `flags` announce.
    #[inline(always)]
    pub(super) fn read(
        reader: &mut Reader<'a>,
        flags: i32,
        count: u32,
    ) -> Result<Self, DecodeError> {
        let (start, position) = (reader.remaining(), reader.position());
        if flags & NO_METADATA == 0 {
            *reader = skip_columns(reader.clone(), flags, count)?;
        }
        Ok(Self {
            reader: Reader::at(reader.since(start), position),
            flags,
            count,
        })
    }

    /// How many columns there are, described or not.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no column.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the columns are described; if not, whoever asked for rows without metadata knows them.
    #[inline]
    #[must_use]
    pub const fn are_described(&self) -> bool {
        self.flags & NO_METADATA == 0
    }

    /// The flags in front of the description.
    pub(super) const fn flags(&self) -> i32 {
        self.flags
    }

    /// Whether all columns are of one table, which is then named once.
    pub(super) const fn are_of_one_table(&self) -> bool {
        self.flags & GLOBAL_TABLES_SPEC != 0
    }

    /// The columns in order, lent as the rows are; none if they aren't described.
    ///
    /// Memory: one allocation of at most 24 bytes for each byte of the description, and what types with parts take.
    ///
    /// # Errors
    /// When a name isn't UTF-8.
    #[inline]
    pub fn to_vec(&self) -> Result<Vec<ColumnSpec<'a>>, DecodeError> {
        if !self.are_described() {
            return Ok(Vec::new());
        }
        let Some(mut plain) = Plain::new(self) else {
            return self.read_one_by_one();
        };
        // Collected from a range each column is made in its place. Pushed one after the other they are made elsewhere and
        // copied, which takes as long as all the rest.
        let columns = (0..self.len()).map(|_| plain.column()).collect();
        match plain.is_plain {
            true => Ok(columns),
            false => self.read_one_by_one(),
        }
    }

    /// The columns, whatever their names and types.
    #[cold]
    fn read_one_by_one(&self) -> Result<Vec<ColumnSpec<'a>>, DecodeError> {
        let mut reader = self.reader.clone();
        let mut table = ("", "");
        if self.are_of_one_table() {
            table = (reader.string()?, reader.string()?);
        }
        let mut columns = Vec::with_capacity(self.len());
        for _ in 0..self.count {
            if !self.are_of_one_table() {
                table = (reader.string()?, reader.string()?);
            }
            columns.push(ColumnSpec {
                keyspace: table.0.into(),
                table: table.1.into(),
                name: reader.string()?.into(),
                ty: read_type(&mut reader)?,
            });
        }
        Ok(columns)
    }

    /// The columns as owned metadata with this id.
    ///
    /// Memory: at most 32 bytes for each byte of the description.
    ///
    /// # Errors
    /// When a name isn't UTF-8.
    pub fn metadata(&self, id: Option<Bytes>) -> Result<ResultMetadata, DecodeError> {
        ResultMetadata::from_view(self, id)
    }

    #[cold]
    pub(super) fn other_count(&self) -> DecodeError {
        let kind = DecodeErrorKind::InvalidCount(self.count.cast_signed());
        self.reader.error(kind)
    }
}

/// Reads a plain description: one that is UTF-8 as a whole, which all but lengths above 127 is, and whose types have no parts.
/// Looking at all of it at once takes a third of what looking at name after name does.
struct Plain<'a> {
    rest: &'a str,
    of_all: Option<(&'a str, &'a str)>,
    // Whether it was plain so far.
    is_plain: bool,
}

impl<'a> Plain<'a> {
    #[inline]
    fn new(view: &ColumnsView<'a>) -> Option<Self> {
        let mut rest = std::str::from_utf8(view.reader.remaining()).ok()?;
        let of_all = match view.are_of_one_table() {
            true => Some((string(&mut rest)?, string(&mut rest)?)),
            false => None,
        };
        Some(Self {
            rest,
            of_all,
            is_plain: true,
        })
    }

    #[inline(always)]
    fn column(&mut self) -> ColumnSpec<'a> {
        let (keyspace, table, name, id) = self.next().unwrap_or_default();
        let ty = CqlType::from_native_id(id);
        self.is_plain &= ty.is_some();
        ColumnSpec {
            keyspace: keyspace.into(),
            table: table.into(),
            name: name.into(),
            ty: ty.unwrap_or(CqlType::Blob),
        }
    }

    /// The names of the next column and the id of its type.
    #[inline(always)]
    fn next(&mut self) -> Option<(&'a str, &'a str, &'a str, u16)> {
        let mut rest = self.rest;
        let (keyspace, table) = match self.of_all {
            Some(of_all) => of_all,
            None => (string(&mut rest)?, string(&mut rest)?),
        };
        let name = string(&mut rest)?;
        let id = short(&mut rest)?;
        self.rest = rest;
        Some((keyspace, table, name, id))
    }
}

#[inline(always)]
fn string<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let length = short(rest)?;
    let (string, tail) = rest.split_at_checked(length.into())?;
    *rest = tail;
    Some(string)
}

#[inline(always)]
fn short(rest: &mut &str) -> Option<u16> {
    let bytes = *rest.as_bytes().first_chunk()?;
    (_, *rest) = rest.split_at_checked(2)?;
    Some(u16::from_be_bytes(bytes))
}

/// A reader behind the description of so many columns.
#[inline(always)]
fn skip_columns<'a>(
    mut reader: Reader<'a>,
    flags: i32,
    count: u32,
) -> Result<Reader<'a>, DecodeError> {
    let global = flags & GLOBAL_TABLES_SPEC != 0;
    if global {
        skip_table(&mut reader)?;
    }
    for _ in 0..count {
        if !global {
            skip_table(&mut reader)?;
        }
        reader.skip_string()?;
        skip_type(&mut reader)?;
    }
    Ok(reader)
}

#[inline]
fn skip_table(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    reader.skip_string()?;
    reader.skip_string()
}
