//! [`RowsView`]: a RESULT with rows, borrowed from its body. Answers to native protocol v5, section 4.2.5.2.

use std::sync::Arc;

use bytes::Bytes;

use super::kind;
use super::metadata::{
    GLOBAL_TABLES_SPEC, HAS_MORE_PAGES, METADATA_CHANGED, NO_METADATA, ResultMetadata,
    described_alike_since, read_count,
};
use super::rows::Rows;
use crate::codes::ProtocolVersion;
use crate::rows::{FromRow, RowError, RowIter, TypedRows};
use crate::types::{CqlType, read_type, skip_type};
use crate::wire::{DecodeError, DecodeErrorKind, Reader};

/// The rows that a statement returned, or a page of them, lent by the body they came in: nothing is allocated or copied, and
/// the description of the columns is stepped over, its names unread until somebody asks for them. [`Rows`] is the same owned.
///
/// ```
/// use helenus_core::message::RowsView;
/// use helenus_core::{ColumnSpec, CqlType, ProtocolVersion, ResultMetadata};
///
/// // What PREPARE said; with it the server needn't describe the columns again.
/// let column = ColumnSpec { keyspace: "ks".into(), table: "t".into(), name: "v".into(), ty: CqlType::Text };
/// let metadata = ResultMetadata::new(vec![column]);
///
/// let body = b"\0\0\0\x02\0\0\0\x04\0\0\0\x01\0\0\0\x01\0\0\0\x02hi";
/// let view = RowsView::decode(ProtocolVersion::V5, body, 0)?.expect("rows");
/// let texts = view.typed::<(&str,)>(&metadata)?;
/// assert_eq!(texts.collect::<Result<Vec<_>, _>>()?, [("hi",)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowsView<'a> {
    /// The description of the columns.
    pub columns: ColumnsView<'a>,
    /// Where the next page begins; `None` on the last one.
    pub paging_state: Option<&'a [u8]>,
    /// The new id of the metadata, where the client's was stale (v5).
    pub metadata_id: Option<&'a [u8]>,
    /// How many rows there are.
    pub row_count: u32,
    /// The cells as \[bytes\], row after row.
    pub content: &'a [u8],
}

impl<'a> RowsView<'a> {
    /// Reads the RESULT that stands from `at` on in a response's body; `None` if it has no rows. Bytes behind it are ignored.
    ///
    /// # Errors
    /// What is wrong with the message, and where. Names that aren't UTF-8 and cut rows are found when they are read.
    // Inlined whatever it takes, as what it reads is often looked at in part: through memory a result of one row takes
    // a third more instructions.
    #[inline(always)]
    pub fn decode(
        version: ProtocolVersion,
        body: &'a [u8],
        at: usize,
    ) -> Result<Option<Self>, DecodeError> {
        let mut reader = Reader::new(body);
        reader.take(at)?;
        match reader.int()? {
            kind::ROWS => Self::read(&mut reader, version).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads what follows the kind of the RESULT.
    #[inline(always)]
    pub(in crate::message) fn read(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let flags = reader.int()?;
        let count = read_count(reader)?;
        let mut paging_state = None;
        if flags & HAS_MORE_PAGES != 0 {
            paging_state = reader.bytes()?;
        }
        let mut metadata_id = None;
        if version >= ProtocolVersion::V5 && flags & METADATA_CHANGED != 0 {
            metadata_id = Some(reader.short_bytes()?);
        }
        let columns = ColumnsView::read(reader, flags, count)?;
        let position = reader.position();
        let row_count = read_count(reader)?;
        let content = reader.remaining();
        // Each cell takes four bytes at least, and a row without cells could come without end.
        let cells = u64::from(row_count).saturating_mul(u64::from(count));
        if cells.saturating_mul(4) > content.len() as u64 || (row_count > 0 && count == 0) {
            let kind = DecodeErrorKind::InvalidCount(row_count.cast_signed());
            return Err(reader.error_at(kind, position));
        }
        Ok(Self {
            columns,
            paging_state,
            metadata_id,
            row_count,
            content,
        })
    }

    /// The rows, one at a time, their cells as bytes.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> RowIter<'a> {
        RowIter::new(self.content, self.row_count, self.columns.len())
    }

    /// The rows read as a Rust type, one at a time, their columns described by `metadata`: what PREPARE said of them, or
    /// [`ColumnsView::metadata`]. The columns are checked once, here.
    ///
    /// # Errors
    /// [`RowError::ColumnCount`] if it is the metadata of other rows, [`RowError::Undescribed`] if it describes none, and
    /// what [`FromRow::check`] finds wrong with the columns.
    #[inline]
    pub fn typed<T: FromRow<'a>>(
        &self,
        metadata: &'a ResultMetadata,
    ) -> Result<TypedRows<'a, T>, RowError> {
        if metadata.column_count() != self.columns.len() {
            return Err(RowError::ColumnCount {
                columns: self.columns.len(),
                wanted: metadata.column_count(),
            });
        }
        TypedRows::new(self.content, self.row_count, metadata)
    }

    /// Whether both versions write these rows with the same bytes: they describe the columns alike, or not at all, and
    /// v5 doesn't give them a new id.
    pub(crate) fn is_written_alike(&self, one: ProtocolVersion, other: ProtocolVersion) -> bool {
        if self.columns.flags & METADATA_CHANGED != 0 {
            return false;
        }
        let older = one.min(other);
        let describes_alike = |column: Result<ColumnView<'_>, DecodeError>| {
            column.is_ok_and(|column| described_alike_since(&column.ty) <= older)
        };
        match self.columns.iter() {
            Ok(mut columns) => columns.all(describes_alike),
            // Who writes it anew finds out what is wrong.
            Err(_) => false,
        }
    }

    /// The same rows, owned: their cells share `body`, from which they were read. Columns that aren't described have the
    /// metadata known beforehand.
    pub(in crate::message) fn to_rows(
        &self,
        body: &Bytes,
        known: Option<&Arc<ResultMetadata>>,
    ) -> Result<Rows, DecodeError> {
        let metadata = match known {
            // A new id without its description doesn't make the known one fit.
            Some(known) if !self.columns.are_described() && self.metadata_id.is_none() => {
                if known.column_count() != self.columns.len() {
                    return Err(self.columns.other_count());
                }
                Arc::clone(known)
            }
            _ => {
                let id = self.metadata_id.map(Bytes::copy_from_slice);
                Arc::new(self.columns.metadata(id)?)
            }
        };
        Ok(Rows {
            metadata,
            paging_state: self.paging_state.map(Bytes::copy_from_slice),
            skip_metadata: !self.columns.are_described(),
            metadata_changed: self.metadata_id.is_some(),
            row_count: self.row_count,
            content: body.slice_ref(self.content),
        })
    }
}

