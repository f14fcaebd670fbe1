//! CQL text to result, in an engine that holds a few tables with rows.

use std::sync::Arc;

use helenus_core::message::{QueryParams, Response};
use helenus_core::{Consistency, ErrorResponse, ProtocolVersion};
use helenus_engine::Context;
use helenus_engine::execution::{Action, Execution, Outcome, not_logged_in};
use helenus_engine::readers::ReadProgress;
use helenus_engine::schema::{Schema, is_local_system};
use helenus_engine::statement::prepare;
use helenus_engine::storage::{Mutation, Shard, ShardOptions};
use helenus_engine::system::NodeInfo;

/// Seconds from 1970 at which a node begins.
pub(super) const START: i64 = 1_700_000_000;

/// What a statement may take of the node before it counts as one that doesn't end.
const ACTIONS: usize = 100_000;

/// What there is before the fuzzed statements.
const PRELUDE: [&str; 9] = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE k.u (a int, b text)",
    "CREATE TABLE k.t (p int, c int, s text STATIC, v text, l list<int>, m map<text, int>, e set<int>, PRIMARY KEY (p, c))",
    "CREATE TABLE k.n (k int PRIMARY KEY, n counter)",
    "CREATE TABLE k.w (k text PRIMARY KEY, u frozen<u>, t tuple<int, text>, f vector<float, 2>, d date, g duration, x decimal, i inet)",
    "INSERT INTO k.t (p, c, s, v, l, m, e) VALUES (1, 1, 's', 'one', [1, 2], {'a': 1}, {1})",
    "INSERT INTO k.t (p, c, v) VALUES (1, 2, 'two')",
    "UPDATE k.n SET n = n + 1 WHERE k = 1",
    "INSERT INTO k.w (k, u, t, f) VALUES ('a', {a: 1, b: 'b'}, (1, 'x'), [1, 2])",
];

thread_local! {
    static NODE: Node = Node::new();
}

/// Statements, one a line.
pub(super) fn cql(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    NODE.with(|node| {
        let mut run = node.begin();
        for statement in text.split('\n').take(8) {
            // An error is an outcome like any other; that it can be shown is part of it.
            if let Err(error) = run.execute(statement) {
                drop(error.to_string());
            }
        }
    });
}

/// What all executions begin with.
pub(super) struct Node {
    schema: Arc<Schema>,
    /// The system's tables. They stay as they are, so that one execution knows nothing of another.
    system: Shard,
    rows: Vec<Mutation>,
}

impl Node {
    pub(super) fn new() -> Self {
        let address = std::net::Ipv4Addr::LOCALHOST.into();
        let info = NodeInfo::new(address, 9042, Default::default());
        let (schema, mutations) = Schema::bootstrap(&info, 1);
        let mut system = Shard::new(ShardOptions::default());
        for mutation in &mutations {
            system.apply(mutation, START);
        }
        let mut node = Self {
            schema: Arc::new(schema),
            system,
            rows: Vec::new(),
        };
        let mut run = node.begin();
        for statement in PRELUDE {
            run.execute(statement).expect("a good statement");
        }
        (node.schema, node.rows) = (run.schema, run.written);
        node
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What was written to the tables there are.
    pub(super) fn rows(&self) -> &[Mutation] {
        &self.rows
    }

    /// A shard with all of it.
    pub(super) fn shard(&self) -> Shard {
        let mut shard = Shard::new(ShardOptions::default());
        for mutation in &self.rows {
            shard.apply(mutation, START);
        }
        shard
    }

    fn begin(&self) -> Run<'_> {
        Run {
            system: &self.system,
            schema: Arc::clone(&self.schema),
            shard: self.shard(),
            written: Vec::new(),
            keyspace: Some("k".into()),
            clock: START * 1_000_000,
        }
    }
}

/// The statements of one input.
struct Run<'a> {
    system: &'a Shard,
    schema: Arc<Schema>,
    shard: Shard,
    /// Everything that was written to tables of users.
    written: Vec<Mutation>,
    keyspace: Option<Arc<str>>,
    clock: i64,
}

impl Run<'_> {
    fn execute(&mut self, text: &str) -> Result<(), ErrorResponse> {
        let statement = prepare(&self.schema, self.keyspace.as_deref(), text)?;
        self.clock += 1;
        let execution = Execution::new(
            Arc::clone(&self.schema),
            statement,
            &QueryParams::new(Consistency::ONE),
            None,
            self.keyspace.clone(),
            Context {
                timestamp: self.clock,
                now_seconds: START,
                now_millis: START * 1_000,
                random: u128::from(self.clock.unsigned_abs()).to_be_bytes(),
                version: ProtocolVersion::V5,
            },
            Arc::default(),
        )?;
        self.run(execution)
    }

    fn run(&mut self, mut execution: Execution) -> Result<(), ErrorResponse> {
        for _ in 0..ACTIONS {
            match execution.poll_action() {
                Action::Read(command) => {
                    let shard = match is_local_system(&command.table.keyspace) {
                        true => self.system,
                        false => &self.shard,
                    };
                    let progress = shard.read(&command, 64, &mut execution);
                    execution.resume(Outcome::Read(progress));
                }
                Action::Write(mutations) => {
                    self.write(mutations);
                    execution.resume(Outcome::Written);
                }
                Action::Cas(mut command) => {
                    while let ReadProgress::Yielded(position) =
                        self.shard.read(&command, 64, &mut execution)
                    {
                        command.resume = Some(position);
                    }
                    let mutations = execution.decide();
                    self.write(mutations);
                    execution.resume(Outcome::Written);
                }
                Action::Alter { ddl, keyspace, .. } => {
                    let update = self
                        .schema
                        .apply(&ddl, keyspace.as_deref(), execution.context());
                    execution.resume(match update {
                        Ok(update) => {
                            self.schema = update.schema;
                            Outcome::Altered {
                                change: update.change,
                                warnings: update.warnings,
                            }
                        }
                        Err(error) => Outcome::Failed(error),
                    });
                }
                Action::Access { .. } => execution.resume(Outcome::Failed(not_logged_in())),
                Action::Truncate(table) => {
                    drop(self.shard.remove_table(table.id));
                    execution.resume(Outcome::Truncated);
                }
                Action::Yield | Action::Defer => execution.resume(Outcome::Resumed),
                Action::Authorize(_) => execution.resume(Outcome::Authorized),
                // No functions are registered.
                Action::Call(calls) => execution.resume(Outcome::Called(calls)),
                Action::Done(completed) => {
                    return match completed.response {
                        Response::Error(error) => Err(error),
                        Response::SetKeyspace(name) => {
                            self.keyspace = Some(name);
                            Ok(())
                        }
                        _ => Ok(()),
                    };
                }
            }
        }
        panic!("a statement without end");
    }

    fn write(&mut self, mutations: Vec<Mutation>) {
        for mutation in mutations {
            self.shard.apply(&mutation, START);
            self.written.push(mutation);
        }
    }
}
