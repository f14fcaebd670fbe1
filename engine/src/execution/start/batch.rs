//! Beginning batches, of the protocol and of `BEGIN BATCH`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::{Batch, BatchType, Values, WriteType};
use helenus_core::{ErrorResponse, Response};

use super::{Part, Settings, Source, check_write, conditional, places};
use crate::consistency::Access;
use crate::context::Context;
use crate::execution::action::Action;
use crate::execution::calling::{self, Calling};
use crate::execution::size::check_batch;
use crate::execution::write::{self, WriteRun};
use crate::execution::{Run, attributes, mutate};
use crate::guardrails::{
    Guard, check_change_log, check_modification, check_values, check_write_levels,
};
use crate::java::Budget;
use crate::schema::Schema;
use crate::statement::{BatchPlan, Condition, Modify, Plan, Statement};
use crate::storage::Mutation;
use crate::term::Binds;

pub(super) fn text_batch(
    schema: &Schema,
    statement: &Arc<Statement>,
    batch: &BatchPlan,
    binds: Binds<'_>,
    list_elements: &Cell<u32>,
    mut settings: Settings,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    if let Some(term) = &batch.timestamp {
        settings.timestamp =
            attributes::explicit_timestamp(term, &binds)?.unwrap_or(settings.timestamp);
    }
    let source = Source::new(binds, statement.places());
    let parts: Vec<_> = batch
        .statements
        .iter()
        .enumerate()
        .map(|(index, modify)| Part {
            statement,
            index,
            modify,
            source: &source,
            calls: DEFERRED_CALLS,
        })
        .collect();
    run_batch(schema, batch.kind, &parts, &settings, list_elements, guard)
}

/// Where the calls of functions are numbered from in statements that are bound a second time.
const DEFERRED_CALLS: u32 = 1 << 24;

/// Leaves each statement of a batch its own numbers for `uuid()` and the like.
fn calls_before(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).wrapping_mul(64)
}

/// Begins a batch of the protocol.
pub(in crate::execution) fn batch(
    schema: &Schema,
    statements: &[(Arc<Statement>, Values<'_>)],
    batch: &Batch<'_>,
    context: Context,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    let calls = |(statement, _): &(Arc<Statement>, _)| !statement.natives().is_empty();
    if statements.iter().any(calls) {
        let calling = later_batch(statements, batch, context)?;
        return Ok(Run::Calling(Box::new(calling)));
    }
    let list_elements = Cell::new(0);
    let bound = bind(statements, batch, &context, &list_elements)?;
    let settings = settings(batch, context);
    bound_batch(schema, batch.kind, bound, &settings, &list_elements, guard)
}

/// The statements of a batch with their values, to begin when they may.
pub(in crate::execution) fn later_batch(
    statements: &[(Arc<Statement>, Values<'_>)],
    batch: &Batch<'_>,
    context: Context,
) -> Result<Calling, ErrorResponse> {
    let list_elements = Cell::new(0);
    let bound = bind(statements, batch, &context, &list_elements)?;
    let owned = bound.iter().map(|(statement, binds)| {
        let owned = binds.to_owned(statement.places());
        (Arc::clone(statement), owned)
    });
    let request = calling::Request::Batch {
        kind: batch.kind,
        settings: settings(batch, context),
    };
    Ok(Calling::new(owned.collect(), request))
}

fn settings(batch: &Batch<'_>, context: Context) -> Settings {
    Settings::new(
        batch.consistency,
        batch.serial_consistency,
        batch.timestamp,
        batch.now_in_seconds,
        context,
    )
}

/// Binds the values of a batch whose statements may stand together.
fn bind<'s, 'a>(
    statements: &'s [(Arc<Statement>, Values<'a>)],
    batch: &Batch<'_>,
    context: &'a Context,
    list_elements: &'a Cell<u32>,
) -> Result<Vec<(&'s Arc<Statement>, Binds<'a>)>, ErrorResponse> {
    let modifications = modifications_of(statements.iter().map(|(statement, _)| statement))?;
    for (statement, values) in statements {
        let wanted = statement.variables.columns().len();
        if wanted != values.len() {
            return Err(ErrorResponse::invalid(format!(
                "There were {wanted} markers(?) in CQL but {} bound variables",
                values.len()
            )));
        }
    }
    crate::statement::check_batch(batch.kind, false, &modifications)?;
    let mut bound = Vec::with_capacity(statements.len());
    for (statement, values) in statements {
        let variables = statement.variables.columns();
        let mut binds = Binds::new(variables, values, context, list_elements)?;
        statement.expand(&mut binds)?;
        bound.push((statement, binds));
    }
    Ok(bound)
}

/// The plans of a batch, which holds nothing but modifications.
fn modifications_of<'s>(
    statements: impl Iterator<Item = &'s Arc<Statement>>,
) -> Result<Vec<&'s Modify>, ErrorResponse> {
    let plans = statements.map(|statement| match statement.plan() {
        Plan::Modify(modify) => Ok(&**modify),
        _ => Err(crate::statement::not_a_modification()),
    });
    plans.collect()
}

