//! Reconciling what several replicas answered to one command: the same readers as a shard's merge the answers as if they
//! were its runs, as far as every one of them reaches.

use std::ops::ControlFlow;

use super::coverage::{Reach, order_of_bounds, order_of_positions};
use super::repair::repairs;
use super::sink::Collect;
use super::{DataBuilder, ReadData};
use crate::readers::{
    Combined, Consumed, MutationConsumer, MutationFragment, MutationReader as _, Position,
    ReadCommand, RunReader,
};
use crate::storage::{ClusteringBound, DecoratedKey, Mutation};

/// What the answers of several replicas make together.
#[derive(Debug)]
pub struct Reconciliation<R> {
    /// The merged answer. It ends where the first of the replicas' ends, if that is before its own limit: what lies beyond
    /// can't be known without asking that one further. It is right as far as it goes.
    pub data: ReadData,
    /// What each replica lacks of the merged answer, one mutation a partition. They share no memory with the answers.
    pub repairs: Vec<(R, Mutation)>,
    /// Whom to ask what, because a limit cut its answer before the merged one has as many rows as the limit allows: rows
    /// that it counted are deleted according to others.
    pub short: Vec<(R, ReadCommand)>,
}

/// Reconciles answers to a command, each from another replica.
///
/// As long as [`short`](Reconciliation::short) isn't empty, more rows may come of asking further,
/// [appending](ReadData::append) what comes and reconciling again; each time as many rows more are asked for as there
/// were. Who doesn't ask has data that ends early.
///
/// Deterministic, and the data is the same in whatever order the answers stand. Of none it makes an empty one.
pub fn reconcile<R: Copy + Eq>(
    command: &ReadCommand,
    answers: &[(R, ReadData)],
) -> Reconciliation<R> {
    let mut merger = Merger {
        builder: DataBuilder::data(command),
        answers,
        reversed: command.reversed,
        frontier: None,
        is_beyond: false,
    };
    let readers = answers
        .iter()
        .map(|(_, data)| RunReader::new(command, &data.content().run));
    let end = match Combined::new(readers, command).consume_pausable(&mut merger) {
        Consumed::Paused(end) => end,
        Consumed::Finished | Consumed::Pending => merger.first_end().cloned(),
    };
    let mut builder = merger.builder;
    let mut short = Vec::new();
    if let Some(end) = end {
        let limit = command.limit;
        let rows = limit.rows.saturating_sub(builder.rows());
        let of_partition = builder.partition().map_or(0, |partition| {
            limit.per_partition.saturating_sub(partition.rows)
        });
        let further = |(replica, data): &(R, ReadData)| {
            // Without a limit of rows the answer is as long as it may be.
            let is_enough =
                limit.rows == u32::MAX && data.end().is_some_and(|other| other.is_at(&end));
            let command = data.further(command, &end, rows, of_partition);
            Some((*replica, command.filter(|_| !is_enough)?))
        };
        short.extend(answers.iter().filter_map(further));
        builder.stop_at(end);
    }
    let data = builder.finish();
    Reconciliation {
        repairs: repairs(&data, answers),
        data,
        short,
    }
}

/// Hands a builder what was merged, up to where some replica's answers end. Pauses there.
struct Merger<'a, R> {
    builder: DataBuilder<Collect>,
    answers: &'a [(R, ReadData)],
    reversed: bool,
    /// Where the first replica's answer to this partition ends, if one does.
    frontier: Option<&'a ClusteringBound>,
    is_beyond: bool,
}

impl<'a, R> Merger<'a, R> {
    /// Where the first of the answers ends.
    fn first_end(&self) -> Option<&'a Position> {
        let ends = self.answers.iter().filter_map(|(_, data)| data.end());
        ends.min_by(|a, b| order_of_positions(a, b, self.reversed))
    }

    /// Enters a partition; false if some replica hasn't come to it.
    fn enter(&mut self, key: &DecoratedKey) -> bool {
        self.frontier = None;
        self.is_beyond = false;
        for (_, data) in self.answers {
            match data.reach(key) {
                Reach::Nothing => return false,
                Reach::All => {}
                Reach::UpTo(bound) => {
                    let is_first = |other: &&ClusteringBound| {
                        order_of_bounds(bound, other, self.reversed).is_lt()
                    };
                    if self.frontier.as_ref().is_none_or(is_first) {
                        self.frontier = Some(bound);
                    }
                }
            }
        }
        true
    }

    /// Whether a row lies behind where some replica's answer ends.
    fn is_row_beyond(&self, sort: &[u8]) -> bool {
        self.frontier
            .is_some_and(|bound| bound.cmp_row(sort).is_gt() == self.reversed)
    }
}

impl<R> MutationConsumer for Merger<'_, R> {
    type Pause = Option<Position>;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Option<Position>> {
        match fragment {
            MutationFragment::PartitionStart(deletion) => {
                if !self.enter(key) {
                    return ControlFlow::Break(self.first_end().cloned());
                }
                self.builder.start(key, deletion, None);
            }
            MutationFragment::StaticRow(row) => self.builder.static_row(row),
            MutationFragment::TombstoneChange(bound, deletion) => {
                self.is_beyond |= self.frontier.is_some_and(|frontier| {
                    order_of_bounds(frontier, bound, self.reversed).is_le()
                });
                if !self.is_beyond {
                    self.builder.change(bound, deletion);
                }
            }
            MutationFragment::Row(place, row) => {
                self.is_beyond |= self.is_row_beyond(&place.sort);
                if !self.is_beyond {
                    self.builder.row(place, row);
                }
            }
            MutationFragment::PartitionEnd => {
                let open = self.builder.partition();
                if let (Some(partition), Some(bound)) = (open, self.frontier)
                    && partition.full.is_none()
                {
                    let end = Position::new(partition.key.clone(), bound.clone());
                    return ControlFlow::Break(Some(end));
                }
                self.builder.end_partition();
            }
        }
        match self.builder.end() {
            Some(_) => ControlFlow::Break(None),
            None => ControlFlow::Continue(()),
        }
    }
}
