//! Where an expression finds a column's value in a row.

use helenus_core::types::CqlType;

use crate::schema::{Column, ColumnId, ColumnKind};

/// A column as plans name it.
#[derive(Debug, Clone)]
pub(crate) struct ColumnRef {
    /// Where its value is.
    pub(crate) place: Place,
    /// Its type.
    pub(crate) ty: CqlType,
}

/// Where a column's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A part of the partition key, by position; `alone` if it is the whole key.
    Partition {
        /// The position.
        position: usize,
        /// Whether the key has no other part.
        alone: bool,
    },
    /// A clustering value, by position.
    Clustering(usize),
    /// A cell of the static row.
    Static(ColumnId),
    /// A cell of the row.
    Regular(ColumnId),
}

impl ColumnRef {
    /// The column of a table whose partition key has `key_len` parts.
    pub(crate) fn new(column: &Column, key_len: usize) -> Self {
        let place = match column.kind {
            ColumnKind::PartitionKey => Place::Partition {
                position: column.position,
                alone: key_len == 1,
            },
            ColumnKind::Clustering => Place::Clustering(column.position),
            ColumnKind::Static => Place::Static(column.id),
            ColumnKind::Regular => Place::Regular(column.id),
        };
        Self {
            place,
            ty: column.ty.clone(),
        }
    }

    /// Whether the value lies in the static row.
    pub(crate) fn is_static(&self) -> bool {
        matches!(self.place, Place::Static(_))
    }
}
