//! A table's columns by their ids, and the keys that values make.

use bytes::Bytes;
use helenus_core::types::CqlType;

use super::EncodingError;
use crate::schema::{Column, ColumnId, Table};
use crate::storage::{CellPath, ClusteringKey};
use crate::types::comparable;

/// The columns of a table that aren't part of its key.
#[derive(Debug)]
pub(super) struct Columns<'t> {
    table: &'t Table,
    by_id: Vec<&'t Column>,
}

impl<'t> Columns<'t> {
    pub(super) fn of(table: &'t Table) -> Self {
        let mut by_id: Vec<_> = table.statics().iter().chain(table.regulars()).collect();
        by_id.sort_unstable_by_key(|column| column.id);
        Self { table, by_id }
    }

    /// The column of an id; `None` of one that was dropped.
    pub(super) fn find(&self, id: ColumnId) -> Result<Option<&'t Column>, EncodingError> {
        match self.by_id.binary_search_by_key(&id, |column| column.id) {
            Ok(index) => Ok(self.by_id.get(index).copied()),
            Err(_) if id.0 < self.table.next_column_id => Ok(None),
            Err(_) => Err(EncodingError::UnknownColumn(id)),
        }
    }

    /// The place of the row with these clustering values; `None` if they aren't those of such a table.
    pub(super) fn clustering_key(&self, values: Bytes) -> Option<ClusteringKey> {
        let mut rest: &[u8] = &values;
        let mut sort = Vec::with_capacity(values.len());
        for column in self.table.clustering() {
            let (len, behind) = rest.split_first_chunk::<4>()?;
            let len = usize::try_from(i32::from_be_bytes(*len)).ok()?;
            let (value, behind) = behind.split_at_checked(len)?;
            comparable::encode(&column.ty, value, column.descending, &mut sort);
            rest = behind;
        }
        rest.is_empty().then(|| ClusteringKey {
            sort: sort.into(),
            values,
        })
    }
}

/// The place of an element in a column of this type.
pub(super) fn cell_path(ty: &CqlType, value: Bytes) -> CellPath {
    let key = match ty {
        CqlType::Set(element) => &**element,
        CqlType::Map(pair) => &pair.0,
        CqlType::List(_) => &CqlType::Timeuuid,
        // Fields of a user type go by their index.
        _ => {
            return CellPath {
                sort: value.clone(),
                value,
            };
        }
    };
    let mut sort = Vec::with_capacity(value.len() + 4);
    comparable::encode(key, &value, false, &mut sort);
    CellPath {
        sort: sort.into(),
        value,
    }
}
