//! A replica: what it keeps, and a log of what it has taken but not synced. It answers a change, and shows it, once that
//! is synced; a crash loses the rest.

mod store;

use std::collections::BTreeMap;
use std::time::Duration;

use helenus_coordinator::{Acceptor, BatchLog, CallId, Model, NodeId, Reply, Request};

pub(crate) use self::store::Store;
use crate::model::{Key, Mutation};
use crate::random::Random;
use crate::reconcile::Rows;

/// A request and where its answer goes.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Who asks.
    pub(crate) from: NodeId,
    /// Which of its machines.
    pub(crate) machine: u64,
    /// By which call.
    pub(crate) call: CallId,
    /// What.
    pub(crate) request: Request<Rows>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is answered.
    Answered(Reply<Rows>),
    /// It waits in the log, and is the first there if it says so.
    Logged(bool),
}

/// What waits in the log.
#[derive(Debug)]
enum Entry {
    /// A request of a node.
    Asked(Asked),
    /// An update of counters that a machine of this node leads.
    Count(u64, Mutation),
}

/// What came of something that was synced.
#[derive(Debug)]
pub(crate) enum Synced {
    /// The answer to a request.
    Answer(Asked, Reply<Rows>),
    /// What the machine is to have the other replicas of a counter take over.
    Counted(u64, Mutation),
}

/// One node's data.
#[derive(Debug)]
pub(crate) struct Replica {
    id: NodeId,
    store: Store,
    acceptors: BTreeMap<Key, Acceptor<Rows>>,
    batches: BatchLog<Mutation>,
    log: Vec<Entry>,
}

impl Replica {
    /// An empty one.
    #[must_use]
    pub(crate) fn new(id: NodeId) -> Self {
        Self {
            id,
            store: Store::default(),
            acceptors: BTreeMap::new(),
            batches: BatchLog::default(),
            log: Vec::new(),
        }
    }

    /// Answers a read, and logs everything else.
    pub(crate) fn take(&mut self, asked: Asked) -> Taken {
        if let Request::Read { command, digest } = &asked.request {
            let data = self.store.read(command);
            return Taken::Answered(if *digest {
                Reply::Digest(Rows::digest(&data))
            } else {
                Reply::Data(data)
            });
        }
        self.log.push(Entry::Asked(asked));
        Taken::Logged(self.log.len() == 1)
    }

    /// Logs an update of counters for the machine that leads it; whether it is the first in the log.
    pub(crate) fn count(&mut self, machine: u64, mutation: Mutation) -> bool {
        self.log.push(Entry::Count(machine, mutation));
        self.log.len() == 1
    }

    /// Syncs the log, in its order.
    pub(crate) fn sync(&mut self, now: Duration) -> Vec<Synced> {
        let log = std::mem::take(&mut self.log);
        let synced = log.into_iter().filter_map(|entry| match entry {
            Entry::Asked(asked) => self.apply(asked, now),
            Entry::Count(machine, mutation) => {
                let mutation = self.store.apply(self.id, &mutation);
                Some(Synced::Counted(machine, mutation))
            }
        });
        synced.collect()
    }

    /// Loses what wasn't synced, but for as much as the disk happened to have; nobody is answered. Gives how many
    /// requests were lost.
    pub(crate) fn crash(&mut self, now: Duration, random: &mut Random) -> u64 {
        let kept = random.below(self.log.len() as u64 + 1) as usize;
        let lost = self.log.split_off(kept).len();
        self.sync(now);
        lost as u64
    }

    /// Nothing is answered where nothing true can be.
    fn apply(&mut self, asked: Asked, now: Duration) -> Option<Synced> {
        let reply = match asked.request.clone() {
            Request::Write { mutation } | Request::Repair { mutation } => {
                self.store.apply(self.id, &mutation);
                Reply::Done
            }
            Request::StoreBatch { id, mutations } => {
                self.batches.store(id, now.as_micros() as i64, mutations);
                Reply::Done
            }
            Request::RemoveBatch { id } => {
                self.batches.remove(id);
                Reply::Done
            }
            Request::Prepare { partition, ballot } => {
                let acceptor = self.acceptors.entry(partition).or_default();
                Reply::Promise(acceptor.prepare(ballot).reply)
            }
            Request::Propose {
                partition,
                proposal,
            } => {
                let acceptor = self.acceptors.entry(partition).or_default();
                Reply::Accepted(acceptor.propose(proposal).reply?)
            }
            Request::Commit {
                partition,
                proposal,
            } => {
                let acceptor = self.acceptors.entry(partition).or_default();
                if let Some(mutation) = acceptor.commit(proposal).reply {
                    self.store.apply(self.id, &mutation);
                }
                Reply::Done
            }
            // Nothing else is asked in a run.
            _ => Reply::Done,
        };
        Some(Synced::Answer(asked, reply))
    }

    /// What is synced.
    #[must_use]
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Batches that nobody removed.
    #[must_use]
    pub(crate) fn batches(&self) -> &BatchLog<Mutation> {
        &self.batches
    }

    /// How many requests aren't synced.
    #[must_use]
    pub(crate) fn unsynced(&self) -> usize {
        self.log.len()
    }

    /// Removes a batch that was replayed.
    pub(crate) fn forget_batch(&mut self, id: u128) {
        self.batches.remove(id);
    }
}
