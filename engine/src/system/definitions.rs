//! The system keyspaces of Cassandra 5.0.4, from the `CREATE TABLE` statements in `definitions/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use md5::{Digest, Md5};
use uuid::Uuid;

use crate::cql;
use crate::cql::ast::{Ddl, Statement};
use crate::schema::{Keyspace, OptionMap, Replication, TableSettings, build_table};

struct Definition {
    name: &'static str,
    /// The replication factor of `SimpleStrategy`; `None` for a keyspace that is each node's own.
    replication_factor: Option<&'static str>,
    gc_grace_seconds: u32,
    memtable_flush_period_in_ms: u32,
    is_virtual: bool,
    tables: &'static str,
}

const HOUR_IN_MS: u32 = 3_600_000;

const KEYSPACES: [Definition; 7] = [
    Definition {
        name: "system",
        replication_factor: None,
        gc_grace_seconds: 0,
        memtable_flush_period_in_ms: HOUR_IN_MS,
        is_virtual: false,
        tables: include_str!("definitions/system.cql"),
    },
    Definition {
        name: "system_auth",
        replication_factor: Some("1"),
        gc_grace_seconds: 7_776_000,
        memtable_flush_period_in_ms: 0,
        is_virtual: false,
        tables: include_str!("definitions/system_auth.cql"),
    },
    Definition {
        name: "system_distributed",
        replication_factor: Some("3"),
        gc_grace_seconds: 864_000,
        memtable_flush_period_in_ms: 0,
        is_virtual: false,
        tables: include_str!("definitions/system_distributed.cql"),
    },
    Definition {
        name: "system_schema",
        replication_factor: None,
        gc_grace_seconds: 604_800,
        memtable_flush_period_in_ms: HOUR_IN_MS,
        is_virtual: false,
        tables: include_str!("definitions/system_schema.cql"),
    },
    Definition {
        name: "system_traces",
        replication_factor: Some("2"),
        gc_grace_seconds: 0,
        memtable_flush_period_in_ms: 0,
        is_virtual: false,
        tables: include_str!("definitions/system_traces.cql"),
    },
    Definition {
        name: "system_views",
        replication_factor: None,
        gc_grace_seconds: 0,
        memtable_flush_period_in_ms: 0,
        is_virtual: true,
        tables: include_str!("definitions/system_views.cql"),
    },
    Definition {
        name: "system_virtual_schema",
        replication_factor: None,
        gc_grace_seconds: 0,
        memtable_flush_period_in_ms: 0,
        is_virtual: true,
        tables: include_str!("definitions/system_virtual_schema.cql"),
    },
];

/// All system keyspaces with their tables.
pub(super) fn keyspaces() -> BTreeMap<Arc<str>, Arc<Keyspace>> {
    let keyspaces = KEYSPACES.iter().map(Definition::keyspace);
    keyspaces
        .map(|keyspace| (Arc::clone(&keyspace.name), Arc::new(keyspace)))
        .collect()
}

impl Definition {
    fn keyspace(&self) -> Keyspace {
        let strategy = if self.replication_factor.is_some() {
            "SimpleStrategy"
        } else {
            "LocalStrategy"
        };
        let mut options = OptionMap::from([(
            "class".into(),
            format!("org.apache.cassandra.locator.{strategy}").into(),
        )]);
        if let Some(factor) = self.replication_factor {
            options.insert("replication_factor".into(), factor.into());
        }
        let mut keyspace = Keyspace {
            name: self.name.into(),
            replication: Replication::new(options),
            durable_writes: true,
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
            views: BTreeMap::new(),
            functions: BTreeMap::new(),
            aggregates: BTreeMap::new(),
            is_virtual: self.is_virtual,
        };
        let mut settings = TableSettings {
            gc_grace_seconds: self.gc_grace_seconds,
            ..TableSettings::default()
        };
        settings.options.memtable_flush_period_in_ms = self.memtable_flush_period_in_ms;
        for text in self
            .tables
            .split_inclusive(';')
            .filter(|text| text.contains(';'))
        {
            let Ok(Statement::Ddl(ddl)) = cql::parse(text).map(|parsed| parsed.statement) else {
                continue;
            };
            let Ddl::CreateTable(statement) = &*ddl else {
                continue;
            };
            let id = table_id(self.name, &statement.table.name);
            if let Ok(table) = build_table(&keyspace, statement, id, &settings) {
                keyspace
                    .tables
                    .insert(Arc::clone(&table.name), Arc::new(table));
            }
        }
        keyspace
    }
}

/// The id of a system table, which is the same on every node: Java's `UUID.nameUUIDFromBytes` of both names.
fn table_id(keyspace: &str, table: &str) -> Uuid {
    let digest = Md5::new()
        .chain_update(keyspace)
        .chain_update(table)
        .finalize();
    uuid::Builder::from_md5_bytes(digest.into()).into_uuid()
}
