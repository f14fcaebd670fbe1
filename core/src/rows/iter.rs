//! [`RowIter`]: received rows, borrowed and decoded one at a time.

use super::error::RowError;
use super::typed::{FromRow, RowReader, find, read_cell_at};
use crate::message::ColumnSpec;
use crate::types::{FromCql, NameOrIndex};
use crate::wire::{DecodeError, Reader};

/// Reads the rows of a result. Each row is checked when it is reached; an error ends the iteration.
#[derive(Debug, Clone)]
pub struct RowIter<'a> {
    reader: Reader<'a>,
    left: usize,
    columns: usize,
    described: &'a [ColumnSpec<'a>],
}

impl<'a> RowIter<'a> {
    /// The rows in `content`, whose error offsets count from its start. Rows without columns have no
    /// cells to read and aren't yielded.
    #[inline]
    #[must_use]
    pub const fn new(content: &'a [u8], rows: u32, columns: usize) -> Self {
        let left = if columns == 0 { 0 } else { rows as usize };
        Self {
            reader: Reader::new(content),
            left,
            columns,
            described: &[],
        }
    }

    /// The same rows, of these columns: [`Row::get`] reads them.
    #[inline]
    #[must_use]
    pub fn described(content: &'a [u8], rows: u32, columns: &'a [ColumnSpec<'a>]) -> Self {
        Self {
            described: columns,
            ..Self::new(content, rows, columns.len())
        }
    }

    /// How many rows are to come.
    #[inline]
    #[must_use]
    pub const fn remaining(&self) -> u32 {
        self.left as u32
    }
}

impl<'a> Iterator for RowIter<'a> {
    type Item = Result<Row<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let start = self.reader.remaining();
        for _ in 0..self.columns {
            if let Err(error) = self.reader.bytes() {
                self.left = 0;
                return Some(Err(error));
            }
        }
        Some(Ok(Row {
            cells: self.reader.since(start),
            columns: self.columns,
            described: self.described,
        }))
    }
}

/// One row, its cells checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    cells: &'a [u8],
    columns: usize,
    described: &'a [ColumnSpec<'a>],
}

impl<'a> Row<'a> {
    /// How many cells the row has.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.columns
    }

    /// Whether the row has no cell.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.columns == 0
    }

    /// The cells in the order of the columns; `None` is a null.
    #[inline]
    #[must_use]
    pub const fn cells(&self) -> Cells<'a> {
        Cells {
            reader: Reader::new(self.cells),
            left: self.columns,
        }
    }

    /// The cell at this column: null (`Some(None)`), bytes, or `None` if there is no such column.
    #[inline]
    #[must_use]
    pub fn cell(&self, column: usize) -> Option<Option<&'a [u8]>> {
        self.cells().nth(column)
    }

    /// The columns, if they are described.
    #[inline]
    #[must_use]
    pub const fn columns(&self) -> &'a [ColumnSpec<'a>] {
        self.described
    }

    /// The value of the column of this name or index: `row.get::<i32>("a")`. Of equal names the first is meant. The column is
    /// looked for and its type checked each time; [`TypedRows`](super::TypedRows) does that once.
    ///
    /// # Errors
    /// Any [`RowError`]; [`RowError::Undescribed`] when the columns aren't described.
    #[inline]
    pub fn get<'n, T: FromCql<'a>>(
        &self,
        column: impl Into<NameOrIndex<'n>>,
    ) -> Result<T, RowError> {
        self.check_described()?;
        let (index, column) = find::<T>(self.described, column.into())?;
        read_cell_at(Reader::new(self.cells), index, column)
    }

    /// The row read as a Rust type, its columns checked first.
    ///
    /// # Errors
    /// Any [`RowError`]; [`RowError::Undescribed`] when the columns aren't described.
    #[inline]
    pub fn read<T: FromRow<'a>>(&self) -> Result<T, RowError> {
        self.check_described()?;
        T::check(self.described)?;
        T::from_row(&mut RowReader::new(Reader::new(self.cells), self.described))
    }

    #[inline]
    const fn check_described(&self) -> Result<(), RowError> {
        match self.described.is_empty() && self.columns > 0 {
            true => Err(RowError::Undescribed),
            false => Ok(()),
        }
    }
}

impl<'a> IntoIterator for Row<'a> {
    type Item = Option<&'a [u8]>;
    type IntoIter = Cells<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.cells()
    }
}

/// The cells of a [`Row`].
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for Cells<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        self.reader.bytes().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Cells<'_> {}
