//! Rows and groups of a `SELECT` that wait for native functions: gathered while the read goes on, called for together, then
//! taken up where they would have been.

use bytes::Bytes;
use helenus_core::ErrorResponse;

use super::group::Closed;
use super::{Keys, Partition, SelectRun, State, Stop};
use crate::execution::calls::{Calls, Returned};
use crate::execution::expression::Evaluation;
use crate::execution::row::RowView;
use crate::functions::Environment;
use crate::statement::{NativePlan, Plan, Select};
use crate::storage::{ClusteringKey, DecoratedKey, Row};

/// How many rows or groups wait at most, whose calls are then one piece of work.
const MOST: usize = 1024;

/// Where the calls of other functions in the arguments are numbered from.
const ARGUMENT_CALLS: u32 = 1 << 28;

/// What waits for native functions.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    rows: Vec<WaitingRow>,
    /// Groups that no row is added to any more.
    pub(super) groups: Vec<Closed>,
    /// How many values native aggregates have yet to take in.
    pub(super) unfolded: usize,
    /// How many groups more the partition of the row at hand may have.
    folding: Option<(DecoratedKey, u32)>,
    stage: Stage,
    /// Whether the last group is closed.
    is_closed: bool,
}

/// A row that passed the filters.
#[derive(Debug)]
struct WaitingRow {
    partition: Partition,
    clustering: Option<ClusteringKey>,
    row: Option<Row>,
    score: Option<f32>,
    results: Vec<Option<Bytes>>,
}

impl WaitingRow {
    fn view(&self) -> Option<RowView<'_>> {
        Some(RowView {
            key: self.partition.key.as_ref()?,
            clustering: self.clustering.as_ref(),
            static_row: self.partition.static_row.as_ref(),
            row: self.row.as_ref(),
        })
    }
}

/// What is called for at the moment.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Stage {
    /// Nothing: rows are gathered.
    #[default]
    Gathering,
    /// Functions of rows, those of a round.
    Rows(usize),
    /// Native aggregates.
    Folds,
    /// Functions of aggregates, those of a round.
    Groups(usize),
}

impl Waiting {
    /// For a `SELECT` that calls native functions.
    pub(super) fn new(select: &Select) -> Option<Box<Self>> {
        let selection = &select.selection;
        (selection.calls_for_rows() || selection.calls_for_groups()).then(Box::default)
    }

    /// Whether the last group has yet to be closed; it is from now on.
    pub(super) fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closed, true)
    }

    /// Whether groups have to be called for before more is read.
    pub(super) fn has_many_groups(&self) -> bool {
        self.unfolded >= MOST || self.groups.len() >= MOST
    }
}

impl SelectRun {
    /// The calls that have to be made before more is read, or before the result is complete.
    pub(in crate::execution) fn next_calls(&mut self) -> Result<Option<Calls>, ErrorResponse> {
        match self.statement.plan() {
            Plan::Select(select) if self.state.page.waiting.is_some() => {
                self.state.next_calls(select)
            }
            _ => Ok(None),
        }
    }

    /// Takes in the results of the calls that were asked for last.
    pub(in crate::execution) fn called(&mut self, calls: Calls) -> Result<(), ErrorResponse> {
        match self.statement.plan() {
            Plan::Select(select) => self.state.called(select, calls),
            _ => Ok(()),
        }
    }
}

impl State {
    /// Keeps a row until native functions have been called for it; says whether enough wait.
    pub(super) fn wait(
        &mut self,
        select: &Select,
        clustering: Option<&ClusteringKey>,
        row: Option<&Row>,
        score: Option<f32>,
    ) -> bool {
        let Some(waiting) = &mut self.page.waiting else {
            return false;
        };
        waiting.rows.push(WaitingRow {
            partition: Partition {
                key: self.partition.key.clone(),
                static_row: self.partition.static_row.clone(),
                remaining: self.partition.remaining,
                ..Partition::default()
            },
            clustering: clustering.cloned(),
            row: row.cloned(),
            score,
            results: vec![None; select.selection.natives.len()],
        });
        if self.group.is_none() {
            self.partition.remaining = self.partition.remaining.saturating_sub(1);
        }
        self.has_enough(select)
    }

    /// Whether no more rows may wait: there are many, or as many as are wanted.
    fn has_enough(&self, select: &Select) -> bool {
        let waiting = self
            .page
            .waiting
            .as_ref()
            .map_or(0, |waiting| waiting.rows.len());
        let is_counted =
            self.group.is_none() && self.neighbours.is_none() && select.sort.is_empty();
        let wanted = self.page.remaining.min(self.page.room);
        let is_wanted = |wanted| usize::try_from(wanted).is_ok_and(|wanted| waiting >= wanted);
        waiting >= MOST || (is_counted && is_wanted(wanted))
    }

    /// Whether nothing is left to be read.
    fn is_read(&self) -> bool {
        match &self.keys {
            Keys::One(key) => key.is_none(),
            Keys::Many { keys, next } => *next >= keys.len(),
            Keys::Range(_) => false,
            Keys::Finished => true,
        }
    }

