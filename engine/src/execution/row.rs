//! A row as expressions see it: its key, its clustering values, the static row's cells and its own.

use std::borrow::Cow;

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::types::CqlType;

use crate::schema::ColumnId;
use crate::statement::{ColumnRef, Place, key_part};
use crate::storage::{Cell, CellPath, ClusteringKey, ColumnData, DecoratedKey, Row};
use crate::term::{Elements, begin_count, put_element};

/// A row of a read, or a partition of which only the static row is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowView<'a> {
    /// The partition.
    pub(crate) key: &'a DecoratedKey,
    /// The row's place; `None` without a row.
    pub(crate) clustering: Option<&'a ClusteringKey>,
    /// The partition's static row.
    pub(crate) static_row: Option<&'a Row>,
    /// The row.
    pub(crate) row: Option<&'a Row>,
}

impl<'a> RowView<'a> {
    /// What the row has of a column that isn't part of the key.
    pub(crate) fn data(&self, place: Place) -> Option<&'a ColumnData> {
        match place {
            Place::Static(id) => find(self.static_row?, id),
            Place::Regular(id) => find(self.row?, id),
            Place::Partition { .. } | Place::Clustering(_) => None,
        }
    }

    /// The serialized value of a column; `None` is null.
    pub(crate) fn value(&self, column: &ColumnRef) -> Option<Cow<'a, [u8]>> {
        match column.place {
            Place::Partition { alone: true, .. } => Some(Cow::Borrowed(&self.key.key)),
            Place::Partition { position, .. } => {
                key_part(&self.key.key, position).map(Cow::Borrowed)
            }
            Place::Clustering(position) => {
                clustering_part(self.clustering?, position).map(Cow::Borrowed)
            }
            place => match self.data(place)? {
                ColumnData::Simple(cell) => cell.value.as_deref().map(Cow::Borrowed),
                ColumnData::Complex { cells, .. } => {
                    let mut out = BytesMut::new();
                    put_complex(&column.ty, cells, &mut out).then(|| Cow::Owned(out.into()))
                }
            },
        }
    }

    /// The serialized value of a column as owned bytes; shares memory where the row does.
    pub(crate) fn bytes(&self, column: &ColumnRef) -> Option<Bytes> {
        match column.place {
            Place::Partition { alone: true, .. } => Some(self.key.key.clone()),
            Place::Partition { position, .. } => {
                key_part(&self.key.key, position).map(|part| self.key.key.slice_ref(part))
            }
            Place::Clustering(position) => {
                let clustering = self.clustering?;
                clustering_part(clustering, position).map(|part| clustering.values.slice_ref(part))
            }
            place => match self.data(place)? {
                ColumnData::Simple(cell) => cell.value.clone(),
                ColumnData::Complex { cells, .. } => {
                    let mut out = BytesMut::new();
                    put_complex(&column.ty, cells, &mut out).then(|| out.freeze())
                }
            },
        }
    }

    /// Appends a column's value as `[bytes]`.
    pub(crate) fn put(&self, column: &ColumnRef, out: &mut BytesMut) {
        match (column.place, self.data(column.place)) {
            (Place::Static(_) | Place::Regular(_), None) => put_element(out, None),
            (_, Some(ColumnData::Simple(cell))) => put_element(out, cell.value.as_deref()),
            (_, Some(ColumnData::Complex { cells, .. })) => {
                let start = out.len();
                out.put_i32(-1);
                if put_complex(&column.ty, cells, out) {
                    let len = i32::try_from(out.len() - start - 4).unwrap_or(i32::MAX);
                    if let Some(place) = out.get_mut(start..start + 4) {
                        place.copy_from_slice(&len.to_be_bytes());
                    }
                }
            }
            _ => put_element(out, self.value(column).as_deref()),
        }
    }
}

fn find(row: &Row, id: ColumnId) -> Option<&ColumnData> {
    // Of a row that has a value for each column, they stand one after the other: looking there first touches the memory
    // of no others, which rows of a long page aren't in the cache for.
    let columns = &row.columns;
    let guess = usize::try_from(id.0.checked_sub(columns.first()?.0.0)?).ok()?;
    if let Some((known, data)) = columns.get(guess)
        && *known == id
    {
        return Some(data);
    }
    let index = columns.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    columns.get(index).map(|(_, data)| data)
}

/// A clustering value of a key.
pub(crate) fn clustering_part(clustering: &ClusteringKey, position: usize) -> Option<&[u8]> {
    let mut rest: &[u8] = &clustering.values;
    let mut position = position;
    loop {
        let (len, behind) = rest.split_first_chunk::<4>()?;
        let (value, behind) =
            behind.split_at_checked(usize::try_from(i32::from_be_bytes(*len)).ok()?)?;
        if position == 0 {
            return Some(value);
        }
        position -= 1;
        rest = behind;
    }
}

/// Appends the value that the cells of a collection or user type make; false if there is none.
pub(crate) fn put_complex(ty: &CqlType, cells: &[(CellPath, Cell)], out: &mut BytesMut) -> bool {
    let live = || {
        cells
            .iter()
            .filter_map(|(path, cell)| Some((path, cell.value.as_ref()?)))
    };
    let count = live().count();
    if count == 0 {
        return false;
    }
    match ty {
        CqlType::Set(_) => {
            begin_count(out, count);
            live().for_each(|(path, _)| put_element(out, Some(&path.value)));
        }
        CqlType::Map(_) => {
            begin_count(out, count);
            for (path, value) in live() {
                put_element(out, Some(&path.value));
                put_element(out, Some(value));
            }
        }
        CqlType::Udt(udt) => {
            for index in 0..udt.fields.len() {
                let field = live().find(|(path, _)| field_index(path) == Some(index));
                put_element(out, field.map(|(_, value)| &**value));
            }
        }
        _ => {
            begin_count(out, count);
            live().for_each(|(_, value)| put_element(out, Some(value)));
        }
    }
    true
}

/// The field that a cell of a user type holds.
pub(crate) fn field_index(path: &CellPath) -> Option<usize> {
    let bytes = <[u8; 2]>::try_from(&path.value[..]).ok()?;
    usize::try_from(i16::from_be_bytes(bytes)).ok()
}

/// The element of a serialized list at an index.
pub(crate) fn list_element(list: &[u8], index: usize) -> Option<&[u8]> {
    Elements::new(list).nth(index).flatten()
}
