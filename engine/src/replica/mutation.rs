//! Mutations as bytes.

use bytes::{BufMut as _, BytesMut};
use helenus_core::wire::WireWrite as _;

use super::columns::Columns;
use super::row::{put_row, read_row};
use super::wire::{Input, put_bound, put_bytes, put_deletion};
use super::{EncodingError, VERSION};
use crate::schema::{Schema, TableId};
use crate::storage::{Mutation, RangeTombstone};

/// Flags of a mutation, and of a partition's start in an answer.
pub(super) const DELETION: u8 = 1;
pub(super) const STATIC_ROW: u8 = 2;

impl Mutation {
    /// Appends its encoding, as the [module](crate::replica) says: equal mutations give equal bytes.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(VERSION);
        out.put_u128(self.table.id.as_u128());
        put_bytes(out, &self.key.key);
        let deletion = self.partition_deletion.map_or(0, |_| DELETION);
        out.put_u8(deletion | self.static_row.as_ref().map_or(0, |_| STATIC_ROW));
        if let Some(deletion) = self.partition_deletion {
            put_deletion(out, deletion);
        }
        if let Some(row) = &self.static_row {
            put_row(out, row);
        }
        out.put_unsigned_vint(self.rows.len() as u64);
        for (key, row) in &self.rows {
            put_bytes(out, &key.values);
            put_row(out, row);
        }
        out.put_unsigned_vint(self.range_tombstones.len() as u64);
        for tombstone in &self.range_tombstones {
            put_bound(out, &tombstone.start);
            put_bound(out, &tombstone.end);
            put_deletion(out, tombstone.deletion);
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, for the table of this schema. What it has of columns that were dropped
    /// since is left out. It shares no memory with `bytes`.
    ///
    /// # Errors
    /// If these bytes are no mutation, or one of a table or column that the schema doesn't know.
    pub fn decode(schema: &Schema, bytes: &[u8]) -> Result<Self, EncodingError> {
        let mut input = Input::copying(bytes)?;
        let id = TableId::from_u128(input.u128()?);
        let table = schema
            .table_with_id(id)
            .ok_or(EncodingError::UnknownTable(id))?;
        let columns = Columns::of(table);
        let mut mutation = Self {
            table: table.clone(),
            key: input.key()?,
            partition_deletion: None,
            static_row: None,
            rows: Vec::new(),
            range_tombstones: Vec::new(),
        };
        let flags = input.flags(DELETION | STATIC_ROW)?;
        if flags & DELETION != 0 {
            mutation.partition_deletion = Some(input.deletion()?);
        }
        if flags & STATIC_ROW != 0 {
            mutation.static_row = Some(read_row(&mut input, &columns)?);
        }
        let count = input.count(3)?;
        mutation.rows.reserve_exact(count);
        for _ in 0..count {
            let key = columns
                .clustering_key(input.bytes()?)
                .ok_or_else(|| input.malformed("no clustering key of this table"))?;
            mutation.rows.push((key, read_row(&mut input, &columns)?));
        }
        let count = input.count(11)?;
        mutation.range_tombstones.reserve_exact(count);
        for _ in 0..count {
            mutation.range_tombstones.push(RangeTombstone {
                start: input.bound()?,
                end: input.bound()?,
                deletion: input.deletion()?,
            });
        }
        input.finish()?;
        Ok(mutation)
    }
}
