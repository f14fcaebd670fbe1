//! A `SELECT` of one row by its primary key, answered straight from storage: what most requests are.
//!
//! It knows only the plain case. Whatever else there is, an error or a warning, a row with something dead in it or
//! of several versions, it leaves to an [`Execution`](super::Execution), which answers all of them.

use std::cell::Cell;

use bytes::Bytes;
use helenus_core::RowsWriter;
use helenus_core::message::{QueryParams, RowsHeader};

use super::row::RowView;
use super::start::keyspace_of;
use crate::consistency::{Access, check};
use crate::context::Context;
use crate::guardrails::{Guard, Guardrails, check_page_size, check_select};
use crate::schema::{Schema, Table};
use crate::statement::{ColumnRef, KeyBytes, Output, Plan, Select, Statement};
use crate::storage::{FoundRow, Shard, Token};
use crate::term::Binds;

/// A bound `SELECT` of one row.
#[derive(Debug)]
pub struct Lookup<'s> {
    table: &'s Table,
    columns: &'s [ColumnRef],
    header: RowsHeader<'s>,
    token: Token,
    key: KeyBytes,
    /// The row's place, in the form that sorts.
    place: Bytes,
    now_seconds: i64,
}

/// What there is of a row that was looked up.
#[derive(Debug)]
pub enum LookupOutcome<'l> {
    /// The row.
    Row(LookupRow<'l>),
    /// No row.
    Nothing,
    /// Something that takes an [`Execution`](super::Execution) to tell.
    Unclear,
}

/// A row as storage has it.
#[derive(Debug)]
pub struct LookupRow<'l> {
    columns: &'l [ColumnRef],
    view: RowView<'l>,
}

impl Select {
    /// Whether this is of one row by its whole primary key, with nothing to compute.
    pub(crate) fn is_lookup(&self) -> bool {
        let Self {
            table,
            view: None,
            selection,
            restrictions,
            distinct: false,
            group_by: None,
            nearest: None,
            limit: None,
            per_partition_limit: None,
            aggregate_warning: None,
            json: None,
            ..
        } = self
        else {
            return false;
        };
        matches!(selection.output, Output::Columns(_))
            && selection.aggregates.is_empty()
            && !selection.uses_statics
            && restrictions.filters.is_empty()
            && restrictions.keys.is_one()
            && restrictions.clustering.is_one(table)
            && !table.is_counter
            // The node's own tables may be made when they are read.
            && !table.keyspace.starts_with("system")
    }
}

impl<'s> Lookup<'s> {
    /// Binds a statement to its values; `None` if it isn't a plain look-up, or there is something to refuse or to warn of.
    /// The arguments are those of [`Execution::new`](super::Execution::new).
    pub fn bind(
        schema: &Schema,
        statement: &'s Statement,
        params: &QueryParams<'_>,
        result_metadata_id: Option<&[u8]>,
        context: &Context,
        guardrails: &Guardrails,
    ) -> Option<Self> {
        let (Plan::Select(select), true) = (statement.plan(), statement.is_lookup()) else {
            return None;
        };
        let Output::Columns(columns) = &select.selection.output else {
            return None;
        };
        let page_size = params.page_size.unwrap_or(i32::MAX);
        if page_size == 0 || params.paging_state.is_some() || guardrails.read_thresholds_enabled {
            return None;
        }
        let table = &*select.table;
        let mut guard = Guard::new(guardrails);
        check_select(select, params.consistency, &mut guard).ok()?;
        if let Some(size) = params.page_size.and_then(|size| u32::try_from(size).ok()) {
            check_page_size(&table.name, size, &mut guard).ok()?;
        }
        if !guard.into_warnings().is_empty() {
            return None;
        }
        let keyspace = keyspace_of(schema, table).ok()?;
        let (level, serial) = (params.consistency, params.serial_consistency);
        check(
            schema.nodes,
            keyspace,
            &table.name,
            Access::Read,
            level,
            serial,
        )
        .ok()?;
        let list_elements = Cell::new(0);
        let variables = statement.variables.columns();
        let binds = Binds::new(variables, &params.values, context, &list_elements).ok()?;
        let key = select.restrictions.keys.bind_one(table, &binds)?;
        let place = select.restrictions.clustering.bind_one(table, &binds)?;
        let metadata = statement.result.as_deref()?;
        let metadata_changed =
            result_metadata_id.is_some_and(|known| metadata.id().is_some_and(|id| id != known));
        Some(Self {
            table,
            columns,
            header: RowsHeader {
                metadata,
                paging_state: None,
                skip_metadata: params.skip_metadata() && !metadata_changed,
                metadata_changed,
            },
            token: Token::of(&key),
            key,
            place,
            now_seconds: params.now_in_seconds.map_or(context.now_seconds, i64::from),
        })
    }

    /// The table.
    pub fn table(&self) -> &'s Table {
        self.table
    }

    /// Which shard the row is in.
    pub fn token(&self) -> Token {
        self.token
    }

    /// What an answer of its row, or of none, begins with.
    pub fn header(&self) -> &RowsHeader<'s> {
        &self.header
    }

    /// Looks the row up in the shard that has its token.
    pub fn find<'l>(&'l self, shard: &'l Shard) -> LookupOutcome<'l> {
        match shard.find_row(
            self.table.id,
            (self.token, &self.key),
            &self.place,
            self.now_seconds,
        ) {
            FoundRow::Alive(key, clustering, row) => LookupOutcome::Row(LookupRow {
                columns: self.columns,
                view: RowView {
                    key,
                    clustering: Some(clustering),
                    static_row: None,
                    row: Some(row),
                },
            }),
            FoundRow::Nothing => LookupOutcome::Nothing,
            FoundRow::Unclear => LookupOutcome::Unclear,
        }
    }
}

impl LookupRow<'_> {
    /// Writes the row.
    pub fn write(&self, writer: &mut RowsWriter<'_>) {
        for column in self.columns {
            writer.cell(self.view.value(column).as_deref());
        }
    }
}
