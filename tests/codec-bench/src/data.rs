//! What is encoded and decoded: a wide row of ten columns and 152 bytes or so, a narrow one of three, two requests, and their
//! bytes, written here by hand so that no contender judges its own.

use helenus_core::crc::crc32;
use helenus_core::segment::{SegmentFormat, SegmentHeader};
use uuid::Uuid;

/// A row of ten columns, as a program has it.
pub struct Wide {
    /// `int`
    pub id: i32,
    /// `bigint`
    pub count: i64,
    /// `text` of 20 bytes
    pub name: String,
    /// `uuid`
    pub key: Uuid,
    /// `double`
    pub ratio: f64,
    /// `boolean`
    pub active: bool,
    /// `timestamp`, in milliseconds
    pub at: i64,
    /// `blob` of 24 to 31 bytes
    pub blob: Vec<u8>,
    /// `float`
    pub weight: f32,
    /// `text` of 16 bytes
    pub note: String,
}

/// A column's name, and the id of its type.
pub type Column = (&'static str, u16);

/// The columns of [`Wide`].
pub const WIDE: [Column; 10] = [
    ("id", 0x09),
    ("count", 0x02),
    ("name", 0x0D),
    ("key", 0x0C),
    ("ratio", 0x07),
    ("active", 0x04),
    ("at", 0x0B),
    ("blob", 0x03),
    ("weight", 0x08),
    ("note", 0x0D),
];

/// The columns of the narrow row.
pub const NARROW: [Column; 3] = [("id", 0x09), ("name", 0x0D), ("count", 0x02)];

/// The narrow row.
pub const NARROW_ROW: (i32, &str, i64) = (1_234_567, "a name of some length", 9_876_543_210);

/// The keyspace of every column.
pub const KEYSPACE: &str = "measurements";
/// The table of every column.
pub const TABLE: &str = "by_sensor";

/// Rows of ten columns.
#[must_use]
pub fn wide(rows: usize) -> Vec<Wide> {
    (0..rows)
        .map(|row| Wide {
            id: row as i32,
            count: row as i64 * 1_000_003,
            name: format!("sensor-name-{row:08}"),
            key: Uuid::from_u128(row as u128 * 0x0123_4567_89AB_CDEF_0123),
            ratio: row as f64 / 7.0,
            active: row % 3 == 0,
            at: 1_700_000_000_000 + row as i64,
            // Of changing length, so that the texts behind it aren't all aligned alike, which tells on UTF-8's check.
            blob: vec![row as u8; 24 + row % 8],
            weight: row as f32 / 3.0,
            note: format!("note-{row:011}"),
        })
        .collect()
}

/// Whether a RESULT describes its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// As for a statement that isn't prepared.
    Described,
    /// As for a prepared statement, whose client knows them.
    Skipped,
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as i32).to_be_bytes());
    out.extend(bytes);
}

/// A RESULT's body up to its rows.
#[must_use]
pub fn rows_header(columns: &[Column], description: Columns, rows: usize) -> Vec<u8> {
    let mut out = 2_i32.to_be_bytes().to_vec();
    let flags: i32 = match description {
        Columns::Described => 0x01,
        Columns::Skipped => 0x04,
    };
    out.extend(flags.to_be_bytes());
    out.extend((columns.len() as i32).to_be_bytes());
    if description == Columns::Described {
        put_string(&mut out, KEYSPACE);
        put_string(&mut out, TABLE);
        for (name, ty) in columns {
            put_string(&mut out, name);
            out.extend(ty.to_be_bytes());
        }
    }
    out.extend((rows as i32).to_be_bytes());
    out
}

/// The body of a RESULT with these rows.
#[must_use]
pub fn wide_body(rows: &[Wide], description: Columns) -> Vec<u8> {
    let mut out = rows_header(&WIDE, description, rows.len());
    for row in rows {
        put_bytes(&mut out, &row.id.to_be_bytes());
        put_bytes(&mut out, &row.count.to_be_bytes());
        put_bytes(&mut out, row.name.as_bytes());
        put_bytes(&mut out, row.key.as_bytes());
        put_bytes(&mut out, &row.ratio.to_be_bytes());
        put_bytes(&mut out, &[u8::from(row.active)]);
        put_bytes(&mut out, &row.at.to_be_bytes());
        put_bytes(&mut out, &row.blob);
        put_bytes(&mut out, &row.weight.to_be_bytes());
        put_bytes(&mut out, row.note.as_bytes());
    }
    out
}

