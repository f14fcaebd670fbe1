//! Freeing what runs held, a little at a time: a large run takes as long to drop as to read.

use super::run::Partitions;
use super::sorted::Sorted;
use super::{ClusteringKey, Run, StoredRow};

/// Partitions of more rows than this are freed in pieces.
const LARGE: usize = 256;

/// What waits to be freed.
#[derive(Debug, Default)]
pub(super) struct Discard {
    partitions: Vec<Partitions>,
    rows: Vec<Sorted<ClusteringKey, StoredRow>>,
}

impl Discard {
    pub(super) fn is_empty(&self) -> bool {
        self.partitions.is_empty() && self.rows.is_empty()
    }

    pub(super) fn add(&mut self, run: Run) {
        self.partitions.push(run.into_partitions());
    }

    /// Frees one chunk of rows or of partitions.
    pub(super) fn step(&mut self) {
        if let Some(rows) = self.rows.last_mut() {
            if rows.pop_chunk().is_none() {
                self.rows.pop();
            }
            return;
        }
        let Some(partitions) = self.partitions.last_mut() else {
            return;
        };
        match partitions.pop_chunk() {
            Some(chunk) => {
                let rows = chunk
                    .into_iter()
                    .map(|(_, partition)| partition.into_rows());
                self.rows.extend(rows.filter(|rows| rows.len() > LARGE));
            }
            None => {
                self.partitions.pop();
            }
        }
    }
}
