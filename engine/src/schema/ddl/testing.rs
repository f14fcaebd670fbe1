//! A schema to run statements on.

use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::{ErrorCode, ProtocolVersion};

use super::SchemaUpdate;
use crate::Context;
use crate::cql::ast::Statement;
use crate::schema::Schema;
use crate::system::NodeInfo;

/// A schema that statements change one after the other, in session keyspace `ks`.
pub(crate) struct World {
    pub(crate) schema: Arc<Schema>,
    pub(crate) clock: i64,
}

impl World {
    /// A new node, with keyspace `ks`.
    pub(crate) fn new() -> Self {
        let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 1);
        let mut world = Self {
            schema: Arc::new(schema),
            clock: 1_700_000_000_000_000,
        };
        world.ok("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        world
    }

    pub(crate) fn run(&mut self, cql: &str) -> Result<SchemaUpdate, ErrorResponse> {
        let parsed = crate::cql::parse(cql).unwrap_or_else(|error| panic!("{cql}: {error:?}"));
        let Statement::Ddl(ddl) = parsed.statement else {
            panic!("{cql} changes no schema")
        };
        self.clock += 1;
        let mut random = [0; 16];
        random[..8].copy_from_slice(&self.clock.to_be_bytes());
        let context = Context {
            timestamp: self.clock,
            now_seconds: self.clock / 1_000_000,
            now_millis: self.clock / 1000,
            random,
            version: ProtocolVersion::V5,
        };
        let update = self.schema.apply(&ddl, Some("ks"), &context)?;
        self.schema = Arc::clone(&update.schema);
        Ok(update)
    }

    /// Runs a statement that changes something.
    pub(crate) fn ok(&mut self, cql: &str) -> SchemaUpdate {
        let update = self
            .run(cql)
            .unwrap_or_else(|error| panic!("{cql}: {}", error.message));
        assert!(update.change.is_some(), "{cql} changed nothing");
        update
    }

    /// Runs a statement that is accepted and changes nothing.
    pub(crate) fn unchanged(&mut self, cql: &str) -> SchemaUpdate {
        let before = Arc::clone(&self.schema);
        let update = self
            .run(cql)
            .unwrap_or_else(|error| panic!("{cql}: {}", error.message));
        assert!(
            update.change.is_none() && update.events.is_empty() && update.mutations.is_empty(),
            "{cql}"
        );
        assert!(Arc::ptr_eq(&update.schema, &before), "{cql}");
        update
    }

    /// Runs a statement that is refused with that code and message.
    #[track_caller]
    pub(crate) fn refused(&mut self, cql: &str, code: ErrorCode, message: &str) {
        match self.run(cql) {
            Ok(_) => panic!("{cql} was accepted, not refused with: {message}"),
            Err(error) => assert_eq!((&*error.message, error.code), (message, code), "{cql}"),
        }
    }

    #[track_caller]
    pub(crate) fn invalid(&mut self, cql: &str, message: &str) {
        self.refused(cql, ErrorCode::INVALID, message);
    }

    #[track_caller]
    pub(crate) fn syntax(&mut self, cql: &str, message: &str) {
        self.refused(cql, ErrorCode::SYNTAX_ERROR, message);
    }

    #[track_caller]
    pub(crate) fn configuration(&mut self, cql: &str, message: &str) {
        self.refused(cql, ErrorCode::CONFIG_ERROR, message);
    }

    /// The columns of a table of `ks` with their types, in the order of `SELECT *`.
    pub(crate) fn columns(&self, table: &str) -> Vec<String> {
        let table = self.schema.table("ks", table).expect("the table");
        table
            .columns
            .iter()
            .map(|column| format!("{} {}", column.name, column.ty))
            .collect()
    }
}
