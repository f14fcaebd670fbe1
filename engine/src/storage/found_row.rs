//! Finding one row without a reader: enough where one memtable or run has all there is of it.

use super::{ClusteringKey, DecoratedKey, Partition, Row, Shard, Token};
use crate::schema::TableId;

/// What a shard has of a row.
#[derive(Debug)]
pub(crate) enum FoundRow<'a> {
    /// All of it is alive.
    Alive(&'a DecoratedKey, &'a ClusteringKey, &'a Row),
    /// There is none, dead or alive, nor any deletion to count.
    Nothing,
    /// Several versions, something dead, or deletions around it: a reader knows.
    Unclear,
}

impl Shard {
    /// Finds a row by the bytes of its partition's key and those it is sorted by.
    pub(crate) fn find_row(
        &self,
        table: TableId,
        key: (Token, &[u8]),
        place: &[u8],
        now_seconds: i64,
    ) -> FoundRow<'_> {
        let Some(store) = self.table(table) else {
            return FoundRow::Nothing;
        };
        let mut found = store.sources().filter_map(|run| {
            let order = |other: &DecoratedKey| (other.token, &other.key[..]).cmp(&key);
            run.partitions().find(order)
        });
        match (found.next(), found.next()) {
            (None, _) => FoundRow::Nothing,
            (Some((key, partition)), None) => partition.find_row(key, place, now_seconds),
            (Some(_), Some(_)) => FoundRow::Unclear,
        }
    }
}

impl Partition {
    fn find_row<'a>(
        &'a self,
        key: &'a DecoratedKey,
        place: &[u8],
        now_seconds: i64,
    ) -> FoundRow<'a> {
        if self.static_row().is_some() || !self.range_tombstones().is_empty() {
            return FoundRow::Unclear;
        }
        match self.entry(place) {
            None => FoundRow::Nothing,
            Some((place, row)) if row.is_alive(self.deletion(), now_seconds) => {
                FoundRow::Alive(key, place, row.row())
            }
            Some(_) => FoundRow::Unclear,
        }
    }
}
