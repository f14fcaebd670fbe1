//! What a shard keeps of one table: a memtable, runs that were memtables, and the merging that keeps these few.

use std::sync::Arc;

use crate::schema::Table;

use super::discard::Discard;
use super::expiry::Purge;
use super::merge::{Merge, RunId};
use super::{Mutation, Run};

/// As many runs of similar size are merged.
const MERGE_WIDTH: usize = 4;
/// With more runs than this, the smallest are merged whatever their sizes.
const MAX_RUNS: usize = 12;
/// How many fragments are merged for each row written while a merge is under way: fast enough that it ends before as
/// many runs again have piled up.
const MERGED_PER_ROW: usize = 16;
/// Merging goes on when about so many fragments are due; resuming costs a seek in every input.
const MERGE_STEP: usize = 256;

/// A table's data.
#[derive(Debug)]
pub(super) struct TableStore {
    /// As the last mutation saw it.
    table: Arc<Table>,
    memtable: Run,
    runs: Vec<(RunId, Run)>,
    next_run: RunId,
    merge: Option<Merge>,
    /// Fragments due to be merged.
    due: usize,
    discard: Discard,
}

impl TableStore {
    pub(super) fn new(table: Arc<Table>) -> Self {
        Self {
            table,
            memtable: Run::default(),
            runs: Vec::new(),
            next_run: 0,
            merge: None,
            due: 0,
            discard: Discard::default(),
        }
    }

    /// The memtable and the runs.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.memtable)
            .chain(self.runs.iter().map(|(_, run)| run))
            .filter(|run| !run.partitions().is_empty())
    }

    /// Applies a mutation; says whether merging or freeing is under way.
    pub(super) fn apply(
        &mut self,
        mutation: &Mutation,
        now_seconds: i64,
        flush_bytes: usize,
    ) -> bool {
        if !Arc::ptr_eq(&self.table, &mutation.table) {
            self.table = Arc::clone(&mutation.table);
        }
        self.memtable.apply(mutation);
        if self.memtable.bytes() > flush_bytes {
            self.freeze();
        }
        if self.merge.is_none() && self.discard.is_empty() {
            return false;
        }
        self.due = self
            .due
            .saturating_add((mutation.rows.len() + 1) * MERGED_PER_ROW);
        if self.due >= MERGE_STEP {
            let due = std::mem::take(&mut self.due);
            self.maintain(now_seconds, due);
        }
        true
    }

    /// Turns the memtable into a run.
    pub(super) fn freeze(&mut self) {
        let run = std::mem::take(&mut self.memtable);
        self.add_run(run);
        self.plan_merge();
    }

    fn add_run(&mut self, run: Run) {
        if !run.partitions().is_empty() {
            self.runs.push((self.next_run, run));
            self.next_run += 1;
        }
    }

    /// Begins a merge if there are too many runs of similar size, or too many at all.
    fn plan_merge(&mut self) {
        if self.merge.is_some() || self.runs.len() < MERGE_WIDTH {
            return;
        }
        if self.table.is_counter {
            // Between two runs whose sums were merged there must be no deletion in a third.
            self.plan_major_merge();
            return;
        }
        let mut sizes: Vec<_> = self
            .runs
            .iter()
            .map(|(id, run)| (run.bytes(), *id))
            .collect();
        sizes.sort_unstable();
        let similar = (0..sizes.len()).find_map(|first| {
            let mut total = 0_usize;
            let similar = sizes.iter().skip(first).take_while(|(bytes, _)| {
                let is_similar = total == 0 || *bytes <= total.saturating_mul(2);
                total = total.saturating_add((*bytes).max(1));
                is_similar
            });
            let count = similar.count();
            (count >= MERGE_WIDTH).then_some((first, count))
        });
        let (first, count) = match similar {
            Some(similar) => similar,
            None if sizes.len() > MAX_RUNS => (0, MERGE_WIDTH),
            None => return,
        };
        let inputs = sizes
            .iter()
            .skip(first)
            .take(count)
            .map(|(_, id)| *id)
            .collect();
        self.merge = Some(Merge::new(inputs));
    }

    /// Begins to merge all runs into one.
    pub(super) fn plan_major_merge(&mut self) {
        let inputs = self.runs.iter().map(|(id, _)| *id).collect();
        self.merge = Some(Merge::new(inputs));
    }

    /// Merges and frees about `budget` fragments' worth further; says whether there is more to do.
    pub(super) fn maintain(&mut self, now_seconds: i64, budget: usize) -> bool {
        if !self.discard.is_empty() {
            // A chunk of rows at most for each 64 fragments.
            for _ in 0..=budget / 64 {
                self.discard.step();
            }
        }
        if let Some(mut merge) = self.merge.take() {
            let is_input = |id: &RunId| merge.inputs().contains(id);
            let others = self
                .runs
                .iter()
                .filter(|(id, _)| !is_input(id))
                .map(|(_, run)| run);
            let purge = Purge {
                now_seconds,
                gc_before: now_seconds.saturating_sub(i64::from(self.table.gc_grace_seconds)),
                below_timestamp: others
                    .map(Run::min_timestamp)
                    .fold(self.memtable.min_timestamp(), i64::min),
            };
            let inputs: Vec<_> = self
                .runs
                .iter()
                .filter(|(id, _)| is_input(id))
                .map(|(_, run)| run)
                .collect();
            if merge.step(&self.table, inputs.into_iter(), purge, budget) {
                self.finish(merge);
            } else {
                self.merge = Some(merge);
            }
        }
        self.merge.is_some() || !self.discard.is_empty()
    }

    fn finish(&mut self, merge: Merge) {
        let inputs = self
            .runs
            .extract_if(.., |(id, _)| merge.inputs().contains(id));
        for (_, run) in inputs {
            self.discard.add(run);
        }
        self.add_run(merge.into_output());
        self.plan_merge();
    }
}
