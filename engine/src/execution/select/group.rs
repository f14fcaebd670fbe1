//! Rows folded into one: by aggregates, and by `GROUP BY` one for each group.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;

use super::Page;
use super::document::make_document;
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
    /// Before the first row of a group.
    blank: Vec<Accumulator>,
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
        let blank: Vec<_> = aggregates
            .iter()
            .map(|plan| Accumulator::new(&plan.function, &plan.aggregate))
            .collect();
        Some(Box::new(Self {
            accumulators: blank.clone(),
            blank,
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

    /// Writes the group as a row.
    fn close(
        &mut self,
        select: &Select,
        evaluation: &Evaluation<'_>,
        page: &mut Page,
    ) -> Result<ControlFlow<()>, ErrorResponse> {
        self.begun = false;
        let accumulators = std::mem::replace(&mut self.accumulators, self.blank.clone());
        let mut aggregates = Vec::with_capacity(accumulators.len());
        for accumulator in accumulators {
            aggregates.push(accumulator.finish(evaluation.environment)?);
        }
        let evaluation = Evaluation {
            aggregates: &aggregates,
            ..*evaluation
        };
        let start = page.out.len();
        match &select.selection.output {
            Output::Columns(_) => page.out.extend_from_slice(&self.first),
            Output::Expressions(expressions) => {
                let mut first = Fields::new(&self.first);
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
        make_document(select, start, &mut page.out)?;
        let order = self.order.take();
        let end = self.end.take();
        Ok(page.row(start, order, || end, self.remaining_in_partition))
    }
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
