//! A change of one partition.

use std::sync::Arc;

use super::{ClusteringBound, ClusteringKey, DecoratedKey, DeletionTime, Row};
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
