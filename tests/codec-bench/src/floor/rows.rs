//! RESULT with rows.

use uuid::Uuid;

use super::{bytes, int, put_bytes, short, slice, string};
use crate::data::{Wide, digest, narrow_digest};

/// The rows of a RESULT.
struct Rows<'a> {
    columns: Vec<(&'a str, u16)>,
    width: usize,
    count: usize,
    cells: &'a [u8],
}

#[inline(always)]
fn rows(mut body: &[u8]) -> Option<Rows<'_>> {
    let rest = &mut body;
    let _kind = int(rest)?;
    let flags = int(rest)?;
    let width = int(rest)? as usize;
    let mut columns = Vec::new();
    if flags & 0x04 == 0 {
        let _table = (string(rest)?, string(rest)?);
        columns.reserve_exact(width.min(rest.len() / 4));
        for _ in 0..width {
            columns.push((string(rest)?, short(rest)?));
        }
    }
    let count = int(rest)? as usize;
    Some(Rows {
        columns,
        width,
        count,
        cells: rest,
    })
}

/// The cells as slices. The columns are handed out too, as whoever asks for rows wants to know them.
pub fn raw(body: &[u8]) -> Option<u64> {
    let mut rows = rows(body)?;
    std::hint::black_box(&rows.columns);
    let mut sum = 0;
    for _ in 0..rows.count {
        for _ in 0..rows.width {
            let length = int(&mut rows.cells)?;
            if length >= 0 {
                sum += slice(&mut rows.cells, length as usize)?.len() as u64;
            }
        }
    }
    Some(sum)
}

#[inline(always)]
fn fixed<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    bytes(rest)?.try_into().ok()
}

#[inline(always)]
fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(bytes(rest)?).ok()
}

/// The cells of wide rows as values.
pub fn wide(body: &[u8]) -> Option<u64> {
    let mut rows = rows(body)?;
    std::hint::black_box(&rows.columns);
    let rest = &mut rows.cells;
    let mut sum = 0_u64;
    for _ in 0..rows.count {
        sum = sum.wrapping_add(digest(
            i32::from_be_bytes(fixed(rest)?),
            i64::from_be_bytes(fixed(rest)?),
            text(rest)?,
            Uuid::from_bytes(fixed(rest)?),
            f64::from_be_bytes(fixed(rest)?),
            fixed::<1>(rest)? != [0],
            i64::from_be_bytes(fixed(rest)?),
            bytes(rest)?,
            f32::from_be_bytes(fixed(rest)?),
            text(rest)?,
        ));
    }
    Some(sum)
}

/// The cells of narrow rows as values.
pub fn narrow(body: &[u8]) -> Option<u64> {
    let mut rows = rows(body)?;
    std::hint::black_box(&rows.columns);
    let rest = &mut rows.cells;
    let mut sum = 0_u64;
    for _ in 0..rows.count {
        sum = sum.wrapping_add(narrow_digest(
            i32::from_be_bytes(fixed(rest)?),
            text(rest)?,
            i64::from_be_bytes(fixed(rest)?),
        ));
    }
    Some(sum)
}

/// An envelope with these rows, behind the given bytes: everything up to the number of rows.
pub fn encode(header: &[u8], rows: &[Wide], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0x84, 0, 0, 1, 8, 0, 0, 0, 0]);
    out.extend_from_slice(header);
    for row in rows {
        // One look at the room for a row.
        out.reserve(52 + 40 + row.name.len() + row.blob.len() + row.note.len());
        put_bytes(out, &row.id.to_be_bytes());
        put_bytes(out, &row.count.to_be_bytes());
        put_bytes(out, row.name.as_bytes());
        put_bytes(out, row.key.as_bytes());
        put_bytes(out, &row.ratio.to_be_bytes());
        put_bytes(out, &[u8::from(row.active)]);
        put_bytes(out, &row.at.to_be_bytes());
        put_bytes(out, &row.blob);
        put_bytes(out, &row.weight.to_be_bytes());
        put_bytes(out, row.note.as_bytes());
    }
    let length = (out.len() - 9) as u32;
    out[5..9].copy_from_slice(&length.to_be_bytes());
}
