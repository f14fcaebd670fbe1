//! Applying one change of a column to a row under construction. Answers to the `execute` of Cassandra's operations.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::cells::{RowBuilder, list_path};
use crate::schema::ColumnId;
use crate::statement::{Change, Operation};
use crate::storage::{Cell, CellPath, ColumnData, Row};
use crate::term::{Binds, Bound, Elements, Fields, Pairs, Term};
use crate::types::{comparable, compare};

/// Applies a change; `existing` is the row as it was read, where a list asks for that.
pub(super) fn apply(
    builder: &mut RowBuilder,
    operation: &Operation,
    binds: &Binds<'_>,
    existing: Option<&Row>,
) -> Result<(), ErrorResponse> {
    let (id, ty) = (operation.column, &operation.ty);
    match &operation.change {
        Change::Set(term) => match (term.bind(binds)?, ty) {
            (Bound::Unset, _) => {}
            (bound, CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)) => {
                builder.overwrite(id);
                if let Some(value) = bound.into_bytes() {
                    put_elements(builder, id, ty, &value, binds, false)?;
                }
            }
            (bound, _) => builder.set(id, bound.into_bytes()),
        },
        Change::Append(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                put_elements(builder, id, ty, &value, binds, false)?;
            }
        }
        Change::Prepend(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                put_elements(builder, id, ty, &value, binds, true)?;
            }
        }
        Change::Discard(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                discard(builder, id, ty, &value, existing);
            }
        }
        Change::SetEntry(key, value) => {
            let CqlType::Map(types) = ty else {
                return Ok(());
            };
            let key = required(key.bind(binds)?, "map key")?;
            match value.bind(binds)? {
                Bound::Unset => {}
                bound => builder.set_element(id, path(&types.0, key), bound.into_bytes()),
            }
        }
        Change::SetIndex(index, value) => {
            let index = list_index(index, binds)?;
            match value.bind(binds)? {
                Bound::Unset => {}
                bound => {
                    let path = nth(
                        existing,
                        id,
                        index,
                        "Attempted to set an element on a list which is null",
                    )?;
                    builder.set_element(id, path, bound.into_bytes());
                }
            }
        }
        Change::SetField(field, value) => match value.bind(binds)? {
            Bound::Unset => {}
            bound => builder.set_element(id, field_path(*field), bound.into_bytes()),
        },
        Change::Delete => match ty {
            CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_) => {
                builder.delete_complex(id)
            }
            _ => builder.set(id, None),
        },
        Change::DeleteEntry(key) => {
            let (key_type, what) = match ty {
                CqlType::Map(types) => (&types.0, "map key"),
                CqlType::Set(element) => (&**element, "set value"),
                _ => return Ok(()),
            };
            let key = required(key.bind(binds)?, what)?;
            builder.set_element(id, path(key_type, key), None);
        }
        Change::DeleteIndex(index) => {
            let index = list_index(index, binds)?;
            let path = nth(
                existing,
                id,
                index,
                "Attempted to delete an element from a list which is null",
            )?;
            builder.set_element(id, path, None);
        }
        Change::DeleteField(field) => builder.set_element(id, field_path(*field), None),
        Change::Increment(term) => count(builder, id, term, binds, Some)?,
        Change::Decrement(term) => count(builder, id, term, binds, i64::checked_neg)?,
    }
    Ok(())
}

