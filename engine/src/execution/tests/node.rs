//! A node of one shard that runs statements as the facade does.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::message::{Batch, QueryParams, Rows, ValueList, Values};
use helenus_core::types::Value;
use helenus_core::{Consistency, ErrorResponse, ProtocolVersion, RawValue, Response};
use uuid::Uuid;

use crate::context::Context;
use crate::execution::{Action, Completed, Execution, Outcome};
use crate::guardrails::Guardrails;
use crate::readers::ReadProgress;
use crate::schema::{Natives, Schema};
use crate::statement::{Statement, prepare};
use crate::storage::{Shard, ShardOptions};
use crate::system::NodeInfo;

/// Seconds from 1970 at which a test node begins.
pub(super) const START: i64 = 1_700_000_000;

pub(super) struct Node {
    pub(super) schema: Arc<Schema>,
    pub(super) shard: Shard,
    pub(super) keyspace: Option<Arc<str>>,
    pub(super) guardrails: Guardrails,
    /// Who sends statements, if users log in.
    pub(super) user: Option<&'static str>,
    /// Microseconds, one more for each execution.
    pub(super) clock: i64,
    /// Fragments a read may take before it yields.
    pub(super) budget: usize,
    /// How often executions yielded.
    pub(super) yields: usize,
    /// How often executions asked to go where they may take long.
    pub(super) deferred: usize,
    /// How often executions asked for calls of native functions.
    pub(super) calls: usize,
    /// What executions asked for permission to do, if they ask.
    pub(super) asked: Vec<String>,
    /// Whether statements ask, and whether they are refused then.
    pub(super) asking: bool,
    pub(super) refusing: bool,
}

impl Node {
    pub(super) fn new() -> Self {
        Self::with_natives(Natives::default())
    }

    pub(super) fn with_natives(natives: Natives) -> Self {
        let info = NodeInfo {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 9042,
            host_id: Uuid::nil(),
            cluster_name: "test".into(),
            data_center: "datacenter1".into(),
            rack: "rack1".into(),
            tokens: vec![0],
            release_version: "5.0.4".into(),
            cql_version: "3.4.7".into(),
            native_protocol_version: "5".into(),
            partitioner: "org.apache.cassandra.dht.Murmur3Partitioner".into(),
        };
        let (schema, mutations) = Schema::bootstrap_with(&info, &[], natives, 1);
        let mut shard = Shard::new(ShardOptions::default());
        mutations
            .iter()
            .for_each(|mutation| shard.apply(mutation, START));
        Self {
            schema: Arc::new(schema),
            shard,
            keyspace: None,
            guardrails: Guardrails::default(),
            user: None,
            clock: START * 1_000_000,
            budget: 1000,
            yields: 0,
            deferred: 0,
            calls: 0,
            asked: Vec::new(),
            asking: false,
            refusing: false,
        }
    }

    pub(super) fn context(&mut self) -> Context {
        self.clock += 1;
        Context {
            timestamp: self.clock,
            now_seconds: self.clock / 1_000_000,
            now_millis: self.clock / 1_000,
            random: self.clock.to_be_bytes().repeat(2).try_into().unwrap(),
            version: ProtocolVersion::V5,
        }
    }

    pub(super) fn prepare(&self, cql: &str) -> Result<Arc<Statement>, ErrorResponse> {
        prepare(&self.schema, self.keyspace.as_deref(), cql)
    }

    /// Runs a statement with these parameters.
    pub(super) fn execute(
        &mut self,
        statement: &Arc<Statement>,
        params: &QueryParams<'_>,
    ) -> Completed {
        let context = self.context();
        let keyspace = self.keyspace.clone();
        let begin = match self.asking {
            true => Execution::asking,
            false => Execution::new,
        };
        let begun = begin(
            self.schema.clone(),
            statement.clone(),
            params,
            None,
            keyspace,
            context,
            Arc::new(self.guardrails.clone()),
        );
        self.finish(begun)
    }

