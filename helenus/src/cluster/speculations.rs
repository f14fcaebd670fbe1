//! When reads of a table ask one replica more than they need, by what they took so far.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use helenus_coordinator::{Latencies, Speculation, SpeculativeRetry};
use helenus_engine::schema::{Table, TableId};
use parking_lot::Mutex;

/// What the reads of each table took.
#[derive(Debug, Default)]
pub(crate) struct Speculations {
    latencies: Mutex<HashMap<TableId, Latencies>>,
}

impl Speculations {
    /// What a read does that begins now and has this long: as the table's `speculative_retry` says.
    pub(crate) fn of(&self, table: &Table, timeout: Duration) -> Speculation {
        let retry = SpeculativeRetry::parse(&table.options.speculative_retry);
        let retry = retry.unwrap_or(SpeculativeRetry::DEFAULT);
        let mut latencies = self.latencies.lock();
        retry.resolve(latencies.entry(table.id).or_default(), timeout)
    }

    /// Notes that a read of the table which began then has ended.
    pub(crate) fn note(&self, table: &Table, began: Instant) {
        let now = Instant::now();
        let took = now.saturating_duration_since(began);
        let mut latencies = self.latencies.lock();
        latencies.entry(table.id).or_default().record(now, took);
    }
}
