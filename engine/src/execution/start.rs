//! Beginning an execution: values bound, consistency checked, and everything taken from the request that is needed later.

mod batch;

pub(super) use batch::{batch, bound_batch, later_batch};

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::{QueryParams, WriteType};
use helenus_core::{Consistency, ErrorResponse, Response};

use super::Run;
use super::action::Action;
use super::attributes;
use super::calling::{self, Calling};
use super::cas::{CasRun, Request};
use super::cells::Stamp;
use super::mutate::{self, Places};
use super::select::SelectRun;
use super::view::ViewRun;
use super::write::{Item, WriteRun};
use crate::consistency::{Access, check, nearest_level};
use crate::context::Context;
use crate::describe::describe;
use crate::guardrails::{
    Guard, Guardrails, Part as KeyPart, check_change_log, check_definition, check_modification,
    check_places, check_select, check_timestamp, check_truncate, check_use, check_values,
    check_write_levels,
};
use crate::schema::{Keyspace, Schema, Table};
use crate::statement::{BoundRows, Condition, Modify, Plan, Statement};
use crate::storage::Mutation;
use crate::term::{Binds, OwnedBinds};

/// What a request says about an execution besides its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    consistency: Consistency,
    serial: Option<Consistency>,
    timestamp: i64,
    now_seconds: i64,
    context: Context,
}

impl Settings {
    fn of(params: &QueryParams<'_>, context: Context) -> Self {
        Self::new(
            params.consistency,
            params.serial_consistency,
            params.timestamp,
            params.now_in_seconds,
            context,
        )
    }

    fn new(
        consistency: Consistency,
        serial: Option<Consistency>,
        timestamp: Option<i64>,
        now_in_seconds: Option<i32>,
        context: Context,
    ) -> Self {
        Self {
            consistency,
            serial,
            timestamp: timestamp.unwrap_or(context.timestamp),
            now_seconds: now_in_seconds.map_or(context.now_seconds, i64::from),
            context,
        }
    }
}

pub(super) fn keyspace_of<'s>(
    schema: &'s Schema,
    table: &Table,
) -> Result<&'s Keyspace, ErrorResponse> {
    schema
        .keyspaces
        .get(&table.keyspace)
        .map(|keyspace| &**keyspace)
        .ok_or_else(|| {
            ErrorResponse::invalid(format!("keyspace {} does not exist", table.keyspace))
        })
}

/// Begins a statement of its own.
pub(super) fn statement(
    schema: &Schema,
    statement: Arc<Statement>,
    params: &QueryParams<'_>,
    result_metadata_id: Option<&[u8]>,
    session_keyspace: Option<&Arc<str>>,
    context: Context,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    if !statement.natives().is_empty() {
        let calling = later(&statement, params, result_metadata_id, &context)?;
        return Ok(Run::Calling(Box::new(calling)));
    }
    let list_elements = Cell::new(0);
    let binds = bind(&statement, params, &context, &list_elements)?;
    let beginning = Beginning {
        schema,
        params,
        result_metadata_id,
        session_keyspace,
        context,
    };
    bound_statement(statement, binds, &list_elements, beginning, guard)
}

/// Binds the values of a request, from which nothing is computed yet.
#[inline]
fn bind<'a>(
    statement: &Statement,
    params: &QueryParams<'a>,
    context: &'a Context,
    list_elements: &'a Cell<u32>,
) -> Result<Binds<'a>, ErrorResponse> {
    if params.page_size == Some(0) {
        return Err(ErrorResponse::protocol_error("The page size cannot be 0"));
    }
    let variables = statement.variables.columns();
    let mut binds = Binds::new(variables, &params.values, context, list_elements)?;
    statement.expand(&mut binds)?;
    Ok(binds)
}

/// A statement with its values, to begin when it may.
pub(super) fn later(
    statement: &Arc<Statement>,
    params: &QueryParams<'_>,
    result_metadata_id: Option<&[u8]>,
    context: &Context,
) -> Result<Calling, ErrorResponse> {
    let list_elements = Cell::new(0);
    let binds = bind(statement, params, context, &list_elements)?;
    let owned = binds.to_owned(statement.places());
    let request = calling::Request::statement(params, result_metadata_id);
    Ok(Calling::new(vec![(Arc::clone(statement), owned)], request))
}

/// What a statement begins with besides its values.
pub(super) struct Beginning<'b> {
    pub(super) schema: &'b Schema,
    pub(super) params: &'b QueryParams<'b>,
    pub(super) result_metadata_id: Option<&'b [u8]>,
    pub(super) session_keyspace: Option<&'b Arc<str>>,
    pub(super) context: Context,
}

