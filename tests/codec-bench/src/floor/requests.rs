//! EXECUTE and QUERY, in v4.

use super::{bytes, int, put, put_slice, short, slice};

/// Writes an EXECUTE with three values and a page size to the front of `out`; its length.
#[inline(never)]
pub fn encode_execute(
    id: &[u8],
    (number, text, count): (i32, &str, i64),
    page_size: i32,
    out: &mut [u8],
) -> Option<usize> {
    let length = 2 + id.len() + 5 + 8 + 4 + text.len() + 12 + 4;
    let rest = &mut { out };
    put(rest, [4, 0, 0, 1, 0x0A])?;
    put(rest, (length as u32).to_be_bytes())?;
    put(rest, (id.len() as u16).to_be_bytes())?;
    put_slice(rest, id)?;
    put(rest, [0, 6, 0x05, 0, 3])?;
    put(rest, 4_i32.to_be_bytes())?;
    put(rest, number.to_be_bytes())?;
    put(rest, (text.len() as i32).to_be_bytes())?;
    put_slice(rest, text.as_bytes())?;
    put(rest, 8_i32.to_be_bytes())?;
    put(rest, count.to_be_bytes())?;
    put(rest, page_size.to_be_bytes())?;
    Some(9 + length)
}

/// Reads an EXECUTE's body: id, values and page size, with the values as slices.
#[inline(never)]
pub fn decode_execute(mut body: &[u8]) -> Option<u64> {
    let rest = &mut body;
    let length = short(rest)?;
    let id = slice(rest, length.into())?;
    let consistency = short(rest)?;
    let (flags, tail) = rest.split_first()?;
    *rest = tail;
    let mut values = 0;
    if flags & 0x01 != 0 {
        for _ in 0..short(rest)? {
            values += bytes(rest)?.len() as u64;
        }
    }
    let mut page_size = 0;
    if flags & 0x04 != 0 {
        page_size = int(rest)?;
    }
    Some(id.len() as u64 + u64::from(consistency) + values + page_size as u64)
}

/// Writes a QUERY without values to the front of `out`; its length.
#[inline(never)]
pub fn encode_query(query: &str, out: &mut [u8]) -> Option<usize> {
    let length = 4 + query.len() + 3;
    let rest = &mut { out };
    put(rest, [4, 0, 0, 1, 0x07])?;
    put(rest, (length as u32).to_be_bytes())?;
    put(rest, (query.len() as u32).to_be_bytes())?;
    put_slice(rest, query.as_bytes())?;
    put(rest, [0, 6, 0])?;
    Some(9 + length)
}

/// Reads a QUERY's body: its statement and its consistency.
#[inline(never)]
pub fn decode_query(mut body: &[u8]) -> Option<u64> {
    let rest = &mut body;
    let query = std::str::from_utf8(bytes(rest)?).ok()?;
    let consistency = short(rest)?;
    let (flags, _) = rest.split_first()?;
    Some(query.len() as u64 + u64::from(consistency) + u64::from(*flags))
}
