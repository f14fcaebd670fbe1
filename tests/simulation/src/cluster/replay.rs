//! What nodes do by themselves: the replay of hints, and of batches that nobody saw through.

use std::time::Duration;

use helenus_coordinator::{BatchReplay, HintReplay};
use helenus_core::Consistency;

use super::requests::TIMEOUT;
use super::{Cluster, Event};
use crate::model::Mutation;
use crate::node::Node;
use crate::running::{Kind, Purpose};

/// How often a node goes through its hints and batches.
const EVERY: Duration = Duration::from_millis(50);
/// After how long a batch that nobody removed is replayed.
const BATCH_AGE: Duration = Duration::from_millis(150);
/// How many hints are on their way at once.
const WINDOW: usize = 8;

impl Cluster {
    /// Goes through the hints and the batches of a node.
    pub(super) fn replay(&mut self, node: usize) {
        self.queue.push(EVERY, Event::Replay(node));
        let at = &self.nodes[node];
        if at.alive && at.paused_until <= self.queue.now() {
            self.replay_hints(node);
            self.replay_batches(node);
        }
    }

    fn replay_hints(&mut self, node: usize) {
        let now = self.queue.now();
        for to in self.ring.ids() {
            let at = &mut self.nodes[node];
            let mut running = at.running.values().map(|running| &running.purpose);
            let is_replaying =
                running.any(|found| matches!(found, Purpose::Hints(id) if *id == to));
            if is_replaying || !at.believes.contains(to) {
                continue;
            }
            let hints = at.hints.batch(Node::host(to), at.micros(now), WINDOW);
            if !hints.is_empty() {
                let instant = at.instant(now);
                let replay = HintReplay::new(to, hints, instant, instant + TIMEOUT);
                self.run_machine(node, Kind::HintReplay(replay), Purpose::Hints(to));
            }
        }
    }

    fn replay_batches(&mut self, node: usize) {
        let now = self.queue.now();
        let before = now.saturating_sub(BATCH_AGE).as_micros() as i64;
        let at = &self.nodes[node];
        let is_replaying = |id: u128| {
            let mut running = at.running.values().map(|running| &running.purpose);
            running.any(|purpose| matches!(purpose, Purpose::Batch(found) if *found == id))
        };
        let due = at.replica.batches().due(before);
        let due = due.filter(|(id, _)| !is_replaying(*id));
        let due: Vec<(u128, Vec<Mutation>)> = due
            .map(|(id, mutations)| (id, mutations.to_vec()))
            .collect();
        for (id, mutations) in due {
            // At ANY no plan is refused.
            if let Ok(parts) = self.parts(node, mutations, Consistency::ANY) {
                let instant = self.nodes[node].instant(now);
                let replay = BatchReplay::new(parts, instant, instant + TIMEOUT);
                self.run_machine(node, Kind::BatchReplay(replay), Purpose::Batch(id));
            }
        }
    }
}