/// The body of a RESULT with the narrow row.
#[must_use]
pub fn narrow_body(description: Columns) -> Vec<u8> {
    let (id, name, count) = NARROW_ROW;
    let mut out = rows_header(&NARROW, description, 1);
    put_bytes(&mut out, &id.to_be_bytes());
    put_bytes(&mut out, name.as_bytes());
    put_bytes(&mut out, &count.to_be_bytes());
    out
}

/// A v4 envelope on stream 1, or a v5 one.
#[must_use]
pub fn envelope(version: u8, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![version, 0, 0, 1, opcode];
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(body);
    out
}

/// The id of the prepared statement.
pub const STATEMENT: [u8; 16] = *b"0123456789abcdef";
/// The values it is executed with.
pub const VALUES: (i32, &str, i64) = NARROW_ROW;
/// The size of its pages.
pub const PAGE_SIZE: i32 = 5000;
/// The statement of the QUERY.
pub const QUERY: &str = "SELECT id, name, count FROM measurements.by_sensor WHERE id = 1234567";

/// EXECUTE in v4, at consistency LOCAL_QUORUM, with three values and a page size.
#[must_use]
pub fn execute() -> Vec<u8> {
    let mut body = 16_u16.to_be_bytes().to_vec();
    body.extend(STATEMENT);
    body.extend([0, 6, 0x05, 0, 3]);
    put_bytes(&mut body, &VALUES.0.to_be_bytes());
    put_bytes(&mut body, VALUES.1.as_bytes());
    put_bytes(&mut body, &VALUES.2.to_be_bytes());
    body.extend(PAGE_SIZE.to_be_bytes());
    envelope(4, 0x0A, &body)
}

/// QUERY in v4, at consistency LOCAL_QUORUM, without values.
#[must_use]
pub fn query() -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, QUERY.as_bytes());
    body.extend([0, 6, 0]);
    envelope(4, 0x07, &body)
}

/// What a contender found in a wide row, as one number.
#[expect(clippy::too_many_arguments, reason = "one for each column")]
#[inline(always)]
#[must_use]
pub fn digest(
    id: i32,
    count: i64,
    name: &str,
    key: Uuid,
    ratio: f64,
    active: bool,
    at: i64,
    blob: &[u8],
    weight: f32,
    note: &str,
) -> u64 {
    (id as u64)
        .wrapping_add(count as u64)
        .wrapping_add(name.len() as u64)
        .wrapping_add(key.as_u128() as u64)
        .wrapping_add(ratio.to_bits())
        .wrapping_add(active.into())
        .wrapping_add(at as u64)
        .wrapping_add(blob.len() as u64)
        .wrapping_add(weight.to_bits().into())
        .wrapping_add(note.len() as u64)
}

/// What a contender found in the narrow row, or in the values of EXECUTE.
#[inline(always)]
#[must_use]
pub fn narrow_digest(id: i32, name: &str, count: i64) -> u64 {
    (id as u64)
        .wrapping_add(name.len() as u64)
        .wrapping_add(count as u64)
}

/// The payload of a segment at most.
const MAX_PAYLOAD: usize = 0x1_FFFF;

/// Bytes in uncompressed v5 segments: in one of whole envelopes if they fit, or in several.
#[must_use]
pub fn segmented(bytes: &[u8]) -> Vec<u8> {
    let self_contained = bytes.len() <= MAX_PAYLOAD;
    let mut out = Vec::new();
    for payload in bytes.chunks(MAX_PAYLOAD) {
        let header = SegmentHeader {
            payload: payload.len() as u32,
            uncompressed: 0,
            self_contained,
        };
        out.extend_from_slice(&header.encode(SegmentFormat::Plain)[..6]);
        out.extend_from_slice(payload);
        out.extend_from_slice(&crc32(payload).to_le_bytes());
    }
    out
}
