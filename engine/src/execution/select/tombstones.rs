//! Tombstones that the reads of a `SELECT` pass over, held against their limits: each partition by itself, or a scan as a
//! whole.

use std::net::IpAddr;
use std::ops::ControlFlow;

use super::{Keys, State, Stop};
use crate::guardrails::{Limit, Threshold, tombstone_warning, tombstones_exceeded};
use crate::schema::{Table, is_local_system};
use crate::storage::DecoratedKey;

/// The tombstones of the read under way, and what to tell of earlier ones.
#[derive(Debug)]
pub(super) struct Tombstones {
    /// The partition; `None` in a scan.
    key: Option<DecoratedKey>,
    count: u64,
    threshold: Threshold,
    pub(super) warnings: Vec<String>,
}

impl State {
    /// Counts tombstones; stops where there are too many.
    pub(super) fn pass_tombstones(
        &mut self,
        table: &Table,
        key: &DecoratedKey,
        count: usize,
        threshold: Threshold,
        node: IpAddr,
    ) -> ControlFlow<()> {
        if is_local_system(&table.keyspace) {
            return ControlFlow::Continue(());
        }
        let is_scan = matches!(self.keys, Keys::Range(_));
        let tombstones = self.tombstones.get_or_insert_with(|| {
            Box::new(Tombstones {
                key: None,
                count: 0,
                threshold,
                warnings: Vec::new(),
            })
        });
        if tombstones.count == 0 && !is_scan {
            tombstones.key = Some(key.clone());
        }
        tombstones.count += count as u64;
        let Some(Limit::Fail(bound)) = threshold.exceeded_by(tombstones.count) else {
            return ControlFlow::Continue(());
        };
        let key = tombstones.key.as_ref();
        let (error, warning) = tombstones_exceeded(table, key, bound + 1, self.consistency, node);
        tombstones.count = 0;
        tombstones.warnings.insert(0, warning);
        self.page.stop = Some(Stop::Failed(error));
        ControlFlow::Break(())
    }

    /// Warns of a read that has ended, if it deserves that.
    pub(super) fn end_read(&mut self, table: &Table) {
        let Some(tombstones) = &mut self.tombstones else {
            return;
        };
        let count = std::mem::take(&mut tombstones.count);
        if let Some(Limit::Warn(_)) = tombstones.threshold.exceeded_by(count) {
            let warning = tombstone_warning(table, tombstones.key.as_ref(), count);
            tombstones.warnings.push(warning);
        }
    }
}
