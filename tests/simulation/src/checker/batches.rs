//! Batches are atomic in the end: all of their rows are there or none, and all if they were acknowledged.

use super::Violation;
use crate::history::{Operation, Record};
use crate::replica::Store;

pub(super) fn check(history: &[Record], end: &Store) -> Vec<Violation> {
    let broken = history.iter().filter_map(|record| {
        let Operation::Batch(mutations, _) = &record.operation else {
            return None;
        };
        let there = mutations.iter().filter(|mutation| end.holds(mutation));
        let (there, all) = (there.count(), mutations.len());
        let acknowledged = record.done().is_some();
        let whole = there == all || there == 0 && !acknowledged;
        (!whole).then(|| Violation {
            rule: "a batch is atomic in the end",
            seen: format!(
                "{there} of {all} partitions have their rows of the batch asked at {:?}{}",
                record.asked,
                if acknowledged { ", acknowledged" } else { "" },
            ),
        })
    });
    broken.collect()
}
