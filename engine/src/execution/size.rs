//! The sizes of batches, and the limits Cassandra sets to them.

use std::collections::BTreeSet;

use helenus_core::ErrorResponse;
use helenus_core::message::BatchType;

use crate::storage::{Cell, CellPath, ColumnData, Mutation, Row};

/// A batch of several partitions above this many bytes gets a warning: `batch_size_warn_threshold`.
const WARN_BYTES: usize = 5 * 1024;
/// A batch of several partitions above this many bytes is refused: `batch_size_fail_threshold`.
const FAIL_BYTES: usize = 50 * 1024;
/// An unlogged batch over more partitions gets a warning: `unlogged_batch_across_partitions_warn_threshold`.
const WARN_PARTITIONS: usize = 10;

/// Checks a batch's size and how many partitions it spans; gives the warnings it deserves.
///
/// # Errors
/// Invalid, with Cassandra's words, above the limit.
pub(super) fn check_batch(
    kind: BatchType,
    mutations: &[Mutation],
) -> Result<Vec<String>, ErrorResponse> {
    let mut warnings = Vec::new();
    if mutations.len() < 2 {
        return Ok(warnings);
    }
    let tables: BTreeSet<String> = mutations
        .iter()
        .map(|mutation| format!("{}.{}", mutation.table.keyspace, mutation.table.name))
        .collect();
    let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
    let size: usize = mutations.iter().map(of_mutation).sum();
    if size > FAIL_BYTES {
        return Err(ErrorResponse::invalid("Batch too large"));
    }
    if size > WARN_BYTES {
        warnings.push(format!(
            "Batch for [{tables}] is of size {size}, exceeding specified threshold of {WARN_BYTES} by {}.",
            size - WARN_BYTES
        ));
    }
    if kind == BatchType::Unlogged && mutations.len() > WARN_PARTITIONS {
        warnings.push(format!(
            "Unlogged batch covering {} partitions detected against table{} [{tables}]. You should use a logged batch for atomicity, or asynchronous writes for performance.",
            mutations.len(),
            if tables.contains(", ") { "s" } else { "" },
        ));
    }
    Ok(warnings)
}

/// The size Cassandra counts for a mutation's data.
fn of_mutation(mutation: &Mutation) -> usize {
    let rows: usize = mutation
        .rows
        .iter()
        .map(|(clustering, row)| clustering.values.len() + of_row(row))
        .sum();
    let deletions = 12 + mutation.range_tombstones.len() * 12;
    rows + mutation.static_row.as_ref().map_or(0, of_row) + deletions
}

fn of_row(row: &Row) -> usize {
    // The key's liveness and the row's deletion are counted whether or not they are there.
    let liveness = row
        .liveness
        .map_or(8, |liveness| if liveness.ttl == 0 { 8 } else { 20 });
    let columns: usize = row
        .columns
        .iter()
        .map(|(_, data)| match data {
            ColumnData::Simple(cell) => of_cell(cell),
            ColumnData::Complex { cells, .. } => cells.iter().map(of_element).sum::<usize>() + 12,
        })
        .sum();
    liveness + 12 + columns
}

fn of_element((path, cell): &(CellPath, Cell)) -> usize {
    path.value.len() + of_cell(cell)
}

fn of_cell(cell: &Cell) -> usize {
    // Timestamp, time to live, local deletion time.
    8 + 4 + 8 + cell.value.as_ref().map_or(0, bytes::Bytes::len)
}