/// Begins a statement whose values are bound.
#[inline]
pub(super) fn bound_statement(
    statement: Arc<Statement>,
    binds: Binds<'_>,
    list_elements: &Cell<u32>,
    beginning: Beginning<'_>,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    let Beginning {
        schema,
        params,
        result_metadata_id,
        session_keyspace,
        context,
    } = beginning;
    let settings = Settings::of(params, context);
    let act = |action, response| Run::Act {
        action: Some(action),
        response,
    };
    Ok(match statement.plan() {
        Plan::Select(plan) => {
            check_select(plan, settings.consistency, guard)?;
            let keyspace = keyspace_of(schema, &plan.table)?;
            let level = match &plan.nearest {
                Some(_) => nearest_level(settings.consistency, guard)?,
                None => settings.consistency,
            };
            check(
                schema.nodes,
                keyspace,
                &plan.table.name,
                Access::Read,
                level,
                settings.serial,
            )?;
            let select = SelectRun::new(
                statement.clone(),
                plan,
                &binds,
                params,
                result_metadata_id,
                settings.now_seconds,
                guard,
            )?;
            if let Some(source) = &plan.view {
                let view = ViewRun::new(select, plan, source, &binds, settings.now_seconds)?;
                return Ok(Run::View(Box::new(view)));
            }
            Run::Select(select)
        }
        Plan::Modify(modify) if matches!(modify.condition, Condition::None) => {
            let (places, stamp) = modification(schema, modify, &binds, &settings, guard)?;
            if modify.reads {
                let item = Item {
                    binds: Arc::new(binds.to_owned(statement.places())),
                    statement: statement.clone(),
                    index: 0,
                    places,
                    stamp,
                    calls: 0,
                };
                drop(binds);
                let elements = Cell::new(list_elements.get());
                let run = WriteRun::new(vec![item], Vec::new(), context, elements);
                return Ok(Run::Write(run));
            }
            let mutations = mutations(modify, &places, stamp, &binds, guard)?;
            act(Action::Write(mutations), Response::Void)
        }
        Plan::Modify(modify) => {
            check_modification(modify, guard)?;
            check_write_levels(settings.consistency, settings.serial, guard)?;
            let source = Source::new(binds, statement.places());
            let part = Part {
                statement: &statement,
                index: 0,
                modify,
                source: &source,
                calls: 0,
            };
            conditional(schema, &[part], false, &settings, guard)?
        }
        Plan::Batch(batch) => batch::text_batch(
            schema,
            &statement,
            batch,
            binds,
            list_elements,
            settings,
            guard,
        )?,
        Plan::Use(name) => {
            check_use(guard)?;
            if !schema.keyspaces.contains_key(name) {
                return Err(ErrorResponse::invalid(format!(
                    "Keyspace '{name}' does not exist"
                )));
            }
            Run::Done(Response::SetKeyspace(name.clone()))
        }
        Plan::Truncate(table) => {
            check_truncate(guard)?;
            act(Action::Truncate(table.clone()), Response::Void)
        }
        Plan::Describe(target) => {
            let keyspace = statement
                .keyspace
                .as_deref()
                .or(session_keyspace.map(|keyspace| &**keyspace));
            Run::Done(Response::Rows(describe(schema, target, keyspace)?))
        }
        Plan::Access(access) => {
            let statement_keyspace = statement.keyspace.clone();
            let action = Action::Access {
                statement: access.clone(),
                keyspace: statement_keyspace.or_else(|| session_keyspace.cloned()),
            };
            act(action, Response::Void)
        }
        Plan::Ddl(ddl) => {
            let keyspace = statement
                .keyspace
                .clone()
                .or_else(|| session_keyspace.cloned());
            let ddl = check_definition(schema, ddl, keyspace.as_deref(), guard)?;
            let text = Arc::clone(&statement.text);
            act(
                Action::Alter {
                    ddl,
                    text,
                    keyspace,
                },
                Response::Void,
            )
        }
    })
}

/// Where and when a modification by itself applies, if it may.
fn modification(
    schema: &Schema,
    modify: &Modify,
    binds: &Binds<'_>,
    settings: &Settings,
    guard: &mut Guard<'_>,
) -> Result<(Places, Stamp), ErrorResponse> {
    check_modification(modify, guard)?;
    check_write_levels(settings.consistency, settings.serial, guard)?;
    check_write(schema, modify, Access::Write, settings)?;
    let write_type = match modify.table.is_counter {
        true => WriteType::COUNTER,
        false => WriteType::SIMPLE,
    };
    check_change_log(schema, modify, settings.consistency, write_type, guard)?;
    let places = places(modify, binds, guard)?;
    let stamp = attributes::stamp(modify, binds, settings.timestamp, settings.now_seconds)?;
    if modify.timestamp.is_some() {
        let table = &modify.table.name;
        check_timestamp(table, stamp.timestamp, settings.context.timestamp, guard)?;
    }
    Ok((places, stamp))
}

/// What a modification writes that needs no read.
fn mutations(
    modify: &Modify,
    places: &Places,
    stamp: Stamp,
    binds: &Binds<'_>,
    guard: &mut Guard<'_>,
) -> Result<Vec<Mutation>, ErrorResponse> {
    let mut mutations = Vec::with_capacity(places.keys.len());
    mutate::mutations(
        modify,
        places,
        stamp,
        binds,
        &BTreeMap::new(),
        &mut mutations,
    )?;
    check_values(&mutations, guard)?;
    Ok(mutations)
}

