//! Rows of a `SELECT JSON`.

use bytes::BytesMut;
use helenus_core::ErrorResponse;

use crate::json;
use crate::statement::Select;
use crate::term::{Fields, put_element};

/// Of a `SELECT JSON`, puts one document in the place of a row's cells, which begin at `start`.
pub(super) fn make_document(
    select: &Select,
    start: usize,
    out: &mut BytesMut,
) -> Result<(), ErrorResponse> {
    let Some(columns) = &select.json else {
        return Ok(());
    };
    let cells = out.split_off(start);
    let mut cells = Fields::new(&cells);
    let mut document = String::from("{");
    for (index, (key, ty)) in columns.iter().enumerate() {
        if index > 0 {
            document.push_str(", ");
        }
        document.push_str(key);
        match cells.next().flatten() {
            None => document.push_str("null"),
            Some([]) => document.push_str("\"\""),
            Some(cell) => json::write(ty, cell, &mut document)?,
        }
    }
    document.push('}');
    put_element(out, Some(document.as_bytes()));
    Ok(())
}
