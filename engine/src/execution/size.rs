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

/// What Cassandra counts for a partition besides its rows.
const PARTITION: usize = 29;
/// What it counts for a row besides its clustering values and cells.
const ROW: usize = 21;
/// What it counts for a range tombstone on one `int`.
const RANGE: usize = 20;
/// What it counts for a time to live of a row.
const EXPIRING: usize = 12;
/// What it counts for a column of several cells besides these.
const COMPLEX: usize = 12;
/// What it counts for a cell besides its path and value.
const CELL: usize = 20;

/// The size Cassandra counts for a mutation's data, found by trying: the figures above fit what it reports.
fn of_mutation(mutation: &Mutation) -> usize {
    let rows: usize = mutation
        .rows
        .iter()
        // Values stand with four bytes for their lengths, of which Cassandra counts none.
        .map(|(clustering, row)| {
            let lengths = 4 * mutation.table.clustering_len;
            let expiring = row.liveness.is_some_and(|liveness| liveness.ttl > 0);
            let liveness = if expiring { EXPIRING } else { 0 };
            clustering.values.len().saturating_sub(lengths) + ROW + liveness + of_cells(row)
        })
        .sum();
    let ranges = mutation.range_tombstones.len() * RANGE;
    PARTITION + rows + mutation.static_row.as_ref().map_or(0, of_cells) + ranges
}

fn of_cells(row: &Row) -> usize {
    row.columns
        .iter()
        .map(|(_, data)| match data {
            ColumnData::Simple(cell) => of_cell(cell),
            ColumnData::Complex { cells, .. } => {
                cells.iter().map(of_element).sum::<usize>() + COMPLEX
            }
        })
        .sum()
}

fn of_element((path, cell): &(CellPath, Cell)) -> usize {
    path.value.len() + of_cell(cell)
}

fn of_cell(cell: &Cell) -> usize {
    CELL + cell.value.as_ref().map_or(0, bytes::Bytes::len)
}
