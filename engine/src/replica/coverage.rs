//! How far an answer reaches: what lies beyond, its replica may have something to say about that it hasn't said yet.

use std::cmp::Ordering;

use super::ReadData;
use crate::readers::{PartitionRange, Position, ReadCommand, ReadLimit};
use crate::storage::{ClusteringBound, DecoratedKey};

/// How much of a partition an answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach<'a> {
    Nothing,
    UpTo(&'a ClusteringBound),
    All,
}

impl ReadData {
    /// Where it leaves a partition because of the limit of each partition.
    pub(super) fn cut(&self, key: &DecoratedKey) -> Option<&ClusteringBound> {
        let cuts = &self.content().cuts;
        let index = cuts.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
        cuts.get(index).map(|(_, bound)| bound)
    }

    /// How much it tells of a partition.
    pub(super) fn reach(&self, key: &DecoratedKey) -> Reach<'_> {
        match self.end() {
            Some(end) if end.key < *key => return Reach::Nothing,
            Some(end) if end.is_within(key, self.command().reversed) => {
                return Reach::UpTo(&end.bound);
            }
            _ => {}
        }
        self.cut(key).map_or(Reach::All, Reach::UpTo)
    }

    /// What to ask its replica for more, if it ends at this position: `rows` more at least, or as many more of the
    /// partition as `of_partition` says if it leaves that there.
    pub(super) fn further(
        &self,
        command: &ReadCommand,
        position: &Position,
        rows: u32,
        of_partition: u32,
    ) -> Option<ReadCommand> {
        let resume = Some(position.clone());
        if self.end().is_some_and(|end| end.is_at(position)) {
            // As many again as it has: there may be many that others know to be deleted.
            let limit = ReadLimit {
                rows: rows.max(self.rows()).max(1),
                ..command.limit
            };
            return Some(ReadCommand {
                resume,
                limit,
                ..command.clone()
            });
        }
        self.cut(&position.key)
            .filter(|bound| **bound == position.bound)?;
        let found = self.content().run.find(&position.key);
        let has = found.map_or(0, |(_, partition)| partition.rows_len());
        let has = u32::try_from(has).unwrap_or(u32::MAX);
        let limit = ReadLimit {
            rows: of_partition.max(has).max(1),
            per_partition: u32::MAX,
            ..command.limit
        };
        Some(ReadCommand {
            range: PartitionRange::Key(position.key.clone()),
            resume,
            limit,
            ..command.clone()
        })
    }
}

/// Which of two bounds a read comes to first.
pub(super) fn order_of_bounds(
    a: &ClusteringBound,
    b: &ClusteringBound,
    reversed: bool,
) -> Ordering {
    if reversed { b.cmp(a) } else { a.cmp(b) }
}

/// Which of two positions a read comes to first.
pub(super) fn order_of_positions(a: &Position, b: &Position, reversed: bool) -> Ordering {
    let keys = a.key.cmp(&b.key);
    keys.then_with(|| order_of_bounds(&a.bound, &b.bound, reversed))
}
