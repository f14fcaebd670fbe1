//! The server's own keyspaces: their tables, and what stands in them from the start.

pub(crate) mod catalog;
mod definitions;
pub(crate) mod node;
pub mod writer;

pub use node::NodeInfo;

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(test)]
mod tests;

use crate::schema::Schema;
use crate::storage::Mutation;

impl Schema {
    /// The schema of a new node: the system keyspaces, and the content of their tables, which is to be applied
    /// where they are kept. `timestamp` is in microseconds from 1970.
    pub fn bootstrap(node: &NodeInfo, timestamp: i64) -> (Self, Vec<Mutation>) {
        let datacenters = BTreeMap::from([(Arc::from(&*node.data_center), 1)]);
        let schema = Self::new(definitions::keyspaces(), datacenters, node);
        let mut mutations = Vec::new();
        for keyspace in schema.keyspaces.values() {
            mutations.extend(match keyspace.is_virtual {
                true => catalog::virtual_content(&schema, keyspace, timestamp),
                false => catalog::changes(&schema, None, Some(keyspace), timestamp),
            });
        }
        mutations.extend(node::local(&schema, node, timestamp));
        mutations.extend(node::settings(&schema, node, timestamp));
        (schema, mutations)
    }
}
