//! A change of one partition.

use std::sync::Arc;

use super::{ClusteringBound, ClusteringKey, ColumnData, DecoratedKey, DeletionTime, Row};
use crate::schema::Table;

/// A change of one partition of one table; applied whole.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// The table, as the planner saw it.
    pub table: Arc<Table>,
    /// The partition.
    pub key: DecoratedKey,
    /// A deletion of the whole partition.
    pub partition_deletion: Option<DeletionTime>,
    /// A change of the static row.
    pub static_row: Option<Row>,
    /// Changes of rows.
    pub rows: Vec<(ClusteringKey, Row)>,
    /// Deletions of ranges of rows.
    pub range_tombstones: Vec<RangeTombstone>,
}

impl Mutation {
    /// Has everything in it be written so many microseconds later: for who decides on it before its time is known.
    pub fn postpone(&mut self, micros: i64) {
        let later = |timestamp: &mut i64| *timestamp = timestamp.saturating_add(micros);
        let tombstones = self.range_tombstones.iter_mut();
        let deletions = tombstones.map(|tombstone| &mut tombstone.deletion);
        for deletion in deletions.chain(&mut self.partition_deletion) {
            later(&mut deletion.timestamp);
        }
        let rows = self.rows.iter_mut().map(|(_, row)| row);
        for row in rows.chain(&mut self.static_row) {
            if let Some(liveness) = &mut row.liveness {
                later(&mut liveness.timestamp);
            }
            if let Some(deletion) = &mut row.deletion {
                later(&mut deletion.timestamp);
            }
            for (_, data) in &mut row.columns {
                match data {
                    ColumnData::Simple(cell) => later(&mut cell.timestamp),
                    ColumnData::Complex { deletion, cells } => {
                        if let Some(deletion) = deletion {
                            later(&mut deletion.timestamp);
                        }
                        cells
                            .iter_mut()
                            .for_each(|(_, cell)| later(&mut cell.timestamp));
                    }
                }
            }
        }
    }
}

/// A deletion of the rows between two bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeTombstone {
    /// Where it begins.
    pub start: ClusteringBound,
    /// Where it ends.
    pub end: ClusteringBound,
    /// The deletion.
    pub deletion: DeletionTime,
}
