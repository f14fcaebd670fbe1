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

use crate::schema::{Natives, Schema};
use crate::storage::Mutation;

impl Schema {
    /// The schema of a new node: the system keyspaces, and the content of their tables, which is to be applied
    /// where they are kept. `timestamp` is in microseconds from 1970.
    pub fn bootstrap(node: &NodeInfo, timestamp: i64) -> (Self, Vec<Mutation>) {
        Self::bootstrap_among(node, &[], timestamp)
    }

    /// The same for a node that is one of several: `peers` are the others.
    pub fn bootstrap_among(
        node: &NodeInfo,
        peers: &[NodeInfo],
        timestamp: i64,
    ) -> (Self, Vec<Mutation>) {
        Self::bootstrap_with(node, peers, Natives::default(), timestamp)
    }

    /// The same with native functions and aggregates, which the nodes of a cluster should have alike.
    pub fn bootstrap_with(
        node: &NodeInfo,
        peers: &[NodeInfo],
        natives: Natives,
        timestamp: i64,
    ) -> (Self, Vec<Mutation>) {
        let mut datacenters = BTreeMap::new();
        for each in std::iter::once(node).chain(peers) {
            *datacenters
                .entry(Arc::from(&*each.data_center))
                .or_default() += 1;
        }
        let schema = Self::new(definitions::keyspaces(), datacenters, node, natives);
        let mut mutations = Vec::new();
        for keyspace in schema.keyspaces.values() {
            mutations.extend(match keyspace.is_virtual {
                true => catalog::virtual_content(&schema, keyspace, timestamp),
                false => catalog::changes(&schema, None, Some(keyspace), timestamp),
            });
        }
        mutations.extend(node::local(&schema, node, timestamp));
        for peer in peers {
            mutations.extend(node::peer(&schema, peer, timestamp));
        }
        mutations.extend(node::settings(&schema, node, timestamp));
        (schema, mutations)
    }
}
