//! Runs executions: the engine says what it needs, this does it on the node's own shards.

use std::sync::{Arc, PoisonError};

use helenus_core::message::{ErrorResponse, ServerEvent};
use helenus_engine::Context;
use helenus_engine::access::{Permission, Resource};
use helenus_engine::cql::ast::Ddl;
use helenus_engine::execution::{Action, Calls, Completed, Execution, Outcome};
use helenus_engine::readers::{PartitionRange, ReadCommand, ReadProgress};
use helenus_engine::schema::{SchemaUpdate, Table};
use helenus_engine::storage::Mutation;

use super::Node;
use super::access::is_watched;
use super::live::is_live;
use super::shards::is_own;
use super::upkeep::free;

/// Fragments read in one go, under one lock of a shard. A point read waits behind at most this many.
const SLICE: usize = 1024;

/// What a read of nothing costs, in fragments: about as much as reading so many.
const READ: usize = 8;

/// Fragments that an execution may read where its request arrived, about a millisecond's worth. One that needs more moves to
/// the pool for long work.
pub(super) const INLINE: usize = 4096;

/// How far a run came.
#[derive(Debug)]
pub(crate) enum Run {
    /// The answer.
    Completed(Box<Completed>),
    /// There is more to do, and others should have their turn first.
    Yielded,
    /// Native functions are to be called, which may take long.
    Calling(Calls),
    /// Whether it may go on is to be asked, which may take long.
    Asking(Vec<(Permission, Resource)>),
    /// Other nodes of the cluster have a part in this.
    Shared(Action),
}

impl Node {
    /// Runs until the answer is there or about `budget` fragments were read, for the user who sent the request.
    pub(super) fn run(
        &self,
        execution: &mut Execution,
        mut budget: usize,
        user: Option<&Arc<str>>,
    ) -> Run {
        let is_inline = budget < usize::MAX;
        while budget > 0 {
            match execution.poll_action() {
                action if self.is_shared(&action) => return Run::Shared(action),
                Action::Read(command) if is_live(&command.table) => {
                    let progress = self.read_live(&command, is_inline, execution);
                    let is_put_off = matches!(progress, ReadProgress::Yielded(_));
                    execution.resume(Outcome::Read(progress));
                    if is_put_off {
                        return Run::Yielded;
                    }
                    budget = budget.saturating_sub(SLICE);
                }
                Action::Read(command) => {
                    let progress = self.shards.read(&command, SLICE, execution);
                    execution.resume(Outcome::Read(progress));
                    budget = budget.saturating_sub(READ);
                }
                Action::Write(mutations) => {
                    self.apply(&mutations, execution.context().now_seconds);
                    execution.resume(Outcome::Written);
                }
                Action::Cas(command) => {
                    let outcome = self.compare_and_set(&command, execution);
                    execution.resume(outcome);
                }
                Action::Alter { ddl, keyspace, .. } => {
                    let outcome = self
                        .alter(&ddl, keyspace.as_deref(), execution.context(), user)
                        .unwrap_or_else(Outcome::Failed);
                    execution.resume(outcome);
                }
                Action::Access {
                    statement,
                    keyspace,
                } => {
                    let outcome = self
                        .permit(&statement, keyspace.as_deref(), user)
                        .unwrap_or_else(Outcome::Failed);
                    execution.resume(outcome);
                }
                Action::Truncate(table) => {
                    self.empty(&table);
                    execution.resume(Outcome::Truncated);
                }
                Action::Yield => {
                    execution.resume(Outcome::Resumed);
                    budget = budget.saturating_sub(SLICE);
                }
                Action::Defer => {
                    execution.resume(Outcome::Resumed);
                    return Run::Yielded;
                }
                Action::Authorize(asked) => return Run::Asking(asked),
                Action::Call(calls) => match self.quarantine.refusal(&calls) {
                    Some(refusal) => execution.resume(Outcome::Failed(refusal)),
                    None => return Run::Calling(calls),
                },
                Action::Done(completed) => return Run::Completed(completed),
            }
        }
        Run::Yielded
    }

