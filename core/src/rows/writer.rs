//! [`RowsWriter`]: a RESULT with rows, its cells encoded straight into the output.

use bytes::{BufMut, BytesMut};

use crate::codes::ProtocolVersion;
use crate::message::{
    BindError, BindValues, Binder, ResultMetadata, RowsHeader, Unset, result_kind,
};
use crate::wire::WireWrite;

/// Writes rows, cell after cell in the order of the columns.
///
/// The writer only appends. Whoever gives up on a response halfway truncates the output to where it was.
#[derive(Debug)]
pub struct RowsWriter<'a> {
    out: &'a mut BytesMut,
    // Where the number of rows stands, to be patched at the end.
    count_at: usize,
    metadata: &'a ResultMetadata,
    columns: u32,
    // Cells of the row begun.
    cells: u32,
    rows: u32,
}

/// Rows were finished within a row, or are more than the protocol can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{cells} cells of {columns} written to the last row")]
pub struct IncompleteRow {
    /// Cells written to the last row.
    pub cells: u32,
    /// Cells that a row has.
    pub columns: u32,
}

impl<'a> RowsWriter<'a> {
    /// Writes everything in front of the rows.
    #[inline]
    #[must_use]
    pub fn new(out: &'a mut BytesMut, header: &RowsHeader<'a>, version: ProtocolVersion) -> Self {
        out.put_i32(result_kind::ROWS);
        header.encode(version, out);
        let count_at = out.len();
        out.put_u32(0);
        let columns = header.metadata.column_count() as u32;
        Self {
            out,
            count_at,
            metadata: header.metadata,
            columns,
            cells: 0,
            rows: 0,
        }
    }

    /// Writes the next cell; `None` is a null. The cell behind a row's last one begins a new row.
    #[inline]
    pub fn cell(&mut self, value: Option<&[u8]>) {
        self.out.put_bytes_field(value);
        self.end_cell();
    }

    /// Writes the next cell by appending its value to the output; what stood there must be left alone.
    #[inline]
    pub fn cell_with(&mut self, write: impl FnOnce(&mut BytesMut)) {
        let start = self.out.len();
        self.out.put_i32(0);
        write(self.out);
        let length = self.out.len().saturating_sub(start.saturating_add(4));
        patch(
            self.out,
            start,
            i32::try_from(length).unwrap_or(i32::MAX).cast_unsigned(),
        );
        self.end_cell();
    }

    /// Writes a row, or what is left of the row begun, each value checked against its column's type. After an error the
    /// output is as before.
    ///
    /// # Errors
    /// When the values don't fit the columns; none may be unset.
    #[inline]
    pub fn row<V: BindValues + ?Sized>(&mut self, values: &V) -> Result<(), BindError> {
        let start = self.out.len();
        let columns = self.metadata.columns().get(self.cells as usize..);
        let mut binder = Binder::new(self.out, columns, Unset::Refused);
        let written = values.bind(&mut binder).and_then(|()| binder.finish());
        match written {
            Ok(_) => {
                self.cells = 0;
                self.rows = self.rows.saturating_add(1);
                Ok(())
            }
            Err(error) => {
                self.out.truncate(start);
                Err(error)
            }
        }
    }

    #[inline]
    fn end_cell(&mut self) {
        self.cells += 1;
        if self.cells >= self.columns {
            self.cells = 0;
            self.rows = self.rows.saturating_add(1);
        }
    }

    /// How many rows are complete.
    #[inline]
    #[must_use]
    pub const fn row_count(&self) -> u32 {
        self.rows
    }

    /// How many bytes the rows take so far.
    #[inline]
    #[must_use]
    pub fn content_len(&self) -> usize {
        self.out
            .len()
            .saturating_sub(self.count_at.saturating_add(4))
    }

    /// Writes the number of rows.
    ///
    /// # Errors
    /// [`IncompleteRow`] if the last row lacks cells; the output is then no message.
    #[inline]
    pub fn finish(self) -> Result<u32, IncompleteRow> {
        if self.cells != 0 {
            return Err(IncompleteRow {
                cells: self.cells,
                columns: self.columns,
            });
        }
        patch(self.out, self.count_at, self.rows);
        Ok(self.rows)
    }
}

/// Overwrites four bytes that were written before.
#[inline]
fn patch(out: &mut BytesMut, at: usize, value: u32) {
    if let Some(place) = out
        .get_mut(at..)
        .and_then(|rest| rest.first_chunk_mut::<4>())
    {
        *place = value.to_be_bytes();
    }
}
