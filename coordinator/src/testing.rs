//! Rings, a store of numbers and its replicas for this crate's tests.

pub(crate) mod harness;
pub(crate) mod kv;

pub(crate) mod desk;
pub(crate) mod register;

use std::net::{Ipv4Addr, SocketAddr};

use smallvec::smallvec;

use crate::node::DataCentre;
use crate::ring::{Node, Replication, Ring, Token};

/// A node `127.0.0.n` with these tokens.
pub(crate) fn node(number: u8, data_centre: &str, rack: &str, tokens: &[i64]) -> Node {
    Node {
        host_id: number.into(),
        address: SocketAddr::from((Ipv4Addr::new(127, 0, 0, number), 7000)),
        data_centre: data_centre.into(),
        rack: rack.into(),
        tokens: tokens.iter().copied().map(Token).collect(),
    }
}

/// So many nodes in one rack, with the tokens 0, 100, 200 and so on.
pub(crate) fn ring_of(nodes: u8) -> Ring {
    let nodes = (0..nodes).map(|n| node(n + 1, "dc1", "rack1", &[100 * i64::from(n)]));
    Ring::new(nodes.collect())
}

/// Three nodes in each of two data centres, 0 to 2 in the first, with tokens that take turns; and a replication over both.
pub(crate) fn two_centres(first: u16, second: u16) -> (Ring, Replication) {
    let nodes = (0..6).map(|n| {
        let (name, token) = if n < 3 {
            ("dc1", 100 * i64::from(n))
        } else {
            ("dc2", 100 * i64::from(n - 3) + 50)
        };
        node(n + 1, name, "rack1", &[token])
    });
    let factors = smallvec![(DataCentre(0), first), (DataCentre(1), second)];
    (
        Ring::new(nodes.collect()),
        Replication::NetworkTopology { factors },
    )
}
