//! The schema as immutable snapshots: a change makes a new [`Schema`] that shares what it kept.

mod ddl;
mod function;
mod index;
mod natives;
mod options;
mod replication;
mod table;
mod types;
mod version;
mod view;

pub use ddl::SchemaUpdate;
pub(crate) use ddl::{build_table, is_unalterable, keyspace_of};
pub(crate) use function::{Code, type_names};
pub use function::{FunctionKey, UserAggregate, UserFunction};
pub use index::{Index, IndexKind, Similarity};
pub use natives::{InvalidNative, Natives};
pub(crate) use options::TableSettings;
pub use options::{OptionMap, PropertyText, TableOptions};
pub use replication::Replication;
pub use table::{Column, ColumnId, ColumnKind, DroppedColumn, Table, TableId};
pub use types::resolve_type;
pub use view::View;

#[cfg(test)]
pub(crate) use ddl::testing;

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::types::UserType;
use uuid::Uuid;

use crate::system::NodeInfo;

/// All keyspaces at one moment.
#[derive(Debug, Clone)]
pub struct Schema {
    /// Keyspaces by name, the system's among them.
    pub keyspaces: BTreeMap<Arc<str>, Arc<Keyspace>>,
    /// The schema version: equal for equal content, as `system.local` shows it.
    pub version: Uuid,
    /// How many nodes each datacenter has, which replication is held against.
    pub datacenters: Arc<BTreeMap<Arc<str>, usize>>,
    /// How many that is in all.
    pub nodes: usize,
    /// The node that has this schema, which `DESCRIBE CLUSTER` is about.
    pub node: Arc<NodeInfo>,
    /// The functions and aggregates that keyspaces get when they are created.
    pub(crate) natives: Arc<Natives>,
    /// What `version` is made of.
    content: version::Content,
}

/// A keyspace with its tables, types and functions.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyspace {
    /// The name.
    pub name: Arc<str>,
    /// How it is replicated.
    pub replication: Replication,
    /// `durable_writes`
    pub durable_writes: bool,
    /// Tables by name.
    pub tables: BTreeMap<Arc<str>, Arc<Table>>,
    /// User types by name.
    pub types: BTreeMap<Arc<str>, Arc<UserType>>,
    /// Materialized views by name.
    pub views: BTreeMap<Arc<str>, Arc<View>>,
    /// User functions.
    pub functions: BTreeMap<FunctionKey, Arc<UserFunction>>,
    /// User aggregates.
    pub aggregates: BTreeMap<FunctionKey, Arc<UserAggregate>>,
    /// A keyspace of virtual tables: read only, listed in `system_virtual_schema`.
    pub is_virtual: bool,
}

impl Schema {
    /// The schema of these keyspaces, on nodes so many a datacenter.
    pub(crate) fn new(
        mut keyspaces: BTreeMap<Arc<str>, Arc<Keyspace>>,
        datacenters: BTreeMap<Arc<str>, usize>,
        node: &NodeInfo,
        natives: Natives,
    ) -> Self {
        if let Some(system) = keyspaces.get_mut("system") {
            natives.add_to(Arc::make_mut(system));
        }
        let content = version::Content::of(&keyspaces);
        Self {
            keyspaces,
            version: content.version(),
            nodes: datacenters.values().sum(),
            datacenters: Arc::new(datacenters),
            node: Arc::new(node.clone()),
            natives: Arc::new(natives),
            content,
        }
    }

    /// The table of that identity, a view's rows included.
    pub fn table_with_id(&self, id: TableId) -> Option<&Arc<Table>> {
        let mut tables = self
            .keyspaces
            .values()
            .flat_map(|keyspace| keyspace.tables.values());
        tables.find(|table| table.id == id)
    }

    /// The table of that name.
    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Arc<Table>> {
        self.keyspaces.get(keyspace)?.tables.get(name)
    }
}

impl Keyspace {
    /// Whether only the server itself changes it: no statement creates, alters or drops anything in it.
    pub fn is_local_system(&self) -> bool {
        is_local_system(&self.name)
    }

    /// The table of that name, or what a view of that name has of one.
    pub fn table_or_view(&self, name: &str) -> Option<&Arc<Table>> {
        let view = || self.views.get(name).map(|view| &view.table);
        self.tables.get(name).or_else(view)
    }

    /// The views that are made from a table.
    pub fn views_of(&self, table: &str) -> impl Iterator<Item = &Arc<View>> {
        self.views.values().filter(move |view| &*view.base == table)
    }

    /// The index of that name with its table.
    pub fn index(&self, name: &str) -> Option<(&Arc<Table>, &Index)> {
        self.tables.values().find_map(|table| {
            let index = table.indexes.iter().find(|index| &*index.name == name)?;
            Some((table, index))
        })
    }
}

/// The keyspaces that are each node's own, which nobody may alter.
pub fn is_local_system(name: &str) -> bool {
    [
        "system",
        "system_schema",
        "system_views",
        "system_virtual_schema",
    ]
    .iter()
    .any(|system| system.eq_ignore_ascii_case(name))
}

/// The keyspaces that aren't users': the server's own, and those it keeps for users.
pub fn is_system(name: &str) -> bool {
    is_local_system(name) || is_replicated_system(name)
}

/// The keyspaces of the server that are replicated: their replication may be altered.
pub(crate) fn is_replicated_system(name: &str) -> bool {
    ["system_auth", "system_distributed", "system_traces"].contains(&name)
}
