//! The schema version: a digest of everything a client may see of the schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use md5::{Digest, Md5};
use uuid::Uuid;

use super::{Keyspace, OptionMap, Table};

/// The version of these keyspaces. Virtual ones and the tables of system keyspaces are the same for all of one
/// release and don't count.
pub(super) fn of(keyspaces: &BTreeMap<Arc<str>, Arc<Keyspace>>) -> Uuid {
    let mut content = Content(Md5::new());
    for keyspace in keyspaces.values().filter(|keyspace| !keyspace.is_virtual) {
        content.keyspace(keyspace);
    }
    uuid::Builder::from_md5_bytes(content.0.finalize().into()).into_uuid()
}

/// The digest so far. Every text goes in behind its length, every sequence behind its count, so that different
/// content never runs together into the same bytes.
struct Content(Md5);

impl Content {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn map(&mut self, map: &OptionMap) {
        self.number(map.len() as u64);
        for (key, value) in map {
            self.text(key);
            self.text(value);
        }
    }

    fn keyspace(&mut self, keyspace: &Keyspace) {
        self.text(&keyspace.name);
        self.map(&keyspace.replication);
        self.number(keyspace.durable_writes.into());
        if super::is_local_system(&keyspace.name) || super::is_replicated_system(&keyspace.name) {
            return;
        }
        self.number(keyspace.types.len() as u64);
        for ty in keyspace.types.values() {
            self.text(&ty.name);
            self.number(ty.fields.len() as u64);
            for (name, field) in &ty.fields {
                self.text(name);
                self.text(&field.to_string());
            }
        }
        self.number(keyspace.tables.len() as u64);
        keyspace.tables.values().for_each(|table| self.table(table));
    }

    fn table(&mut self, table: &Table) {
        self.text(&table.name);
        self.0.update(table.id.as_bytes());
        self.number(table.columns.len() as u64);
        for column in &table.columns {
            self.text(&column.name);
            self.text(&column.ty.to_string());
            self.text(column.kind.as_str());
            self.number(column.descending.into());
        }
        for (_, value) in table.properties() {
            self.text(&value.to_string());
        }
        self.number(table.dropped.len() as u64);
        for column in &table.dropped {
            self.text(&column.name);
            self.text(&column.ty.to_string());
            self.number(column.dropped_at as u64);
            self.number(column.is_static.into());
        }
    }
}
