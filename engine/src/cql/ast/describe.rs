//! `DESCRIBE`.

use super::{Name, TableName};

/// `DESCRIBE …`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    /// What is described.
    pub target: DescribeTarget,
    /// `WITH INTERNALS`
    pub internals: bool,
}

/// What a `DESCRIBE` is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribeTarget {
    /// `CLUSTER`
    Cluster,
    /// `[FULL] SCHEMA`
    Schema {
        /// `FULL`
        full: bool,
    },
    /// `KEYSPACES`
    Keyspaces,
    /// `[ONLY] KEYSPACE [name]`
    Keyspace {
        /// `ONLY`
        only: bool,
        /// The keyspace; that of the session when missing.
        name: Option<Name>,
    },
    /// `TABLES`
    Tables,
    /// `TABLE name`
    Table(TableName),
    /// `TYPES`
    Types,
    /// `TYPE name`
    Type(TableName),
    /// `FUNCTIONS`
    Functions,
    /// `FUNCTION name`
    Function(TableName),
    /// `AGGREGATES`
    Aggregates,
    /// `AGGREGATE name`
    Aggregate(TableName),
    /// `INDEX name`
    Index(TableName),
    /// `MATERIALIZED VIEW name`
    View(TableName),
    /// `DESCRIBE name`: a keyspace, table or whatever has it.
    Anything(TableName),
}
