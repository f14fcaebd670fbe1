//! A table's columns and options.

use std::sync::Arc;

use helenus_core::types::CqlType;
use uuid::Uuid;

use super::Index;
use super::options::TableOptions;

/// The identity of a table: a table dropped and created again has another.
pub type TableId = Uuid;

/// The identity of a column within its table. Never used again after a drop, so that cells of a dropped
/// column don't come back with a new column of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(pub u32);

/// What a column is within its table's primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Part of the partition key.
    PartitionKey,
    /// A clustering column.
    Clustering,
    /// One value a partition.
    Static,
    /// An ordinary column.
    Regular,
}

impl ColumnKind {
    /// The word `system_schema.columns.kind` has for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PartitionKey => "partition_key",
            Self::Clustering => "clustering",
            Self::Static => "static",
            Self::Regular => "regular",
        }
    }

    /// Whether it is part of the primary key.
    pub fn is_primary_key(self) -> bool {
        matches!(self, Self::PartitionKey | Self::Clustering)
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its identity in storage.
    pub id: ColumnId,
    /// The name, without quotes.
    pub name: Arc<str>,
    /// The type.
    pub ty: CqlType,
    /// Its part in the primary key.
    pub kind: ColumnKind,
    /// The place within the partition key or clustering; 0 elsewhere.
    pub position: usize,
    /// A clustering column in descending order.
    pub descending: bool,
}

impl Column {
    /// Whether values of this column are kept as several cells: a collection or user type that isn't frozen.
    pub fn is_complex(&self) -> bool {
        is_complex(&self.ty)
    }

    /// Whether it is part of the primary key.
    pub fn is_primary_key(&self) -> bool {
        self.kind.is_primary_key()
    }

    /// Whether it has one value a partition.
    pub fn is_static(&self) -> bool {
        self.kind == ColumnKind::Static
    }
}

/// Whether a column of this type is kept as several cells.
pub(super) fn is_complex(ty: &CqlType) -> bool {
    matches!(
        ty,
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)
    )
}

/// A column that was dropped, as `system_schema.dropped_columns` keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedColumn {
    /// The name it had.
    pub name: Arc<str>,
    /// The type it had, user types in it replaced with tuples (the type may be dropped later).
    pub ty: CqlType,
    /// When it was dropped, microseconds from 1970.
    pub dropped_at: i64,
    /// Whether it was static.
    pub is_static: bool,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The keyspace it lives in.
    pub keyspace: Arc<str>,
    /// The name, without quotes.
    pub name: Arc<str>,
    /// Its identity.
    pub id: TableId,
    /// All columns in the order of `SELECT *`: partition key, clustering, then static and regular ones, each by
    /// name, statics first.
    pub columns: Vec<Column>,
    /// How many of `columns` are the partition key.
    pub partition_key_len: usize,
    /// How many follow as clustering columns.
    pub clustering_len: usize,
    /// How many follow as static columns; the rest is regular.
    pub static_len: usize,
    /// What a materialized view has of a table: it is read, never written, and keeps nothing.
    pub is_view: bool,
    /// A table of counters.
    pub is_counter: bool,
    /// The id the next added column takes.
    pub next_column_id: u32,
    /// `default_time_to_live`, seconds; 0 is none.
    pub default_ttl: u32,
    /// `gc_grace_seconds`
    pub gc_grace_seconds: u32,
    /// All other options.
    pub options: Arc<TableOptions>,
    /// Dropped columns by name, each name once: its last drop.
    pub dropped: Vec<DroppedColumn>,
    /// Secondary indexes by name.
    pub indexes: Vec<Index>,
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let by_name = |part: &'_ [Column]| {
            part.binary_search_by(|column| (*column.name).cmp(name))
                .ok()
        };
        let keys = self.partition_key_len + self.clustering_len;
        let (primary, rest) = self.columns.split_at(keys);
        primary
            .iter()
            .find(|column| &*column.name == name)
            .or_else(|| {
                let (statics, regulars) = rest.split_at(self.static_len);
                by_name(regulars)
                    .map(|index| &regulars[index])
                    .or_else(|| by_name(statics).map(|index| &statics[index]))
            })
    }

    /// The column of that identity.
    pub fn column_with_id(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// The partition key's columns, in key order.
    pub fn partition_key(&self) -> &[Column] {
        &self.columns[..self.partition_key_len]
    }

    /// The clustering columns, in order.
    pub fn clustering(&self) -> &[Column] {
        &self.columns[self.partition_key_len..][..self.clustering_len]
    }

    /// The columns of the primary key: partition key, then clustering.
    pub fn primary_key(&self) -> &[Column] {
        &self.columns[..self.partition_key_len + self.clustering_len]
    }

    /// The static columns.
    pub fn statics(&self) -> &[Column] {
        &self.columns[self.partition_key_len + self.clustering_len..][..self.static_len]
    }

    /// The regular columns.
    pub fn regulars(&self) -> &[Column] {
        &self.columns[self.partition_key_len + self.clustering_len + self.static_len..]
    }

    /// Whether the table has a static column.
    pub fn has_statics(&self) -> bool {
        self.static_len > 0
    }

    /// Puts `columns` in the order the fields promise and counts the parts.
    pub(super) fn set_columns(&mut self, mut columns: Vec<Column>) {
        let rank = |column: &Column| match column.kind {
            ColumnKind::PartitionKey => 0,
            ColumnKind::Clustering => 1,
            ColumnKind::Static => 2,
            ColumnKind::Regular => 3,
        };
        columns.sort_by(|a, b| (rank(a), a.position, &a.name).cmp(&(rank(b), b.position, &b.name)));
        let count = |kind| columns.iter().filter(|column| column.kind == kind).count();
        self.partition_key_len = count(ColumnKind::PartitionKey);
        self.clustering_len = count(ColumnKind::Clustering);
        self.static_len = count(ColumnKind::Static);
        self.columns = columns;
    }
}
