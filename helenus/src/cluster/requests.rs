//! What a client's request asks of several nodes, as plans and machines; and what of their outcomes goes back to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use helenus_coordinator::{
    Batch, BatchKind, Failure, FullRead, Outcome, Placement, Read, ReadOptions, ReadPlan,
    ReadRepair, Speculation, TokenRange, Truncate, Vantage, Write, WritePlan, batch_log_nodes,
};
use helenus_core::Consistency;
use helenus_core::message::{BatchType, ErrorResponse, WriteType};
use helenus_engine::execution::{Action, Outcome as Came};
use helenus_engine::readers::{PartitionRange, Position, ReadCommand, ReadProgress, RingBound};
use helenus_engine::schema::Table;
use helenus_engine::storage::{DecoratedKey, Mutation, Token};

use super::Member;
use super::coordination::Course;
use super::message::{self, Call};
use super::model::within;
use crate::embedded::{Node, Task};

/// How long replicas have, as Cassandra's defaults: `read_request_timeout`, `range_request_timeout`,
/// `write_request_timeout`, `cas_contention_timeout`, `truncate_request_timeout`.
pub(super) const READ: Duration = Duration::from_secs(5);
const RANGE: Duration = Duration::from_secs(10);
pub(super) const WRITE: Duration = Duration::from_secs(2);
pub(super) const CONTENTION: Duration = Duration::from_millis(1800);
const TRUNCATE: Duration = Duration::from_secs(60);

impl Node {
    /// Begins what several nodes have a part in. The task comes back if it can go on at once.
    pub(crate) fn concert(self: &Arc<Self>, task: Task, action: Action) -> Option<Task> {
        let Some(member) = &self.member else {
            return refused(
                task,
                ErrorResponse::server_error("There are no other nodes"),
            );
        };
        match action {
            Action::Read(command) => match &command.range {
                PartitionRange::Key(key) => {
                    let token = key.token;
                    self.read_partition(member, task, command, token)
                }
                PartitionRange::Tokens { .. } => self.read_range(member, task, command),
            },
            Action::Write(mutations) => self.write_all(member, task, mutations),
            Action::Truncate(table) => self.truncate(member, task, &table),
            Action::Alter {
                ddl,
                text,
                keyspace,
            } => {
                self.define(member, task, ddl, text, keyspace);
                None
            }
            Action::Cas(command) => {
                let serial = task.errand.execution.serial_consistency();
                let commit = task.errand.execution.consistency();
                self.agree(member, task, command, serial, Some(commit))
            }
            _ => refused(
                task,
                ErrorResponse::server_error("There is nothing to share"),
            ),
        }
    }

