//! The schema as immutable snapshots: a change makes a new [`Schema`] that shares what it kept.

mod table;

pub use table::{Column, ColumnId, ColumnKind, Table, TableId, TableOption};

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::types::UserType;
use uuid::Uuid;

/// All keyspaces at one moment.
#[derive(Debug, Clone)]
pub struct Schema {
    /// Keyspaces by name, the system's among them.
    pub keyspaces: BTreeMap<Arc<str>, Arc<Keyspace>>,
    /// The schema version: equal for equal content, as `system.local` shows it.
    pub version: Uuid,
}

/// A keyspace with its tables and types.
#[derive(Debug, Clone)]
pub struct Keyspace {
    /// The name.
    pub name: Arc<str>,
    /// The replication map, `class` among its keys (a fully qualified class name).
    pub replication: BTreeMap<Arc<str>, Arc<str>>,
    /// `durable_writes`
    pub durable_writes: bool,
    /// Tables by name.
    pub tables: BTreeMap<Arc<str>, Arc<Table>>,
    /// User types by name.
    pub types: BTreeMap<Arc<str>, Arc<UserType>>,
    /// A keyspace of virtual tables: read only, listed in `system_virtual_schema`.
    pub is_virtual: bool,
}

impl Schema {
    /// The table of that name.
    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Arc<Table>> {
        self.keyspaces.get(keyspace)?.tables.get(name)
    }
}
