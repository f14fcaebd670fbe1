//! Rows of a `SELECT` as they arrive: filtered, counted against the limits, folded or encoded.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;

use super::document::make_document;
use super::group::Added;
use super::{
    FIRST_ROW, PASSED_OVER, PAUSE_STEPS, Page, PageState, Partition, SortedRow, State, Stop,
};
use crate::execution::expression::Evaluation;
use crate::execution::row::RowView;
use crate::functions::Environment;
use crate::readers::{Fragment, Position};
use crate::statement::{Output, Select};
use crate::storage::{ClusteringKey, DecoratedKey, Row};
use crate::term::put_element;

impl State {
    /// Takes in a piece of a read.
    pub(super) fn consume(&mut self, select: &Select, fragment: Fragment<'_>) -> ControlFlow<()> {
        match fragment {
            Fragment::PartitionStart(key) => {
                // A read that was interrupted begins its partition again.
                if self.partition.key.as_ref() != Some(key) {
                    self.partition = Partition {
                        key: Some(key.clone()),
                        remaining: self.per_partition,
                        ..Partition::default()
                    };
                }
                self.partition.static_row = None;
                ControlFlow::Continue(())
            }
            Fragment::StaticRow(row) => {
                self.partition.has_static = true;
                if select.selection.uses_statics {
                    self.partition.static_row = Some(row.clone());
                }
                ControlFlow::Continue(())
            }
            Fragment::Row(clustering, row) => self.row(select, clustering, row),
            Fragment::PartitionEnd => {
                let alone = self.partition.has_static && !self.partition.has_rows;
                if alone && !select.restrictions.restricts_clustering {
                    self.emit(select, None, None)
                } else {
                    ControlFlow::Continue(())
                }
            }
        }
    }

    fn row(&mut self, select: &Select, clustering: &ClusteringKey, row: &Row) -> ControlFlow<()> {
        let first = !self.partition.has_rows;
        self.partition.has_rows = true;
        // A group that was begun goes on, although it is the partition's last.
        let is_over = self.partition.remaining == 0 && select.group_by.is_none();
        if is_over || (select.distinct && !first) {
            return self.pass_over();
        }
        if select.distinct {
            self.emit(select, None, None)
        } else {
            self.emit(select, Some(clustering), Some(row))
        }
    }