    fn read_partition(
        self: &Arc<Self>,
        member: &Member,
        task: Task,
        command: ReadCommand,
        token: Token,
    ) -> Option<Task> {
        let now = Instant::now();
        let level = task.errand.execution.consistency();
        if level == Consistency::SERIAL || level == Consistency::LOCAL_SERIAL {
            return self.agree(member, task, command, level, None);
        }
        let plan = self.placed(member, &command.table, |vantage, placement| {
            let token = helenus_coordinator::Token(token.0);
            let speculation = member.speculations.of(&command.table, READ);
            ReadPlan::new(vantage, placement, token, level, speculation)
        });
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return refused(task, error),
        };
        let options = ReadOptions {
            deadline: now + READ,
            repair: repair(&command.table),
            traced: false,
        };
        let command = Arc::new(command);
        let machine = Read::new(now, Arc::clone(&command), plan, options);
        self.coordinate(
            member,
            Course::plain(machine),
            task,
            move |member, task, came| {
                member.speculations.note(&command.table, now);
                conclude_read(member, task, came, &command, None);
            },
        )
    }

    /// Reads what the same nodes replicate of a range of tokens, from its beginning on; the rest comes when the task
    /// asks again.
    fn read_range(
        self: &Arc<Self>,
        member: &Member,
        task: Task,
        command: ReadCommand,
    ) -> Option<Task> {
        let now = Instant::now();
        let Some(range) = left_of(&command) else {
            return resumed(task, Came::Read(ReadProgress::Finished));
        };
        let plan = self.placed(member, &command.table, |vantage, placement| {
            let level = task.errand.execution.consistency();
            let (stretch, _) = placement.split(range).next().unwrap_or((range, &[]));
            ReadPlan::new(vantage, placement, stretch.first, level, Speculation::Never)
                .map(|plan| (plan, stretch))
        });
        let (plan, stretch) = match plan {
            Ok(plan) => plan,
            Err(error) => return refused(task, error),
        };
        let options = ReadOptions {
            deadline: now + RANGE,
            repair: repair(&command.table),
            traced: false,
        };
        let behind = stretch.last.0.checked_add(1).map(Token);
        let behind = behind.filter(|_| stretch.last < range.last);
        let command = Arc::new(within(&command, stretch));
        let machine = FullRead::new(now, Arc::clone(&command), plan, options);
        self.coordinate(
            member,
            Course::plain(machine),
            task,
            move |member, task, came| {
                conclude_read(member, task, came, &command, behind);
            },
        )
    }

    fn write_all(
        self: &Arc<Self>,
        member: &Member,
        task: Task,
        mutations: Vec<Mutation>,
    ) -> Option<Task> {
        if mutations.iter().any(|mutation| mutation.table.is_counter) {
            return self.count(member, task, mutations);
        }
        let level = task.errand.execution.consistency();
        let plan = |mutation: Mutation| {
            let token = helenus_coordinator::Token(mutation.key.token.0);
            let plan = self.placed(member, &mutation.table, |vantage, placement| {
                WritePlan::new(vantage, placement, token, level)
            });
            plan.map(|plan| (plan, Arc::new(mutation)))
        };
        let planned: Result<Vec<_>, _> = mutations.into_iter().map(plan).collect();
        let mut planned = match planned {
            Ok(planned) => planned,
            Err(error) => return refused(task, error),
        };
        let now = Instant::now();
        let deadline = now + WRITE;
        if planned.len() == 1
            && let Some((plan, mutation)) = planned.pop()
        {
            let machine = Write::new(&plan, mutation, WriteType::SIMPLE, now, deadline);
            return self.coordinate(member, Course::plain(machine), task, conclude_write);
        }
        let kind = match task.errand.execution.batch_type() {
            Some(BatchType::Logged) => {
                let alive = member.alive();
                let vantage = member.vantage(&alive);
                match batch_log_nodes(&vantage, level, fastrand::u64(..)) {
                    Ok(log) => BatchKind::Logged {
                        id: fastrand::u128(..),
                        log,
                    },
                    Err(failure) => return refused(task, failure.into_response(&member.ring)),
                }
            }
            _ => BatchKind::Unlogged,
        };
        let machine = Batch::new(kind, planned, now, deadline);
        self.coordinate(member, Course::plain(machine), task, conclude_write)
    }

    fn truncate(self: &Arc<Self>, member: &Member, task: Task, table: &Table) -> Option<Task> {
        let now = Instant::now();
        let alive = member.alive();
        let vantage = member.vantage(&alive);
        match Truncate::new(&vantage, table.id.as_u128(), now, now + TRUNCATE) {
            Ok(machine) => self.coordinate(
                member,
                Course::plain(machine),
                task,
                |member, task, came| {
                    task.errand.execution.resume(match came {
                        Ok(_) => Came::Truncated,
                        Err(failure) => failed(member, failure),
                    });
                },
            ),
            Err(failure) => refused(task, failure.into_response(&member.ring)),
        }
    }

    /// Has the replicas of a row that the server itself writes apply it, and waits for none of them.
    pub(crate) fn strew(&self, mutation: &Mutation, now_seconds: i64) {
        let Some(member) = &self.member else {
            self.apply(std::slice::from_ref(mutation), now_seconds);
            return;
        };
        let (schema, table) = (self.schema(), &mutation.table);
        let Some(placement) = member.placements.of(&member.ring, &schema, table) else {
            return;
        };
        let alive = member.alive();
        let token = helenus_coordinator::Token(mutation.key.token.0);
        for node in placement.replicas(token) {
            if *node == member.id {
                self.apply(std::slice::from_ref(mutation), now_seconds);
            } else if alive.contains(*node) {
                let bytes = message::mutation(mutation);
                member.send(*node, message::write(Call::NONE, &bytes));
            }
        }
    }

    /// Makes a plan for a table, as this node sees the ring.
    pub(super) fn placed<T>(
        &self,
        member: &Member,
        table: &Table,
        plan: impl FnOnce(&Vantage<'_>, &Placement) -> Result<T, Failure>,
    ) -> Result<T, ErrorResponse> {
        let placement = member.placements.of(&member.ring, &self.schema(), table);
        let Some(placement) = placement else {
            let gone = format!("Keyspace '{}' does not exist", table.keyspace);
            return Err(ErrorResponse::invalid(gone));
        };
        let alive = member.alive();
        let vantage = member.vantage(&alive);
        plan(&vantage, &placement).map_err(|failure| failure.into_response(&member.ring))
    }
}