/// The description of a result's columns or of a statement's variables, lent by the body it came in.
#[derive(Debug, Clone)]
pub struct ColumnsView<'a> {
    // From the description on; its end was found.
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
        let start = reader.clone();
        if flags & NO_METADATA == 0 {
            *reader = skip_columns(reader.clone(), flags, count)?;
        }
        Ok(Self {
            reader: start,
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

    /// Whether all columns are of one table, which is then named once.
    pub(super) const fn are_of_one_table(&self) -> bool {
        self.flags & GLOBAL_TABLES_SPEC != 0
    }

    /// The columns in order; none if they aren't described.
    ///
    /// # Errors
    /// The first column's, if the table that all are of has a name that isn't UTF-8.
    pub fn iter(&self) -> Result<ColumnsIter<'a>, DecodeError> {
        let mut reader = self.reader.clone();
        let table = match self.are_described() && self.are_of_one_table() {
            true => Some((reader.string()?, reader.string()?)),
            false => None,
        };
        Ok(ColumnsIter {
            reader,
            left: if self.are_described() { self.count } else { 0 },
            table,
        })
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

    /// How many columns the description has bytes for at most: four each.
    pub(super) fn room(&self) -> usize {
        match self.are_described() {
            true => self.len().min(self.reader.remaining().len() / 4),
            false => 0,
        }
    }

    #[cold]
    fn other_count(&self) -> DecodeError {
        let kind = DecodeErrorKind::InvalidCount(self.count.cast_signed());
        self.reader.error(kind)
    }
}

/// A reader behind the description of so many columns.
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

/// A column of a [`ColumnsView`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnView<'a> {
    /// The keyspace of its table.
    pub keyspace: &'a str,
    /// Its table.
    pub table: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub ty: CqlType,
}

/// The columns of a [`ColumnsView`]. An error ends the iteration.
#[derive(Debug, Clone)]
pub struct ColumnsIter<'a> {
    reader: Reader<'a>,
    left: u32,
    table: Option<(&'a str, &'a str)>,
}

impl<'a> ColumnsIter<'a> {
    #[inline(always)]
    fn column(&mut self) -> Result<ColumnView<'a>, DecodeError> {
        let reader = &mut self.reader;
        let (keyspace, table) = match self.table {
            Some(table) => table,
            None => (reader.string()?, reader.string()?),
        };
        Ok(ColumnView {
            keyspace,
            table,
            name: reader.string()?,
            ty: read_type(reader)?,
        })
    }
}

impl<'a> Iterator for ColumnsIter<'a> {
    type Item = Result<ColumnView<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let column = self.column();
        if column.is_err() {
            self.left = 0;
        }
        Some(column)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, usize::try_from(self.left).ok())
    }
}