    fn next_calls(&mut self, select: &Select) -> Result<Option<Calls>, ErrorResponse> {
        loop {
            let is_enough = self.is_read() || self.has_enough(select);
            let is_read = self.is_read();
            let Some(waiting) = &mut self.page.waiting else {
                return Ok(None);
            };
            let mut calls = match waiting.stage {
                Stage::Gathering if is_enough && !waiting.rows.is_empty() => {
                    waiting.stage = Stage::Rows(0);
                    continue;
                }
                Stage::Gathering if is_read && self.group.is_some() && !waiting.is_closed => {
                    self.finish_groups(select)?;
                    continue;
                }
                Stage::Gathering
                    if waiting.has_many_groups() || (is_read && !waiting.groups.is_empty()) =>
                {
                    waiting.stage = Stage::Folds;
                    continue;
                }
                Stage::Gathering => return Ok(None),
                Stage::Rows(round) => self.row_calls(select, round)?,
                Stage::Folds => self.folds(),
                Stage::Groups(round) => self.group_calls(select, round)?,
            };
            if calls.peek().is_some() {
                return Ok(Some(calls));
            }
            self.called(select, calls)?;
        }
    }

    fn called(&mut self, select: &Select, calls: Calls) -> Result<(), ErrorResponse> {
        let Some(waiting) = &mut self.page.waiting else {
            return Ok(());
        };
        let is_over = calls.is_empty();
        let mut returned = calls.into_returned();
        let natives = &select.selection.natives;
        match waiting.stage {
            Stage::Gathering => {}
            Stage::Rows(_) if is_over => {
                waiting.stage = Stage::Gathering;
                return self.take_up(select);
            }
            Stage::Rows(round) => {
                for row in &mut waiting.rows {
                    keep(&mut row.results, due(natives, false, round), &mut returned);
                }
                waiting.stage = Stage::Rows(round + 1);
            }
            Stage::Folds => {
                self.folded(&mut returned)?;
                if let Some(waiting) = &mut self.page.waiting {
                    waiting.stage = Stage::Groups(0);
                }
            }
            Stage::Groups(_) if is_over => {
                waiting.stage = Stage::Gathering;
                return self.write_groups(select);
            }
            Stage::Groups(round) => {
                for group in &mut waiting.groups {
                    keep(&mut group.results, due(natives, true, round), &mut returned);
                }
                waiting.stage = Stage::Groups(round + 1);
            }
        }
        Ok(())
    }

    /// The calls of a round for every row that waits.
    fn row_calls(&mut self, select: &Select, round: usize) -> Result<Calls, ErrorResponse> {
        let mut calls = Calls::default();
        let Some(waiting) = &self.page.waiting else {
            return Ok(calls);
        };
        for (index, row) in waiting.rows.iter().enumerate() {
            let environment = self.environment(index, round);
            let evaluation = Evaluation {
                terms: &self.terms,
                aggregates: &[],
                natives: &row.results,
                environment: &environment,
                now_seconds: self.now_seconds,
            };
            for (_, native) in due(&select.selection.natives, false, round) {
                push(&mut calls, native, &evaluation, row.view().as_ref())?;
            }
        }
        Ok(calls)
    }

