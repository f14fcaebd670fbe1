//! The end of a run: all is calm, what was kept for later is done, everything is read once more, and nothing is left.

use std::time::Duration;

use helenus_core::Consistency;

use super::{Cluster, Event, Phase};
use crate::history::Operation;
use crate::model::{Command, Key};
use crate::workload::CONDITIONAL;

/// For how long nobody asks anything, so that hints and batches are replayed.
pub(super) const REST: Duration = Duration::from_millis(1_500);

impl Cluster {
    /// One step further.
    pub(super) fn ending(&mut self) {
        match self.phase {
            Phase::Storm | Phase::Over => {}
            Phase::Calm => {
                self.hints_were_delivered();
                self.phase = Phase::Reading(0);
                self.queue.push(Duration::ZERO, Event::Ending);
            }
            Phase::Reading(key) if key < CONDITIONAL.end => {
                self.phase = Phase::Reading(key + 1);
                self.read_once_more(Key(key));
            }
            Phase::Reading(_) => {
                self.phase = Phase::Settling;
                self.queue.push(REST, Event::Ending);
            }
            Phase::Settling => {
                self.phase = Phase::Over;
                self.nothing_is_left();
                self.replicas_agree();
            }
        }
    }

    /// A read at ALL, which repairs every replica. Nobody is client `clients.len()`: the end itself waits for the answer.
    fn read_once_more(&mut self, key: Key) {
        let everything = Command {
            from: (key, 0),
            to: key,
            limit: 1_000,
        };
        let node = self.random.below(self.nodes.len() as u64) as usize;
        let operation = Operation::Read(everything, Consistency::ALL);
        self.request(self.clients.len(), node, operation);
    }

    fn hints_were_delivered(&mut self) {
        for (to, mutation) in std::mem::take(&mut self.kept_hints) {
            if !self.nodes[usize::from(to.0)]
                .replica
                .store()
                .holds(&mutation)
            {
                let seen = format!("n{} never got {mutation:?}", to.0);
                self.violate("a hint that was kept is delivered", seen);
            }
        }
    }

    fn nothing_is_left(&mut self) {
        let rule = "nothing leaks";
        for node in 0..self.nodes.len() {
            let at = &self.nodes[node];
            let counts = [
                ("machines", at.running.len()),
                (
                    "hints",
                    at.hints.hosts().map(|host| at.hints.count(host)).sum(),
                ),
                ("batches", at.replica.batches().iter().len()),
                ("unsynced requests", at.replica.unsynced()),
            ];
            for (what, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
                self.violate(rule, format!("{count} {what} at n{node}"));
            }
        }
        for record in 0..self.history.len() {
            if self.history[record].answered.is_none() {
                self.violate("every request is answered", format!("r{record}"));
            }
        }
    }

    /// After a read at ALL of a partition, its replicas have the same rows.
    fn replicas_agree(&mut self) {
        for key in (0..CONDITIONAL.end).map(Key) {
            let replicas = self.placement.replicas(key.token());
            let mut rows = replicas.iter().map(|node| {
                let replica = &self.nodes[usize::from(node.0)].replica;
                replica.store().partition(key).collect::<Vec<_>>()
            });
            let first = rows.next();
            if !rows.all(|other| Some(&other) == first.as_ref()) {
                self.violate("replicas agree in the end", format!("not about {key}"));
            }
        }
    }
}
