//! Read commands as bytes.

use bytes::{BufMut as _, BytesMut};
use helenus_core::wire::WireWrite as _;

use super::wire::{Input, put_bound, put_bytes, put_position, put_ring_bound};
use super::{EncodingError, VERSION};
use crate::readers::{PartitionRange, ReadCommand, ReadLimit, Slices};
use crate::schema::{Schema, TableId};
use crate::storage::ClusteringBound;

const REVERSED: u8 = 1;
const SLICES: u8 = 2;
const POSITION: u8 = 4;
const ONE_PARTITION: u8 = 8;

impl ReadCommand {
    /// Appends its encoding, as the [module](crate::replica) says: equal commands give equal bytes. That the consumer of
    /// an interrupted read waits within a partition is its own affair, and isn't told.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(VERSION);
        out.put_u128(self.table.id.as_u128());
        let mut flags = 0;
        if self.reversed {
            flags |= REVERSED;
        }
        if self.slices != Slices::All {
            flags |= SLICES;
        }
        if self.resume.is_some() {
            flags |= POSITION;
        }
        match &self.range {
            PartitionRange::Key(key) => {
                out.put_u8(flags | ONE_PARTITION);
                put_bytes(out, &key.key);
            }
            PartitionRange::Tokens { start, end } => {
                out.put_u8(flags);
                put_ring_bound(out, *start);
                put_ring_bound(out, *end);
            }
        }
        if let Slices::Ranges(ranges) = &self.slices {
            out.put_unsigned_vint(ranges.len() as u64);
            for (start, end) in &**ranges {
                put_bound(out, start);
                put_bound(out, end);
            }
        }
        out.put_vint(self.now_seconds);
        if let Some(position) = &self.resume {
            put_position(out, position);
        }
        let limit = self.limit;
        for limit in [limit.rows, limit.per_partition, limit.bytes] {
            out.put_unsigned_vint(limit.into());
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, for the table of this schema. It shares no memory with `bytes`.
    ///
    /// # Errors
    /// If these bytes are no command, or one for a table that the schema doesn't know.
    pub fn decode(schema: &Schema, bytes: &[u8]) -> Result<Self, EncodingError> {
        let mut input = Input::copying(bytes)?;
        let id = TableId::from_u128(input.u128()?);
        let table = schema
            .table_with_id(id)
            .ok_or(EncodingError::UnknownTable(id))?;
        let flags = input.flags(REVERSED | SLICES | POSITION | ONE_PARTITION)?;
        let range = match flags & ONE_PARTITION {
            0 => PartitionRange::Tokens {
                start: input.ring_bound()?,
                end: input.ring_bound()?,
            },
            _ => PartitionRange::Key(input.key()?),
        };
        let slices = match flags & SLICES {
            0 => Slices::All,
            _ => read_slices(&mut input)?,
        };
        let now_seconds = input.vint()?;
        let resume = match flags & POSITION {
            0 => None,
            _ => Some(input.position()?),
        };
        let limit = ReadLimit {
            rows: input.u32()?,
            per_partition: input.u32()?,
            bytes: input.u32()?,
        };
        input.finish()?;
        Ok(Self {
            table: table.clone(),
            range,
            slices,
            reversed: flags & REVERSED != 0,
            now_seconds,
            resume,
            limit,
        })
    }
}

fn read_slices(input: &mut Input<'_>) -> Result<Slices, EncodingError> {
    let count = input.count(2)?;
    let mut ranges = Vec::with_capacity(count);
    let mut place = ClusteringBound::Start;
    for _ in 0..count {
        let (start, end) = (input.bound()?, input.bound()?);
        // An empty slice may have any place.
        if start < end {
            if start < place {
                return Err(input.malformed("slices out of order"));
            }
            place = end.clone();
        }
        ranges.push((start, end));
    }
    Ok(Slices::Ranges(ranges.into()))
}
