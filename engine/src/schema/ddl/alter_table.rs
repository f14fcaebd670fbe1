//! `ALTER TABLE`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};
use helenus_core::types::CqlType;

use super::build_table::has_nested_complex;
use super::view::UNDELIVERED;
use super::{Alteration, Outcome, access};
use crate::Context;
use crate::cql::ast::{AlterTable, ColumnDefinition, Name, Properties};
use crate::schema::options::{self, TableSettings};
use crate::schema::types::{expand_user_types, value_compatible};
use crate::schema::{
    Column, ColumnId, ColumnKind, DroppedColumn, Keyspace, Schema, Table, View, resolve_type,
};

impl Schema {
    pub(super) fn alter_table(
        &self,
        keyspace: &str,
        name: &Arc<str>,
        if_exists: bool,
        change: &AlterTable,
        context: &Context,
    ) -> Outcome {
        let found = self.keyspaces.get(keyspace);
        if found.is_some_and(|keyspace| keyspace.views.contains_key(name)) {
            return Err(ErrorResponse::invalid(
                "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead",
            ));
        }
        let found = found.and_then(|keyspace| Some((keyspace, keyspace.tables.get(name)?)));
        let Some((keyspace, old)) = found else {
            return match if_exists {
                true => Ok(None),
                false => Err(ErrorResponse::invalid(format!(
                    "Table '{keyspace}.{name}' doesn't exist"
                ))),
            };
        };
        let mut table = Table::clone(old);
        match change {
            AlterTable::Add {
                if_not_exists,
                columns,
            } => {
                add(&mut table, keyspace, columns, *if_not_exists)?;
                check_counters(&table)?;
            }
            AlterTable::Drop {
                if_exists,
                columns,
                timestamp,
            } => {
                let timestamp = timestamp.unwrap_or(context.timestamp);
                let has_views = keyspace.views_of(name).next().is_some();
                drop_columns(&mut table, columns, *if_exists, timestamp, has_views)?;
            }
            AlterTable::Rename { columns, .. } => {
                for (from, to) in columns {
                    rename(old, &mut table, from, to)?;
                }
            }
            AlterTable::Type(..) => {
                return Err(ErrorResponse::invalid(
                    "Altering column types is no longer supported",
                ));
            }
            AlterTable::Properties(properties) => {
                set_options(&mut table, properties)?;
                if table.gc_grace_seconds == 0 && keyspace.views_of(name).next().is_some() {
                    return Err(ErrorResponse::invalid(format!(
                        "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, {UNDELIVERED}"
                    )));
                }
            }
        }
        if table == **old {
            return Ok(None);
        }
        let mut keyspace = Keyspace::clone(keyspace);
        for view in keyspace.views.values_mut() {
            if view.base == *name {
                follow(view, old, &table);
            }
        }
        keyspace.tables.insert(Arc::clone(name), Arc::new(table));
        Ok(Some(Alteration::table(keyspace, ChangeType::Updated, name)))
    }
}

/// Lets a view follow its base table, if anything of it changes by that.
fn follow(view: &mut Arc<View>, old: &Table, table: &Table) {
    let now = view.follow(old, table);
    if now != **view {
        *view = Arc::new(now);
    }
}

fn add(
    table: &mut Table,
    keyspace: &Keyspace,
    definitions: &[ColumnDefinition],
    if_not_exists: bool,
) -> Result<(), ErrorResponse> {
    let mut names = BTreeSet::new();
    let mut added = Vec::new();
    for definition in definitions {
        let name = &definition.name;
        access::check_length(name)?;
        let ty = resolve_type(&definition.ty, keyspace)?;
        if table.column(name).is_some() || !names.insert(name) {
            match if_not_exists {
                true => continue,
                false => {
                    return Err(ErrorResponse::invalid(format!(
                        "Column with name '{name}' already exists"
                    )));
                }
            }
        }
        check_new(table, definition, &ty)?;
        let kind = if definition.is_static {
            ColumnKind::Static
        } else {
            ColumnKind::Regular
        };
        let id = ColumnId(table.next_column_id);
        table.next_column_id += 1;
        added.push(Column {
            id,
            name: Name::clone(name),
            ty,
            kind,
            position: 0,
            descending: false,
        });
    }
    let mut columns = std::mem::take(&mut table.columns);
    columns.extend(added);
    table.set_columns(columns);
    Ok(())
}

fn check_new(
    table: &Table,
    definition: &ColumnDefinition,
    ty: &CqlType,
) -> Result<(), ErrorResponse> {
    let name = &definition.name;
    if definition.is_static && table.clustering_len == 0 {
        return Err(ErrorResponse::invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        ));
    }
    if has_nested_complex(ty) {
        return Err(ErrorResponse::invalid(format!(
            "Non-frozen UDTs with nested non-frozen collections are not supported for column {name}"
        )));
    }
    match table
        .dropped
        .binary_search_by(|dropped| dropped.name.cmp(name))
        .map(|index| table.dropped.get(index))
    {
        Ok(Some(dropped)) => check_again(dropped, ty, definition.is_static, table.is_counter),
        _ => Ok(()),
    }
}

