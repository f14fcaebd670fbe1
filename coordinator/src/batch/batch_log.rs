//! Who keeps a batch, and what a node keeps: plain data. Answers to Cassandra's `ReplicaPlans.forBatchlogWrite` and
//! `system.batches`.

use std::collections::BTreeMap;

use helenus_core::Consistency;

use crate::failure::Failure;
use crate::node::{NodeId, Nodes};
use crate::plan::Vantage;
use crate::random::Random;

/// How many nodes keep a batch.
const COPIES: usize = 2;

/// Who keeps a batch: two other live nodes of this data centre, of different racks and not of this node's if there are
/// such; one if there is no other. In a data centre of at most two nodes this one is among them.
///
/// # Errors
/// [`Failure::BatchLogUnavailable`] if no other node of a larger data centre is alive; at ANY this node keeps it then.
pub fn batch_log_nodes(
    vantage: &Vantage<'_>,
    level: Consistency,
    random: u64,
) -> Result<Nodes, Failure> {
    let here = || vantage.ring.ids().filter(|node| vantage.is_here(*node));
    let mut nodes: Nodes = here()
        .filter(|node| vantage.alive.contains(*node))
        .collect();
    if here().nth(COPIES).is_none() {
        if !nodes.contains(&vantage.local) {
            nodes.push(vantage.local);
        }
        nodes.sort_unstable();
        nodes.truncate(COPIES);
        return Ok(nodes);
    }
    nodes.retain(|node| *node != vantage.local);
    match nodes.len() {
        0 if level == Consistency::ANY => nodes.push(vantage.local),
        0 => {
            return Err(Failure::BatchLogUnavailable {
                required: COPIES as u16,
                alive: 0,
            });
        }
        _ => choose(vantage, &mut nodes, &mut Random::new(random)),
    }
    Ok(nodes)
}

fn choose(vantage: &Vantage<'_>, nodes: &mut Nodes, random: &mut Random) {
    let rack = |node: NodeId| vantage.ring.node(node).map(|node| &*node.rack);
    let is_near = |node: &NodeId| rack(*node) == rack(vantage.local);
    if nodes.iter().filter(|node| !is_near(node)).count() >= COPIES {
        nodes.retain(|node| !is_near(node));
    }
    for index in (1..nodes.len()).rev() {
        let other = random.below(index as u64 + 1) as usize;
        nodes.swap(index, other);
    }
    if let [first, rest @ ..] = nodes.as_mut_slice()
        && let Some(other) = rest.iter().position(|node| rack(*node) != rack(*first))
    {
        rest.swap(0, other);
    }
    nodes.truncate(COPIES);
}

/// The batches that a node keeps for their coordinators.
#[derive(Debug, Clone)]
pub struct BatchLog<T> {
    batches: BTreeMap<u128, (i64, Vec<T>)>,
}

impl<T> Default for BatchLog<T> {
    fn default() -> Self {
        BatchLog {
            batches: BTreeMap::new(),
        }
    }
}

impl<T> BatchLog<T> {
    /// Keeps a batch from a time on, in microseconds since 1970. One that is there already stays as it is.
    pub fn store(&mut self, id: u128, micros: i64, mutations: Vec<T>) {
        self.batches.entry(id).or_insert((micros, mutations));
    }

    /// Forgets a batch that was applied, or replayed. False if it isn't there.
    pub fn remove(&mut self, id: u128) -> bool {
        self.batches.remove(&id).is_some()
    }

    /// The batches that were kept before a time and are still there, in the order of their ids: their coordinators have
    /// had time to see them through (Cassandra gives them twice its write timeout), and they are to be replayed.
    pub fn due(&self, before: i64) -> impl Iterator<Item = (u128, &[T])> {
        let batches = self.batches.iter();
        batches
            .filter(move |(_, (micros, _))| *micros < before)
            .map(|(id, (_, mutations))| (*id, mutations.as_slice()))
    }

    /// All batches, each with the time from which on it is kept.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u128, i64, &[T])> {
        let batches = self.batches.iter();
        batches.map(|(id, (micros, mutations))| (*id, *micros, mutations.as_slice()))
    }
}
