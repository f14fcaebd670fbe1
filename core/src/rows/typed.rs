//! [`TypedRows`]: rows read as Rust values, their columns checked once. [`FromRow`] is what they are read as.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::error::RowError;
use crate::message::ColumnSpec;
use crate::types::{FromCql, NameOrIndex};
use crate::wire::{DecodeError, Reader};

/// A Rust type that rows can be read as: a tuple of up to 16 columns, or a type of your own.
///
/// ```
/// use helenus_core::ColumnSpec;
/// use helenus_core::rows::{FromRow, RowError, RowReader, check_column};
/// use uuid::Uuid;
///
/// /// The columns by name, in whatever order the statement has them.
/// struct User<'a> {
///     id: Uuid,
///     name: Option<&'a str>,
/// }
///
/// impl<'a> FromRow<'a> for User<'a> {
///     fn check(columns: &[ColumnSpec<'_>]) -> Result<(), RowError> {
///         check_column::<Uuid>(columns, "id")?;
///         check_column::<&str>(columns, "name")
///     }
///
///     fn from_row(row: &mut RowReader<'a>) -> Result<Self, RowError> {
///         Ok(User { id: row.get("id")?, name: row.get("name")? })
///     }
/// }
///
/// /// The columns in their order, which is quicker.
/// struct Point(i32, i32);
///
/// impl<'a> FromRow<'a> for Point {
///     fn check(columns: &[ColumnSpec<'_>]) -> Result<(), RowError> {
///         <(i32, i32)>::check(columns)
///     }
///
///     fn from_row(row: &mut RowReader<'a>) -> Result<Self, RowError> {
///         Ok(Point(row.read()?, row.read()?))
///     }
/// }
/// ```
pub trait FromRow<'a>: Sized {
    /// Whether rows of these columns can be read: asked once for a result.
    ///
    /// # Errors
    /// What is wrong with the columns.
    fn check(columns: &[ColumnSpec<'_>]) -> Result<(), RowError>;

    /// Reads a row of columns that were checked. What is left of it then is skipped.
    ///
    /// # Errors
    /// When a value isn't as its column's type says, or the Rust type has no room for it.
    fn from_row(row: &mut RowReader<'a>) -> Result<Self, RowError>;
}

/// Checks that there is a column of this name or index, and that it can be read as `T`.
///
/// # Errors
/// [`RowError::NoColumn`], [`RowError::NoColumnAt`] or [`RowError::Type`].
pub fn check_column<'t, T: FromCql<'t>>(
    columns: &[ColumnSpec<'_>],
    column: impl Into<NameOrIndex<'t>>,
) -> Result<(), RowError> {
    find::<T>(columns, column.into()).map(|_| ())
}

/// The place of a column that can be read as `T`, and the column.
#[inline]
pub(super) fn find<'c, 't, T: FromCql<'t>>(
    columns: &'c [ColumnSpec<'c>],
    column: NameOrIndex<'_>,
) -> Result<(usize, &'c ColumnSpec<'c>), RowError> {
    let index = column.find(columns.iter().map(|column| &*column.name));
    match index.and_then(|index| Some((index, columns.get(index)?))) {
        Some((_, found)) if !T::accepts(&found.ty) => Err(RowError::mismatch::<T>(found)),
        Some(found) => Ok(found),
        None => Err(match column {
            NameOrIndex::Name(name) => RowError::NoColumn(name.into()),
            NameOrIndex::Index(index) => RowError::NoColumnAt(index),
        }),
    }
}

/// The value of a column. Not inlined it costs more than the reading itself: 2 ns of 4 for a cell in a default profile.
#[inline(always)]
fn value<'a, T: FromCql<'a>>(
    column: &'a ColumnSpec<'a>,
    bytes: Option<&'a [u8]>,
) -> Result<T, RowError> {
    match T::from_cql(&column.ty, bytes) {
        Ok(value) => Ok(value),
        Err(error) => Err(RowError::value::<T>(column, error)),
    }
}

/// Reads the cell so many cells behind the start of `reader`.
#[inline]
pub(super) fn read_cell_at<'a, T: FromCql<'a>>(
    mut reader: Reader<'a>,
    index: usize,
    column: &'a ColumnSpec<'a>,
) -> Result<T, RowError> {
    for _ in 0..index {
        reader.bytes()?;
    }
    value(column, reader.bytes()?)
}

/// A row on its way into a Rust value.
#[derive(Debug, Clone)]
pub struct RowReader<'a> {
    start: Reader<'a>,
    reader: Reader<'a>,
    columns: &'a [ColumnSpec<'a>],
    // How many columns were read.
    read: usize,
}

impl<'a> RowReader<'a> {
    #[inline]
    pub(super) fn new(reader: Reader<'a>, columns: &'a [ColumnSpec<'a>]) -> Self {
        Self {
            start: reader.clone(),
            reader,
            columns,
            read: 0,
        }
    }

    /// The columns of the row.
    #[inline]
    #[must_use]
    pub const fn columns(&self) -> &'a [ColumnSpec<'a>] {
        self.columns
    }

