//! The columns and key of a new table: what `CREATE TABLE` says becomes a [`Table`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::types::CqlType;
use uuid::Uuid;

use super::access;
use crate::cql::ast::{ColumnDefinition, CreateTable, Name};
use crate::schema::options::{self, TableSettings};
use crate::schema::table::is_complex;
use crate::schema::types::contains;
use crate::schema::{Column, ColumnId, ColumnKind, Keyspace, Table, resolve_type};

/// The longest name of a table: Cassandra 5.0 enforces no other limit than that of its directories' names, whatever its
/// message says.
const NAME_LENGTH: usize = 222;

/// The table a statement describes, with `defaults` for options it doesn't set.
pub(crate) fn build_table(
    keyspace: &Keyspace,
    statement: &CreateTable,
    id: Uuid,
    defaults: &TableSettings,
) -> Result<Table, ErrorResponse> {
    let settings = defaults
        .clone()
        .with(&options::reader(&statement.properties)?, true)?;
    let name = &statement.table.name;
    // By name, so that of several faults the same one is reported as in Cassandra.
    let definitions: BTreeMap<&Name, &ColumnDefinition> = statement
        .columns
        .iter()
        .map(|column| (&column.name, column))
        .collect();
    let mut types = BTreeMap::new();
    for (column, definition) in &definitions {
        access::check_length(column)?;
        types.insert(*column, resolve_type(&definition.ty, keyspace)?);
    }
    if types.values().any(has_nested_complex) {
        return Err(ErrorResponse::invalid(
            "Non-frozen UDTs with nested non-frozen collections are not supported",
        ));
    }

    let (partition_key, clustering) = primary_key(statement);
    let mut columns: Vec<Column> = Vec::with_capacity(definitions.len());
    let mut keys = BTreeSet::new();
    for (kind, names) in [
        (ColumnKind::PartitionKey, &partition_key),
        (ColumnKind::Clustering, &clustering),
    ] {
        for (position, column) in names.iter().enumerate() {
            let (Some(definition), Some(ty)) = (definitions.get(column), types.get(column)) else {
                return Err(ErrorResponse::invalid(format!(
                    "Unknown column '{column}' referenced in PRIMARY KEY for table '{name}'"
                )));
            };
            if !keys.insert(*column) {
                return Err(ErrorResponse::invalid(format!(
                    "Duplicate column '{column}' in PRIMARY KEY clause for table '{name}'"
                )));
            }
            check_key_type(column, ty)?;
            if definition.is_static {
                return Err(ErrorResponse::invalid(format!(
                    "Static column '{column}' cannot be part of the PRIMARY KEY"
                )));
            }
            columns.push(column_of(column, ty, kind, position));
        }
    }
    let rest = || {
        definitions
            .iter()
            .filter(|(column, _)| !keys.contains(*column))
    };
    if clustering.is_empty() && rest().any(|(_, definition)| definition.is_static) {
        return Err(ErrorResponse::invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        ));
    }
    let clustering_columns = columns.get_mut(partition_key.len()..).unwrap_or_default();
    clustering_order(statement, &clustering, clustering_columns)?;
    for (column, definition) in rest() {
        let kind = if definition.is_static {
            ColumnKind::Static
        } else {
            ColumnKind::Regular
        };
        if let Some(ty) = types.get(*column) {
            columns.push(column_of(column, ty, kind, 0));
        }
    }
    let is_counter = counters(&columns, settings.default_ttl)?;
    if statement.compact_storage {
        return Err(ErrorResponse::invalid("COMPACT STORAGE is not supported"));
    }
    check_name(&keyspace.name, name)?;

    let mut table = Table {
        keyspace: Arc::clone(&keyspace.name),
        name: Arc::clone(name),
        id,
        columns: Vec::new(),
        partition_key_len: 0,
        clustering_len: 0,
        static_len: 0,
        is_counter,
        next_column_id: 0,
        default_ttl: settings.default_ttl,
        gc_grace_seconds: settings.gc_grace_seconds,
        options: Arc::new(settings.options),
        dropped: Vec::new(),
        indexes: Vec::new(),
        is_view: false,
    };
    table.set_columns(columns);
    for column in &mut table.columns {
        column.id = ColumnId(table.next_column_id);
        table.next_column_id += 1;
    }
    Ok(table)
}

