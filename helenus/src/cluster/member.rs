//! A node's part in its cluster: who the others are, who of them is alive, and what is on its way to them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use helenus_coordinator::{NodeId, NodeSet, Ring, Vantage};
use helenus_engine::schema::Schema;
use helenus_engine::storage::Mutation;
use parking_lot::{Mutex, RwLock};

use super::acceptors::Acceptors;
use super::coordination::Coordinations;
use super::definitions::Definitions;
use super::hints::Hints;
use super::interconnect::Memory;
use super::message::{self, Call};
use super::placements::Placements;
use super::speculations::Speculations;
use crate::embedded::{Delays, Node};

/// How many calls are remembered.
const HEARD: usize = 256;

type Job = Box<dyn FnOnce() + Send>;

/// What a node of a cluster has beside what it has as a node by itself.
pub(crate) struct Member {
    pub(crate) id: NodeId,
    pub(crate) ring: Arc<Ring>,
    interconnect: Arc<Memory>,
    /// As far as this node knows, itself among them.
    alive: RwLock<NodeSet>,
    /// What became due while the node was paused; `None` while it isn't.
    paused: Mutex<Option<Vec<Job>>>,
    /// The last calls that may be carried out once, by who made them.
    heard: Mutex<VecDeque<(NodeId, Call)>>,
    pub(super) definitions: Definitions,
    pub(super) coordinations: Coordinations,
    pub(super) placements: Placements,
    pub(super) acceptors: Acceptors,
    pub(super) hints: Hints,
    pub(super) speculations: Speculations,
}

impl Member {
    /// The node `id` of a ring whose nodes are all alive. They begin with the same schema.
    pub(crate) fn new(
        id: NodeId,
        ring: &Arc<Ring>,
        interconnect: &Arc<Memory>,
        schema: &Arc<Schema>,
    ) -> Self {
        Self {
            id,
            ring: Arc::clone(ring),
            interconnect: Arc::clone(interconnect),
            alive: RwLock::new(ring.ids().collect()),
            paused: Mutex::default(),
            heard: Mutex::default(),
            definitions: Definitions::new(schema),
            coordinations: Coordinations::default(),
            placements: Placements::default(),
            acceptors: Acceptors::default(),
            hints: Hints::new(ring.nodes().len()),
            speculations: Speculations::default(),
        }
    }

    /// Who is alive, as far as this node knows.
    pub(crate) fn alive(&self) -> NodeSet {
        self.alive.read().clone()
    }

    /// The ring as this node sees it, if these are alive.
    pub(super) fn vantage<'v>(&'v self, alive: &'v NodeSet) -> Vantage<'v> {
        Vantage {
            ring: &self.ring,
            local: self.id,
            alive,
        }
    }

    /// The others that are alive.
    pub(crate) fn others(&self) -> Vec<NodeId> {
        let alive = self.alive.read();
        let others = self.ring.ids().filter(|node| *node != self.id);
        others.filter(|node| alive.contains(*node)).collect()
    }

    /// The one of those that are alive that says in which order the schema changes.
    pub(crate) fn first(&self) -> NodeId {
        let alive = self.alive.read();
        let mut nodes = self.ring.ids();
        nodes.find(|node| alive.contains(*node)).unwrap_or(self.id)
    }

    /// Learns whether another node is alive; says whether that is news.
    pub(super) fn believe(&self, node: NodeId, is_alive: bool) -> bool {
        let mut alive = self.alive.write();
        let is_news = alive.contains(node) != is_alive;
        match is_alive {
            true => alive.insert(node),
            false => alive.remove(node),
        }
        is_news
    }

    /// Sends a message to another node, which may not arrive.
    pub(crate) fn send(&self, to: NodeId, bytes: impl Into<Bytes>) {
        self.interconnect.send(self.id, to, bytes.into());
    }

    /// Sends a message to all others that are alive.
    pub(crate) fn send_all(&self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        for node in self.others() {
            self.send(node, bytes.clone());
        }
    }

    /// Has all others apply changes of what every node has, those that are down when they are back. Nobody waits for it.
    pub(crate) fn spread(&self, mutations: &[Mutation]) {
        let alive = self.alive();
        for mutation in mutations {
            let bytes = message::mutation(mutation);
            let request = message::write(Call::NONE, &bytes);
            for node in self.ring.ids().filter(|node| *node != self.id) {
                match alive.contains(node) {
                    true => self.send(node, request.clone()),
                    false => self.hints.keep(node, bytes.clone()),
                }
            }
        }
    }

    /// Does a short piece of work for the node after a while; if it is paused then, when it goes on.
    pub(super) fn later(
        delays: &Delays,
        delay: Duration,
        node: Weak<Node>,
        job: impl FnOnce(Arc<Node>) + Send + 'static,
    ) {
        delays.after(delay, move || {
            let Some(node) = node.upgrade() else { return };
            if let Some(member) = &node.member
                && let Some(held) = &mut *member.paused.lock()
            {
                let node = Arc::clone(&node);
                held.push(Box::new(move || job(node)));
                return;
            }
            job(node);
        });
    }

    /// Whether a call was heard before, of those that may be carried out once: the network may have doubled it.
    pub(super) fn has_heard(&self, from: NodeId, call: Call) -> bool {
        let mut heard = self.heard.lock();
        if heard.contains(&(from, call)) {
            return true;
        }
        if heard.len() == HEARD {
            heard.pop_front();
        }
        heard.push_back((from, call));
        false
    }

    /// Holds up what becomes due, as for a process that is stopped.
    pub(super) fn pause(&self) {
        self.paused.lock().get_or_insert_with(Vec::new);
    }

    /// Does what became due meanwhile.
    pub(super) fn resume(&self) {
        let held = self.paused.lock().take();
        for job in held.into_iter().flatten() {
            job();
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
