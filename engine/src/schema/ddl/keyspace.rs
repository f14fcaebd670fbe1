//! `CREATE`, `ALTER` and `DROP KEYSPACE`.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse, SchemaChange, SchemaTarget};

use super::{Alteration, Outcome};
use crate::cql::ast::Properties;
use crate::schema::options::PropertyReader;
use crate::schema::{Keyspace, Schema, replication};

const NAMES: [&str; 2] = ["replication", "durable_writes"];

impl Schema {
    pub(super) fn create_keyspace(
        &self,
        name: &Arc<str>,
        if_not_exists: bool,
        properties: &Properties,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let reader = PropertyReader::new(properties, &NAMES)?;
        if !reader.contains("replication") {
            return Err(ErrorResponse::invalid(
                "Missing mandatory option 'replication'",
            ));
        }
        if self.keyspaces.contains_key(name) {
            return match if_not_exists {
                true => Ok(None),
                false => Err(ErrorResponse::already_exists(name, "")),
            };
        }
        let written = reader.map("replication")?.unwrap_or_default();
        let mut keyspace = Keyspace {
            name: Arc::clone(name),
            replication: replication::parse(name, &written, None, &self.datacenters)?,
            durable_writes: reader.boolean("durable_writes")?.unwrap_or(true),
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
            views: BTreeMap::new(),
            functions: BTreeMap::new(),
            aggregates: BTreeMap::new(),
            is_virtual: false,
        };
        self.natives.add_to(&mut keyspace);
        warnings.extend(replication::warnings(
            name,
            &keyspace.replication,
            None,
            &self.datacenters,
        ));
        Ok(Some(Alteration {
            change: change(ChangeType::Created, name),
            keyspace: Some(keyspace),
        }))
    }

    pub(super) fn alter_keyspace(
        &self,
        name: &Arc<str>,
        if_exists: bool,
        properties: &Properties,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let reader = PropertyReader::new(properties, &NAMES)?;
        let old = match self.existing(name) {
            Err(_) if if_exists => return Ok(None),
            old => old?,
        };
        let mut keyspace = old.clone();
        if let Some(durable_writes) = reader.boolean("durable_writes")? {
            keyspace.durable_writes = durable_writes;
        }
        // Cassandra takes an empty map as none.
        if let Some(written) = reader.map("replication")?.filter(|map| !map.is_empty()) {
            let previous = Some(&old.replication);
            keyspace.replication = replication::parse(name, &written, previous, &self.datacenters)?;
        }
        let (new, previous) = (&keyspace.replication, Some(&old.replication));
        warnings.extend(replication::warnings(
            name,
            new,
            previous,
            &self.datacenters,
        ));
        if keyspace == *old {
            return Ok(None);
        }
        Ok(Some(Alteration {
            change: change(ChangeType::Updated, name),
            keyspace: Some(keyspace),
        }))
    }

    pub(super) fn drop_keyspace(&self, name: &Arc<str>, if_exists: bool) -> Outcome {
        match self.existing(name) {
            Err(_) if if_exists => Ok(None),
            Err(error) => Err(error),
            Ok(_) => Ok(Some(Alteration {
                keyspace: None,
                change: change(ChangeType::Dropped, name),
            })),
        }
    }
}

fn change(change: ChangeType, name: &Arc<str>) -> SchemaChange {
    SchemaChange {
        change,
        target: SchemaTarget::Keyspace {
            keyspace: Arc::clone(name),
        },
    }
}