    /// The value of the next column, whose type [`FromRow::check`] has checked.
    ///
    /// # Errors
    /// [`RowError::NoColumnAt`] behind the last column, [`RowError::Decode`] and [`RowError::Value`].
    // Inlined whatever it takes: out of line the row lives in memory, and a cell costs twice the instructions.
    #[inline(always)]
    pub fn read<T: FromCql<'a>>(&mut self) -> Result<T, RowError> {
        let Some(column) = self.columns.get(self.read) else {
            return Err(RowError::NoColumnAt(self.read));
        };
        // The reader goes on only behind whole cells, so that a cut one is met again when the row is skipped.
        let mut reader = self.reader.clone();
        let bytes = reader.bytes()?;
        self.reader = reader;
        self.read += 1;
        value(column, bytes)
    }

    /// The value of the column of this name or index, whichever was read before. The column's type is checked.
    ///
    /// # Errors
    /// As [`check_column`], [`RowError::Decode`] and [`RowError::Value`].
    #[inline]
    pub fn get<'n, T: FromCql<'a>>(
        &self,
        column: impl Into<NameOrIndex<'n>>,
    ) -> Result<T, RowError> {
        let (index, column) = find::<T>(self.columns, column.into())?;
        read_cell_at(self.start.clone(), index, column)
    }

    /// Goes behind the row.
    // Not `Result<Reader, _>`: a reader that shares its place with an error is moved in pieces, which costs 5 ns a row.
    #[inline]
    fn skip(&mut self) -> Result<(), DecodeError> {
        for _ in self.read..self.columns.len() {
            self.reader.bytes()?;
        }
        Ok(())
    }
}

/// Rows read as `T`, one at a time. A value that can't be read is the item of its row, and the next row follows; bytes that
/// don't decode end the iteration.
#[derive(Debug, Clone)]
pub struct TypedRows<'a, T> {
    reader: Reader<'a>,
    left: usize,
    columns: &'a [ColumnSpec<'a>],
    read_as: PhantomData<fn() -> T>,
}

impl<'a, T: FromRow<'a>> TypedRows<'a, T> {
    #[inline]
    pub(crate) fn new(
        content: &'a [u8],
        rows: u32,
        columns: &'a [ColumnSpec<'a>],
    ) -> Result<Self, RowError> {
        T::check(columns)?;
        Ok(Self {
            reader: Reader::new(content),
            left: rows as usize,
            columns,
            read_as: PhantomData,
        })
    }

    /// Goes on behind a row that couldn't be read, or ends if its bytes are cut.
    #[cold]
    fn resume_behind(&mut self, mut row: RowReader<'a>) {
        match row.skip() {
            Ok(()) => self.reader = row.reader,
            Err(_) => self.left = 0,
        }
    }
}

impl<'a, T: FromRow<'a>> Iterator for TypedRows<'a, T> {
    type Item = Result<T, RowError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let mut row = RowReader::new(self.reader.clone(), self.columns);
        let value = match T::from_row(&mut row) {
            Ok(value) => value,
            Err(error) => {
                self.resume_behind(row);
                return Some(Err(error));
            }
        };
        if let Err(error) = row.skip() {
            self.left = 0;
            return Some(Err(error.into()));
        }
        self.reader = row.reader;
        Some(Ok(value))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        // Bytes that don't decode may end it early.
        (0, Some(self.left))
    }
}

impl<'a, T: FromRow<'a>> FusedIterator for TypedRows<'a, T> {}

macro_rules! tuple {
    ($count:literal: $($part:ident $column:ident),+) => {
        impl<'a, $($part: FromCql<'a>),+> FromRow<'a> for ($($part,)+) {
            fn check(columns: &[ColumnSpec<'_>]) -> Result<(), RowError> {
                let [$($column),+] = columns else {
                    return Err(RowError::ColumnCount { columns: columns.len(), wanted: $count });
                };
                $(if !$part::accepts(&$column.ty) {
                    return Err(RowError::mismatch::<$part>($column));
                })+
                Ok(())
            }

            // Its own reader stays in registers, and the columns are counted once.
            #[inline(always)]
            fn from_row(row: &mut RowReader<'a>) -> Result<Self, RowError> {
                let columns @ [$($column),+] = row.columns else {
                    return Err(RowError::ColumnCount { columns: row.columns.len(), wanted: $count });
                };
                let mut reader = row.start.clone();
                let tuple = ($(value::<$part>($column, reader.bytes()?)?,)+);
                row.reader = reader;
                row.read = columns.len();
                Ok(tuple)
            }
        }
    };
}

tuple!(1: A a);
tuple!(2: A a, B b);
tuple!(3: A a, B b, C c);
tuple!(4: A a, B b, C c, D d);
tuple!(5: A a, B b, C c, D d, E e);
tuple!(6: A a, B b, C c, D d, E e, F f);
tuple!(7: A a, B b, C c, D d, E e, F f, G g);
tuple!(8: A a, B b, C c, D d, E e, F f, G g, H h);
tuple!(9: A a, B b, C c, D d, E e, F f, G g, H h, I i);
tuple!(10: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
tuple!(11: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);
tuple!(12: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
tuple!(13: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m);
tuple!(14: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n);
tuple!(15: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o);
tuple!(16: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o, P p);
