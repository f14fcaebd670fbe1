//! How the nodes come to agree on changes of the schema: the first of those that are alive puts them in order and tells
//! the others; who was away is told what it missed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use helenus_coordinator::NodeId;
use helenus_core::ProtocolVersion;
use helenus_core::message::{ErrorResponse, SchemaChange};
use helenus_engine::cql::ast::Ddl;
use helenus_engine::execution::Outcome;
use helenus_engine::schema::Schema;
use parking_lot::Mutex;
use uuid::Uuid;

use super::Member;
use super::message;
use super::schema::{Change, Learned, Log};
use crate::embedded::{Node, Task};

/// How long a change may take, as the requests of Cassandra that have no time of their own.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a node knows of changes of the schema.
#[derive(Debug)]
pub(super) struct Definitions {
    /// What all changes are made to, one after the other.
    first: Arc<Schema>,
    log: Mutex<Log>,
    /// Statements that wait until their change is put in order, by what was drawn for it.
    waiting: Mutex<HashMap<[u8; 16], Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    task: Task,
    change: Option<SchemaChange>,
    warnings: Vec<String>,
    ddl: Arc<Ddl>,
    keyspace: Option<Arc<str>>,
    /// Whether the first node found nothing to change, for what this node has yet to hear.
    is_needless: bool,
}

