//! Statements, planned: parsed, checked against the schema and ready to be bound. What a prepared id stands for.

mod batch;
mod clustering;
mod column;
mod composed;
mod conditions;
mod expression;
mod filter;
mod group_by;
mod indexes;
mod keys;
mod metadata;
mod modify;
mod names;
mod nearest;
mod operations;
mod permissions;
mod planner;
mod relation;
mod restrictions;
mod select;
mod selection;
mod view;

pub(crate) use batch::{BatchPlan, check as check_batch, not_a_modification};
pub(crate) use clustering::BoundRows;
pub(crate) use column::{ColumnRef, Place};
pub(crate) use conditions::{BoundCondition, Condition};
pub(crate) use expression::{Expression, Metadata, MetadataKind, MetadataPart, NativePlan, Output};
pub(crate) use filter::{BoundFilter, map_value};
pub(crate) use group_by::GroupBy;
pub(crate) use keys::{BoundKeys, KeyBytes, KeyPlan, check_combinations, key_part, partition_key};
pub(crate) use metadata::columns_id;
pub(crate) use modify::{Modify, ModifyKind};
pub(crate) use names::text as selectable_text;
pub(crate) use nearest::Nearest;
pub(crate) use operations::{Change, Operation};
pub(crate) use planner::Planner;
#[cfg(test)]
pub(crate) use restrictions::FILTERING;
pub(crate) use select::Select;
pub(crate) use view::{ViewSource, restricted_columns, view_filters};

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::message::Prepared;
use helenus_core::{ColumnSpec, ErrorResponse, ResultMetadata};
use md5::{Digest as _, Md5};

use crate::access::Resource;
use crate::cql::{self, ast};
use crate::schema::{Schema, Table, UserFunction};
use crate::term::{Binds, Markers, NativeCall};

/// A planned statement.
#[derive(Debug)]
pub struct Statement {
    /// The id of the prepared statement: the MD5 of the keyspace, if the text needs one, and the text.
    pub id: [u8; 16],
    /// The keyspace that names without one belong to.
    pub keyspace: Option<Arc<str>>,
    /// The text.
    pub text: Arc<str>,
    /// The bind variables.
    pub variables: Arc<ResultMetadata>,
    /// The variables that make up the partition key, in its order; empty unless they all do.
    pub pk_indexes: Vec<u16>,
    /// The columns of the result, if the statement has one that preparing can know.
    pub result: Option<Arc<ResultMetadata>>,
    /// How many values an execution has: the variables', then those taken from JSON documents and the results of native
    /// functions.
    places: usize,
    /// Whether it reads one row by its primary key, with nothing to compute.
    is_lookup: bool,
    /// The user functions it calls.
    functions: Vec<Arc<UserFunction>>,
    /// The same and the user aggregates, as what permission is needed for.
    executes: Vec<Resource>,
    /// The calls of native functions among its terms.
    natives: Vec<NativeCall>,
    plan: Plan,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum Plan {
    /// `SELECT`
    Select(Box<Select>),
    /// `INSERT`, `UPDATE`, `DELETE`
    Modify(Box<Modify>),
    /// `BEGIN BATCH`
    Batch(Box<BatchPlan>),
    /// `USE`
    Use(Arc<str>),
    /// `TRUNCATE`
    Truncate(Arc<Table>),
    /// `CREATE`, `ALTER`, `DROP`
    Ddl(Arc<ast::Ddl>),
    /// `DESCRIBE`
    Describe(ast::Describe),
    /// Roles, permissions, identities
    Access(Arc<ast::Access>),
}

impl Statement {
    /// What the statement does.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether [`Lookup::bind`](crate::execution::Lookup::bind) may succeed.
    pub fn is_lookup(&self) -> bool {
        self.is_lookup
    }

    /// Whether [`plain_mutations`](crate::execution::plain_mutations) may succeed: it changes data unconditionally, reads
    /// nothing first and calls nothing that takes long.
    pub fn is_plain_change(&self) -> bool {
        matches!(&self.plan, Plan::Modify(modify)
            if matches!(modify.condition, Condition::None) && !modify.reads)
            && self.natives.is_empty()
            && !self.may_take_long()
    }

