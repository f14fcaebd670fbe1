//! What an execution is about to do, for who stands between it and the data.

use std::collections::BTreeSet;

use helenus_core::Consistency;
use helenus_core::message::{Batch, BatchType, QueryParams, WriteType};

use super::{Action, Execution, Run};
use crate::schema::Table;
use crate::statement::{Plan, Statement};

/// The request's side of an execution: what errors of replicas repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) consistency: Consistency,
    pub(super) serial: Option<Consistency>,
    /// The kind of batch, if it is one of the protocol or of `BEGIN BATCH`.
    pub(super) batch: Option<BatchType>,
}

/// What an execution is about to do to tables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work<'e> {
    /// How.
    pub kind: WorkKind,
    /// Keyspaces and names of the tables, each once and in order.
    pub tables: Vec<(&'e str, &'e str)>,
    /// The consistency level asked for.
    pub consistency: Consistency,
    /// The one of the rounds of conditional writes.
    pub serial_consistency: Consistency,
}

/// How tables are used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkKind {
    /// `SELECT`
    Read,
    /// A modification or a batch, of the kind that errors name.
    Write(WriteType),
    /// `TRUNCATE`
    Truncate,
}

impl<'e> Work<'e> {
    /// Work on these tables.
    pub fn new(
        kind: WorkKind,
        tables: Vec<(&'e str, &'e str)>,
        consistency: Consistency,
        serial_consistency: Consistency,
    ) -> Self {
        Self {
            kind,
            tables,
            consistency,
            serial_consistency,
        }
    }
}

impl Execution {
    /// The consistency level that was asked for.
    pub fn consistency(&self) -> Consistency {
        self.request.consistency
    }

    /// The one of the rounds of conditional writes and of reads that see them.
    pub fn serial_consistency(&self) -> Consistency {
        self.request.serial.unwrap_or(Consistency::SERIAL)
    }

    /// The kind of batch, if it is one.
    pub fn batch_type(&self) -> Option<BatchType> {
        self.request.batch
    }

    /// What it is about to do to tables; `None` if it uses none, or has begun to.
    pub fn work(&self) -> Option<Work<'_>> {
        let (kind, tables): (_, Vec<&Table>) = match &self.run {
            Run::Select(select) => (WorkKind::Read, vec![select.table()?]),
            Run::View(view) => (WorkKind::Read, vec![view.table()?]),
            Run::Write(run) => self.request.writes(run.tables()),
            Run::Act {
                action: Some(Action::Write(mutations)),
                ..
            } => {
                let tables = mutations.iter().map(|mutation| &*mutation.table);
                self.request.writes(tables)
            }
            Run::Cas(cas) => (WorkKind::Write(WriteType::CAS), vec![cas.table()]),
            Run::Act {
                action: Some(Action::Truncate(table)),
                ..
            } => (WorkKind::Truncate, vec![table]),
            Run::Calling(calling) if calling.is_select() => (WorkKind::Read, calling.tables()),
            Run::Calling(calling) => self.request.writes(calling.tables().into_iter()),
            Run::Act { .. } | Run::Done(_) => return None,
        };
        let tables: BTreeSet<(&str, &str)> = tables
            .into_iter()
            .map(|table| (&*table.keyspace, &*table.name))
            .collect();
        Some(Work {
            kind,
            tables: tables.into_iter().collect(),
            consistency: self.request.consistency,
            serial_consistency: self.serial_consistency(),
        })
    }
}

impl Request {
    /// Of a statement of its own.
    pub(super) fn of_statement(statement: &Statement, params: &QueryParams<'_>) -> Self {
        Self {
            consistency: params.consistency,
            serial: params.serial_consistency,
            batch: match statement.plan() {
                Plan::Batch(batch) => Some(batch.kind),
                _ => None,
            },
        }
    }

    /// Of a batch of the protocol.
    pub(super) fn of_batch(batch: &Batch<'_>) -> Self {
        Self {
            consistency: batch.consistency,
            serial: batch.serial_consistency,
            batch: Some(batch.kind),
        }
    }

    /// The write of these tables, which may be named more than once.
    fn writes<'t>(self, tables: impl Iterator<Item = &'t Table>) -> (WorkKind, Vec<&'t Table>) {
        let tables: Vec<_> = tables.collect();
        let write_type = match self.batch {
            _ if tables.iter().any(|table| table.is_counter) => WriteType::COUNTER,
            None => WriteType::SIMPLE,
            Some(BatchType::Unlogged) => WriteType::UNLOGGED_BATCH,
            Some(_) => WriteType::BATCH,
        };
        (WorkKind::Write(write_type), tables)
    }
}