    /// For the arguments of a row or group: calls are numbered apart from those of rows that are written.
    fn environment(&self, index: usize, round: usize) -> Environment<'_> {
        let environment = Environment::for_row(&self.context);
        let before = usize::try_from(self.page.row_count).unwrap_or(usize::MAX);
        let block = before
            .wrapping_add(index)
            .wrapping_mul(16)
            .wrapping_add(round);
        let number = u32::try_from(block & 0x00ff_ffff).unwrap_or_default();
        environment.skip_calls(ARGUMENT_CALLS.wrapping_add(number.wrapping_mul(16)));
        environment
    }

    /// Takes up the rows that waited where their partitions left them, until no more are wanted.
    fn take_up(&mut self, select: &Select) -> Result<(), ErrorResponse> {
        let Some(waiting) = &mut self.page.waiting else {
            return Ok(());
        };
        let rows = std::mem::take(&mut waiting.rows);
        let mut folding = waiting.folding.take();
        let current = std::mem::take(&mut self.partition);
        for waited in rows {
            self.partition = waited.partition;
            // A group counts what its partition has left when its rows are added, and goes on with that.
            if let Some((key, remaining)) = &folding
                && self.partition.key.as_ref() == Some(key)
            {
                self.partition.remaining = *remaining;
            }
            let (clustering, row) = (waited.clustering.as_ref(), waited.row.as_ref());
            let flow = self.place(select, clustering, row, waited.score, &waited.results);
            if self.group.is_some() {
                let key = self.partition.key.take();
                folding = key.map(|key| (key, self.partition.remaining));
            }
            if flow.is_break() && self.page.stop.is_some() {
                break;
            }
        }
        self.partition = current;
        if let Some(waiting) = &mut self.page.waiting {
            waiting.folding = folding;
        }
        self.stop_at_end(select)
    }

    /// Ends the reads if what came last has filled the page, or fails with what it failed with.
    fn stop_at_end(&mut self, select: &Select) -> Result<(), ErrorResponse> {
        match self.page.stop.take() {
            Some(Stop::Failed(error)) => return Err(error),
            Some(stop @ (Stop::Limit | Stop::Page(_))) => {
                self.page.stop = Some(stop);
                self.end_read(&select.table);
                self.keys = Keys::Finished;
            }
            // No row of the partition is wanted, but the read has gone on since.
            Some(Stop::NextPartition(_)) | None => {}
        }
        Ok(())
    }

    /// What native aggregates have yet to take in: of closed groups to the end, of the one at hand so far.
    fn folds(&mut self) -> Calls {
        let mut calls = Calls::default();
        let Some(waiting) = &mut self.page.waiting else {
            return calls;
        };
        waiting.unfolded = 0;
        for group in &mut waiting.groups {
            for accumulator in &mut group.accumulators {
                if let Some((aggregate, fold)) = accumulator.native() {
                    calls.push_fold(aggregate, fold, true);
                }
            }
        }
        for accumulator in self.group.iter_mut().flat_map(|group| group.accumulators()) {
            if let Some((aggregate, fold)) = accumulator.native() {
                calls.push_fold(aggregate, fold, false);
            }
        }
        calls
    }

    /// Takes in what came of [`folds`](Self::folds), and finishes the other aggregates of closed groups.
    fn folded(
        &mut self,
        returned: &mut impl Iterator<Item = Returned>,
    ) -> Result<(), ErrorResponse> {
        let Some(waiting) = &mut self.page.waiting else {
            return Ok(());
        };
        for group in &mut waiting.groups {
            let environment = Environment::for_row(&self.context);
            for mut accumulator in group.accumulators.drain(..) {
                let value = match accumulator.native() {
                    Some(_) => returned.next().and_then(Returned::into_value),
                    None => accumulator.finish(&environment)?,
                };
                group.aggregates.push(value);
            }
        }
        for accumulator in self.group.iter_mut().flat_map(|group| group.accumulators()) {
            if let (Some((_, fold)), Some(Returned::State(state))) =
                (accumulator.native(), returned.next())
            {
                fold.state = state;
            }
        }
        Ok(())
    }

    /// The calls of a round for every closed group.
    fn group_calls(&mut self, select: &Select, round: usize) -> Result<Calls, ErrorResponse> {
        let mut calls = Calls::default();
        let Some(waiting) = &self.page.waiting else {
            return Ok(calls);
        };
        for (index, group) in waiting.groups.iter().enumerate() {
            let environment = self.environment(index, round);
            let evaluation = Evaluation {
                terms: &self.terms,
                aggregates: &group.aggregates,
                natives: &group.results,
                environment: &environment,
                now_seconds: self.now_seconds,
            };
            for (_, native) in due(&select.selection.natives, true, round) {
                push(&mut calls, native, &evaluation, None)?;
            }
        }
        Ok(calls)
    }

    /// Writes the closed groups, whose values are all known.
    fn write_groups(&mut self, select: &Select) -> Result<(), ErrorResponse> {
        let Some(waiting) = &mut self.page.waiting else {
            return Ok(());
        };
        for group in std::mem::take(&mut waiting.groups) {
            let environment = Environment::for_row(&self.context);
            let evaluation = Evaluation {
                terms: &self.terms,
                aggregates: &[],
                natives: &[],
                environment: &environment,
                now_seconds: self.now_seconds,
            };
            group.write(select, &evaluation, &mut self.page)?;
        }
        Ok(())
    }
}

/// The calls for rows, or for groups, of a round.
fn due(
    natives: &[NativePlan],
    for_groups: bool,
    round: usize,
) -> impl Iterator<Item = (usize, &NativePlan)> {
    let natives = natives.iter().enumerate();
    natives.filter(move |(_, native)| native.has_aggregate == for_groups && native.round == round)
}

fn push(
    calls: &mut Calls,
    native: &NativePlan,
    evaluation: &Evaluation<'_>,
    row: Option<&RowView<'_>>,
) -> Result<(), ErrorResponse> {
    let mut arguments = Vec::with_capacity(native.arguments.len());
    for argument in &native.arguments {
        arguments.push(evaluation.value(argument, row)?);
    }
    calls.push(&native.function, arguments);
    Ok(())
}

fn keep<'n>(
    results: &mut [Option<Bytes>],
    due: impl Iterator<Item = (usize, &'n NativePlan)>,
    returned: &mut impl Iterator<Item = Returned>,
) {
    for (index, _) in due {
        let value = returned.next().and_then(Returned::into_value);
        if let Some(result) = results.get_mut(index) {
            *result = value;
        }
    }
}
