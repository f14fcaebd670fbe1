//! A table's columns and options.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::types::CqlType;
use uuid::Uuid;

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
        matches!(
            self.ty,
            CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)
        )
    }
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
    /// All columns in the order of `SELECT *`: partition key, clustering, then static and regular ones by name,
    /// statics first.
    pub columns: Vec<Column>,
    /// How many of `columns` are the partition key.
    pub partition_key_len: usize,
    /// How many follow as clustering columns.
    pub clustering_len: usize,
    /// How many follow as static columns; the rest is regular.
    pub static_len: usize,
    /// A table of counters.
    pub is_counter: bool,
    /// The id the next added column takes.
    pub next_column_id: u32,
    /// `default_time_to_live`, seconds; 0 is none.
    pub default_ttl: u32,
    /// `gc_grace_seconds`
    pub gc_grace_seconds: u32,
    /// All other options, as `WITH` names them, with their text as `DESCRIBE` prints it.
    pub options: BTreeMap<Arc<str>, TableOption>,
    /// Dropped columns, for `system_schema.dropped_columns`: name, type, drop time in microseconds, whether static.
    pub dropped: Vec<(Arc<str>, CqlType, i64, bool)>,
}

/// The value of a table option.
#[derive(Debug, Clone, PartialEq)]
pub enum TableOption {
    /// A number, boolean or string, as text.
    Value(Arc<str>),
    /// A map of strings.
    Map(BTreeMap<Arc<str>, Arc<str>>),
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| &*column.name == name)
    }

    /// The partition key's columns, in key order.
    pub fn partition_key(&self) -> &[Column] {
        &self.columns[..self.partition_key_len]
    }

    /// The clustering columns, in order.
    pub fn clustering(&self) -> &[Column] {
        &self.columns[self.partition_key_len..][..self.clustering_len]
    }

    /// The static columns.
    pub fn statics(&self) -> &[Column] {
        &self.columns[self.partition_key_len + self.clustering_len..][..self.static_len]
    }

    /// The regular columns.
    pub fn regulars(&self) -> &[Column] {
        &self.columns[self.partition_key_len + self.clustering_len + self.static_len..]
    }
}
