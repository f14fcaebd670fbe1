//! Rows folded into one: by aggregates, and by `GROUP BY` one for each group.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;

use super::document::make_document;
use super::{Page, SortedRow};
use crate::execution::expression::Evaluation;
use crate::execution::row::RowView;
use crate::functions::Accumulator;
use crate::readers::Position;
use crate::statement::{GroupBy, Output, Select};
use crate::term::{Fields, put_element};
use crate::types::comparable;

/// The group that rows are being folded into. Groups come one after the other, since rows come in the order of what
/// tells groups apart.
#[derive(Debug)]
pub(super) struct Group {
    accumulators: Vec<Accumulator>,
    /// Whether a row is in it.
    begun: bool,
    /// What tells it from others: the partition's key, and what `GROUP BY` names, in order.
    partition: Bytes,
    key: Vec<u8>,
    /// The same of the row at hand.
    candidate: Vec<u8>,
    /// What isn't aggregated, of the first row.
    first: BytesMut,
    /// What the group is sorted by.
    order: Option<Vec<u8>>,
    /// Behind the last row.
    end: Option<Position>,
    /// How many groups more its partition may have.
    remaining_in_partition: u32,
}

impl Group {
    /// For a `SELECT` that folds rows.
    pub(super) fn new(select: &Select) -> Option<Box<Self>> {
        let aggregates = &select.selection.aggregates;
        if aggregates.is_empty() && select.group_by.is_none() {
            return None;
        }
        Some(Box::new(Self {
            accumulators: blank(select),
            begun: false,
            partition: Bytes::new(),
            key: Vec::new(),
            candidate: Vec::new(),
            first: BytesMut::new(),
            order: None,
            end: None,
            remaining_in_partition: u32::MAX,
        }))
    }

    /// Adds a row; one that begins another group closes the one before. `remaining` is how many groups the partition may
    /// still have, and `end` the place behind the row.
    pub(super) fn add(
        &mut self,
        select: &Select,
        view: &RowView<'_>,
        evaluation: &Evaluation<'_>,
        remaining: &mut u32,
        end: impl FnOnce() -> Position,
        page: &mut Page,
    ) -> Result<Added, ErrorResponse> {
        if let Some(group_by) = &select.group_by {
            if !self.takes(group_by, view, evaluation)? {
                if self.begun && self.close(select, evaluation, page)?.is_break() {
                    return Ok(Added::Full);
                }
                if *remaining == 0 {
                    return Ok(Added::Unwanted);
                }
                *remaining -= 1;
                self.remaining_in_partition = *remaining;
                self.partition = view.key.key.clone();
                std::mem::swap(&mut self.key, &mut self.candidate);
                self.begin(select, view, evaluation)?;
            }
            self.end = Some(end());
        } else if !self.begun {
            self.begin(select, view, evaluation)?;
        }
        let aggregates = &select.selection.aggregates;
        for (accumulator, plan) in self.accumulators.iter_mut().zip(aggregates) {
            let mut values = Vec::with_capacity(plan.arguments.len());
            for argument in &plan.arguments {
                values.push(evaluation.value(argument, Some(view))?);
            }
            accumulator.add(values, evaluation.environment)?;
            if let (Some(waiting), Some(_)) = (&mut page.waiting, accumulator.native()) {
                waiting.unfolded += 1;
            }
        }
        Ok(Added::Done)
    }

    /// Whether the row goes on with the group; what tells its own from others is kept for one that it may begin.
    fn takes(
        &mut self,
        group_by: &GroupBy,
        view: &RowView<'_>,
        evaluation: &Evaluation<'_>,
    ) -> Result<bool, ErrorResponse> {
        let key = &mut self.candidate;
        key.clear();
        for column in &group_by.columns {
            // A row of nothing but statics has no clustering and is a group by itself.
            if let Some(value) = view.value(column) {
                comparable::encode(&column.ty, &value, false, key);
            }
        }
        if let Some(function) = &group_by.function
            && let Some(value) = evaluation.value(function, Some(view))?
        {
            key.extend_from_slice(&value);
        }
        Ok(self.begun && self.partition == view.key.key && self.key == self.candidate)
    }

    /// Keeps of the first row what isn't aggregated.
    fn begin(
        &mut self,
        select: &Select,
        view: &RowView<'_>,
        evaluation: &Evaluation<'_>,
    ) -> Result<(), ErrorResponse> {
        self.begun = true;
        self.first.clear();
        match &select.selection.output {
            Output::Columns(columns) => columns
                .iter()
                .for_each(|column| view.put(column, &mut self.first)),
            Output::Expressions(expressions) => {
                for expression in expressions {
                    let value = match expression.has_aggregate() {
                        true => None,
                        false => evaluation.value(expression, Some(view))?,
                    };
                    put_element(&mut self.first, value.as_deref());
                }
            }
        }
        self.order = select.order_of(view);
        Ok(())
    }