/// Begins a batch of the protocol whose values are bound.
pub(in crate::execution) fn bound_batch(
    schema: &Schema,
    kind: BatchType,
    bound: Vec<(&Arc<Statement>, Binds<'_>)>,
    settings: &Settings,
    list_elements: &Cell<u32>,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    let statements: Vec<_> = bound.iter().map(|(statement, _)| *statement).collect();
    let modifications = modifications_of(statements.iter().copied())?;
    let mut sources = Vec::with_capacity(bound.len());
    for (index, (statement, binds)) in bound.into_iter().enumerate() {
        binds.environment().skip_calls(calls_before(index));
        sources.push(Source::new(binds, statement.places()));
    }
    let parts: Vec<_> = statements
        .iter()
        .zip(modifications)
        .zip(&sources)
        .enumerate()
        .map(|(index, ((statement, modify), source))| Part {
            statement,
            index: 0,
            modify,
            source,
            calls: DEFERRED_CALLS.wrapping_add(calls_before(index)),
        })
        .collect();
    run_batch(schema, kind, &parts, settings, list_elements, guard)
}

/// What Cassandra calls the write of a batch.
fn write_type(kind: BatchType) -> WriteType {
    match kind {
        BatchType::Unlogged => WriteType::UNLOGGED_BATCH,
        BatchType::Counter => WriteType::COUNTER,
        _ => WriteType::BATCH,
    }
}

fn run_batch(
    schema: &Schema,
    kind: BatchType,
    parts: &[Part<'_, '_>],
    settings: &Settings,
    list_elements: &Cell<u32>,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    for part in parts {
        check_modification(part.modify, guard)?;
    }
    check_write_levels(settings.consistency, settings.serial, guard)?;
    if parts
        .iter()
        .any(|part| !matches!(part.modify.condition, Condition::None))
    {
        return conditional(schema, parts, true, settings, guard);
    }
    let mut mutations = Vec::with_capacity(parts.len());
    let mut waiting = Vec::new();
    let mut steps = 0;
    for part in parts {
        check_write(schema, part.modify, Access::BatchWrite, settings)?;
        check_change_log(
            schema,
            part.modify,
            settings.consistency,
            write_type(kind),
            guard,
        )?;
        let before = part.source.binds.environment().budget.spent();
        let places = places(part.modify, &part.source.binds, guard)?;
        let stamp = attributes::stamp(
            part.modify,
            &part.source.binds,
            settings.timestamp,
            settings.now_seconds,
        )?;
        if part.modify.reads {
            waiting.push(part.item(places, stamp));
        } else {
            mutate::mutations(
                part.modify,
                &places,
                stamp,
                &part.source.binds,
                &BTreeMap::new(),
                &mut mutations,
            )?;
        }
        // Each statement has a budget of its own; all of them together have no more.
        steps += part.source.binds.environment().budget.spent() - before;
        if Budget::is_too_much(steps) {
            return Err(ErrorResponse::invalid(
                "The user functions of the batch take too many steps",
            ));
        }
    }
    let mutations: Vec<Mutation> = write::merge(mutations);
    check_batch(kind, &mutations, guard)?;
    if waiting.is_empty() {
        check_values(&mutations, guard)?;
        return Ok(Run::Act {
            action: Some(Action::Write(mutations)),
            response: Response::Void,
        });
    }
    let elements = Cell::new(list_elements.get());
    let run = WriteRun::new(waiting, mutations, settings.context, elements);
    Ok(Run::Write(run))
}
