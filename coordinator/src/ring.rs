//! The ring: which nodes there are, which tokens are theirs, and which nodes replicate a token. Answers to Cassandra's
//! `SimpleStrategy` and `NetworkTopologyStrategy`.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::node::{DataCentre, NodeId};

mod placement;

pub use placement::Placement;

/// Where a partition stands on the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

impl Token {
    /// The least.
    pub const MIN: Token = Token(i64::MIN);
    /// The greatest.
    pub const MAX: Token = Token(i64::MAX);
}

/// The tokens from one to another, both among them; never empty, and never around the end of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenRange {
    /// The least.
    pub first: Token,
    /// The greatest.
    pub last: Token,
}

impl TokenRange {
    /// The whole ring.
    pub const ALL: TokenRange = TokenRange {
        first: Token::MIN,
        last: Token::MAX,
    };

    /// From one token to another; none if they are in the wrong order.
    #[must_use]
    pub fn new(first: Token, last: Token) -> Option<TokenRange> {
        (first <= last).then_some(TokenRange { first, last })
    }

    /// Whether the token is among them.
    #[must_use]
    pub fn contains(self, token: Token) -> bool {
        self.first <= token && token <= self.last
    }

    /// What both have.
    #[must_use]
    pub fn intersection(self, other: TokenRange) -> Option<TokenRange> {
        TokenRange::new(self.first.max(other.first), self.last.min(other.last))
    }
}

/// A node of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is known by for good.
    pub host_id: u128,
    /// Where other nodes reach it.
    pub address: SocketAddr,
    /// Its data centre.
    pub data_centre: Arc<str>,
    /// Its rack in there.
    pub rack: Arc<str>,
    /// Its tokens: each is the last of a range that begins behind the one before it on the ring.
    pub tokens: Vec<Token>,
}

/// How a keyspace is replicated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replication {
    /// On so many nodes, whatever their data centres and racks.
    Simple {
        /// How many.
        factor: u16,
    },
    /// On so many nodes in each data centre, in as many racks as there are.
    NetworkTopology {
        /// How many in which.
        factors: SmallVec<[(DataCentre, u16); 2]>,
    },
    /// On every node.
    Everywhere,
}

/// The nodes and their tokens: a snapshot, replaced whole when they change.
#[derive(Debug, Clone, Default)]
pub struct Ring {
    nodes: Vec<Node>,
    data_centres: Vec<Arc<str>>,
    /// Of each node.
    places: Vec<Place>,
    /// All tokens in order, each with its node. Of a token that two nodes claim the first node's claim counts.
    tokens: Vec<(Token, NodeId)>,
}

/// Where a node stands; racks have numbers of their own in each data centre.
#[derive(Debug, Clone, Copy)]
struct Place {
    data_centre: DataCentre,
    rack: u16,
}

impl Ring {
    /// A ring of these nodes, of which the first 65,536 count; [`NodeId`] is the index in here.
    #[must_use]
    pub fn new(mut nodes: Vec<Node>) -> Ring {
        nodes.truncate(1 << 16);
        let mut ring = Ring::default();
        let mut racks: Vec<(DataCentre, Arc<str>)> = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let data_centre = DataCentre(position_of(&mut ring.data_centres, &node.data_centre));
            let rack = position_of(&mut racks, &(data_centre, Arc::clone(&node.rack)));
            ring.places.push(Place { data_centre, rack });
            let own = node
                .tokens
                .iter()
                .map(|token| (*token, NodeId(index as u16)));
            ring.tokens.extend(own);
        }
        ring.tokens.sort_unstable();
        ring.tokens.dedup_by_key(|(token, _)| *token);
        ring.nodes = nodes;
        ring
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(usize::from(id.0))
    }

    /// All nodes; a [`NodeId`] is an index in here.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids of all nodes.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(|index| NodeId(index as u16))
    }

    /// The node's data centre.
    #[inline]
    #[must_use]
    pub fn data_centre(&self, id: NodeId) -> Option<DataCentre> {
        Some(self.places.get(usize::from(id.0))?.data_centre)
    }

    /// The data centre of this name.
    #[must_use]
    pub fn data_centre_named(&self, name: &str) -> Option<DataCentre> {
        let index = self
            .data_centres
            .iter()
            .position(|known| **known == *name)?;
        Some(DataCentre(index as u16))
    }

    /// The data centre's name.
    #[must_use]
    pub fn data_centre_name(&self, id: DataCentre) -> Option<&str> {
        self.data_centres.get(usize::from(id.0)).map(|name| &**name)
    }

    /// Which node replicates what of a keyspace. Costs a walk around the ring for each of its tokens: keep it until
    /// the ring or the replication changes.
    #[must_use]
    pub fn place(&self, replication: &Replication) -> Placement {
        Placement::new(self, replication)
    }

    /// The node as Cassandra's texts show it.
    pub(crate) fn shown(&self, id: NodeId) -> impl fmt::Display {
        Shown(self.node(id).map(|node| node.address))
    }
}

struct Shown(Option<SocketAddr>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, "/{address}"),
            None => f.write_str("an unknown node"),
        }
    }
}

/// Where the item is in the list, at the end if it is new; there are no more of them than nodes.
fn position_of<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) -> u16 {
    let found = list.iter().position(|known| known == item);
    let index = found.unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    });
    index as u16
}

#[cfg(test)]
mod tests;