    /// The group that no other followed; without `GROUP BY` there is one even of no rows.
    pub(super) fn finish(
        &mut self,
        select: &Select,
        evaluation: &Evaluation<'_>,
        page: &mut Page,
    ) -> Result<(), ErrorResponse> {
        if self.begun || select.group_by.is_none() {
            let _ = self.close(select, evaluation, page)?;
        }
        Ok(())
    }

    /// What its aggregates have come to so far.
    pub(super) fn accumulators(&mut self) -> impl Iterator<Item = &mut Accumulator> {
        self.accumulators.iter_mut()
    }

    /// Writes the group as a row, or has it wait for native functions.
    fn close(
        &mut self,
        select: &Select,
        evaluation: &Evaluation<'_>,
        page: &mut Page,
    ) -> Result<ControlFlow<()>, ErrorResponse> {
        self.begun = false;
        let accumulators = std::mem::replace(&mut self.accumulators, blank(select));
        let (order, end) = (self.order.take(), self.end.take());
        if page.waiting.is_some() && select.selection.calls_for_groups() {
            // Rows that are sorted are cut to the limit when all of them are there.
            let flow = match order {
                Some(_) => ControlFlow::Continue(()),
                None => page.count(|| end, self.remaining_in_partition),
            };
            let closed = Closed {
                accumulators,
                first: self.first.split().freeze(),
                order,
                aggregates: Vec::new(),
                results: vec![None; select.selection.natives.len()],
            };
            if let Some(waiting) = &mut page.waiting {
                waiting.groups.push(closed);
            }
            return Ok(flow);
        }
        let mut aggregates = Vec::with_capacity(accumulators.len());
        for accumulator in accumulators {
            aggregates.push(accumulator.finish(evaluation.environment)?);
        }
        let evaluation = Evaluation {
            aggregates: &aggregates,
            ..*evaluation
        };
        let start = page.out.len();
        write(select, &evaluation, &self.first, page)?;
        Ok(page.row(start, order, || end, self.remaining_in_partition))
    }
}

/// A group that no row is added to any more, and that waits for native functions.
#[derive(Debug)]
pub(super) struct Closed {
    /// What its aggregates have come to, until that is known.
    pub(super) accumulators: Vec<Accumulator>,
    /// What isn't aggregated, of the first row.
    first: Bytes,
    /// What it is sorted by.
    order: Option<Vec<u8>>,
    /// The results of its aggregates.
    pub(super) aggregates: Vec<Option<Bytes>>,
    /// The results of native functions.
    pub(super) results: Vec<Option<Bytes>>,
}

impl Closed {
    /// Writes it as a row, which the page has counted already.
    pub(super) fn write(
        self,
        select: &Select,
        evaluation: &Evaluation<'_>,
        page: &mut Page,
    ) -> Result<(), ErrorResponse> {
        let evaluation = Evaluation {
            aggregates: &self.aggregates,
            natives: &self.results,
            ..*evaluation
        };
        let start = page.out.len();
        write(select, &evaluation, &self.first, page)?;
        page.row_count += 1;
        if let Some(order) = self.order {
            let end = page.out.len();
            page.sorted.push(SortedRow { order, start, end });
        }
        Ok(())
    }
}

/// The aggregates of a group without rows.
fn blank(select: &Select) -> Vec<Accumulator> {
    let aggregates = select.selection.aggregates.iter();
    aggregates
        .map(|plan| Accumulator::new(&plan.function, &plan.aggregate))
        .collect()
}

/// Writes the row of a group, of which `first` is what isn't aggregated.
fn write(
    select: &Select,
    evaluation: &Evaluation<'_>,
    first: &[u8],
    page: &mut Page,
) -> Result<(), ErrorResponse> {
    let start = page.out.len();
    match &select.selection.output {
        Output::Columns(_) => page.out.extend_from_slice(first),
        Output::Expressions(expressions) => {
            let mut first = Fields::new(first);
            for expression in expressions {
                let plain = first.next().flatten();
                match expression.has_aggregate() {
                    true => put_element(
                        &mut page.out,
                        evaluation.value(expression, None)?.as_deref(),
                    ),
                    false => put_element(&mut page.out, plain),
                }
            }
        }
    }
    make_document(select, start, &mut page.out)
}

/// What became of a row.
pub(super) enum Added {
    /// It is in the group.
    Done,
    /// It would begin a group that is one too many for its partition.
    Unwanted,
    /// The group before it was the last of the page or the result.
    Full,
}
