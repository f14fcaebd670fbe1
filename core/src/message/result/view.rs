//! [`RowsView`]: a RESULT with rows, borrowed from its body. Answers to native protocol v5, section 4.2.5.2.

use std::sync::Arc;

use bytes::Bytes;

use super::column::ColumnSpec;
use super::columns::ColumnsView;
use super::kind;
use super::metadata::{
    HAS_MORE_PAGES, METADATA_CHANGED, ResultMetadata, described_alike_since, read_count,
};
use super::rows::Rows;
use crate::codes::ProtocolVersion;
use crate::rows::{FromRow, RowError, RowIter, TypedRows};
use crate::wire::{DecodeError, DecodeErrorKind, Reader};

/// The rows that a statement returned, or a page of them, lent by the body they came in: nothing is allocated or copied, and
/// the description of the columns is stepped over, its names unread until somebody asks for them. [`Rows`] is the same owned.
///
/// ```
/// use helenus_core::message::RowsView;
/// use helenus_core::{ColumnSpec, CqlType, ProtocolVersion, ResultMetadata};
///
/// // Rows that describe their columns: the body lends the description too.
/// let body = b"\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x02ks\0\x01t\0\x01v\0\x0d\0\0\0\x01\0\0\0\x02hi";
/// let view = RowsView::decode(ProtocolVersion::V5, body, 0)?.expect("rows");
/// let columns = view.columns.to_vec()?;
/// let texts = view.typed::<(&str,)>(&columns)?;
/// assert_eq!(texts.collect::<Result<Vec<_>, _>>()?, [("hi",)]);
///
/// // What PREPARE said of them; with it the server needn't describe them again.
/// let column = ColumnSpec { keyspace: "ks".into(), table: "t".into(), name: "v".into(), ty: CqlType::Text };
/// let metadata = ResultMetadata::new(vec![column]);
/// let body = b"\0\0\0\x02\0\0\0\x04\0\0\0\x01\0\0\0\x01\0\0\0\x02hi";
/// let view = RowsView::decode(ProtocolVersion::V5, body, 0)?.expect("rows");
/// let texts = view.typed::<(&str,)>(metadata.columns())?;
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

    /// The rows read as a Rust type, one at a time, of these columns: those that the rows describe
    /// ([`ColumnsView::to_vec`]), or those that PREPARE described ([`ResultMetadata::columns`]). They are checked once, here.
    ///
    /// # Errors
    /// [`RowError::Undescribed`] without any column, [`RowError::ColumnCount`] if they are those of other rows, and what
    /// [`FromRow::check`] finds wrong with them.
    #[inline]
    pub fn typed<T: FromRow<'a>>(
        &self,
        columns: &'a [ColumnSpec<'a>],
    ) -> Result<TypedRows<'a, T>, RowError> {
        match columns.len() {
            described if described == self.columns.len() => {
                TypedRows::new(self.content, self.row_count, columns)
            }
            0 => Err(RowError::Undescribed),
            wanted => Err(RowError::ColumnCount {
                columns: self.columns.len(),
                wanted,
            }),
        }
    }

    /// Whether both versions write these rows with the same bytes: they describe the columns alike, or not at all, and
    /// v5 doesn't give them a new id.
    pub(crate) fn is_written_alike(&self, one: ProtocolVersion, other: ProtocolVersion) -> bool {
        if self.columns.flags() & METADATA_CHANGED != 0 {
            return false;
        }
        let older = one.min(other);
        // Who writes it anew finds out what is wrong with it.
        let columns = self.columns.to_vec().ok();
        columns.is_some_and(|columns| {
            let types = columns.iter().map(|column| &column.ty);
            described_alike_since(types) <= older
        })
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
