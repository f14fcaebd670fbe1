//! RESULT with rows.

use bytes::{BufMut, BytesMut};
use helenus_core::message::RowsView;
use helenus_core::rows::{FromRow, RowsHeader, RowsWriter};
use helenus_core::types::Timestamp;
use helenus_core::{ColumnSpec, CqlType, ProtocolVersion, ResultMetadata};
use uuid::Uuid;

use crate::data::{Column, KEYSPACE, TABLE, Wide, digest, narrow_digest};

const V4: ProtocolVersion = ProtocolVersion::V4;

/// The description of these columns.
#[must_use]
pub fn metadata(columns: &[Column]) -> ResultMetadata {
    let column = |(name, ty): &Column| ColumnSpec {
        keyspace: KEYSPACE.into(),
        table: TABLE.into(),
        name: (*name).into(),
        ty: match ty {
            0x02 => CqlType::BigInt,
            0x03 => CqlType::Blob,
            0x04 => CqlType::Boolean,
            0x07 => CqlType::Double,
            0x08 => CqlType::Float,
            0x09 => CqlType::Int,
            0x0B => CqlType::Timestamp,
            0x0C => CqlType::Uuid,
            _ => CqlType::Text,
        },
    };
    ResultMetadata::new(columns.iter().map(column).collect())
}

/// The cells as slices.
pub fn raw(body: &[u8]) -> Option<u64> {
    let rows = RowsView::decode(V4, body, 0).ok()??;
    let mut sum = 0;
    for row in rows.iter() {
        for cell in row.ok()?.cells() {
            sum += cell.map_or(0, <[u8]>::len) as u64;
        }
    }
    Some(sum)
}

fn typed<'a, R: FromRow<'a>>(
    rows: &RowsView<'a>,
    columns: &'a [ColumnSpec<'a>],
    digest: impl Fn(R) -> u64,
) -> Option<u64> {
    let mut sum = 0_u64;
    for row in rows.typed::<R>(columns).ok()? {
        sum = sum.wrapping_add(digest(row.ok()?));
    }
    Some(sum)
}

type WideRow<'a> = (
    i32,
    i64,
    &'a str,
    Uuid,
    f64,
    bool,
    Timestamp,
    &'a [u8],
    f32,
    &'a str,
);

fn wide_digest((id, count, name, key, ratio, active, at, blob, weight, note): WideRow<'_>) -> u64 {
    digest(
        id, count, name, key, ratio, active, at.0, blob, weight, note,
    )
}

/// The cells of wide rows as values.
pub fn wide(body: &[u8], cached: Option<&ResultMetadata>) -> Option<u64> {
    let rows = RowsView::decode(V4, body, 0).ok()??;
    match cached {
        Some(metadata) => typed(&rows, metadata.columns(), wide_digest),
        None => typed(&rows, &rows.columns.to_vec().ok()?, wide_digest),
    }
}

/// The cells of narrow rows as values.
pub fn narrow(body: &[u8], cached: Option<&ResultMetadata>) -> Option<u64> {
    let rows = RowsView::decode(V4, body, 0).ok()??;
    let digest = |(id, name, count): (i32, &str, i64)| narrow_digest(id, name, count);
    match cached {
        Some(metadata) => typed(&rows, metadata.columns(), digest),
        None => typed(&rows, &rows.columns.to_vec().ok()?, digest),
    }
}

/// An envelope with these rows.
pub fn encode(metadata: &ResultMetadata, rows: &[Wide], out: &mut BytesMut) -> Option<u32> {
    out.clear();
    out.put_slice(&[0x84, 0, 0, 1, 8, 0, 0, 0, 0]);
    let mut writer = RowsWriter::new(out, &RowsHeader::new(metadata), V4);
    for row in rows {
        let values = (
            row.id,
            row.count,
            &*row.name,
            row.key,
            row.ratio,
            row.active,
            Timestamp(row.at),
            &*row.blob,
            row.weight,
            &*row.note,
        );
        writer.row(&values).ok()?;
    }
    let count = writer.finish().ok()?;
    let length = (out.len() - 9) as u32;
    out[5..9].copy_from_slice(&length.to_be_bytes());
    Some(count)
}
