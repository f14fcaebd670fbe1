//! Nodes and data centres as the machines know them: indices into a [`Ring`](crate::Ring).

use smallvec::SmallVec;

/// A node: its index in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

/// A data centre: the order in which the ring's nodes first named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataCentre(pub u16);

/// Nodes in an order; up to eight take no allocation.
pub type Nodes = SmallVec<[NodeId; 8]>;

/// A set of nodes, such as those that are alive; the first 128 take no allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSet {
    words: SmallVec<[u64; 2]>,
}

impl NodeSet {
    /// Nobody.
    #[must_use]
    pub fn new() -> NodeSet {
        NodeSet::default()
    }

    /// The first `nodes` of a ring.
    #[must_use]
    pub fn first(nodes: u16) -> NodeSet {
        (0..nodes).map(NodeId).collect()
    }

    /// Adds a node.
    pub fn insert(&mut self, node: NodeId) {
        let (word, bit) = place(node);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    /// Takes a node out.
    pub fn remove(&mut self, node: NodeId) {
        let (word, bit) = place(node);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether the node is among them.
    #[inline]
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        let (word, bit) = place(node);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> NodeSet {
        let mut set = NodeSet::new();
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }
}

const fn place(node: NodeId) -> (usize, u64) {
    (node.0 as usize / 64, 1 << (node.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_nodes_grows_with_its_largest() {
        let mut set = NodeSet::first(3);
        set.insert(NodeId(200));
        set.remove(NodeId(1));
        set.remove(NodeId(u16::MAX));
        let found: Vec<u16> = (0..=u16::MAX)
            .filter(|n| set.contains(NodeId(*n)))
            .collect();
        assert_eq!(found, [0, 2, 200]);
    }
}
