//! Building mutations from a planned modification and its values. Answers to Cassandra's `UpdateParameters` and the
//! `execute` of its operations.

use std::collections::BTreeMap;

use helenus_core::ErrorResponse;

use super::cells::{RowBuilder, Stamp};
use super::change::apply;
use crate::statement::{BoundKeys, BoundRows, Modify, ModifyKind, check_combinations};
use crate::storage::{ClusteringKey, DecoratedKey, DeletionTime, Mutation, RangeTombstone, Row};
use crate::term::Binds;

/// Rows as a read before a write found them, by partition and place; no clustering key is the static row.
pub(crate) type FoundRows = BTreeMap<(DecoratedKey, Option<ClusteringKey>), Row>;

/// A modification's places: partitions, and rows in each.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The partitions.
    pub(crate) keys: Vec<DecoratedKey>,
    /// The rows.
    pub(crate) rows: BoundRows,
}

/// Where a modification applies under these bindings.
pub(crate) fn places(plan: &Modify, binds: &Binds<'_>) -> Result<Places, ErrorResponse> {
    let keys = match plan.keys.bind(&plan.table, binds)? {
        BoundKeys::One(key) => vec![key],
        BoundKeys::Many(keys) => keys,
        BoundKeys::Range(_) => Vec::new(),
    };
    let rows = if plan.only_static {
        BoundRows::All
    } else {
        plan.clustering.bind(&plan.table, binds)?
    };
    let rows_each = match &rows {
        BoundRows::All | BoundRows::One(_) => 1,
        BoundRows::Keys(keys) => keys.len(),
        BoundRows::Ranges(ranges) => ranges.len(),
    };
    check_combinations(keys.len(), rows_each)?;
    Ok(Places { keys, rows })
}

/// The mutations of a modification, one a partition. `found` has the rows that [`Modify::reads`] asks for.
pub(crate) fn mutations(
    plan: &Modify,
    places: &Places,
    stamp: Stamp,
    binds: &Binds<'_>,
    found: &FoundRows,
    out: &mut Vec<Mutation>,
) -> Result<(), ErrorResponse> {
    for key in &places.keys {
        let mut mutation = Mutation {
            table: plan.table.clone(),
            key: key.clone(),
            partition_deletion: None,
            static_row: None,
            rows: Vec::new(),
            range_tombstones: Vec::new(),
        };
        if plan.kind == ModifyKind::Delete && plan.operations.is_empty() {
            delete_rows(&places.rows, stamp, &mut mutation);
            out.push(mutation);
            continue;
        }
        if plan.operations.iter().any(|operation| operation.is_static) {
            let existing = find(found, key, None);
            let row = build(plan, true, stamp, binds, existing)?;
            if row != Row::default() {
                mutation.static_row = Some(row);
            }
        }
        if !plan.only_static {
            for clustering in places.rows.keys() {
                let existing = find(found, key, Some(clustering));
                let row = build(plan, false, stamp, binds, existing)?;
                if row != Row::default() {
                    mutation.rows.push((clustering.clone(), row));
                }
            }
        }
        if mutation.static_row.is_some() || !mutation.rows.is_empty() {
            out.push(mutation);
        }
    }
    Ok(())
}

fn find<'f>(
    found: &'f FoundRows,
    key: &DecoratedKey,
    clustering: Option<&ClusteringKey>,
) -> Option<&'f Row> {
    if found.is_empty() {
        return None;
    }
    found.get(&(key.clone(), clustering.cloned()))
}

fn delete_rows(rows: &BoundRows, stamp: Stamp, mutation: &mut Mutation) {
    let deletion = stamp.deletion();
    let row = |clustering: &ClusteringKey| {
        let row = Row {
            deletion: Some(deletion),
            ..Row::default()
        };
        (clustering.clone(), row)
    };
    match rows {
        BoundRows::All => mutation.partition_deletion = Some(deletion),
        // A table without clustering columns has one row a partition, which goes with it.
        BoundRows::One(clustering) if clustering.sort.is_empty() => {
            mutation.partition_deletion = Some(deletion)
        }
        BoundRows::One(clustering) => mutation.rows.push(row(clustering)),
        BoundRows::Keys(keys) => mutation.rows.extend(keys.iter().map(row)),
        BoundRows::Ranges(ranges) => {
            let tombstone = |(start, end): &(_, _)| RangeTombstone {
                start: Clone::clone(start),
                end: Clone::clone(end),
                deletion,
            };
            mutation
                .range_tombstones
                .extend(ranges.iter().map(tombstone));
        }
    }
}

fn build(
    plan: &Modify,
    is_static: bool,
    stamp: Stamp,
    binds: &Binds<'_>,
    existing: Option<&Row>,
) -> Result<Row, ErrorResponse> {
    let mut builder = RowBuilder::new(stamp, plan.operations.len());
    if plan.kind == ModifyKind::Insert && !is_static {
        builder.make_live();
    }
    for operation in plan
        .operations
        .iter()
        .filter(|operation| operation.is_static == is_static)
    {
        apply(&mut builder, operation, binds, existing)?;
    }
    Ok(builder.finish())
}

/// Everything of a partition as of this moment.
pub(crate) fn deletion(timestamp: i64, now_seconds: i64) -> DeletionTime {
    DeletionTime {
        timestamp,
        local_seconds: now_seconds,
    }
}
