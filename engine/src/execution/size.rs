//! The sizes of batches, held against their limits.

use std::collections::BTreeSet;

use helenus_core::ErrorResponse;
use helenus_core::message::BatchType;

use crate::guardrails::{Guard, Limit};
use crate::storage::{Cell, CellPath, ColumnData, Mutation, Row};

/// Checks a batch's size and how many partitions it spans, and warns as it deserves. One of a single partition may be as
/// large as it likes.
///
/// # Errors
/// Invalid, with Cassandra's words, above the limit.
pub(super) fn check_batch(
    kind: BatchType,
    mutations: &[Mutation],
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    if mutations.len() < 2 {
        return Ok(());
    }
    let tables: BTreeSet<String> = mutations
        .iter()
        .map(|mutation| format!("{}.{}", mutation.table.keyspace, mutation.table.name))
        .collect();
    let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
    let size: usize = mutations.iter().map(of_mutation).sum();
    let size = size as u64;
    match guard.rules.batch_size.exceeded_by(size) {
        None => {}
        Some(Limit::Fail(_)) => return Err(ErrorResponse::invalid("Batch too large")),
        Some(Limit::Warn(bound)) => guard.warn(format!(
            "Batch for [{tables}] is of size {size}, exceeding specified threshold of {bound} by {}.",
            size - bound
        )),
    }
    let partitions = guard.rules.unlogged_batch_across_partitions;
    if kind == BatchType::Unlogged && partitions.is_some_and(|bound| mutations.len() as u64 > bound)
    {
        guard.warn(format!(
            "Unlogged batch covering {} partitions detected against table{} [{tables}]. You should use a logged batch for atomicity, or asynchronous writes for performance.",
            mutations.len(),
            if tables.contains(", ") { "s" } else { "" },
        ));
    }
    Ok(())
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
