//! [`RowError`]: why a row, or a column of it, can't be read as a Rust type. Nothing is formatted before it is displayed.

use std::fmt;
use std::sync::Arc;

use crate::message::ColumnSpec;
use crate::types::{CqlType, ValueError};
use crate::wire::DecodeError;

/// Why rows can't be read as a Rust type.
// The wide tag is for the same as `ValueError`'s.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum RowError {
    /// The bytes of the rows are cut; offsets count from the first row.
    Decode(DecodeError),
    /// The columns aren't described: the server left their metadata out and the caller gave none.
    Undescribed,
    /// There are so many columns, and the Rust type wants another number.
    ColumnCount {
        /// How many there are.
        columns: usize,
        /// How many the Rust type has.
        wanted: usize,
    },
    /// No column has this name.
    NoColumn(Box<str>),
    /// No column has this index, which counts from 0.
    NoColumnAt(usize),
    /// A column's type can't be read as the Rust type.
    Type(Box<TypeMismatch>),
    /// A column's value is no value of its type, or none that the Rust type can hold.
    Value(Box<InvalidCell>),
}

/// A column's type can't be read as a Rust type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeMismatch {
    /// The column's name.
    pub column: Arc<str>,
    /// The column's type.
    pub ty: CqlType,
    /// The name of the Rust type.
    pub rust: &'static str,
}

/// A column's value can't be read as a Rust type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidCell {
    /// The column's name.
    pub column: Arc<str>,
    /// The column's type.
    pub ty: CqlType,
    /// The name of the Rust type.
    pub rust: &'static str,
    /// What is wrong with the value.
    pub error: ValueError,
}

impl RowError {
    #[cold]
    pub(super) fn mismatch<T>(column: &ColumnSpec<'_>) -> Self {
        Self::Type(Box::new(TypeMismatch {
            column: column.name.to_shared(),
            ty: column.ty.clone(),
            rust: std::any::type_name::<T>(),
        }))
    }

    #[cold]
    pub(super) fn value<T>(column: &ColumnSpec<'_>, error: ValueError) -> Self {
        Self::Value(Box::new(InvalidCell {
            column: column.name.to_shared(),
            ty: column.ty.clone(),
            rust: std::any::type_name::<T>(),
            error,
        }))
    }
}

impl From<DecodeError> for RowError {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => {
                write!(f, "{} (at byte {} of the rows)", error.kind, error.offset)
            }
            Self::Undescribed => f.write_str("The columns are not described"),
            Self::ColumnCount { columns, wanted } => {
                write!(f, "There are {columns} columns where {wanted} are read")
            }
            Self::NoColumn(name) => write!(f, "There is no column {name}"),
            Self::NoColumnAt(index) => write!(f, "There is no column {index}, counted from 0"),
            Self::Type(mismatch) => write!(
                f,
                "Column {} is of type {}, which can't be read as {}",
                mismatch.column, mismatch.ty, mismatch.rust
            ),
            Self::Value(cell) => write!(
                f,
                "Column {} of type {} can't be read as {}: {}",
                cell.column, cell.ty, cell.rust, cell.error
            ),
        }
    }
}

impl std::error::Error for RowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Decode(error) => Some(error),
            Self::Value(cell) => Some(&cell.error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_enough_for_a_hot_path() {
        assert!(size_of::<RowError>() <= 24);
    }
}