/// Writes the elements of a serialized collection or user type; those of a list get paths that sort behind or, for
/// `prepend`, before all that are there.
fn put_elements(
    builder: &mut RowBuilder,
    id: ColumnId,
    ty: &CqlType,
    value: &Bytes,
    binds: &Binds<'_>,
    prepend: bool,
) -> Result<(), ErrorResponse> {
    match ty {
        CqlType::List(_) => {
            for element in Elements::new(value) {
                let element = element.ok_or_else(null_element)?;
                let path = list_path(binds, prepend);
                builder.set_element(id, path, Some(value.slice_ref(element)));
            }
        }
        CqlType::Set(element_type) => {
            for element in Elements::new(value) {
                let element = value.slice_ref(element.ok_or_else(null_element)?);
                builder.set_element(id, path(element_type, element), Some(Bytes::new()));
            }
        }
        CqlType::Map(types) => {
            for (key, item) in Pairs::new(value) {
                let item = item.ok_or_else(null_element)?;
                builder.set_element(
                    id,
                    path(&types.0, value.slice_ref(key)),
                    Some(value.slice_ref(item)),
                );
            }
        }
        CqlType::Udt(_) => {
            for (field, part) in Fields::new(value).enumerate() {
                if let Some(part) = part {
                    builder.set_element(id, field_path(field), Some(value.slice_ref(part)));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn null_element() -> ErrorResponse {
    ErrorResponse::invalid("null is not supported inside collections")
}

fn discard(
    builder: &mut RowBuilder,
    id: ColumnId,
    ty: &CqlType,
    value: &Bytes,
    existing: Option<&Row>,
) {
    let elements = || Elements::new(value).flatten();
    match ty {
        CqlType::Set(key_type) => {
            elements().for_each(|key| {
                builder.set_element(id, path(key_type, value.slice_ref(key)), None)
            });
        }
        CqlType::Map(types) => {
            elements().for_each(|key| {
                builder.set_element(id, path(&types.0, value.slice_ref(key)), None)
            });
        }
        CqlType::List(element) => {
            for (path, cell) in list_cells(existing, id) {
                let gone = cell.value.as_ref().is_some_and(|held| {
                    elements().any(|wanted| compare(element, held, wanted).is_eq())
                });
                if gone {
                    builder.set_element(id, path.clone(), None);
                }
            }
        }
        _ => {}
    }
}

fn list_cells(existing: Option<&Row>, id: ColumnId) -> &[(CellPath, Cell)] {
    let data = existing.and_then(|row| row.columns.iter().find(|(column, _)| *column == id));
    match data {
        Some((_, ColumnData::Complex { cells, .. })) => cells,
        _ => &[],
    }
}

fn nth(
    existing: Option<&Row>,
    id: ColumnId,
    index: i32,
    missing: &'static str,
) -> Result<CellPath, ErrorResponse> {
    let cells = list_cells(existing, id);
    if cells.is_empty() {
        return Err(ErrorResponse::invalid(missing));
    }
    usize::try_from(index)
        .ok()
        .and_then(|index| cells.get(index))
        .map(|(path, _)| path.clone())
        .ok_or_else(|| {
            ErrorResponse::invalid(format!(
                "List index {index} out of bound, list has size {}",
                cells.len()
            ))
        })
}

fn list_index(term: &Term, binds: &Binds<'_>) -> Result<i32, ErrorResponse> {
    let bytes = required(term.bind(binds)?, "value for list index")?;
    <[u8; 4]>::try_from(&bytes[..])
        .map(i32::from_be_bytes)
        .map_err(|_| ErrorResponse::invalid("Invalid null value for list index"))
}

fn required(bound: Bound<'_>, what: &str) -> Result<Bytes, ErrorResponse> {
    let kind = if bound.is_unset() { "unset" } else { "null" };
    bound
        .into_bytes()
        .ok_or_else(|| ErrorResponse::invalid(format!("Invalid {kind} {what}")))
}

fn count(
    builder: &mut RowBuilder,
    id: ColumnId,
    term: &Term,
    binds: &Binds<'_>,
    change: impl Fn(i64) -> Option<i64>,
) -> Result<(), ErrorResponse> {
    let delta = match term.bind(binds)? {
        Bound::Unset => return Ok(()),
        bound => bound
            .as_slice()
            .and_then(|bytes| bytes.try_into().ok())
            .map(i64::from_be_bytes)
            .ok_or_else(|| {
                ErrorResponse::invalid("Invalid null value for counter increment/decrement")
            })?,
    };
    let delta = change(delta).ok_or_else(|| {
        ErrorResponse::invalid(format!(
            "The negation of {delta} overflows supported counter precision (signed 8 bytes integer)"
        ))
    })?;
    builder.set(id, Some(Bytes::copy_from_slice(&delta.to_be_bytes())));
    Ok(())
}

fn path(ty: &CqlType, value: Bytes) -> CellPath {
    let mut sort = Vec::with_capacity(value.len() + 4);
    comparable::encode(ty, &value, false, &mut sort);
    CellPath {
        sort: sort.into(),
        value,
    }
}

fn field_path(field: usize) -> CellPath {
    let bytes = Bytes::copy_from_slice(&i16::try_from(field).unwrap_or(i16::MAX).to_be_bytes());
    CellPath {
        sort: bytes.clone(),
        value: bytes,
    }
}
