//! The sizes of what is written: of values, of elements, of collections. Answers to the guards of Cassandra's
//! `UpdateParameters` and of its operations on collections.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::guard::Guard;
use super::terms::check_terms;
use crate::schema::{Column, ColumnId, Table};
use crate::storage::{Cell, CellPath, ColumnData, Mutation, Row};
use crate::term::Elements;

/// What Cassandra counts for a cell besides its path and value.
const CELL: usize = 20;

/// Checks all values of mutations; nothing if no rule is about them.
pub(crate) fn check_values(
    mutations: &[Mutation],
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    if !guard.rules.measures_values() {
        return Ok(());
    }
    for mutation in mutations {
        let rows = mutation.rows.iter().map(|(_, row)| row);
        for row in mutation.static_row.iter().chain(rows) {
            check_row(&mutation.table, row, guard)?;
        }
    }
    if guard.rules.measures_terms() {
        mutations
            .iter()
            .try_for_each(|mutation| check_terms(mutation, guard))?;
    }
    Ok(())
}

fn check_row(table: &Table, row: &Row, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    for (id, data) in &row.columns {
        let Some(column) = column(table, *id) else {
            continue;
        };
        match data {
            ColumnData::Simple(cell) => check_simple(column, cell, guard)?,
            ColumnData::Complex { cells, .. } => check_complex(column, cells, guard)?,
        }
    }
    Ok(())
}

fn column(table: &Table, id: ColumnId) -> Option<&Column> {
    table.columns.iter().find(|column| column.id == id)
}

fn check_simple(column: &Column, cell: &Cell, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let Some(value) = &cell.value else {
        return Ok(());
    };
    check_size(column, value.len(), guard)?;
    let items = match &column.ty {
        CqlType::Frozen(inner) => match &**inner {
            CqlType::Map(_) => Elements::new(value).count() / 2,
            CqlType::List(_) | CqlType::Set(_) => Elements::new(value).count(),
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    check_collection(column, items, value.len() + CELL, guard)
}

fn check_complex(
    column: &Column,
    cells: &[(CellPath, Cell)],
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let is_list = matches!(column.ty, CqlType::List(_));
    let (mut items, mut size) = (0, 0);
    for (path, cell) in cells {
        // The path of a list's element is the server's own.
        if !is_list {
            check_size(column, path.value.len(), guard)?;
        }
        let Some(value) = &cell.value else {
            continue;
        };
        check_size(column, value.len(), guard)?;
        items += 1;
        size += path.value.len() + value.len() + CELL;
    }
    if matches!(column.ty, CqlType::Udt(_)) || items == 0 {
        return Ok(());
    }
    check_collection(column, items, size, guard)
}

fn check_size(column: &Column, size: usize, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let exceeded = guard.rules.column_value_size.exceeded_by(size as u64);
    guard.limit("column_value_size", exceeded, |limit| {
        let name = &column.name;
        format!("Value of column '{name}' has size {size}, this exceeds the {limit}.")
    })
}

fn check_collection(
    column: &Column,
    items: usize,
    size: usize,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let name = &column.name;
    let exceeded = guard.rules.items_per_collection.exceeded_by(items as u64);
    guard.limit("items_per_collection", exceeded, |limit| {
        format!("Detected collection {name} with {items} items, this exceeds the {limit}.")
    })?;
    let exceeded = guard.rules.collection_size.exceeded_by(size as u64);
    guard.limit("collection_size", exceeded, |limit| {
        format!("Detected collection {name} of size {size}, this exceeds the {limit}.")
    })
}