/// What a read of a table does about replicas that are behind.
pub(super) fn repair(table: &Table) -> ReadRepair {
    match &*table.options.read_repair {
        "NONE" => ReadRepair::None,
        _ => ReadRepair::Blocking,
    }
}

/// The tokens that a command has yet to read.
fn left_of(command: &ReadCommand) -> Option<TokenRange> {
    let PartitionRange::Tokens { start, end } = command.range else {
        return None;
    };
    let first = match start {
        RingBound::Start => i64::MIN,
        RingBound::Before(token) => token.0,
        RingBound::After(token) => token.0.checked_add(1)?,
        RingBound::End => return None,
    };
    let last = match end {
        RingBound::Start => return None,
        RingBound::Before(token) => token.0.checked_sub(1)?,
        RingBound::After(token) => token.0,
        RingBound::End => i64::MAX,
    };
    let position = command.resume.as_ref();
    let first = position.map_or(first, |position| first.max(position.key.token.0));
    TokenRange::new(
        helenus_coordinator::Token(first),
        helenus_coordinator::Token(last),
    )
}

/// Gives a task what was read; `behind` is the token at which more of the same command follows.
pub(super) fn conclude_read(
    member: &Member,
    task: &mut Task,
    came: super::coordination::Came,
    command: &ReadCommand,
    behind: Option<Token>,
) {
    let outcome = match came {
        Ok(Outcome::Data(data)) => {
            let progress = data.consume(command, usize::MAX, &mut task.errand.execution);
            Came::Read(match (progress, behind) {
                (ReadProgress::Finished, Some(token)) => {
                    // No partition has an empty key, so this is before all of the next stretch.
                    let key = DecoratedKey {
                        token,
                        key: bytes::Bytes::new(),
                    };
                    ReadProgress::Yielded(Position::after_partition(key, command.reversed))
                }
                (progress, _) => progress,
            })
        }
        Ok(_) => Came::Failed(ErrorResponse::server_error("A read gave no data")),
        Err(failure) => failed(member, failure),
    };
    task.errand.execution.resume(outcome);
}

pub(super) fn conclude_write(member: &Member, task: &mut Task, came: super::coordination::Came) {
    task.errand.execution.resume(match came {
        Ok(_) => Came::Written,
        Err(failure) => failed(member, failure),
    });
}

fn failed(member: &Member, failure: Failure) -> Came {
    Came::Failed(failure.into_response(&member.ring))
}

pub(super) fn refused(task: Task, error: ErrorResponse) -> Option<Task> {
    resumed(task, Came::Failed(error))
}

fn resumed(mut task: Task, outcome: Came) -> Option<Task> {
    task.errand.execution.resume(outcome);
    Some(task)
}
