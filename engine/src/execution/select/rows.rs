//! Rows of a `SELECT` as they arrive: filtered, counted against the limits, folded or encoded.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;

use super::{FIRST_ROW, PASSED_OVER, Partition, SortedRow, State, Stop};
use crate::context::Context;
use crate::execution::expression::Evaluation;
use crate::execution::row::RowView;
use crate::functions::{Accumulator, Environment};
use crate::readers::{Fragment, Position};
use crate::statement::{Output, Select};
use crate::storage::{ClusteringKey, Row};
use crate::term::{Fields, put_element};
use crate::types::comparable;

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
        if self.partition.remaining == 0 || (select.distinct && !first) {
            self.partition.passed_over += 1;
            if self.partition.passed_over == PASSED_OVER
                && let Some(key) = &self.partition.key
            {
                self.stop = Some(Stop::NextPartition(key.clone()));
                return ControlFlow::Break(());
            }
            return ControlFlow::Continue(());
        }
        if select.distinct {
            self.emit(select, None, None)
        } else {
            self.emit(select, Some(clustering), Some(row))
        }
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
        if !self.accumulators.is_empty() {
            return match fold(
                &mut self.accumulators,
                select,
                &view,
                &self.terms,
                &self.context,
                self.now_seconds,
                self.row_count == 0,
                &mut self.out,
            ) {
                Ok(()) => {
                    self.row_count = 1;
                    ControlFlow::Continue(())
                }
                Err(error) => self.fail(error),
            };
        }
        let start = self.out.len();
        if start == 0 {
            self.out.reserve(FIRST_ROW);
        }
        match &select.selection.output {
            Output::Columns(columns) => columns
                .iter()
                .for_each(|column| view.put(column, &mut self.out)),
            Output::Expressions(expressions) => {
                let environment = Environment::new(&self.context);
                environment.skip_calls(self.row_count.wrapping_mul(16));
                let evaluation = Evaluation {
                    terms: &self.terms,
                    aggregates: &[],
                    environment: &environment,
                    now_seconds: self.now_seconds,
                };
                for expression in expressions {
                    match evaluation.value(expression, Some(&view)) {
                        Ok(value) => put_element(&mut self.out, value.as_deref()),
                        Err(error) => return self.fail(error),
                    }
                }
            }
        }
        self.row_count += 1;
        self.partition.remaining = self.partition.remaining.saturating_sub(1);
        if !select.sort.is_empty() {
            let mut order = Vec::new();
            for (column, descending) in &select.sort {
                comparable::encode(
                    &column.ty,
                    &view.value(column).unwrap_or_default(),
                    *descending,
                    &mut order,
                );
            }
            let end = self.out.len();
            self.sorted.push(SortedRow { order, start, end });
            return ControlFlow::Continue(());
        }
        self.remaining = self.remaining.saturating_sub(1);
        self.page_remaining = self.page_remaining.saturating_sub(1);
        if self.remaining == 0 {
            self.stop = Some(Stop::Limit);
            return ControlFlow::Break(());
        }
        if self.page_remaining == 0 {
            let position = match clustering {
                Some(clustering) => {
                    Position::after_row(key.clone(), clustering.sort.clone(), select.reversed)
                }
                None => Position::after_partition(key.clone(), select.reversed),
            };
            self.stop = Some(Stop::Page(position));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn fail(&mut self, error: ErrorResponse) -> ControlFlow<()> {
        self.stop = Some(Stop::Failed(error));
        ControlFlow::Break(())
    }

    /// Makes the one row of an aggregate query; what isn't aggregated is of the first row.
    pub(super) fn finish_aggregates(&mut self, select: &Select) -> Result<(), ErrorResponse> {
        if self.accumulators.is_empty() {
            return Ok(());
        }
        let aggregates: Vec<_> = std::mem::take(&mut self.accumulators)
            .into_iter()
            .map(Accumulator::finish)
            .collect();
        let environment = Environment::new(&self.context);
        let evaluation = Evaluation {
            terms: &self.terms,
            aggregates: &aggregates,
            environment: &environment,
            now_seconds: self.now_seconds,
        };
        let Output::Expressions(expressions) = &select.selection.output else {
            return Ok(());
        };
        let first = std::mem::take(&mut self.out);
        let mut first_cells = Fields::new(&first);
        for expression in expressions {
            let plain = first_cells.next().flatten();
            let value = match expression.has_aggregate() {
                true => evaluation.value(expression, None)?,
                false => plain.map(Bytes::copy_from_slice),
            };
            put_element(&mut self.out, value.as_deref());
        }
        self.row_count = 1;
        Ok(())
    }

    /// Puts rows of several partitions in order and cuts them to the limit.
    pub(super) fn sort_rows(&mut self) {
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

/// Adds a row to the aggregates; of the first one, also notes what isn't aggregated.
#[expect(clippy::too_many_arguments, reason = "disjoint parts of one state")]
fn fold(
    accumulators: &mut [Accumulator],
    select: &Select,
    view: &RowView<'_>,
    terms: &[Option<Bytes>],
    context: &Context,
    now_seconds: i64,
    first: bool,
    out: &mut BytesMut,
) -> Result<(), ErrorResponse> {
    let environment = Environment::new(context);
    let evaluation = Evaluation {
        terms,
        aggregates: &[],
        environment: &environment,
        now_seconds,
    };
    for (accumulator, plan) in accumulators.iter_mut().zip(&select.selection.aggregates) {
        let value = match &plan.argument {
            Some(argument) => evaluation.value(argument, Some(view))?,
            None => Some(Bytes::new()),
        };
        accumulator.add(value);
    }
    if let (true, Output::Expressions(expressions)) = (first, &select.selection.output) {
        for expression in expressions {
            let value = match expression.has_aggregate() {
                true => None,
                false => evaluation.value(expression, Some(view))?,
            };
            put_element(out, value.as_deref());
        }
    }
    Ok(())
}