/// Refuses a name that a table or view can't have.
pub(super) fn check_name(keyspace: &str, name: &str) -> Result<(), ErrorResponse> {
    if name.len() > NAME_LENGTH || !access::is_word(name) {
        return Err(ErrorResponse::config(format!(
            "{keyspace}.{name}: Table name must not be empty, more than 48 characters long, or contain \
             non-alphanumeric-underscore characters (got \"{name}\")"
        )));
    }
    Ok(())
}

/// A column whose id is yet to come.
fn column_of(name: &Name, ty: &CqlType, kind: ColumnKind, position: usize) -> Column {
    Column {
        id: ColumnId(0),
        name: Name::clone(name),
        ty: ty.clone(),
        kind,
        position,
        descending: false,
    }
}

fn primary_key(statement: &CreateTable) -> (Vec<&Name>, Vec<&Name>) {
    match &statement.primary_key {
        Some((partition_key, clustering)) => {
            (partition_key.iter().collect(), clustering.iter().collect())
        }
        None => {
            let inline = statement
                .columns
                .iter()
                .filter(|column| column.is_primary_key);
            (inline.map(|column| &column.name).collect(), Vec::new())
        }
    }
}

fn check_key_type(column: &str, ty: &CqlType) -> Result<(), ErrorResponse> {
    let message = match ty {
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) => {
            format!("Invalid non-frozen collection type {ty} for PRIMARY KEY column '{column}'")
        }
        CqlType::Udt(udt) => format!(
            "Invalid non-frozen user-defined type \"{}.{}\" for PRIMARY KEY column '{column}'",
            udt.keyspace, udt.name
        ),
        CqlType::Counter => {
            format!("counter type is not supported for PRIMARY KEY column '{column}'")
        }
        ty if contains(ty, &|part| *part == CqlType::Duration) => {
            format!("duration type is not supported for PRIMARY KEY column '{column}'")
        }
        _ => return Ok(()),
    };
    Err(ErrorResponse::invalid(message))
}

/// Whether a user type that isn't frozen has a field that isn't either.
pub(super) fn has_nested_complex(ty: &CqlType) -> bool {
    matches!(ty, CqlType::Udt(udt) if udt.fields.iter().any(|(_, field)| is_complex(field)))
}

fn clustering_order(
    statement: &CreateTable,
    clustering: &[&Name],
    columns: &mut [Column],
) -> Result<(), ErrorResponse> {
    let order = &statement.clustering_order;
    let known: BTreeSet<&Name> = clustering.iter().copied().collect();
    let strangers: Vec<&str> = order
        .iter()
        .filter(|(name, _)| !known.contains(name))
        .map(|(name, _)| &**name)
        .collect();
    if !strangers.is_empty() {
        return Err(ErrorResponse::invalid(format!(
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{}] are not clustering columns",
            strangers.join(", ")
        )));
    }
    for ((expected, column), (found, descending)) in clustering.iter().zip(columns).zip(order) {
        if found != *expected {
            return Err(ErrorResponse::invalid(
                match order.iter().any(|(name, _)| name == *expected) {
                    true => format!(
                        "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns \
                     ({expected} must appear before {found})"
                    ),
                    false => format!("Missing CLUSTERING ORDER for column {expected}"),
                },
            ));
        }
        column.descending = *descending;
    }
    Ok(())
}

/// Whether it is a table of counters, which mix with no others.
fn counters(columns: &[Column], default_ttl: u32) -> Result<bool, ErrorResponse> {
    let mut values = columns
        .iter()
        .filter(|column| !column.is_primary_key())
        .map(|column| &column.ty);
    if !values.clone().any(|ty| *ty == CqlType::Counter) {
        return Ok(false);
    }
    if values.any(|ty| *ty != CqlType::Counter) {
        return Err(ErrorResponse::invalid(
            "Cannot mix counter and non counter columns in the same table",
        ));
    }
    if default_ttl > 0 {
        return Err(ErrorResponse::invalid(
            "Cannot set default_time_to_live on a table with counters",
        ));
    }
    Ok(true)
}
