//! The sizes of what storage-attached indexes are given to hold. Answers to Cassandra's `StorageAttachedIndex.validate`.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::Threshold;
use super::guard::Guard;
use crate::cql::ast::TargetKind;
use crate::execution::clustering_part;
use crate::schema::{Column, ColumnKind, Index, IndexKind, Table};
use crate::statement::key_part;
use crate::storage::{Cell, CellPath, ClusteringKey, ColumnData, Mutation, Row};

/// Checks what each index of the table is given by a mutation.
pub(super) fn check_terms(mutation: &Mutation, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let table = &mutation.table;
    for index in &table.indexes {
        let column = table
            .columns
            .iter()
            .find(|column| column.id == index.column);
        let Some(column) = column.filter(|_| is_storage_attached(index)) else {
            continue;
        };
        if column.kind == ColumnKind::Static {
            if let Some(row) = &mutation.static_row {
                check_data(column, index, row, guard)?;
            }
            continue;
        }
        for (clustering, row) in &mutation.rows {
            match column.kind {
                ColumnKind::PartitionKey => {
                    let key = key_value(table, column, &mutation.key.key);
                    check_term(column, &column.ty, key.len(), guard)?;
                }
                ColumnKind::Clustering => {
                    let value = clustering_value(clustering, column);
                    check_term(column, &column.ty, value.len(), guard)?;
                }
                _ => check_data(column, index, row, guard)?,
            }
        }
    }
    Ok(())
}

fn is_storage_attached(index: &Index) -> bool {
    matches!(index.kind, IndexKind::StorageAttached(_))
}

fn key_value<'k>(table: &Table, column: &Column, key: &'k [u8]) -> &'k [u8] {
    match table.partition_key_len {
        1 => key,
        _ => key_part(key, column.position).unwrap_or_default(),
    }
}

fn clustering_value<'k>(clustering: &'k ClusteringKey, column: &Column) -> &'k [u8] {
    clustering_part(clustering, column.position).unwrap_or_default()
}

/// Checks what a row has of a column that isn't part of the key.
fn check_data(
    column: &Column,
    index: &Index,
    row: &Row,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    match row.column(column.id) {
        Some(ColumnData::Simple(Cell {
            value: Some(value), ..
        })) => check_term(column, &column.ty, value.len(), guard),
        Some(ColumnData::Complex { cells, .. }) => cells
            .iter()
            .filter_map(|(path, cell)| element(&column.ty, index.part, path, cell))
            .try_for_each(|(ty, size)| check_term(column, ty, size, guard)),
        _ => Ok(()),
    }
}

/// What an index has of an element of a collection: its type and size.
fn element<'t>(
    ty: &'t CqlType,
    part: TargetKind,
    path: &CellPath,
    cell: &Cell,
) -> Option<(&'t CqlType, usize)> {
    let value = cell.value.as_ref()?;
    match (ty, part) {
        (CqlType::Set(element), _) => Some((element, path.value.len())),
        (CqlType::List(element), _) => Some((element, value.len())),
        (CqlType::Map(entry), TargetKind::Keys) => Some((&entry.0, path.value.len())),
        (CqlType::Map(entry), TargetKind::Values) => Some((&entry.1, value.len())),
        _ => None,
    }
}

fn check_term(
    column: &Column,
    ty: &CqlType,
    size: usize,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let rules = guard.rules;
    let (rule, threshold): (_, Threshold) = match ty {
        CqlType::Ascii | CqlType::Text => ("sai_string_term_size", rules.sai_string_term_size),
        CqlType::Vector(..) => ("sai_vector_term_size", rules.sai_vector_term_size),
        CqlType::Frozen(_) | CqlType::Tuple(_) => {
            ("sai_frozen_term_size", rules.sai_frozen_term_size)
        }
        _ => return Ok(()),
    };
    guard.limit(rule, threshold.exceeded_by(size as u64), |limit| {
        let name = &column.name;
        format!("Value of column '{name}' has size {size}, this exceeds the {limit}.")
    })
}