    /// How many values an execution has, those that [`expand`](Self::expand) adds among them.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// The calls of native functions that have to be made before its terms can be bound.
    pub(crate) fn natives(&self) -> &[NativeCall] {
        &self.natives
    }

    /// Adds the values that JSON documents have for their columns to those that were bound.
    pub(crate) fn expand(&self, binds: &mut Binds<'_>) -> Result<(), ErrorResponse> {
        match &self.plan {
            Plan::Modify(modify) => modify.expand(binds),
            Plan::Batch(batch) => batch
                .statements
                .iter()
                .try_for_each(|modify| modify.expand(binds)),
            _ => Ok(()),
        }
    }

    /// Whether it may run so long that it shouldn't where others wait: its user functions, or the hash of a password.
    pub(crate) fn may_take_long(&self) -> bool {
        let may_take_long = |function: &Arc<UserFunction>| function.may_take_long();
        self.functions.iter().any(may_take_long)
            || matches!(&self.plan, Plan::Access(access) if access.password().is_some())
    }

    /// Whether the tables and functions it was planned against are still those of the schema. A statement that isn't
    /// current must be prepared again from its [`text`](Self::text).
    pub fn is_current(&self, schema: &Schema) -> bool {
        let is_same_function = |function: &Arc<UserFunction>| {
            let keyspace = schema.keyspaces.get(&function.keyspace);
            keyspace
                .and_then(|keyspace| keyspace.functions.get(&function.key()))
                .is_some_and(|current| Arc::ptr_eq(current, function))
        };
        self.functions.iter().all(is_same_function) && self.has_current_tables(schema)
    }

    fn has_current_tables(&self, schema: &Schema) -> bool {
        let is_same = |table: &Arc<Table>| {
            schema
                .table(&table.keyspace, &table.name)
                .is_some_and(|current| Arc::ptr_eq(current, table))
        };
        match &self.plan {
            Plan::Select(select) => match &select.view {
                None => is_same(&select.table),
                Some(source) => {
                    let keyspace = schema.keyspaces.get(&select.table.keyspace);
                    let view = keyspace.and_then(|keyspace| keyspace.views.get(&select.table.name));
                    view.is_some_and(|view| Arc::ptr_eq(view, &source.view))
                        && is_same(&source.base)
                }
            },
            Plan::Modify(modify) => is_same(&modify.table),
            Plan::Batch(batch) => batch.statements.iter().all(|modify| is_same(&modify.table)),
            Plan::Truncate(table) => is_same(table),
            Plan::Use(_) | Plan::Ddl(_) | Plan::Describe(_) | Plan::Access(_) => true,
        }
    }