    /// Runs on a thread that nobody waits on, until the answer is there or native functions are to be called.
    pub(super) fn run_out(&self, execution: &mut Execution, user: Option<&Arc<str>>) -> Run {
        loop {
            match self.run(execution, usize::MAX, user) {
                Run::Yielded => {}
                end => return end,
            }
        }
    }

    /// Applies changes to what this node stores.
    pub(crate) fn apply(&self, mutations: &[Mutation], now_seconds: i64) {
        let mut is_merging = false;
        for mutation in mutations {
            is_merging |= self.shards.apply(mutation, now_seconds);
        }
        if is_merging {
            self.shards.merge_later(&self.delays, now_seconds);
        }
        if let Some(access) = &self.access {
            access.noticed(mutations);
        }
    }

    /// Drops what this node stores of a table.
    pub(crate) fn empty(&self, table: &Table) {
        free(self.shards.remove_table(table.id));
        if let Some(access) = self.access.as_ref().filter(|_| is_watched(&table.keyspace)) {
            access.changed();
        }
    }

    /// Reads and, if the conditions hold, writes one partition that nobody else uses meanwhile.
    fn compare_and_set(&self, command: &ReadCommand, execution: &mut Execution) -> Outcome {
        let PartitionRange::Key(key) = &command.range else {
            return Outcome::Failed(ErrorResponse::server_error(
                "A conditional write addresses one partition",
            ));
        };
        let now_seconds = execution.context().now_seconds;
        self.shards.with_owner(&command.table, key.token, |shard| {
            shard.read(command, usize::MAX, execution);
            for mutation in execution.decide() {
                shard.apply(&mutation, now_seconds);
            }
        });
        if let Some(access) = self
            .access
            .as_ref()
            .filter(|_| is_watched(&command.table.keyspace))
        {
            access.changed();
        }
        Outcome::Written
    }

    /// Changes the schema: one change at a time, each on what the last one left. Its events are on their way when this
    /// returns.
    fn alter(
        &self,
        ddl: &Ddl,
        keyspace: Option<&str>,
        context: &Context,
        user: Option<&Arc<str>>,
    ) -> Result<Outcome, ErrorResponse> {
        let _turn = self.altering.lock().unwrap_or_else(PoisonError::into_inner);
        let update = self.schema().apply(ddl, keyspace, context)?;
        self.adopt(&update, context.now_seconds);
        self.permit_created(&update, user);
        Ok(Outcome::Altered {
            change: update.change,
            warnings: update.warnings,
        })
    }

    /// Has an update's schema from now on, whose changes are made one at a time. Its events are on their way when this
    /// returns.
    pub(crate) fn adopt(&self, update: &SchemaUpdate, now_seconds: i64) {
        for mutation in &update.mutations {
            self.shards.apply(mutation, now_seconds);
        }
        *self.schema.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&update.schema);
        for table in &update.dropped {
            free(self.shards.remove_table(*table));
        }
        self.statements
            .retain(|statement| statement.is_current(&update.schema));
        if let Some(server) = self.server() {
            for event in &update.events {
                server.publish(ServerEvent::SchemaChange(event.clone()));
            }
        }
    }

    /// Whether an action is one for several nodes. What a node has for itself, and what it knows of roles, which is the
    /// same everywhere, it reads alone.
    fn is_shared(&self, action: &Action) -> bool {
        let Some(_) = &self.member else { return false };
        match action {
            Action::Read(command) => {
                !is_own(&command.table) && !is_watched(&command.table.keyspace)
            }
            Action::Cas(command) => !is_own(&command.table),
            Action::Write(_) | Action::Alter { .. } | Action::Truncate(_) => true,
            _ => false,
        }
    }
}
