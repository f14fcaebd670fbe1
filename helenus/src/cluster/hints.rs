//! Mutations kept for nodes that are down, until they are back.

use std::collections::VecDeque;

use bytes::Bytes;
use helenus_coordinator::NodeId;
use parking_lot::Mutex;

/// Bytes of mutations that are kept for one node; the oldest are given up for newer ones.
const MOST: usize = 64 << 20;

/// What is kept, by node.
#[derive(Debug)]
pub(crate) struct Hints {
    queues: Vec<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    mutations: VecDeque<Bytes>,
    bytes: usize,
}

impl Hints {
    /// Nothing, for so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            queues: (0..nodes).map(|_| Mutex::default()).collect(),
        }
    }

    /// Keeps an encoded mutation for a node.
    pub(crate) fn keep(&self, node: NodeId, mutation: Bytes) {
        let Some(queue) = self.queues.get(usize::from(node.0)) else {
            return;
        };
        let mut queue = queue.lock();
        queue.bytes += mutation.len();
        queue.mutations.push_back(mutation);
        while queue.bytes > MOST {
            let oldest = queue.mutations.pop_front();
            queue.bytes -= oldest.map_or(0, |oldest| oldest.len());
        }
    }

    /// What was kept for a node, in the order it came.
    pub(crate) fn take(&self, node: NodeId) -> VecDeque<Bytes> {
        let queue = self.queues.get(usize::from(node.0));
        queue.map_or_else(VecDeque::new, |queue| {
            let mut queue = queue.lock();
            queue.bytes = 0;
            std::mem::take(&mut queue.mutations)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_back_in_order_and_once() {
        let hints = Hints::new(2);
        for number in 0..3_u8 {
            hints.keep(NodeId(1), Bytes::copy_from_slice(&[number]));
        }
        hints.keep(NodeId(9), Bytes::new());
        assert!(hints.take(NodeId(0)).is_empty());
        let taken = hints.take(NodeId(1));
        assert!(taken.iter().map(|hint| hint[0]).eq(0..3));
        assert!(hints.take(NodeId(1)).is_empty());
    }

    #[test]
    fn a_full_store_gives_up_the_oldest() {
        let hints = Hints::new(1);
        let large = Bytes::from(vec![1; MOST / 2]);
        hints.keep(NodeId(0), Bytes::from_static(b"first"));
        hints.keep(NodeId(0), large.clone());
        hints.keep(NodeId(0), large.clone());
        assert_eq!(hints.take(NodeId(0)), [large.clone(), large]);
    }
}
