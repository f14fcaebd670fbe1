//! `DESCRIBE CLUSTER`.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use helenus_core::message::Rows;
use helenus_core::types::CqlType;

use super::{answer, column, is_system, put_cell};
use crate::schema::Schema;

/// The port on which nodes of a cluster meet.
const STORAGE_PORT: u16 = 7000;

/// The cluster's name, partitioner and snitch; and, in a session on a keyspace of its users, who owns which range.
pub(super) fn describe(schema: &Schema, session_keyspace: Option<&str>) -> Rows {
    let node = &schema.node;
    let partitioner = node.partitioner.rsplit('.').next().unwrap_or_default();
    let mut columns = ["cluster", "partitioner", "snitch"]
        .map(|name| column(name, CqlType::Text))
        .to_vec();
    let mut content = BytesMut::new();
    for cell in [&node.cluster_name, partitioner, "DynamicEndpointSnitch"] {
        put_cell(&mut content, cell.as_bytes());
    }
    let keyspace = session_keyspace.and_then(|name| schema.keyspaces.get(name));
    if keyspace.is_some_and(|keyspace| !is_system(keyspace)) {
        let owners = CqlType::List(Arc::new(CqlType::Text));
        let ranges = CqlType::Map(Arc::new((CqlType::Text, owners)));
        columns.push(column("range_ownership", ranges));
        put_cell(&mut content, &ownership(&node.tokens, node.address));
    }
    answer(columns, 1, content)
}

/// A map from each range's end to the nodes that have it.
fn ownership(tokens: &[i64], address: IpAddr) -> BytesMut {
    let owner = format!("/{}", SocketAddr::new(address, STORAGE_PORT));
    let mut owners = BytesMut::new();
    owners.put_u32(1);
    put_cell(&mut owners, owner.as_bytes());
    let ends: BTreeSet<String> = tokens.iter().map(i64::to_string).collect();
    let mut map = BytesMut::new();
    map.put_u32(u32::try_from(ends.len()).unwrap_or(u32::MAX));
    for end in &ends {
        put_cell(&mut map, end.as_bytes());
        put_cell(&mut map, &owners);
    }
    map
}
