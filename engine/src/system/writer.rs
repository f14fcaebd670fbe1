//! Mutations from named values: how the server writes its own tables.

use std::sync::Arc;

use bytes::{BufMut, Bytes};
use helenus_core::types::{CqlType, Value, elements};

use crate::schema::{Column, Table};
use crate::storage::{
    Cell, CellPath, ClusteringKey, ColumnData, DecoratedKey, DeletionTime, Liveness, Mutation,
    NO_EXPIRY, Row,
};
use crate::types::comparable;

/// A row to be inserted as `INSERT` would, with the values of its key and of other columns by name.
///
/// Every column of the primary key has to be there. A value whose column the table doesn't have, or that isn't one of
/// the column's type, is left out: the caller knows the table, and its tests find it. So is a list that isn't frozen,
/// whose elements need identities.
pub fn insert(table: &Arc<Table>, timestamp: i64, values: &[(&str, Value)]) -> Mutation {
    let mut writer = PartitionWriter::new(table, timestamp, values);
    writer.insert(values);
    writer.finish()
}

/// Changes of one partition, all with one timestamp.
#[derive(Debug)]
pub struct PartitionWriter {
    timestamp: i64,
    ttl: Option<(u32, i64)>,
    mutation: Mutation,
}

/// Puts the serialized value for a column into `out`, if there is one; else leaves it empty.
fn encode(column: &Column, values: &[(&str, Value)], out: &mut Vec<u8>) -> bool {
    out.clear();
    let value = values.iter().find(|(name, _)| *name == &*column.name);
    let is_list = matches!(column.ty, CqlType::List(_));
    let done = value
        .filter(|_| !is_list)
        .is_some_and(|(_, value)| value.encode(&column.ty, out).is_ok());
    if !done {
        out.clear();
    }
    done
}

fn partition_key(table: &Table, values: &[(&str, Value)]) -> Bytes {
    let (mut key, mut part) = (Vec::new(), Vec::new());
    for column in table.partition_key() {
        encode(column, values, &mut part);
        if table.partition_key_len == 1 {
            return part.into();
        }
        // A longer part is no key at all: nothing of the server's own is.
        key.put_u16(u16::try_from(part.len()).unwrap_or(u16::MAX));
        key.put_slice(&part);
        key.put_u8(0);
    }
    key.into()
}

fn clustering_key(table: &Table, values: &[(&str, Value)], scratch: &mut Vec<u8>) -> ClusteringKey {
    let (mut sort, mut plain) = (Vec::new(), Vec::new());
    for column in table.clustering() {
        encode(column, values, scratch);
        comparable::encode(&column.ty, scratch, column.descending, &mut sort);
        plain.put_i32(i32::try_from(scratch.len()).unwrap_or(i32::MAX));
        plain.put_slice(scratch);
    }
    ClusteringKey {
        sort: sort.into(),
        values: plain.into(),
    }
}

impl PartitionWriter {
    /// Opens the partition whose key is among `values`.
    pub fn new(table: &Arc<Table>, timestamp: i64, values: &[(&str, Value)]) -> Self {
        let mutation = Mutation {
            table: Arc::clone(table),
            key: DecoratedKey::new(partition_key(table, values)),
            partition_deletion: None,
            static_row: None,
            rows: Vec::new(),
            range_tombstones: Vec::new(),
        };
        Self {
            timestamp,
            ttl: None,
            mutation,
        }
    }

    /// Lets everything inserted from here on expire after `ttl` seconds, at `expires_at`.
    pub fn expire(mut self, ttl: u32, expires_at: i64) -> Self {
        self.ttl = Some((ttl, expires_at));
        self
    }

    /// Inserts a row: the values of its clustering columns and others by name.
    pub fn insert(&mut self, values: &[(&str, Value)]) {
        self.write(values, false);
    }

    /// Inserts a row and sets every regular column that isn't among `values` to null.
    pub fn replace(&mut self, values: &[(&str, Value)]) {
        self.write(values, true);
    }