    pub(super) fn batch(
        &mut self,
        statements: Vec<(Arc<Statement>, Values<'_>)>,
        batch: &Batch<'_>,
    ) -> Completed {
        let context = self.context();
        let begin = match self.asking {
            true => Execution::asking_batch,
            false => Execution::batch,
        };
        let begun = begin(
            self.schema.clone(),
            statements,
            batch,
            self.keyspace.clone(),
            context,
            Arc::new(self.guardrails.clone()),
        );
        self.finish(begun)
    }

    fn finish(&mut self, begun: Result<Execution, ErrorResponse>) -> Completed {
        let mut execution = match begun {
            Ok(execution) => execution,
            Err(error) => {
                return Completed {
                    response: Response::Error(error),
                    warnings: Vec::new(),
                };
            }
        };
        let now = execution.context().now_seconds;
        let user = self.user;
        loop {
            match execution.poll_action() {
                Action::Read(command) => {
                    let progress = self.shard.read(&command, self.budget, &mut execution);
                    execution.resume(Outcome::Read(progress));
                }
                Action::Write(mutations) => {
                    mutations
                        .iter()
                        .for_each(|mutation| self.shard.apply(mutation, now));
                    execution.resume(Outcome::Written);
                }
                Action::Cas(mut command) => {
                    while let ReadProgress::Yielded(position) =
                        self.shard.read(&command, self.budget, &mut execution)
                    {
                        command.resume = Some(position);
                    }
                    execution
                        .decide()
                        .iter()
                        .for_each(|mutation| self.shard.apply(mutation, now));
                    execution.resume(Outcome::Written);
                }
                Action::Alter { ddl, keyspace, .. } => {
                    let outcome =
                        match self
                            .schema
                            .apply(&ddl, keyspace.as_deref(), execution.context())
                        {
                            Ok(update) => {
                                if let Some(user) = user {
                                    let follow = self.roles().follow(&update, user, self.clock);
                                    self.write(&follow);
                                }
                                self.schema = update.schema;
                                update
                                    .mutations
                                    .iter()
                                    .for_each(|mutation| self.shard.apply(mutation, now));
                                update
                                    .dropped
                                    .iter()
                                    .for_each(|table| drop(self.shard.remove_table(*table)));
                                Outcome::Altered {
                                    change: update.change,
                                    warnings: update.warnings,
                                }
                            }
                            Err(error) => Outcome::Failed(error),
                        };
                    execution.resume(outcome);
                }
                Action::Access {
                    statement,
                    keyspace,
                } => {
                    let outcome = self.permit(&statement, keyspace.as_deref());
                    execution.resume(outcome.unwrap_or_else(Outcome::Failed));
                }
                Action::Truncate(table) => {
                    drop(self.shard.remove_table(table.id));
                    execution.resume(Outcome::Truncated);
                }
                Action::Defer => {
                    self.deferred += 1;
                    execution.resume(Outcome::Resumed);
                }
                Action::Yield => {
                    self.yields += 1;
                    execution.resume(Outcome::Resumed);
                }
                Action::Authorize(asked) => {
                    let names = asked
                        .iter()
                        .map(|(permission, on)| format!("{permission} {on}"));
                    self.asked.extend(names);
                    execution.resume(match self.refusing {
                        true => Outcome::Failed(ErrorResponse::unauthorized("no")),
                        false => Outcome::Authorized,
                    });
                }
                Action::Call(mut calls) => {
                    self.calls += 1;
                    let mut failed = None;
                    while failed.is_none() && calls.peek().is_some() {
                        failed = calls.make().err();
                    }
                    let called = Outcome::Called(calls);
                    execution.resume(failed.map_or(called, Outcome::Failed));
                }
                Action::Done(completed) => return *completed,
            }
        }
    }

    /// Runs a text without values and shows what came of it.
    pub(super) fn run(&mut self, cql: &str) -> String {
        self.with(cql, &[])
    }

    /// Runs a text with values and shows what came of it.
    pub(super) fn with(&mut self, cql: &str, values: &[RawValue<'_>]) -> String {
        let mut list = ValueList::new();
        values.iter().for_each(|value| list.push(*value).unwrap());
        let mut params = QueryParams::new(Consistency::ONE);
        params.values = list.as_values();
        let completed = match self.prepare(cql) {
            Ok(statement) => match self.authorize(&statement) {
                Ok(()) => self.execute(&statement, &params),
                Err(error) => return format!("{error}"),
            },
            Err(error) => return format!("{error}"),
        };
        if let Response::SetKeyspace(name) = &completed.response {
            self.keyspace = Some(name.clone());
        }
        show(&completed)
    }

    /// Runs texts that must succeed.
    pub(super) fn all(&mut self, texts: &[&str]) {
        for cql in texts {
            let shown = self.run(cql);
            assert!(
                !shown.contains(": ") || shown.contains('|'),
                "{cql}: {shown}"
            );
        }
    }
}

/// A result as text: `void`, an error's code and message, or names and rows.
pub(super) fn show(completed: &Completed) -> String {
    match &completed.response {
        Response::Void => "void".into(),
        Response::Error(error) => error.to_string(),
        Response::Rows(rows) => show_rows(rows),
        Response::SetKeyspace(name) => format!("use {name}"),
        Response::SchemaChange(_) => "altered".into(),
        other => format!("{other:?}"),
    }
}

pub(super) fn show_rows(rows: &Rows) -> String {
    let columns = rows.metadata.columns();
    let names: Vec<_> = columns.iter().map(|column| &*column.name).collect();
    let mut lines = vec![names.join("|")];
    let mut content: &[u8] = &rows.content;
    for _ in 0..rows.row_count {
        let mut cells = Vec::new();
        for column in columns {
            let (len, rest) = content.split_first_chunk::<4>().unwrap();
            let len = i32::from_be_bytes(*len);
            content = rest;
            cells.push(match usize::try_from(len) {
                Ok(len) => {
                    let (cell, rest) = content.split_at(len);
                    content = rest;
                    Value::decode(&column.ty, cell)
                        .map_or_else(|_| format!("{cell:02x?}"), |value| show_value(&value))
                }
                Err(_) => "null".into(),
            });
        }
        lines.push(cells.join("|"));
    }
    assert!(content.is_empty(), "cells left over");
    lines.join(" / ")
}

fn show_value(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let part = |item: &Option<Value>| item.as_ref().map_or_else(|| "null".to_owned(), show_value);
    match value {
        Value::Empty => "empty".into(),
        Value::Text(text) => text.clone(),
        Value::BigInt(value)
        | Value::Counter(value)
        | Value::Timestamp(value)
        | Value::Time(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::SmallInt(value) => value.to_string(),
        Value::TinyInt(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Double(value) => format!("{value:?}"),
        Value::Float(value) => format!("{value:?}"),
        Value::Uuid(value) | Value::Timeuuid(value) => value.to_string(),
        Value::List(items) => format!("[{}]", list(items.iter().map(part).collect())),
        Value::Set(items) => format!("{{{}}}", list(items.iter().map(show_value).collect())),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", show_value(key), part(value)));
            format!("{{{}}}", list(entries.collect()))
        }
        Value::Tuple(items) => format!("({})", list(items.iter().map(part).collect())),
        other => format!("{other:?}"),
    }
}

/// A bound `int`.
pub(super) fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}
