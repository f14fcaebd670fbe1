//! What a replica lacks of a merged answer, as mutations.

use std::sync::Arc;

use bytes::Bytes;

use super::ReadData;
use crate::readers::ReadCommand;
use crate::storage::{
    Cell, CellPath, ClusteringBound, ClusteringKey, ColumnData, DecoratedKey, Mutation, Partition,
    RangeTombstone, Row, StoredRow,
};

/// The repairs of all replicas: what the merged answer has and their own don't.
pub(super) fn repairs<R: Copy>(merged: &ReadData, answers: &[(R, ReadData)]) -> Vec<(R, Mutation)> {
    let mut repairs = Vec::new();
    let partitions = merged.content().run.partitions();
    for (key, partition) in partitions.range(partitions.start(), partitions.end()) {
        for (replica, data) in answers {
            let known = data.content().run.find(key).map(|(_, known)| known);
            let mutation = lacking(merged.command(), key, partition, known);
            repairs.extend(mutation.map(|mutation| (*replica, mutation)));
        }
    }
    repairs
}

/// What a replica lacks of a partition that it has so.
fn lacking(
    command: &ReadCommand,
    key: &DecoratedKey,
    merged: &Partition,
    known: Option<&Partition>,
) -> Option<Mutation> {
    let deletion = known.and_then(Partition::deletion);
    let static_row = merged.static_row().map(|row| {
        let known = known.and_then(Partition::static_row);
        row_lacking(row.row(), known.map(StoredRow::row))
    });
    let mut rows = Vec::new();
    for (place, row) in merged.rows_between(&ClusteringBound::Start, &ClusteringBound::End) {
        let known = known.and_then(|known| known.row(place));
        let row = row_lacking(row.row(), known.map(StoredRow::row));
        if !row.is_empty() {
            rows.push((owned_place(place), row));
        }
    }
    let mutation = Mutation {
        table: Arc::clone(&command.table),
        key: DecoratedKey {
            token: key.token,
            key: owned(&key.key),
        },
        partition_deletion: merged.deletion().filter(|own| Some(*own) > deletion),
        static_row: static_row.filter(|row| !row.is_empty()),
        rows,
        range_tombstones: tombstones(merged)
            .iter()
            .filter(|tombstone| !is_covered(tombstone, known))
            .map(owned_tombstone)
            .collect(),
    };
    let is_needed = mutation.partition_deletion.is_some()
        || mutation.static_row.is_some()
        || !mutation.rows.is_empty()
        || !mutation.range_tombstones.is_empty();
    is_needed.then_some(mutation)
}

fn tombstones(partition: &Partition) -> &[RangeTombstone] {
    let all = (ClusteringBound::Start, ClusteringBound::End);
    partition.range_tombstones().overlapping(&all.0, &all.1)
}

/// Whether all of a tombstone's range is deleted so in what a replica has, by one or by several.
fn is_covered(tombstone: &RangeTombstone, known: Option<&Partition>) -> bool {
    let mut place = &tombstone.start;
    while *place < tombstone.end {
        let mut own = known.map_or(&[][..], tombstones).iter();
        let next = own.find(|own| {
            own.deletion == tombstone.deletion && own.start <= *place && *place < own.end
        });
        match next {
            Some(next) => place = &next.end,
            None => return false,
        }
    }
    true
}

/// What of a merged row isn't in a replica's own.
fn row_lacking(merged: &Row, known: Option<&Row>) -> Row {
    let empty = Row::default();
    let known = known.unwrap_or(&empty);
    let columns = merged.columns.iter().filter_map(|(id, data)| {
        let data = match (data, known.column(*id)) {
            (data, Some(known)) if data == known => return None,
            (
                ColumnData::Complex { deletion, cells },
                Some(ColumnData::Complex {
                    deletion: known,
                    cells: known_cells,
                }),
            ) => ColumnData::Complex {
                deletion: deletion.filter(|own| Some(*own) > *known),
                cells: cells_lacking(cells, known_cells),
            },
            (data, _) => owned_data(data),
        };
        Some((*id, data))
    });
    Row {
        liveness: merged
            .liveness
            .filter(|_| merged.liveness != known.liveness),
        deletion: merged.deletion.filter(|own| Some(*own) > known.deletion),
        columns: columns.collect(),
    }
}

fn cells_lacking(merged: &[(CellPath, Cell)], known: &[(CellPath, Cell)]) -> Vec<(CellPath, Cell)> {
    let is_known = |path: &CellPath, cell: &Cell| {
        let index = known.binary_search_by(|(other, _)| other.cmp(path));
        let known = index.ok().and_then(|index| known.get(index));
        known.is_some_and(|(_, known)| known == cell)
    };
    merged
        .iter()
        .filter(|(path, cell)| !is_known(path, cell))
        .map(owned_element)
        .collect()
}

/// A repair outlives the messages it is made of, and is stored: it shares no memory with them.
fn owned(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

fn owned_place(key: &ClusteringKey) -> ClusteringKey {
    ClusteringKey {
        sort: owned(&key.sort),
        values: owned(&key.values),
    }
}

fn owned_cell(cell: &Cell) -> Cell {
    Cell {
        value: cell.value.as_ref().map(owned),
        ..*cell
    }
}

fn owned_element((path, cell): &(CellPath, Cell)) -> (CellPath, Cell) {
    let path = CellPath {
        sort: owned(&path.sort),
        value: owned(&path.value),
    };
    (path, owned_cell(cell))
}

fn owned_data(data: &ColumnData) -> ColumnData {
    match data {
        ColumnData::Simple(cell) => ColumnData::Simple(owned_cell(cell)),
        ColumnData::Complex { deletion, cells } => ColumnData::Complex {
            deletion: *deletion,
            cells: cells.iter().map(owned_element).collect(),
        },
    }
}

fn owned_tombstone(tombstone: &RangeTombstone) -> RangeTombstone {
    let bound = |bound: &ClusteringBound| match bound {
        ClusteringBound::Before(sort) => ClusteringBound::Before(owned(sort)),
        ClusteringBound::After(sort) => ClusteringBound::After(owned(sort)),
        other => other.clone(),
    };
    RangeTombstone {
        start: bound(&tombstone.start),
        end: bound(&tombstone.end),
        deletion: tombstone.deletion,
    }
}
