//! RESULT with rows. Answers to native protocol v5, section 4.2.5.2.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::metadata::{HAS_MORE_PAGES, METADATA_CHANGED, NO_METADATA, ResultMetadata};
use crate::codes::ProtocolVersion;
use crate::rows::{FromRow, RowError, RowIter, TypedRows};
use crate::wire::WireWrite;

/// The rows that a statement returned, or a page of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The columns.
    pub metadata: Arc<ResultMetadata>,
    /// Where the next page begins; `None` on the last one.
    pub paging_state: Option<Bytes>,
    /// Whether the description of the columns is left out, as the client wished.
    pub skip_metadata: bool,
    /// Whether the client's metadata id is stale: then v5 gets the new id and the description, wished or
    /// not.
    pub metadata_changed: bool,
    /// How many rows there are.
    pub row_count: u32,
    /// The cells as \[bytes\], row after row.
    pub content: Bytes,
}

impl Rows {
    /// What stands in front of the rows.
    #[must_use]
    pub fn header(&self) -> RowsHeader<'_> {
        RowsHeader {
            metadata: &self.metadata,
            paging_state: self.paging_state.as_deref(),
            skip_metadata: self.skip_metadata,
            metadata_changed: self.metadata_changed,
        }
    }

    /// The rows, borrowed and read one at a time.
    #[must_use]
    pub fn iter(&self) -> RowIter<'_> {
        let metadata = &self.metadata;
        match metadata.is_described() {
            true => RowIter::described(&self.content, self.row_count, metadata.columns()),
            false => RowIter::new(&self.content, self.row_count, metadata.column_count()),
        }
    }

    /// The rows read as a Rust type, borrowed and one at a time: `rows.typed::<(i32, &str)>()`. The columns are checked once,
    /// here.
    ///
    /// # Errors
    /// [`RowError::Undescribed`], or what [`FromRow::check`] finds wrong with the columns.
    pub fn typed<'a, T: FromRow<'a>>(&'a self) -> Result<TypedRows<'a, T>, RowError> {
        match self.metadata.is_described() || self.metadata.column_count() == 0 {
            true => TypedRows::new(&self.content, self.row_count, self.metadata.columns()),
            false => Err(RowError::Undescribed),
        }
    }

    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.reserve(self.content.len().saturating_add(64));
        self.header().encode(version, out);
        out.put_u32(self.row_count);
        out.put_slice(&self.content);
    }
}

/// What stands in front of the rows of a RESULT.
#[derive(Debug, Clone, Copy)]
pub struct RowsHeader<'a> {
    /// The columns.
    pub metadata: &'a ResultMetadata,
    /// Where the next page begins; `None` on the last one.
    pub paging_state: Option<&'a [u8]>,
    /// Whether the description of the columns is left out.
    pub skip_metadata: bool,
    /// Whether the client's metadata id is stale (v5); goes before `skip_metadata`.
    pub metadata_changed: bool,
}

impl<'a> RowsHeader<'a> {
    /// The header of a last page with its description.
    #[must_use]
    pub const fn new(metadata: &'a ResultMetadata) -> Self {
        Self {
            metadata,
            paging_state: None,
            skip_metadata: false,
            metadata_changed: false,
        }
    }

    /// Writes the metadata, up to the number of rows.
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        let metadata = self.metadata;
        let new_id = match metadata.id() {
            Some(id) if self.metadata_changed && version >= ProtocolVersion::V5 => Some(id),
            _ => None,
        };
        let described = metadata.is_described() && (new_id.is_some() || !self.skip_metadata);
        let mut flags = metadata.global_flag();
        if self.paging_state.is_some() {
            flags |= HAS_MORE_PAGES;
        }
        if new_id.is_some() {
            flags |= METADATA_CHANGED;
        }
        if !described {
            flags |= NO_METADATA;
        }
        out.put_i32(flags);
        out.put_u32(metadata.column_count() as u32);
        if let Some(paging_state) = self.paging_state {
            out.put_bytes_field(Some(paging_state));
        }
        if let Some(id) = new_id {
            out.put_short_bytes(id);
        }
        if described {
            metadata.put_columns(version, out);
        }
    }
}