impl Definitions {
    pub(super) fn new(first: &Arc<Schema>) -> Self {
        Self {
            first: Arc::clone(first),
            log: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// Every change that the node knows, to tell another one.
    pub(super) fn all(&self) -> Vec<Change> {
        self.log.lock().changes()
    }
}

impl Node {
    /// Changes the schema of the whole cluster for a statement.
    pub(super) fn define(
        self: &Arc<Self>,
        member: &Member,
        mut task: Task,
        ddl: Arc<Ddl>,
        text: Arc<str>,
        keyspace: Option<Arc<str>>,
    ) {
        let context = *task.errand.execution.context();
        // What is wrong with it, or makes it needless, is found here; the first node looks again.
        let update = match self.schema().apply(&ddl, keyspace.as_deref(), &context) {
            Ok(update) => update,
            Err(error) => return task.fail(error),
        };
        if update.change.is_none() {
            task.errand.execution.resume(Outcome::Altered {
                change: None,
                warnings: update.warnings,
            });
            return task.proceed();
        }
        let random = context.random;
        let change = Change {
            id: (context.timestamp, random),
            keyspace: keyspace.clone(),
            text,
        };
        let waiting = Waiting {
            task,
            change: update.change,
            warnings: update.warnings,
            ddl,
            keyspace,
            is_needless: false,
        };
        member.definitions.waiting.lock().insert(random, waiting);
        let first = member.first();
        if first == member.id {
            self.order(member, member.id, change);
        } else {
            member.send(first, message::define(&change));
        }
        if member.definitions.waiting.lock().contains_key(&random) {
            Member::later(&self.delays, PATIENCE, Arc::downgrade(self), move |node| {
                let member = node.member.as_ref();
                let waiting =
                    member.and_then(|member| member.definitions.waiting.lock().remove(&random));
                if let Some(waiting) = waiting {
                    let error = "The nodes did not agree on a change of the schema in time";
                    waiting.task.fail(ErrorResponse::server_error(error));
                }
            });
        }
    }

    /// Puts a change behind all that this node knows, and tells the others of it; or tells `from`, who asked for it,
    /// that there is nothing to change.
    pub(super) fn order(self: &Arc<Self>, member: &Member, from: NodeId, mut change: Change) {
        let random = change.id.1;
        let now = self.clock.context(ProtocolVersion::LATEST).timestamp;
        let is_good = {
            let _turn = self.altering.lock().unwrap_or_else(PoisonError::into_inner);
            if member.definitions.log.lock().knows(&random) {
                // It was asked for twice.
                return;
            }
            change.id.0 = member.definitions.log.lock().next(now);
            let update = change.apply(&self.schema());
            let is_good = update.is_ok_and(|update| update.change.is_some());
            if is_good {
                self.learn_one(member, change.clone());
            }
            is_good
        };
        if is_good {
            member.send_all(message::changes(&[change]));
            self.say_version(member);
            self.settle(member, random, true);
        } else if from == member.id {
            self.settle(member, random, false);
        } else {
            member.send(from, message::needless(random));
        }
    }

    /// Makes changes that another node knows.
    pub(super) fn learn(self: &Arc<Self>, member: &Member, changes: Vec<Change>) {
        let before = self.schema().version;
        let randoms: Vec<_> = changes.iter().map(|change| change.id.1).collect();
        {
            let _turn = self.altering.lock().unwrap_or_else(PoisonError::into_inner);
            for change in changes {
                self.learn_one(member, change);
            }
        }
        if self.schema().version != before {
            self.say_version(member);
        }
        for random in randoms {
            self.settle(member, random, true);
        }
        let needless: Vec<_> = {
            let waiting = member.definitions.waiting.lock();
            let needless = waiting.iter().filter(|(_, waiting)| waiting.is_needless);
            needless.map(|(random, _)| *random).collect()
        };
        for random in needless {
            self.settle(member, random, false);
        }
    }

    /// Takes one change in. Held up by nobody: the caller has the turn.
    fn learn_one(self: &Arc<Self>, member: &Member, change: Change) {
        let definitions = &member.definitions;
        let mut log = definitions.log.lock();
        let update = match log.learn(change.clone()) {
            Learned::Nothing => return,
            Learned::Last => change.apply(&self.schema()),
            Learned::Between => {
                let next = log.replay(&definitions.first);
                let context = self.clock.context(ProtocolVersion::LATEST);
                Ok(self.schema().turn_into(&next, &context))
            }
        };
        drop(log);
        let update = match update {
            Ok(update) => update,
            Err(error) => {
                return tracing::info!(
                    error = %error.message,
                    "a change of the schema by another node comes to nothing here"
                );
            }
        };
        let now_seconds = change.context().now_seconds;
        self.adopt(&update, now_seconds);
        let waiting = definitions.waiting.lock();
        let user = waiting
            .get(&change.id.1)
            .and_then(|waiting| waiting.task.errand.user.clone());
        drop(waiting);
        self.permit_created(&update, user.as_ref());
    }

    /// Answers the statement that waits for a change, if it waits here: made, or found to be needless by the first node.
    pub(super) fn settle(self: &Arc<Self>, member: &Member, random: [u8; 16], is_made: bool) {
        let waiting = member.definitions.waiting.lock().remove(&random);
        let Some(mut waiting) = waiting else { return };
        if is_made {
            waiting.task.errand.execution.resume(Outcome::Altered {
                change: waiting.change,
                warnings: waiting.warnings,
            });
            return waiting.task.proceed();
        }
        // Another change came first: a node that knows of it says the same of this one.
        let context = *waiting.task.errand.execution.context();
        let keyspace = waiting.keyspace.as_deref();
        match self.schema().apply(&waiting.ddl, keyspace, &context) {
            Err(error) => waiting.task.fail(error),
            Ok(update) if update.change.is_none() => {
                waiting.task.errand.execution.resume(Outcome::Altered {
                    change: None,
                    warnings: update.warnings,
                });
                waiting.task.proceed();
            }
            Ok(_) => {
                // That is still on its way here; the statement isn't left waiting for ever.
                waiting.is_needless = true;
                member.definitions.waiting.lock().insert(random, waiting);
            }
        }
    }

    /// Tells the others which version of the schema this node has.
    pub(super) fn say_version(&self, member: &Member) {
        member.send_all(message::version(self.schema().version));
    }

    /// Shows which version of the schema another node has.
    pub(super) fn hear_version(&self, member: &Member, from: NodeId, version: Uuid) {
        let Some(peer) = member.ring.node(from) else {
            return;
        };
        let context = self.clock.context(ProtocolVersion::LATEST);
        let address = peer.address.ip();
        let schema = self.schema();
        for mutation in schema.set_peer_version(address, version, context.timestamp) {
            self.shards.apply(&mutation, context.now_seconds);
        }
    }

    /// Tells a node that is back, or was never away, what it may have missed of the schema.
    pub(super) fn catch_up(&self, member: &Member, node: NodeId) {
        member.send(node, message::changes(&member.definitions.all()));
        member.send(node, message::version(self.schema().version));
        for mutation in member.hints.take(node) {
            member.send(node, message::write(message::Call::NONE, &mutation));
        }
    }
}
