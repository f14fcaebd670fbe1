//! `CREATE`, `ALTER` and `DROP MATERIALIZED VIEW`.

use super::{Name, Properties, Relation, Selector, TableName};

/// `CREATE MATERIALIZED VIEW`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// The view.
    pub name: TableName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The columns; empty for `*`.
    pub selectors: Vec<Selector>,
    /// The table it is made from.
    pub base: TableName,
    /// `WHERE`
    pub restrictions: Vec<Relation>,
    /// `PRIMARY KEY ((a, b), c)`: the partition key.
    pub partition_key: Vec<Name>,
    /// Its clustering columns.
    pub clustering: Vec<Name>,
    /// `WITH CLUSTERING ORDER BY (c DESC)`: column and whether it descends.
    pub clustering_order: Vec<(Name, bool)>,
    /// The other `WITH` entries.
    pub properties: Properties,
}