    /// Counts a row of the partition that isn't wanted, as no later one is.
    fn pass_over(&mut self) -> ControlFlow<()> {
        self.partition.passed_over += 1;
        if self.partition.passed_over == PASSED_OVER
            && let Some(key) = &self.partition.key
        {
            self.page.stop = Some(Stop::NextPartition(key.clone()));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn emit(
        &mut self,
        select: &Select,
        clustering: Option<&ClusteringKey>,
        row: Option<&Row>,
    ) -> ControlFlow<()> {
        let Some(key) = &self.partition.key else {
            return ControlFlow::Continue(());
        };
        let view = RowView {
            key,
            clustering,
            static_row: self.partition.static_row.as_ref(),
            row,
        };
        let filters = select.restrictions.filters.iter().zip(&self.filters);
        for (filter, bound) in filters {
            if !filter.accepts(bound, &view) {
                return ControlFlow::Continue(());
            }
        }
        let score = match (&self.neighbours, &select.nearest) {
            (Some(neighbours), Some(nearest)) => match neighbours.score(nearest, &view) {
                None => return ControlFlow::Continue(()),
                score => score,
            },
            _ => None,
        };
        if self.page.waiting.is_some() && select.selection.calls_for_rows() {
            return match self.wait(select, clustering, row, score) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
        }
        self.place(select, clustering, row, score, &[])
    }

    /// Folds or encodes a row of the partition at hand that passed the filters. `natives` are the results of native
    /// functions for it.
    #[inline]
    pub(super) fn place(
        &mut self,
        select: &Select,
        clustering: Option<&ClusteringKey>,
        row: Option<&Row>,
        score: Option<f32>,
        natives: &[Option<Bytes>],
    ) -> ControlFlow<()> {
        let Some(key) = &self.partition.key else {
            return ControlFlow::Continue(());
        };
        let view = RowView {
            key,
            clustering,
            static_row: self.partition.static_row.as_ref(),
            row,
        };
        if let Some(group) = &mut self.group {
            let environment = Environment::for_row(&self.context);
            let evaluation = Evaluation {
                terms: &self.terms,
                aggregates: &[],
                natives,
                environment: &environment,
                now_seconds: self.now_seconds,
            };
            let end = || position(key, clustering, select.reversed);
            let remaining = &mut self.partition.remaining;
            let added = group.add(select, &view, &evaluation, remaining, end, &mut self.page);
            self.steps += environment.budget.spent();
            return match added {
                Ok(Added::Done) => self.go_on(),
                Ok(Added::Unwanted) => self.pass_over(),
                Ok(Added::Full) => ControlFlow::Break(()),
                Err(error) => self.fail(error),
            };
        }
        let start = self.page.out.len();
        if start == 0 {
            self.page.out.reserve(FIRST_ROW);
        }
        match &select.selection.output {
            Output::Columns(columns) => columns
                .iter()
                .for_each(|column| view.put(column, &mut self.page.out)),
            Output::Expressions(expressions) => {
                let environment = Environment::for_row(&self.context);
                environment.skip_calls(self.page.row_count.wrapping_mul(16));
                let evaluation = Evaluation {
                    terms: &self.terms,
                    aggregates: &[],
                    natives,
                    environment: &environment,
                    now_seconds: self.now_seconds,
                };
                for expression in expressions {
                    match evaluation.value(expression, Some(&view)) {
                        Ok(value) => put_element(&mut self.page.out, value.as_deref()),
                        Err(error) => return self.fail(error),
                    }
                }
                self.steps += environment.budget.spent();
            }
        }
        if let Err(error) = make_document(select, start, &mut self.page.out) {
            return self.fail(error);
        }
        if let (Some(score), Some(neighbours)) = (score, &mut self.neighbours) {
            neighbours.keep(score, start, &mut self.page);
            return self.go_on();
        }
        self.partition.remaining = self.partition.remaining.saturating_sub(1);
        let order = select.order_of(&view);
        let end = || Some(position(key, clustering, select.reversed));
        self.page.row(start, order, end, self.partition.remaining)?;
        self.go_on()
    }

    /// Goes on with the read, but leaves it from time to time where user functions take long: whoever waits for the
    /// same rows has a turn then.
    fn go_on(&mut self) -> ControlFlow<()> {
        let waiting = self.page.waiting.as_ref();
        let must_call = waiting.is_some_and(|waiting| waiting.has_many_groups());
        if self.steps < PAUSE_STEPS && !must_call {
            return ControlFlow::Continue(());
        }
        self.steps = 0;
        ControlFlow::Break(())
    }

    fn fail(&mut self, error: ErrorResponse) -> ControlFlow<()> {
        self.page.stop = Some(Stop::Failed(error));
        ControlFlow::Break(())
    }

    /// Writes the last group, behind which no row came.
    pub(super) fn finish_groups(&mut self, select: &Select) -> Result<(), ErrorResponse> {
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let waiting = self.page.waiting.as_deref_mut();
        if waiting.is_some_and(|waiting| !waiting.close()) {
            return Ok(());
        }
        let environment = Environment::for_row(&self.context);
        let evaluation = Evaluation {
            terms: &self.terms,
            aggregates: &[],
            natives: &[],
            environment: &environment,
            now_seconds: self.now_seconds,
        };
        group.finish(select, &evaluation, &mut self.page)
    }
}

/// The place behind a row, or behind a partition that gives one row as a whole.
fn position(key: &DecoratedKey, clustering: Option<&ClusteringKey>, reversed: bool) -> Position {
    match clustering {
        Some(clustering) => Position::after_row(key.clone(), clustering.sort.clone(), reversed),
        None => Position::after_partition(key.clone(), reversed),
    }
}

impl Page {
    /// Counts a row whose cells begin at `start`; `order` is what it is sorted by, if rows are, and `end` the place
    /// behind it, if another page may begin there.
    pub(super) fn row(
        &mut self,
        start: usize,
        order: Option<Vec<u8>>,
        end: impl FnOnce() -> Option<Position>,
        remaining_in_partition: u32,
    ) -> ControlFlow<()> {
        self.row_count += 1;
        if let Some(order) = order {
            let end = self.out.len();
            self.sorted.push(SortedRow { order, start, end });
            return ControlFlow::Continue(());
        }
        self.count(end, remaining_in_partition)
    }

    /// Holds a row against the limits of the page; `end` is the place behind it.
    pub(super) fn count(
        &mut self,
        end: impl FnOnce() -> Option<Position>,
        remaining_in_partition: u32,
    ) -> ControlFlow<()> {
        self.remaining = self.remaining.saturating_sub(1);
        self.room = self.room.saturating_sub(1);
        if self.remaining == 0 {
            self.stop = Some(Stop::Limit);
            return ControlFlow::Break(());
        }
        if self.room == 0
            && let Some(position) = end()
        {
            self.stop = Some(Stop::Page(PageState {
                position,
                remaining: self.remaining,
                remaining_in_partition,
            }));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Puts rows of several partitions in order and cuts them to the limit.
    pub(super) fn sort(&mut self) {
        if self.sorted.is_empty() {
            return;
        }
        let mut rows = std::mem::take(&mut self.sorted);
        rows.sort_by(|a, b| a.order.cmp(&b.order));
        rows.truncate(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        let mut out = BytesMut::with_capacity(self.out.len());
        for row in &rows {
            out.extend_from_slice(self.out.get(row.start..row.end).unwrap_or_default());
        }
        self.row_count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        self.out = out;
    }
}