/// Whether a column may come back with this type.
fn check_again(
    dropped: &DroppedColumn,
    ty: &CqlType,
    is_static: bool,
    is_counter: bool,
) -> Result<(), ErrorResponse> {
    let name = &dropped.name;
    if !value_compatible(ty, &dropped.ty) {
        return Err(ErrorResponse::invalid(format!(
            "Cannot re-add previously dropped column '{name}' of type {ty}, incompatible with previous type {}",
            dropped.ty
        )));
    }
    if is_static != dropped.is_static {
        let kind = |is_static| if is_static { "STATIC" } else { "REGULAR" };
        return Err(ErrorResponse::invalid(format!(
            "Cannot re-add previously dropped column '{name}' of kind {}, incompatible with previous kind {}",
            kind(is_static),
            kind(dropped.is_static)
        )));
    }
    match is_counter {
        true => Err(ErrorResponse::invalid(format!(
            "Cannot re-add previously dropped counter column {name}"
        ))),
        false => Ok(()),
    }
}

fn check_counters(table: &Table) -> Result<(), ErrorResponse> {
    let mut values = table.statics().iter().chain(table.regulars());
    let Some(column) = values.find(|column| (column.ty == CqlType::Counter) != table.is_counter)
    else {
        return Ok(());
    };
    let (kind, of) = if table.is_counter {
        ("non counter", "counter")
    } else {
        ("counter", "non counter")
    };
    Err(ErrorResponse::config(format!(
        "{}.{}: Cannot have a {kind} column (\"{}\") in a {of} table",
        table.keyspace, table.name, column.name
    )))
}

fn drop_columns(
    table: &mut Table,
    names: &[Name],
    if_exists: bool,
    timestamp: i64,
    has_views: bool,
) -> Result<(), ErrorResponse> {
    let mut dropped: BTreeMap<Name, DroppedColumn> = BTreeMap::new();
    for name in names {
        let Some(column) = table.column(name) else {
            match if_exists {
                true => continue,
                false => {
                    return Err(ErrorResponse::invalid(format!(
                        "Column {name} was not found in table '{}.{}'",
                        table.keyspace, table.name
                    )));
                }
            }
        };
        if column.is_primary_key() {
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop PRIMARY KEY column {name}"
            )));
        }
        if let Some(dependents) = dependents(table, column) {
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop column {name} because it has dependent secondary indexes ({dependents})"
            )));
        }
        if has_views {
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop column {name} on base table {} with materialized views",
                table.name
            )));
        }
        // Its fields could not be kept as a tuple: there are no tuples of several cells.
        if matches!(column.ty, CqlType::Udt(_)) {
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop non-frozen column {name} of user type {}",
                column.ty
            )));
        }
        let column = DroppedColumn {
            name: Name::clone(name),
            ty: expand_user_types(&column.ty),
            dropped_at: timestamp,
            is_static: column.is_static(),
        };
        dropped.insert(Name::clone(name), column);
    }
    let mut columns = std::mem::take(&mut table.columns);
    columns.retain(|column| !dropped.contains_key(&column.name));
    table.set_columns(columns);
    let earlier = std::mem::take(&mut table.dropped).into_iter();
    let mut all: BTreeMap<Name, DroppedColumn> = earlier
        .map(|column| (Name::clone(&column.name), column))
        .collect();
    all.extend(dropped);
    table.dropped = all.into_values().collect();
    Ok(())
}

/// The names of the indexes on a column, if there are any.
fn dependents(table: &Table, column: &Column) -> Option<String> {
    let indexes = table.indexes.iter();
    let names: Vec<_> = indexes
        .filter(|index| index.column == column.id)
        .map(|index| &*index.name)
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Cassandra holds every pair against the table as it was, so that names can't be swapped.
fn rename(old: &Table, table: &mut Table, from: &Name, to: &Name) -> Result<(), ErrorResponse> {
    access::check_length(to)?;
    let place = format!("{}.{}", table.keyspace, table.name);
    let Some(column) = old.column(from) else {
        return Err(ErrorResponse::invalid(format!(
            "Undefined column name {from} in table {place}"
        )));
    };
    if !column.is_primary_key() {
        return Err(ErrorResponse::invalid(format!(
            "Cannot rename non PRIMARY KEY column {from}"
        )));
    }
    if let Some(dependents) = dependents(old, column) {
        return Err(ErrorResponse::invalid(format!(
            "Can't rename column {from} because it has dependent secondary indexes ({dependents})"
        )));
    }
    if old.column(to).is_some() || table.column(to).is_some() {
        return Err(ErrorResponse::invalid(format!(
            "Cannot rename column {from} to {to} in table '{place}'; another column with that name already exists"
        )));
    }
    if let Some(column) = table
        .columns
        .iter_mut()
        .find(|renamed| renamed.id == column.id)
    {
        column.name = Name::clone(to);
    }
    Ok(())
}

fn set_options(table: &mut Table, properties: &Properties) -> Result<(), ErrorResponse> {
    let reader = options::reader(properties)?;
    if reader.contains("id") {
        return Err(ErrorResponse::config("Cannot alter table id."));
    }
    let settings = TableSettings::of(table).with(&reader, false)?;
    if table.is_counter && settings.default_ttl > 0 {
        return Err(ErrorResponse::invalid(
            "Cannot set default_time_to_live on a table with counters",
        ));
    }
    table.default_ttl = settings.default_ttl;
    table.gc_grace_seconds = settings.gc_grace_seconds;
    table.options = Arc::new(settings.options);
    Ok(())
}
