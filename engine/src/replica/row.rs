//! Rows and cells.

use bytes::{BufMut as _, BytesMut};
use helenus_core::wire::WireWrite as _;

use super::EncodingError;
use super::columns::{Columns, cell_path};
use super::wire::{Input, put_bytes, put_deletion};
use crate::schema::{Column, ColumnId};
use crate::storage::{Cell, ColumnData, Liveness, NO_EXPIRY, Row};

/// Flags of a row.
mod of_row {
    pub(super) const LIVENESS: u8 = 1;
    pub(super) const EXPIRES: u8 = 2;
    pub(super) const DELETION: u8 = 4;
}

/// Flags of a cell and of a column of several.
mod of_cell {
    pub(super) const VALUE: u8 = 1;
    pub(super) const EXPIRES: u8 = 2;
    pub(super) const ROW_TIMESTAMP: u8 = 4;
    pub(super) const COMPLEX: u8 = 8;
    pub(super) const DELETION: u8 = 16;
    pub(super) const OF_ONE: u8 = VALUE | EXPIRES | ROW_TIMESTAMP;
}

/// The fewest bytes of a column, and of an element.
const LEAST: usize = 2;

pub(super) fn put_row(out: &mut BytesMut, row: &Row) {
    let flags = row.liveness.map_or(0, |liveness| match expires(&liveness) {
        true => of_row::LIVENESS | of_row::EXPIRES,
        false => of_row::LIVENESS,
    });
    out.put_u8(flags | flag(row.deletion.is_some(), of_row::DELETION));
    if let Some(liveness) = &row.liveness {
        out.put_i64(liveness.timestamp);
        if expires(liveness) {
            out.put_unsigned_vint(liveness.ttl.into());
            out.put_vint(liveness.expires_at);
        }
    }
    if let Some(deletion) = row.deletion {
        put_deletion(out, deletion);
    }
    let timestamp = row.liveness.map(|liveness| liveness.timestamp);
    out.put_unsigned_vint(row.columns.len() as u64);
    for (id, data) in &row.columns {
        out.put_unsigned_vint(id.0.into());
        match data {
            ColumnData::Simple(cell) => put_cell(out, cell, timestamp),
            ColumnData::Complex { deletion, cells } => {
                out.put_u8(of_cell::COMPLEX | flag(deletion.is_some(), of_cell::DELETION));
                if let Some(deletion) = deletion {
                    put_deletion(out, *deletion);
                }
                out.put_unsigned_vint(cells.len() as u64);
                for (path, cell) in cells {
                    put_bytes(out, &path.value);
                    put_cell(out, cell, timestamp);
                }
            }
        }
    }
}

fn expires(liveness: &Liveness) -> bool {
    (liveness.ttl, liveness.expires_at) != (0, NO_EXPIRY)
}

fn flag(is_set: bool, flag: u8) -> u8 {
    if is_set { flag } else { 0 }
}

fn put_cell(out: &mut BytesMut, cell: &Cell, row_timestamp: Option<i64>) {
    let shares_time = row_timestamp == Some(cell.timestamp);
    let expires = (cell.ttl, cell.expires_at) != (0, NO_EXPIRY);
    out.put_u8(
        flag(cell.value.is_some(), of_cell::VALUE)
            | flag(expires, of_cell::EXPIRES)
            | flag(shares_time, of_cell::ROW_TIMESTAMP),
    );
    if !shares_time {
        out.put_i64(cell.timestamp);
    }
    if expires {
        out.put_unsigned_vint(cell.ttl.into());
        out.put_vint(cell.expires_at);
    }
    if let Some(value) = &cell.value {
        put_bytes(out, value);
    }
}

/// Reads a row. What it has of columns that were dropped is left out.
pub(super) fn read_row(input: &mut Input<'_>, columns: &Columns<'_>) -> Result<Row, EncodingError> {
    let flags = input.flags(of_row::LIVENESS | of_row::EXPIRES | of_row::DELETION)?;
    let mut row = Row::default();
    if flags & of_row::LIVENESS != 0 {
        let timestamp = input.i64()?;
        let (ttl, expires_at) = read_expiry(input, flags & of_row::EXPIRES != 0)?;
        row.liveness = Some(Liveness {
            timestamp,
            ttl,
            expires_at,
        });
    } else if flags & of_row::EXPIRES != 0 {
        return Err(input.malformed("nothing that expires"));
    }
    if flags & of_row::DELETION != 0 {
        row.deletion = Some(input.deletion()?);
    }
    let timestamp = row.liveness.map(|liveness| liveness.timestamp);
    let count = input.count(LEAST)?;
    row.columns.reserve_exact(count);
    for _ in 0..count {
        let id = ColumnId(input.u32()?);
        let column = columns.find(id)?;
        let data = read_column(input, column, timestamp)?;
        if column.is_some() {
            row.columns.push((id, data));
        }
    }
    Ok(row)
}

fn read_column(
    input: &mut Input<'_>,
    column: Option<&Column>,
    timestamp: Option<i64>,
) -> Result<ColumnData, EncodingError> {
    let flags = input.flags(of_cell::OF_ONE | of_cell::COMPLEX | of_cell::DELETION)?;
    let is_complex = flags & of_cell::COMPLEX != 0;
    if column.is_some_and(|column| column.is_complex() != is_complex) {
        return Err(input.malformed("a column of another kind"));
    }
    if !is_complex {
        return Ok(ColumnData::Simple(read_cell(input, flags, timestamp)?));
    }
    if flags & of_cell::OF_ONE != 0 {
        return Err(input.malformed("unknown flags"));
    }
    let deletion = match flags & of_cell::DELETION {
        0 => None,
        _ => Some(input.deletion()?),
    };
    let count = input.count(LEAST)?;
    let mut cells = Vec::with_capacity(count);
    for _ in 0..count {
        let path = input.bytes()?;
        let flags = input.flags(of_cell::OF_ONE)?;
        let cell = read_cell(input, flags, timestamp)?;
        if let Some(column) = column {
            cells.push((cell_path(&column.ty, path), cell));
        }
    }
    Ok(ColumnData::Complex { deletion, cells })
}

fn read_cell(
    input: &mut Input<'_>,
    flags: u8,
    row_timestamp: Option<i64>,
) -> Result<Cell, EncodingError> {
    if flags & of_cell::DELETION != 0 {
        return Err(input.malformed("unknown flags"));
    }
    let timestamp = match (flags & of_cell::ROW_TIMESTAMP, row_timestamp) {
        (0, _) => input.i64()?,
        (_, Some(timestamp)) => timestamp,
        (_, None) => return Err(input.malformed("no timestamp to share")),
    };
    let (ttl, expires_at) = read_expiry(input, flags & of_cell::EXPIRES != 0)?;
    let value = match flags & of_cell::VALUE {
        0 => None,
        _ => Some(input.bytes()?),
    };
    Ok(Cell {
        timestamp,
        ttl,
        expires_at,
        value,
    })
}

fn read_expiry(input: &mut Input<'_>, expires: bool) -> Result<(u32, i64), EncodingError> {
    match expires {
        true => Ok((input.u32()?, input.vint()?)),
        false => Ok((0, NO_EXPIRY)),
    }
}
