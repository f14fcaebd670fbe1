//! Planning `BEGIN … APPLY BATCH`, and the rules any batch follows. Answers to Cassandra's `BatchStatement`.

use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::message::BatchType;
use helenus_core::types::CqlType;

use super::conditions::Condition;
use super::modify::{self, Modify};
use super::planner::{Planner, find_table};
use crate::cql::ast::{self, BatchKind};
use crate::schema::{Schema, Table};
use crate::term::{self, Markers, Receiver, Term};

/// A planned batch.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    /// The kind.
    pub(crate) kind: BatchType,
    /// `USING TIMESTAMP`
    pub(crate) timestamp: Option<Term>,
    /// The statements.
    pub(crate) statements: Vec<Modify>,
}

impl BatchPlan {
    /// The table, if all statements are about the same one.
    pub(crate) fn only_table(&self) -> Option<&Arc<Table>> {
        let first = &self.statements.first()?.table;
        let same = self
            .statements
            .iter()
            .all(|modify| modify.table.id == first.id);
        same.then_some(first)
    }
}

/// Plans an `INSERT`, `UPDATE` or `DELETE`.
pub(crate) fn plan_modification(
    schema: &Schema,
    session_keyspace: Option<&str>,
    statement: &ast::Statement,
    markers: &mut Markers,
) -> Result<Modify, ErrorResponse> {
    let name = match statement {
        ast::Statement::Insert(insert) => &insert.table,
        ast::Statement::Update(update) => &update.table,
        ast::Statement::Delete(delete) => &delete.table,
        _ => return Err(not_a_modification()),
    };
    let (keyspace, table) = find_table(schema, session_keyspace, name)?;
    let mut planner = Planner {
        schema,
        keyspace,
        table,
        markers,
    };
    match statement {
        ast::Statement::Insert(insert) => modify::plan_insert(&mut planner, insert),
        ast::Statement::Update(update) => modify::plan_update(&mut planner, update),
        ast::Statement::Delete(delete) => modify::plan_delete(&mut planner, delete),
        _ => Err(not_a_modification()),
    }
}

/// The refusal of other statements in a batch.
pub(crate) fn not_a_modification() -> ErrorResponse {
    ErrorResponse::invalid(
        "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.",
    )
}

/// Plans a `BEGIN … APPLY BATCH`.
pub(crate) fn plan(
    schema: &Schema,
    session_keyspace: Option<&str>,
    batch: &ast::Batch,
    markers: &mut Markers,
) -> Result<BatchPlan, ErrorResponse> {
    let mut statements = Vec::with_capacity(batch.statements.len());
    for statement in &batch.statements {
        statements.push(plan_modification(
            schema,
            session_keyspace,
            statement,
            markers,
        )?);
    }
    let kind = match batch.kind {
        BatchKind::Logged => BatchType::Logged,
        BatchKind::Unlogged => BatchType::Unlogged,
        BatchKind::Counter => BatchType::Counter,
    };
    if batch.using.ttl.is_some() {
        return Err(ErrorResponse::invalid(
            "Global TTL on the BATCH statement is not supported.",
        ));
    }
    check(
        kind,
        batch.using.timestamp.is_some(),
        &statements.iter().collect::<Vec<_>>(),
    )?;
    let timestamp = match (&batch.using.timestamp, statements.first()) {
        (Some(written), Some(first)) => {
            let (keyspace, table) = find_table(
                schema,
                session_keyspace,
                &ast::TableName {
                    keyspace: Some(first.table.keyspace.clone()),
                    name: first.table.name.clone(),
                },
            )?;
            let mut planner = Planner {
                schema,
                keyspace,
                table,
                markers,
            };
            let receiver = Receiver::named(table, "[timestamp]", CqlType::BigInt);
            Some(term::plan(&mut planner, written, &receiver)?)
        }
        _ => None,
    };
    Ok(BatchPlan {
        kind,
        timestamp,
        statements,
    })
}

/// Checks what a batch may hold together.
pub(crate) fn check(
    kind: BatchType,
    has_timestamp: bool,
    statements: &[&Modify],
) -> Result<(), ErrorResponse> {
    let counters = statements
        .iter()
        .filter(|modify| modify.table.is_counter)
        .count();
    let conditional = statements
        .iter()
        .any(|modify| !matches!(modify.condition, Condition::None));
    if has_timestamp {
        let message = if conditional {
            Some("Cannot provide custom timestamp for conditional BATCH")
        } else if kind == BatchType::Counter || counters > 0 {
            Some("Cannot provide custom timestamp for counter BATCH")
        } else if statements.iter().any(|modify| modify.timestamp.is_some()) {
            Some("Timestamp must be set either on BATCH or individual statements")
        } else {
            None
        };
        if let Some(message) = message {
            return Err(ErrorResponse::invalid(message));
        }
    }
    if kind == BatchType::Counter && counters < statements.len() {
        return Err(ErrorResponse::invalid(
            "Cannot include non-counter statement in a counter batch",
        ));
    }
    if counters > 0 && counters < statements.len() {
        return Err(ErrorResponse::invalid(
            "Counter and non-counter mutations cannot exist in the same batch",
        ));
    }
    if kind == BatchType::Logged && counters > 0 {
        return Err(ErrorResponse::invalid(
            "Cannot include a counter statement in a logged batch",
        ));
    }
    if conditional
        && let Some(first) = statements.first()
        && statements
            .iter()
            .any(|modify| modify.table.id != first.table.id)
    {
        return Err(ErrorResponse::invalid(
            "Batch with conditions cannot span multiple tables",
        ));
    }
    Ok(())
}
