//! The node the engine speaks for: what `system.local` says of it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use helenus_core::types::Value;
use uuid::Uuid;

use super::writer::{self, PartitionWriter};
use crate::schema::{Schema, Table};
use crate::storage::Mutation;

/// What a node says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeInfo {
    /// The address clients reach the node at.
    pub address: IpAddr,
    /// The port clients reach the node at.
    pub port: u16,
    /// The identity of the node, which stays with its data.
    pub host_id: Uuid,
    /// The name of the cluster.
    pub cluster_name: String,
    /// The datacenter.
    pub data_center: String,
    /// The rack.
    pub rack: String,
    /// The tokens at which the node's ranges end. Clients that route by token need one at least.
    pub tokens: Vec<i64>,
    /// The version of Cassandra that the node answers like.
    pub release_version: String,
    /// The version of CQL.
    pub cql_version: String,
    /// The newest version of the native protocol.
    pub native_protocol_version: String,
    /// The class that computes tokens.
    pub partitioner: String,
}

/// The port on which nodes of a cluster meet, which clients only read of.
const STORAGE_PORT: i32 = 7000;

impl NodeInfo {
    /// A node of a cluster by itself, in `datacenter1` and `rack1`.
    pub fn new(address: IpAddr, port: u16, host_id: Uuid) -> Self {
        Self {
            address,
            port,
            host_id,
            cluster_name: "helenus".into(),
            data_center: "datacenter1".into(),
            rack: "rack1".into(),
            tokens: vec![0],
            release_version: "5.0.4".into(),
            cql_version: "3.4.7".into(),
            native_protocol_version: "5".into(),
            partitioner: "org.apache.cassandra.dht.Murmur3Partitioner".into(),
        }
    }
}

impl Default for NodeInfo {
    /// A node on 127.0.0.1:9042 without an identity of its own.
    fn default() -> Self {
        Self::new(Ipv4Addr::LOCALHOST.into(), 9042, Uuid::nil())
    }
}

/// The row of `system.local`.
pub(super) fn local(schema: &Schema, node: &NodeInfo, timestamp: i64) -> Option<Mutation> {
    let table = schema.table("system", "local")?;
    let text = |text: &str| Value::Text(text.into());
    let started = i32::try_from(timestamp / 1_000_000).unwrap_or(i32::MAX);
    let tokens = node
        .tokens
        .iter()
        .map(|token| text(&token.to_string()))
        .collect();
    Some(writer::insert(
        table,
        timestamp,
        &[
            ("key", text("local")),
            ("bootstrapped", text("COMPLETED")),
            ("broadcast_address", Value::Inet(node.address)),
            ("broadcast_port", Value::Int(STORAGE_PORT)),
            ("cluster_name", text(&node.cluster_name)),
            ("cql_version", text(&node.cql_version)),
            ("data_center", text(&node.data_center)),
            ("gossip_generation", Value::Int(started)),
            ("host_id", Value::Uuid(node.host_id)),
            ("listen_address", Value::Inet(node.address)),
            ("listen_port", Value::Int(STORAGE_PORT)),
            (
                "native_protocol_version",
                text(&node.native_protocol_version),
            ),
            ("partitioner", text(&node.partitioner)),
            ("rack", text(&node.rack)),
            ("release_version", text(&node.release_version)),
            ("rpc_address", Value::Inet(node.address)),
            ("rpc_port", Value::Int(node.port.into())),
            ("schema_version", Value::Uuid(schema.version)),
            ("tokens", Value::Set(tokens)),
        ],
    ))
}

/// The change of `system.local` that shows a new schema version.
pub(crate) fn set_schema_version(
    schema: &Schema,
    version: Uuid,
    timestamp: i64,
) -> Option<Mutation> {
    let table = schema.table("system", "local")?;
    let key = [("key", Value::Text("local".into()))];
    let mut partition = PartitionWriter::new(table, timestamp, &key);
    partition.insert(&[("schema_version", Value::Uuid(version))]);
    Some(partition.finish())
}

/// The rows of another node in `system.peers` and `system.peers_v2`.
pub(super) fn peer(schema: &Schema, peer: &NodeInfo, timestamp: i64) -> Vec<Mutation> {
    let text = |text: &str| Value::Text(text.into());
    let tokens = peer.tokens.iter().map(|token| text(&token.to_string()));
    let tokens = Value::Set(tokens.collect());
    let row = [
        ("peer", Value::Inet(peer.address)),
        ("peer_port", Value::Int(STORAGE_PORT)),
        ("data_center", text(&peer.data_center)),
        ("host_id", Value::Uuid(peer.host_id)),
        ("native_address", Value::Inet(peer.address)),
        ("native_port", Value::Int(peer.port.into())),
        ("rack", text(&peer.rack)),
        ("release_version", text(&peer.release_version)),
        ("rpc_address", Value::Inet(peer.address)),
        ("schema_version", Value::Uuid(schema.version)),
        ("tokens", tokens),
    ];
    // A table takes the columns that it has.
    peers_tables(schema)
        .map(|table| writer::insert(table, timestamp, &row))
        .collect()
}

/// The tables that list other nodes.
fn peers_tables(schema: &Schema) -> impl Iterator<Item = &Arc<Table>> {
    let names = ["peers", "peers_v2"].into_iter();
    names.filter_map(|name| schema.table("system", name))
}

impl Schema {
    /// The changes of `system.peers` and `system.peers_v2` that show which version of the schema the node at `peer` has.
    /// `timestamp` is in microseconds from 1970.
    pub fn set_peer_version(&self, peer: IpAddr, version: Uuid, timestamp: i64) -> Vec<Mutation> {
        let row = [
            ("peer", Value::Inet(peer)),
            ("peer_port", Value::Int(STORAGE_PORT)),
            ("schema_version", Value::Uuid(version)),
        ];
        peers_tables(self)
            .map(|table| writer::insert(table, timestamp, &row))
            .collect()
    }
}

/// The settings a client may look up.
pub(super) fn settings(schema: &Schema, node: &NodeInfo, timestamp: i64) -> Vec<Mutation> {
    let Some(table) = schema.table("system_views", "settings") else {
        return Vec::new();
    };
    let settings = [
        ("cluster_name", node.cluster_name.clone()),
        ("listen_address", node.address.to_string()),
        ("native_transport_port", node.port.to_string()),
        ("partitioner", node.partitioner.clone()),
        ("rpc_address", node.address.to_string()),
        ("storage_port", STORAGE_PORT.to_string()),
    ];
    settings
        .into_iter()
        .map(|(name, value)| {
            let row = [
                ("name", Value::Text(name.into())),
                ("value", Value::Text(value)),
            ];
            writer::insert(table, timestamp, &row)
        })
        .collect()
}
