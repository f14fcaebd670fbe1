//! `CREATE TABLE` and `DROP TABLE`.

use std::collections::BTreeSet;
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};

use super::{Alteration, Outcome, build_table};
use crate::Context;
use crate::cql::ast::CreateTable;
use crate::schema::options::{self, TableSettings};
use crate::schema::{Keyspace, Schema};

/// What Cassandra's parser refuses by itself: repeated columns, no or several primary keys.
pub(super) fn check_form(statement: &CreateTable) -> Result<(), ErrorResponse> {
    let table = &statement.table.name;
    let mut names = BTreeSet::new();
    for column in &statement.columns {
        if !names.insert(&column.name) {
            return Err(ErrorResponse::invalid(format!(
                "Duplicate column '{}' declaration for table '{table}'",
                column.name
            )));
        }
    }
    let mut names = BTreeSet::new();
    for (column, _) in &statement.clustering_order {
        if !names.insert(column) {
            return Err(ErrorResponse::invalid(format!(
                "Duplicate column '{column}' in CLUSTERING ORDER BY clause for table '{table}'"
            )));
        }
    }
    let inline = statement
        .columns
        .iter()
        .filter(|column| column.is_primary_key)
        .count();
    match inline + usize::from(statement.primary_key.is_some()) {
        0 => Err(ErrorResponse::invalid(format!(
            "No PRIMARY KEY specifed for table '{table}' (exactly one required)"
        ))),
        1 => Ok(()),
        _ => Err(ErrorResponse::invalid(format!(
            "Multiple PRIMARY KEY specified for table '{table}' (exactly one required)"
        ))),
    }
}

impl Schema {
    pub(super) fn create_table(
        &self,
        keyspace: &str,
        statement: &CreateTable,
        context: &Context,
    ) -> Outcome {
        let keyspace = self.existing(keyspace)?;
        let name = &statement.table.name;
        if keyspace.table_or_view(name).is_some() {
            return match statement.if_not_exists {
                true => Ok(None),
                false => Err(ErrorResponse::already_exists(&keyspace.name, name)),
            };
        }
        let reader = options::reader(&statement.properties)?;
        let id = match options::table_id(&reader)? {
            Some(id) => id,
            None => uuid::Builder::from_random_bytes(context.random).into_uuid(),
        };
        let taken = self
            .keyspaces
            .values()
            .flat_map(|keyspace| keyspace.tables.values())
            .find(|table| table.id == id);
        if let Some(table) = taken {
            return Err(ErrorResponse::config(format!(
                "Table id {id} is that of {}.{}",
                table.keyspace, table.name
            )));
        }
        let table = build_table(keyspace, statement, id, &TableSettings::default())?;
        let mut keyspace = keyspace.clone();
        keyspace.tables.insert(Arc::clone(name), Arc::new(table));
        Ok(Some(Alteration::table(keyspace, ChangeType::Created, name)))
    }

    pub(super) fn drop_table(&self, keyspace: &str, name: &Arc<str>, if_exists: bool) -> Outcome {
        let found = self.keyspaces.get(keyspace);
        if found.is_some_and(|keyspace| keyspace.views.contains_key(name)) {
            return Err(ErrorResponse::invalid(
                "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.",
            ));
        }
        let Some(keyspace) = found.filter(|keyspace| keyspace.tables.contains_key(name)) else {
            return match if_exists {
                true => Ok(None),
                false => Err(ErrorResponse::invalid(format!(
                    "Table '{keyspace}.{name}' doesn't exist"
                ))),
            };
        };
        if keyspace.views_of(name).next().is_some() {
            // Cassandra names the keyspace where it means the views.
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop a table when materialized views still depend on it ({})",
                keyspace.name
            )));
        }
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.tables.remove(name);
        Ok(Some(Alteration::table(keyspace, ChangeType::Dropped, name)))
    }
}