    fn write(&mut self, values: &[(&str, Value)], clears: bool) {
        let table = Arc::clone(&self.mutation.table);
        let (ttl, expires_at) = self.ttl.unwrap_or((0, NO_EXPIRY));
        let liveness = Liveness {
            timestamp: self.timestamp,
            ttl,
            expires_at,
        };
        let mut row = Row {
            liveness: Some(liveness),
            ..Row::default()
        };
        let mut scratch = Vec::new();
        row.columns.reserve(if clears {
            table.regulars().len()
        } else {
            values.len()
        });
        for column in table.regulars() {
            if encode(column, values, &mut scratch) {
                let value = Bytes::copy_from_slice(&scratch);
                row.columns
                    .push((column.id, self.column_data(column, value)));
            } else if clears {
                row.columns.push((column.id, self.tombstone(column)));
            }
        }
        row.columns.sort_by_key(|(id, _)| *id);
        self.mutation
            .rows
            .push((clustering_key(&table, values, &mut scratch), row));
    }

    /// Deletes a row.
    pub fn delete(&mut self, clustering: &[(&str, Value)]) {
        let row = Row {
            deletion: Some(self.deletion()),
            ..Row::default()
        };
        self.mutation.rows.push((
            clustering_key(&self.mutation.table, clustering, &mut Vec::new()),
            row,
        ));
    }

    /// Deletes everything the partition has.
    pub fn delete_partition(&mut self) {
        self.mutation.partition_deletion = Some(self.deletion());
    }

    /// Whether nothing has been written yet.
    pub fn is_empty(&self) -> bool {
        self.mutation.rows.is_empty() && self.mutation.partition_deletion.is_none()
    }

    /// The mutation, its rows in order.
    pub fn finish(mut self) -> Mutation {
        self.mutation.rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.mutation
    }

    fn deletion(&self) -> DeletionTime {
        DeletionTime {
            timestamp: self.timestamp,
            local_seconds: self.timestamp.div_euclid(1_000_000),
        }
    }

    fn cell(&self, value: Bytes) -> Cell {
        let (ttl, expires_at) = self.ttl.unwrap_or((0, NO_EXPIRY));
        Cell {
            timestamp: self.timestamp,
            ttl,
            expires_at,
            value: Some(value),
        }
    }

    fn tombstone(&self, column: &Column) -> ColumnData {
        let deletion = self.deletion();
        match column.is_complex() {
            true => ColumnData::Complex {
                deletion: Some(deletion),
                cells: Vec::new(),
            },
            false => ColumnData::Simple(Cell {
                timestamp: deletion.timestamp,
                ttl: 0,
                expires_at: deletion.local_seconds,
                value: None,
            }),
        }
    }

    fn column_data(&self, column: &Column, value: Bytes) -> ColumnData {
        let (path_type, elements, has_values) = match &column.ty {
            CqlType::Set(element) => (&**element, elements::set(&value), false),
            CqlType::Map(pair) => (&pair.0, elements::map(&value), true),
            _ => return ColumnData::Simple(self.cell(value)),
        };
        let mut elements = elements
            .into_iter()
            .flatten()
            .map_while(Result::ok)
            .map(|element| value.slice_ref(element.unwrap_or_default()));
        let mut cells = Vec::new();
        while let Some(element) = elements.next() {
            let mut sort = Vec::new();
            comparable::encode(path_type, &element, false, &mut sort);
            let path = CellPath {
                sort: sort.into(),
                value: element,
            };
            let value = if has_values {
                elements.next().unwrap_or_default()
            } else {
                Bytes::new()
            };
            cells.push((path, self.cell(value)));
        }
        cells.sort_by(|(a, _), (b, _)| a.cmp(b));
        // As for every assignment of a whole collection: what was there just before goes.
        let deletion = DeletionTime {
            timestamp: self.timestamp - 1,
            ..self.deletion()
        };
        ColumnData::Complex {
            deletion: Some(deletion),
            cells,
        }
    }
}
