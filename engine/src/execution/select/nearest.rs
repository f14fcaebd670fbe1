//! The nearest neighbours of a vector: every row that is read is compared, and the best are kept.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::message::QueryParams;

use super::Page;
use crate::execution::row::RowView;
use crate::schema::Similarity;
use crate::statement::Nearest;
use crate::term::{Binds, Bound};
use crate::types::similarity;

/// The greatest `LIMIT` of such a query.
const MAX_LIMIT: u32 = 1000;

/// The rows found so far, the worst of them at hand.
#[derive(Debug)]
pub(super) struct Neighbours {
    vector: Bytes,
    similarity: Similarity,
    limit: usize,
    rows: BinaryHeap<Neighbour>,
    /// What the request deserves to be warned of.
    warning: Option<String>,
}

/// A row of the output; of two, the greater is the farther, and of equally near ones the later.
#[derive(Debug)]
struct Neighbour {
    score: f32,
    number: u32,
    row: Bytes,
}

impl Neighbours {
    /// For an `ANN` ordering under these bindings.
    pub(super) fn new(
        nearest: &Nearest,
        binds: &Binds<'_>,
        limit: u32,
        params: &QueryParams<'_>,
    ) -> Result<Box<Self>, ErrorResponse> {
        let vector = match nearest.vector.bind(binds)? {
            bound @ (Bound::Null | Bound::Unset) => {
                let kind = if bound.is_unset() { "unset" } else { "null" };
                return Err(ErrorResponse::invalid(format!(
                    "Unsupported {kind} value for column {}",
                    nearest.name
                )));
            }
            bound => bound.into_bytes().unwrap_or_default(),
        };
        if limit == u32::MAX {
            return Err(ErrorResponse::invalid(
                "Top-K queries must have a limit specified and the limit must be less than the query page size",
            ));
        }
        if limit > MAX_LIMIT {
            return Err(ErrorResponse::invalid(format!(
                "Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than {MAX_LIMIT}. LIMIT was {limit}"
            )));
        }
        if similarity(nearest.similarity, &vector, &vector).is_none() {
            return Err(ErrorResponse::invalid(
                "Zero and near-zero vectors cannot be indexed or queried with cosine similarity",
            ));
        }
        let warning = params
            .page_size
            .filter(|size| (1..i64::from(limit)).contains(&i64::from(*size)))
            .map(|size| {
                format!(
                    "Top-K queries do not support paging and the page size is set to {size}, which is less than LIMIT \
                     {limit}. The page size has been set to {limit} to match the LIMIT."
                )
            });
        let neighbours = Self {
            vector,
            similarity: nearest.similarity,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            rows: BinaryHeap::new(),
            warning,
        };
        Ok(Box::new(neighbours))
    }

    /// How near a row is, if it is among the nearest so far.
    pub(super) fn score(&self, nearest: &Nearest, view: &RowView<'_>) -> Option<f32> {
        let value = view.value(&nearest.column)?;
        let score = similarity(self.similarity, &value, &self.vector)?;
        let is_wanted = self.rows.len() < self.limit
            || self.rows.peek().is_some_and(|worst| score > worst.score);
        is_wanted.then_some(score)
    }

    /// Takes the row that was written from `start` on; of too many, the farthest goes.
    pub(super) fn keep(&mut self, score: f32, start: usize, page: &mut Page) {
        let row = Bytes::copy_from_slice(page.out.get(start..).unwrap_or_default());
        page.out.truncate(start);
        let number = page.row_count;
        page.row_count = number.wrapping_add(1);
        self.rows.push(Neighbour { score, number, row });
        if self.rows.len() > self.limit {
            self.rows.pop();
        }
    }

    /// Writes the rows, the nearest first; gives what to warn of.
    pub(super) fn finish(self, page: &mut Page) -> Option<String> {
        let rows = self.rows.into_sorted_vec();
        page.row_count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        page.out = BytesMut::with_capacity(rows.iter().map(|found| found.row.len()).sum());
        rows.iter()
            .for_each(|found| page.out.extend_from_slice(&found.row));
        self.warning
    }
}

impl Ord for Neighbour {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Neighbour {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Neighbour {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Neighbour {}
