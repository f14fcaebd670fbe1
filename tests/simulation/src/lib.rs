//! Whole clusters in one thread, on a virtual clock and from one seed: clients, coordinators made of `helenus-coordinator`'s
//! machines, replicas that crash, clocks that jump, and a network that loses, delays, repeats and garbles. The same seed
//! gives the same run, event by event; whatever went wrong in it, the rules hold.
//!
//! ```
//! let report = helenus_simulation::simulate(7, None, false);
//! assert!(report.violations.is_empty());
//! ```

mod bugs;
mod checker;
mod cluster;
mod faults;
mod history;
mod levels;
mod model;
mod network;
mod node;
mod queue;
mod random;
mod reconcile;
mod replica;
mod running;
mod shape;
mod trace;
mod workload;

use std::collections::BTreeMap;

pub use bugs::Bug;
pub use checker::Violation;
pub use faults::Faults;

use crate::cluster::Cluster;
use crate::replica::Store;

/// What came of one seed.
#[derive(Debug)]
pub struct Report {
    /// Which.
    pub seed: u64,
    /// The rules that it broke.
    pub violations: Vec<Violation>,
    /// What was injected.
    pub faults: Faults,
    /// Of each kind of request, how many were asked and how many of them were done.
    pub requests: BTreeMap<&'static str, (u64, u64)>,
    /// Messages between nodes.
    pub messages: u64,
    /// The digest of its trace.
    pub digest: u64,
    /// Its trace, if that was asked for.
    pub trace: Option<String>,
}

/// Runs one seed, with a bug if one is named.
#[must_use]
pub fn simulate(seed: u64, bug: Option<Bug>, keep_trace: bool) -> Report {
    let (ended, replicas) = Cluster::new(seed, bug, keep_trace).run();
    let mut end = Store::default();
    for node in &ended.nodes {
        end.merge(node.replica.store());
    }
    let mut violations = ended.violations;
    violations.extend(checker::check(&ended.history, replicas, &end));
    let mut requests: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for record in &ended.history {
        let (asked, done) = requests.entry(record.operation.kind()).or_default();
        *asked += 1;
        *done += u64::from(record.done().is_some());
    }
    Report {
        seed,
        violations,
        faults: ended.faults,
        requests,
        messages: ended.messages,
        digest: ended.trace.digest(),
        trace: ended.trace.into_text(),
    }
}