    /// The modification at a place of a batch, or the only one.
    pub(crate) fn modify(&self, index: usize) -> Option<&Modify> {
        match &self.plan {
            Plan::Modify(modify) => Some(modify),
            Plan::Batch(batch) => batch.statements.get(index),
            _ => None,
        }
    }
}

impl From<&Statement> for Prepared {
    fn from(statement: &Statement) -> Self {
        Self {
            id: Bytes::copy_from_slice(&statement.id),
            variables: statement.variables.clone(),
            pk_indexes: statement.pk_indexes.clone(),
            result: statement.result.clone(),
        }
    }
}

/// Parses and plans a statement.
///
/// # Errors
/// `SYNTAX_ERROR` and `INVALID` with Cassandra's messages, and `UNAUTHORIZED` for what only an authenticated user may do.
pub fn prepare(
    schema: &Arc<Schema>,
    session_keyspace: Option<&str>,
    text: &str,
) -> Result<Arc<Statement>, ErrorResponse> {
    let parsed = cql::parse(text)?;
    if let ast::Statement::Ddl(ddl) = &parsed.statement
        && matches!(**ddl, ast::Ddl::CreateView(_))
        && parsed.markers > 0
    {
        return Err(ErrorResponse::invalid(
            "Bind variables are not allowed in CREATE MATERIALIZED VIEW statements",
        ));
    }
    let mut markers = Markers::new(parsed.markers);
    let (plan, result) = plan(schema, session_keyspace, &parsed.statement, &mut markers)?;
    let key_len = match &plan {
        Plan::Select(select) => Some(select.table.partition_key_len),
        Plan::Modify(modify) => Some(modify.table.partition_key_len),
        Plan::Batch(batch) => batch.only_table().map(|table| table.partition_key_len),
        _ => None,
    };
    let pk_indexes = key_len.map_or_else(Vec::new, |parts| markers.key_indexes(parts));
    let (places, functions) = (markers.places(), markers.functions());
    let (executes, natives) = (markers.executes(), markers.take_natives());
    let variables = ResultMetadata::new(markers.finish()?);
    let mut hash = Md5::new();
    if let Some(keyspace) = session_keyspace.filter(|_| !is_qualified(&parsed.statement)) {
        hash.update(keyspace);
    }
    hash.update(text);
    Ok(Arc::new(Statement {
        id: hash.finalize().into(),
        keyspace: session_keyspace.map(Into::into),
        text: text.into(),
        variables: Arc::new(variables),
        pk_indexes,
        result: result.map(|columns| {
            let id = columns_id(&columns);
            Arc::new(ResultMetadata::new(columns).with_id(id))
        }),
        places,
        is_lookup: functions.is_empty()
            && natives.is_empty()
            && matches!(&plan, Plan::Select(select) if select.is_lookup()),
        functions,
        executes,
        natives,
        plan,
    }))
}

/// Whether the text names its keyspace, so that the session's doesn't matter.
fn is_qualified(statement: &ast::Statement) -> bool {
    let table = match statement {
        ast::Statement::Select(select) => &select.from,
        ast::Statement::Insert(insert) => &insert.table,
        ast::Statement::Update(update) => &update.table,
        ast::Statement::Delete(delete) => &delete.table,
        ast::Statement::Batch(batch) => return batch.statements.iter().all(is_qualified),
        _ => return false,
    };
    table.keyspace.is_some()
}

fn plan(
    schema: &Schema,
    session_keyspace: Option<&str>,
    statement: &ast::Statement,
    markers: &mut Markers,
) -> Result<(Plan, Option<Vec<ColumnSpec<'static>>>), ErrorResponse> {
    Ok(match statement {
        ast::Statement::Select(select) => {
            let (keyspace, table) = planner::find_table(schema, session_keyspace, &select.from)?;
            let mut planner = Planner {
                schema,
                keyspace,
                table,
                markers,
            };
            let (plan, columns) = select::plan(&mut planner, select)?;
            let specs = columns
                .into_iter()
                .map(|(name, ty)| ColumnSpec {
                    keyspace: table.keyspace.clone().into(),
                    table: table.name.clone().into(),
                    name: name.into(),
                    ty,
                })
                .collect();
            (Plan::Select(Box::new(plan)), Some(specs))
        }
        ast::Statement::Insert(_) | ast::Statement::Update(_) | ast::Statement::Delete(_) => {
            let plan = batch::plan_modification(schema, session_keyspace, statement, markers)?;
            (Plan::Modify(Box::new(plan)), None)
        }
        ast::Statement::Batch(written) => {
            let plan = batch::plan(schema, session_keyspace, written, markers)?;
            (Plan::Batch(Box::new(plan)), None)
        }
        ast::Statement::Use(name) => (Plan::Use(name.clone()), None),
        ast::Statement::Truncate(name) => {
            let (keyspace, table) = planner::find_table(schema, session_keyspace, name)?;
            if table.is_view {
                return Err(ErrorResponse::invalid(
                    "Cannot TRUNCATE materialized view directly; must truncate base table instead",
                ));
            }
            if keyspace.is_virtual {
                return Err(ErrorResponse::invalid(format!(
                    "Truncation is not supported by table {}.{}",
                    table.keyspace, table.name
                )));
            }
            (Plan::Truncate(table.clone()), None)
        }
        ast::Statement::Ddl(ddl) => (Plan::Ddl(Arc::new(ast::Ddl::clone(ddl))), None),
        ast::Statement::Describe(describe) => (Plan::Describe(describe.clone()), None),
        ast::Statement::Access(statement) => {
            (Plan::Access(Arc::new(ast::Access::clone(statement))), None)
        }
        ast::Statement::Unsupported(words) => {
            return Err(ErrorResponse::invalid(format!(
                "{words} is not supported by this server"
            )));
        }
    })
}
