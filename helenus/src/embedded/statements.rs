//! The prepared statements of a server, by id. Bounded: a client that prepares without end pushes out what nobody uses,
//! which then answers UNPREPARED, as in Cassandra.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use helenus_engine::statement::Statement;

/// The id of a prepared statement: the MD5 of keyspace and text.
type Id = [u8; 16];

/// Ids are digests already: the standard library's hash, which takes 230 instructions, would add nothing.
type ById = HashMap<Id, Arc<Statement>, RandomState>;

/// How many statements a generation holds; at least so many of the last used are known at any time, if they aren't long.
const GENERATION: usize = 4096;

/// How many bytes of text a generation's statements have together; what is planned from them grows with it.
const TEXT: usize = 16 << 20;

/// Prepared statements in two generations: when the young one is full it becomes the old one and the old one is
/// forgotten; what is used while old moves to the young.
#[derive(Debug, Default)]
pub(super) struct Statements {
    generations: RwLock<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: ById,
    /// Bytes of the young statements' texts.
    text: usize,
    old: ById,
    /// Statements that were forgotten because too many others were used since.
    evicted: usize,
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
        if generations.young.len() >= GENERATION || generations.text >= TEXT {
            let young = std::mem::take(&mut generations.young);
            let old = std::mem::replace(&mut generations.old, young);
            let forgotten = old.keys().filter(|id| !generations.old.contains_key(*id));
            generations.evicted += forgotten.count();
            generations.text = 0;
        }
        let length = statement.text.len();
        if generations.young.insert(id, statement).is_none() {
            generations.text += length;
        }
    }

    /// How many are known, and how many were forgotten because too many others were used since.
    pub(super) fn counts(&self) -> (usize, usize) {
        let generations = self
            .generations
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let Generations { young, old, .. } = &*generations;
        let only_old = old.keys().filter(|id| !young.contains_key(*id)).count();
        (young.len() + only_old, generations.evicted)
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

#[cfg(test)]
mod tests {
    use helenus_engine::schema::Schema;
    use helenus_engine::statement::prepare;
    use helenus_engine::system::NodeInfo;

    use super::*;

    fn statement(text: &str) -> Arc<Statement> {
        let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 0);
        prepare(&Arc::new(schema), None, text).unwrap()
    }

    fn id(number: usize) -> Id {
        (number as u128).to_be_bytes()
    }

    #[test]
    fn what_is_used_stays_and_what_nobody_uses_goes() {
        let statements = Statements::default();
        let select = statement("SELECT key FROM system.local");
        for number in 0..3 * GENERATION {
            statements.insert(id(number), Arc::clone(&select));
            assert!(statements.get(&id(0)).is_some(), "after {number}");
        }
        assert!(statements.get(&id(1)).is_none());
        assert!(statements.get(&id(3 * GENERATION - 1)).is_some());
        assert!(statements.get(b"no id").is_none());
        let (known, evicted) = statements.counts();
        assert_eq!(known + evicted, 3 * GENERATION);
    }

    #[test]
    fn long_statements_count_by_their_text() {
        let statements = Statements::default();
        let spaces = " ".repeat(TEXT / 2);
        let long = statement(&format!("SELECT key FROM system.local{spaces}"));
        for number in 0..5 {
            statements.insert(id(number), Arc::clone(&long));
        }
        assert!(statements.get(&id(0)).is_none());
        assert!(statements.get(&id(4)).is_some());
    }
}
