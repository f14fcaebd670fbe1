//! The prepared statements of a server, by id. Bounded: a client that prepares without end pushes out what nobody uses,
//! which then answers UNPREPARED, as in Cassandra.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use helenus_engine::statement::Statement;

/// The id of a prepared statement: the MD5 of keyspace and text.
type Id = [u8; 16];

/// How many statements a generation holds; at least so many of the last used are known at any time.
const GENERATION: usize = 4096;

/// Prepared statements in two generations: when the young one is full it becomes the old one and the old one is
/// forgotten; what is used while old moves to the young.
#[derive(Debug, Default)]
pub(super) struct Statements {
    generations: RwLock<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Id, Arc<Statement>>,
    old: HashMap<Id, Arc<Statement>>,
}

impl Statements {
    /// The statement of that id.
    pub(super) fn get(&self, id: &[u8]) -> Option<Arc<Statement>> {
        let id: Id = id.try_into().ok()?;
        let old = {
            let generations = self
                .generations
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(statement) = generations.young.get(&id) {
                return Some(Arc::clone(statement));
            }
            Arc::clone(generations.old.get(&id)?)
        };
        self.insert(id, Arc::clone(&old));
        Some(old)
    }

    /// Keeps a statement under its id.
    pub(super) fn insert(&self, id: Id, statement: Arc<Statement>) {
        let mut generations = self
            .generations
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if generations.young.len() >= GENERATION {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(id, statement);
    }

    /// Forgets the statements for which `keep` says no.
    pub(super) fn retain(&self, keep: impl Fn(&Statement) -> bool) {
        let mut generations = self
            .generations
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        generations.young.retain(|_, statement| keep(statement));
        generations.old.retain(|_, statement| keep(statement));
    }
}