/// What a modification writes that needs no read, and has neither an error nor a warning to answer with. The arguments
/// are those of [`Execution::new`](super::Execution::new), which begins all others.
pub fn plain_mutations(
    schema: &Schema,
    statement: &Statement,
    params: &QueryParams<'_>,
    context: &Context,
    guardrails: &Guardrails,
) -> Option<Vec<Mutation>> {
    let (Plan::Modify(modify), true) = (statement.plan(), statement.is_plain_change()) else {
        return None;
    };
    if params.page_size == Some(0) {
        return None;
    }
    let settings = Settings::of(params, *context);
    let list_elements = Cell::new(0);
    let variables = statement.variables.columns();
    let mut binds = Binds::new(variables, &params.values, context, &list_elements).ok()?;
    statement.expand(&mut binds).ok()?;
    let mut guard = Guard::new(guardrails);
    let (places, stamp) = modification(schema, modify, &binds, &settings, &mut guard).ok()?;
    let mutations = mutations(modify, &places, stamp, &binds, &mut guard).ok()?;
    guard.into_warnings().is_empty().then_some(mutations)
}

/// Where a modification applies, if the combinations of its `IN`s aren't too many.
fn places(
    modify: &Modify,
    binds: &Binds<'_>,
    guard: &mut Guard<'_>,
) -> Result<Places, ErrorResponse> {
    let places = mutate::places(modify, binds)?;
    if modify.keys.has_in() {
        check_places(KeyPart::Partition, places.keys.len(), guard)?;
    }
    if let BoundRows::Keys(keys) = &places.rows {
        check_places(KeyPart::Clustering, keys.len(), guard)?;
    }
    Ok(places)
}

fn check_write(
    schema: &Schema,
    modify: &Modify,
    access: Access,
    settings: &Settings,
) -> Result<(), ErrorResponse> {
    let access = if modify.table.is_counter {
        Access::CounterWrite
    } else {
        access
    };
    let keyspace = keyspace_of(schema, &modify.table)?;
    check(
        schema.nodes,
        keyspace,
        &modify.table.name,
        access,
        settings.consistency,
        settings.serial,
    )
}

/// The values of a request, which several statements of a batch may share.
struct Source<'a> {
    binds: Binds<'a>,
    count: usize,
    owned: OnceCell<Arc<OwnedBinds>>,
}

impl<'a> Source<'a> {
    fn new(binds: Binds<'a>, count: usize) -> Self {
        Self {
            binds,
            count,
            owned: OnceCell::new(),
        }
    }

    /// The values beyond the request, copied once.
    fn owned(&self) -> Arc<OwnedBinds> {
        let copy = || Arc::new(self.binds.to_owned(self.count));
        self.owned.get_or_init(copy).clone()
    }
}

/// A modification of a batch with its values.
struct Part<'s, 'a> {
    statement: &'s Arc<Statement>,
    index: usize,
    modify: &'s Modify,
    source: &'s Source<'a>,
    calls: u32,
}

impl Part<'_, '_> {
    fn item(&self, places: Places, stamp: super::cells::Stamp) -> Item {
        Item {
            statement: self.statement.clone(),
            index: self.index,
            places,
            stamp,
            binds: self.source.owned(),
            calls: self.calls,
        }
    }
}

/// Begins modifications of which at least one has a condition.
fn conditional(
    schema: &Schema,
    parts: &[Part<'_, '_>],
    is_batch: bool,
    settings: &Settings,
    guard: &mut Guard<'_>,
) -> Result<Run, ErrorResponse> {
    let Some(first) = parts.first() else {
        return Ok(Run::Done(Response::Void));
    };
    let table = first.modify.table.clone();
    let keyspace = keyspace_of(schema, &table)?;
    check(
        schema.nodes,
        keyspace,
        &table.name,
        Access::Conditional,
        settings.consistency,
        settings.serial,
    )?;
    let mut partition = None;
    let mut requests = Vec::with_capacity(parts.len());
    let mut items = Vec::with_capacity(parts.len());
    for part in parts {
        check_change_log(
            schema,
            part.modify,
            settings.consistency,
            WriteType::CAS,
            guard,
        )?;
        let places = places(part.modify, &part.source.binds, guard)?;
        for key in &places.keys {
            if partition.get_or_insert_with(|| key.clone()) != key {
                return Err(ErrorResponse::invalid(
                    "Batch with conditions cannot span multiple partitions",
                ));
            }
        }
        if !matches!(part.modify.condition, Condition::None) {
            requests.push(Request {
                clustering: places.rows.keys().first().cloned(),
                condition: part.modify.condition.bind(&part.source.binds)?,
            });
        }
        // The round decides the time, whatever the request says.
        let stamp = attributes::stamp(
            part.modify,
            &part.source.binds,
            settings.context.timestamp,
            settings.now_seconds,
        )?;
        items.push(part.item(places, stamp));
    }
    let Some(key) = partition else {
        return Ok(Run::Done(Response::Void));
    };
    let run = CasRun::new(
        table,
        key,
        requests,
        items,
        is_batch,
        settings.context,
        settings.now_seconds,
    )?;
    Ok(Run::Cas(run))
}
