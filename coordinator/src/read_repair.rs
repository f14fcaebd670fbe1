//! What replicas were found to lack, and who has confirmed to have it now. Answers to Cassandra's
//! `BlockingPartitionRepair`.
//!
//! Each mutation has to be confirmed by the node that lacks it, or by another one in its place. No two nodes are
//! replaced by the same one: so all that was read is on as many replicas as the level needs.

use smallvec::SmallVec;

use crate::model::Model;
use crate::node::{NodeId, Nodes};

/// A mutation that a node lacks.
#[derive(Debug)]
pub(crate) struct Lack<M: Model> {
    pub(crate) node: NodeId,
    pub(crate) mutation: M::Mutation,
    /// How many that were sent it may still confirm it.
    awaited: u8,
    confirmed: bool,
    replaced: bool,
}

/// All of one read.
#[derive(Debug)]
pub(crate) struct Lacks<M: Model> {
    list: SmallVec<[Lack<M>; 2]>,
}

impl<M: Model> Lacks<M> {
    /// Each is sent to its node.
    pub(crate) fn new(repairs: Vec<(NodeId, M::Mutation)>) -> Self {
        let lacks = repairs.into_iter().map(|(node, mutation)| Lack {
            node,
            mutation,
            awaited: 1,
            confirmed: false,
            replaced: false,
        });
        Self {
            list: lacks.collect(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lack<M>> {
        self.list.iter()
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Lack<M>> {
        self.list.get(index as usize)
    }

    pub(crate) fn confirm(&mut self, index: u32) {
        if let Some(lack) = self.list.get_mut(index as usize) {
            lack.confirmed = true;
        }
    }

    /// One that was sent it won't confirm it.
    pub(crate) fn lost(&mut self, index: u32) {
        if let Some(lack) = self.list.get_mut(index as usize) {
            lack.awaited = lack.awaited.saturating_sub(1);
        }
    }

    pub(crate) fn are_confirmed(&self) -> bool {
        self.list.iter().all(|lack| lack.confirmed)
    }

    /// Whether one is left that nobody will confirm.
    pub(crate) fn is_hopeless(&self) -> bool {
        let mut lacks = self.list.iter();
        lacks.any(|lack| !lack.confirmed && lack.awaited == 0)
    }

    /// Nodes that haven't confirmed all and have no other in their place: this one, or any.
    pub(crate) fn unconfirmed(&self, only: Option<NodeId>) -> Nodes {
        let mut nodes = Nodes::new();
        for lack in &self.list {
            let open = !lack.confirmed && !lack.replaced;
            if open && only.is_none_or(|only| only == lack.node) && !nodes.contains(&lack.node) {
                nodes.push(lack.node);
            }
        }
        nodes
    }

    /// Gives what a node hasn't confirmed, to be sent to another one in its place.
    pub(crate) fn replace(&mut self, node: NodeId) -> impl Iterator<Item = u32> {
        let lacks = self.list.iter_mut().enumerate();
        let open = lacks.filter(move |(_, lack)| lack.node == node && !lack.confirmed);
        open.map(|(index, lack)| {
            lack.replaced = true;
            lack.awaited += 1;
            index as u32
        })
    }

    /// How many nodes have all that they lacked, of how many: as an error says it, fewer than all.
    pub(crate) fn confirmed(&self) -> (u16, u16) {
        let mut all = Nodes::new();
        let mut behind = Nodes::new();
        for lack in &self.list {
            if !all.contains(&lack.node) {
                all.push(lack.node);
            }
            if !lack.confirmed && !behind.contains(&lack.node) {
                behind.push(lack.node);
            }
        }
        ((all.len() - behind.len()) as u16, all.len() as u16)
    }
}
