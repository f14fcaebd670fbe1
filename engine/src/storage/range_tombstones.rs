//! The deletions of ranges of rows in one partition: disjoint, ascending, each piece with the deletion that counts there.

use super::{ClusteringBound, DeletionTime, RangeTombstone};

/// A partition's range tombstones.
#[derive(Debug, Clone, Default)]
pub(crate) struct RangeTombstones(Vec<RangeTombstone>);

impl RangeTombstones {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The least timestamp of all; `i64::MAX` of none.
    pub(crate) fn min_timestamp(&self) -> i64 {
        self.0
            .iter()
            .map(|tombstone| tombstone.deletion.timestamp)
            .min()
            .unwrap_or(i64::MAX)
    }

    /// The deletion of the row of these sort bytes.
    pub(crate) fn covering(&self, sort: &[u8]) -> Option<DeletionTime> {
        let next = self
            .0
            .partition_point(|tombstone| tombstone.start.cmp_row(sort).is_lt());
        let tombstone = self.0.get(next.checked_sub(1)?)?;
        tombstone
            .end
            .cmp_row(sort)
            .is_gt()
            .then_some(tombstone.deletion)
    }

    /// Those that reach into a range.
    pub(crate) fn overlapping(
        &self,
        start: &ClusteringBound,
        end: &ClusteringBound,
    ) -> &[RangeTombstone] {
        let from = self.0.partition_point(|tombstone| tombstone.end <= *start);
        let to = self.0.partition_point(|tombstone| tombstone.start < *end);
        self.0.get(from..to).unwrap_or_default()
    }

    /// Keeps what `deletion` doesn't supersede.
    pub(crate) fn shadow(&mut self, deletion: DeletionTime) {
        self.0.retain(|tombstone| tombstone.deletion > deletion);
    }

    /// Adds one behind all others; a seamless continuation of the last widens it.
    pub(crate) fn push(&mut self, tombstone: RangeTombstone) {
        match self.0.last_mut() {
            Some(last) if last.end == tombstone.start && last.deletion == tombstone.deletion => {
                last.end = tombstone.end;
            }
            _ => self.0.push(tombstone),
        }
    }

    /// Lays one over the others: where they overlap, the superseding deletion counts.
    pub(crate) fn add(&mut self, new: &RangeTombstone) {
        if new.start >= new.end {
            return;
        }
        let from = self
            .0
            .partition_point(|tombstone| tombstone.end <= new.start);
        let to = self
            .0
            .partition_point(|tombstone| tombstone.start < new.end)
            .max(from);
        if from == to {
            self.0.insert(from, new.clone());
            return;
        }
        let mut laid = Self(Vec::with_capacity(2 * (to - from) + 1));
        let mut place = new.start.clone();
        for old in self.0.get(from..to).unwrap_or_default() {
            laid.piece(&old.start, &place, old.deletion);
            laid.piece(&place, &old.start, new.deletion);
            let start = place.max(old.start.clone());
            let end = old.end.clone().min(new.end.clone());
            laid.piece(&start, &end, old.deletion.max(new.deletion));
            laid.piece(&end, &old.end, old.deletion);
            place = end;
        }
        laid.piece(&place, &new.end, new.deletion);
        self.0.splice(from..to, laid.0);
    }

    fn piece(&mut self, start: &ClusteringBound, end: &ClusteringBound, deletion: DeletionTime) {
        if start < end {
            self.push(RangeTombstone {
                start: start.clone(),
                end: end.clone(),
                deletion,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn bound(place: u8) -> ClusteringBound {
        match place {
            0 => ClusteringBound::Start,
            19.. => ClusteringBound::End,
            n if n % 2 == 0 => ClusteringBound::Before(Bytes::copy_from_slice(&[n / 2])),
            n => ClusteringBound::After(Bytes::copy_from_slice(&[n / 2])),
        }
    }

    proptest! {
        #[test]
        fn each_row_has_the_greatest_deletion_laid_over_it(
            laid in prop::collection::vec((0_u8..20, 0_u8..20, 0_i64..5), 0..12)
        ) {
            let mut tombstones = RangeTombstones::default();
            let mut model = [None; 10];
            for (from, to, timestamp) in laid {
                let deletion = DeletionTime { timestamp, local_seconds: 0 };
                let new = RangeTombstone { start: bound(from), end: bound(to), deletion };
                tombstones.add(&new);
                for (row, model) in model.iter_mut().enumerate() {
                    let row = [row as u8];
                    if new.start.cmp_row(&row).is_lt() && new.end.cmp_row(&row).is_gt() {
                        *model = (*model).max(Some(deletion));
                    }
                }
            }
            for (row, model) in model.iter().enumerate() {
                prop_assert_eq!(tombstones.covering(&[row as u8]), *model);
            }
            let list = &tombstones.0;
            prop_assert!(list.iter().all(|tombstone| tombstone.start < tombstone.end));
            prop_assert!(list.is_sorted_by(|a, b| a.end <= b.start));
        }
    }
}
