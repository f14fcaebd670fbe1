//! Changes of the schema as nodes tell each other of them: the statement's text and the circumstances it is carried out
//! in, so that every node makes the same of it.
//!
//! A node keeps all that it was told. The schema is what they come to one after the other by their timestamps: nodes that
//! know the same changes have the same schema, whatever way they came to know of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::BufMut;
use helenus_core::ProtocolVersion;
use helenus_core::message::ErrorResponse;
use helenus_core::wire::{DecodeError, Reader, WireWrite};
use helenus_engine::Context;
use helenus_engine::cql::{self, ast};
use helenus_engine::schema::{Schema, SchemaUpdate};

/// What tells changes apart and orders them: microseconds from 1970, then what was drawn for it.
pub(crate) type ChangeId = (i64, [u8; 16]);

/// One statement that changes the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Its place among the others.
    pub(crate) id: ChangeId,
    /// The keyspace that names without one belong to.
    pub(crate) keyspace: Option<Arc<str>>,
    /// The statement.
    pub(crate) text: Arc<str>,
}

impl Change {
    /// The circumstances in which every node carries it out.
    pub(crate) fn context(&self) -> Context {
        let (timestamp, random) = self.id;
        Context {
            timestamp,
            now_seconds: timestamp.div_euclid(1_000_000),
            now_millis: timestamp.div_euclid(1_000),
            random,
            version: ProtocolVersion::LATEST,
        }
    }

    /// What it makes of a schema.
    ///
    /// # Errors
    /// As [`Schema::apply`], and a syntax error for what changes no schema.
    pub(crate) fn apply(&self, schema: &Arc<Schema>) -> Result<SchemaUpdate, ErrorResponse> {
        match cql::parse(&self.text)?.statement {
            ast::Statement::Ddl(ddl) => {
                schema.apply(&ddl, self.keyspace.as_deref(), &self.context())
            }
            _ => Err(ErrorResponse::server_error(
                "What another node said changes no schema",
            )),
        }
    }

    /// Appends a form that [`decode`](Self::decode) reads back.
    pub(crate) fn encode(&self, out: &mut impl BufMut) {
        let (timestamp, random) = self.id;
        out.put_i64(timestamp);
        out.put_slice(&random);
        out.put_u8(self.keyspace.is_some().into());
        out.put_long_string(self.keyspace.as_deref().unwrap_or_default());
        out.put_long_string(&self.text);
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// For what is cut.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let id = (reader.long()?, reader.uuid()?.into_bytes());
        let has_keyspace = reader.u8()? == 1;
        let keyspace = reader.long_string()?;
        Ok(Self {
            id,
            keyspace: has_keyspace.then(|| keyspace.into()),
            text: reader.long_string()?.into(),
        })
    }
}

/// What a node learned by a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// Nothing.
    Nothing,
    /// A change that comes behind all that it knew.
    Last,
    /// A change that comes before others that it knew.
    Between,
}

/// All changes that a node knows.
#[derive(Debug, Default)]
pub(crate) struct Log {
    changes: BTreeMap<ChangeId, Change>,
}

impl Log {
    /// Adds a change.
    pub(crate) fn learn(&mut self, change: Change) -> Learned {
        let last = self.changes.last_key_value().map(|(id, _)| *id);
        if self.changes.contains_key(&change.id) {
            return Learned::Nothing;
        }
        let is_last = last.is_none_or(|last| last < change.id);
        self.changes.insert(change.id, change);
        match is_last {
            true => Learned::Last,
            false => Learned::Between,
        }
    }

    /// Whether there is a change that this was drawn for.
    pub(crate) fn knows(&self, random: &[u8; 16]) -> bool {
        self.changes.keys().any(|(_, known)| known == random)
    }

    /// A timestamp for a change that comes behind all others: `now`, in microseconds from 1970, if that does.
    pub(crate) fn next(&self, now: i64) -> i64 {
        let last = self.changes.last_key_value();
        last.map_or(now, |(&(last, _), _)| now.max(last + 1))
    }

    /// All of them in order.
    pub(crate) fn changes(&self) -> Vec<Change> {
        self.changes.values().cloned().collect()
    }

    /// What they make of the first schema, one after the other. One that fails, since another node made what it makes or
    /// dropped what it needs, changes nothing.
    pub(crate) fn replay(&self, first: &Arc<Schema>) -> Arc<Schema> {
        let step = |schema: Arc<Schema>, change: &Change| match change.apply(&schema) {
            Ok(update) => update.schema,
            Err(_) => schema,
        };
        self.changes.values().fold(Arc::clone(first), step)
    }
}

#[cfg(test)]
mod tests {
    use helenus_engine::system::NodeInfo;

    use super::*;

    fn change(timestamp: i64, text: &str) -> Change {
        let mut random = [0; 16];
        random[..8].copy_from_slice(&timestamp.to_be_bytes());
        Change {
            id: (timestamp, random),
            keyspace: Some("ks".into()),
            text: text.into(),
        }
    }

    fn changes() -> Vec<Change> {
        let keyspace = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}";
        let texts = [
            keyspace,
            "CREATE TABLE t (k int PRIMARY KEY, v int)",
            "ALTER TABLE t ADD w text",
            "CREATE TABLE t (k int PRIMARY KEY)",
            "CREATE TYPE pair (a int, b int)",
            "DROP TABLE t",
            "CREATE TABLE t (k text PRIMARY KEY)",
        ];
        let texts = texts.into_iter().zip(1..);
        texts.map(|(text, time)| change(time, text)).collect()
    }

    #[test]
    fn nodes_that_know_the_same_changes_have_the_same_schema() {
        let (first, _) = Schema::bootstrap(&NodeInfo::default(), 0);
        let first = Arc::new(first);
        let mut log = Log::default();
        for change in changes() {
            assert_eq!(log.learn(change), Learned::Last);
        }
        let schema = log.replay(&first);
        let columns = |schema: &Schema| schema.table("ks", "t").unwrap().columns.len();
        assert_eq!(columns(&schema), 1);

        let mut other = Log::default();
        let mut shuffled = changes();
        shuffled.rotate_left(3);
        for change in shuffled {
            other.learn(change);
        }
        assert_eq!(other.learn(changes()[2].clone()), Learned::Nothing);
        let same = other.replay(&first);
        assert_eq!(schema.version, same.version);
        assert_eq!(
            schema.table("ks", "t").unwrap().id,
            same.table("ks", "t").unwrap().id
        );
        assert_eq!((log.next(3), log.next(100)), (8, 100));
        assert!(log.knows(&changes()[0].id.1) && !log.knows(&[9; 16]));
    }

    #[test]
    fn a_change_survives_encoding_and_not_being_cut() {
        for change in [
            change(7, "DROP TABLE t"),
            Change {
                keyspace: None,
                ..change(-1, "é")
            },
        ] {
            let mut bytes = Vec::new();
            change.encode(&mut bytes);
            let read = |bytes: &[u8]| Change::decode(&mut Reader::new(bytes));
            assert_eq!(read(&bytes), Ok(change));
            for cut in 0..bytes.len() {
                assert!(read(&bytes[..cut]).is_err(), "{cut}");
            }
        }
    }
}
