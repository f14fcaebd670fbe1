//! `CREATE`, `ALTER` and `DROP MATERIALIZED VIEW`. Answers to Cassandra's `CreateViewStatement` and its fellows.

use std::collections::BTreeSet;
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};
use helenus_core::types::{CqlType, quoted};

use super::build_table::check_name;
use super::{Alteration, Outcome};
use crate::Context;
use crate::cql::ast::{CreateView, Name, Properties, Relation, Selectable};
use crate::schema::options::{self, TableSettings};
use crate::schema::types::contains;
use crate::schema::{Column, ColumnKind, Keyspace, Schema, Table, View};
use crate::statement;

/// What a client is told that makes a view.
const WARNING: &str =
    "Materialized views are experimental and are not recommended for production use.";

impl Schema {
    pub(super) fn create_view(
        &self,
        keyspace: &str,
        base_keyspace: &str,
        statement: &CreateView,
        context: &Context,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        if keyspace != base_keyspace {
            return Err(invalid(
                "Cannot create a materialized view on a table in a different keyspace",
            ));
        }
        let keyspace = self.existing(keyspace)?;
        let name = &statement.name.name;
        let Some(base) = keyspace.tables.get(&statement.base.name) else {
            return Err(invalid(format!(
                "Base table '{}' doesn't exist",
                statement.base.name
            )));
        };
        if keyspace.tables.contains_key(name) {
            return Err(invalid(format!(
                "Cannot create materialized view '{name}' - a table with the same name already exists"
            )));
        }
        if keyspace.views.contains_key(name) {
            if !statement.if_not_exists {
                return Err(ErrorResponse::already_exists(&keyspace.name, name));
            }
            warnings.push(WARNING.to_owned());
            return Ok(None);
        }
        check_base(name, base)?;
        let view = build(self, keyspace, base, statement, context)?;
        warnings.push(WARNING.to_owned());
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.views.insert(Arc::clone(name), Arc::new(view));
        Ok(Some(Alteration::table(keyspace, ChangeType::Created, name)))
    }

    pub(super) fn alter_view(
        &self,
        keyspace: &str,
        name: &Arc<str>,
        if_exists: bool,
        properties: &Properties,
    ) -> Outcome {
        let Some((keyspace, view)) = self.view(keyspace, name) else {
            return missing(keyspace, name, if_exists);
        };
        let reader = options::reader(properties)?;
        if reader.contains("id") {
            return Err(ErrorResponse::config("Cannot alter table id."));
        }
        let settings = TableSettings::of(&view.table).with(&reader, false)?;
        if settings.gc_grace_seconds == 0 {
            return Err(invalid(format!(
                "Cannot alter gc_grace_seconds of a materialized view to 0, {UNDELIVERED}"
            )));
        }
        if settings.default_ttl > 0 {
            return Err(invalid(
                "Forbidden default_time_to_live detected for a materialized view. Data in a materialized view always \
                 expire at the same time than the corresponding data in the parent table. default_time_to_live must be \
                 set to zero, see CASSANDRA-12868 for more information",
            ));
        }
        let mut table = Table::clone(&view.table);
        table.gc_grace_seconds = settings.gc_grace_seconds;
        table.options = Arc::new(settings.options);
        if table == *view.table {
            return Ok(None);
        }
        let view = View {
            table: Arc::new(table),
            ..View::clone(view)
        };
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.views.insert(Arc::clone(name), Arc::new(view));
        Ok(Some(Alteration::table(keyspace, ChangeType::Updated, name)))
    }

    pub(super) fn drop_view(&self, keyspace: &str, name: &Arc<str>, if_exists: bool) -> Outcome {
        let Some((keyspace, _)) = self.view(keyspace, name) else {
            return missing(keyspace, name, if_exists);
        };
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.views.remove(name);
        Ok(Some(Alteration::table(keyspace, ChangeType::Dropped, name)))
    }

    fn view(&self, keyspace: &str, name: &str) -> Option<(&Keyspace, &Arc<View>)> {
        let keyspace = self.keyspaces.get(keyspace)?;
        Some((keyspace, keyspace.views.get(name)?))
    }
}

/// Why the grace period of a view and of its base table may not be 0.
pub(super) const UNDELIVERED: &str = "since this value is used to TTL undelivered updates. Setting gc_grace_seconds too \
low might cause undelivered updates to expire before being replayed.";

fn missing(keyspace: &str, name: &str, if_exists: bool) -> Outcome {
    match if_exists {
        true => Ok(None),
        false => Err(invalid(format!(
            "Materialized view '{keyspace}.{name}' doesn't exist"
        ))),
    }
}

fn check_base(name: &str, base: &Table) -> Result<(), ErrorResponse> {
    if base.is_counter {
        return Err(invalid(
            "Materialized views are not supported on counter tables",
        ));
    }
    if base.gc_grace_seconds == 0 {
        return Err(invalid(format!(
            "Cannot create materialized view '{name}' for base table '{}' with gc_grace_seconds of 0, {UNDELIVERED}",
            base.name
        )));
    }
    Ok(())
}

fn build(
    schema: &Schema,
    keyspace: &Keyspace,
    base: &Arc<Table>,
    statement: &CreateView,
    context: &Context,
) -> Result<View, ErrorResponse> {
    let name = &statement.name.name;
    let selected = selected(base, statement)?;
    let keys = key_columns(base, statement, &selected)?;
    check_key(base, statement)?;
    check_restrictions(schema, keyspace, base, statement)?;
    let settings = TableSettings::default().with(&options::reader(&statement.properties)?, true)?;
    if settings.default_ttl > 0 {
        return Err(invalid(
            "Cannot set default_time_to_live for a materialized view. Data in a materialized view always expire at the \
             same time than the corresponding data in the parent table.",
        ));
    }
    check_name(&keyspace.name, name)?;
    let id = match options::table_id(&options::reader(&statement.properties)?)? {
        Some(id) => id,
        None => uuid::Builder::from_random_bytes(context.random).into_uuid(),
    };
    let rest = selected
        .into_iter()
        .filter(|column| keys.iter().all(|key| key.id != column.id))
        .map(|column| Column {
            kind: ColumnKind::Regular,
            position: 0,
            descending: false,
            ..column.clone()
        });
    let columns = keys.iter().cloned().chain(rest).collect();
    let mut table = Table {
        keyspace: Arc::clone(&keyspace.name),
        name: Arc::clone(name),
        id,
        columns: Vec::new(),
        partition_key_len: 0,
        clustering_len: 0,
        static_len: 0,
        is_counter: false,
        is_view: true,
        next_column_id: base.next_column_id,
        default_ttl: 0,
        gc_grace_seconds: settings.gc_grace_seconds,
        options: Arc::new(settings.options),
        dropped: Vec::new(),
        indexes: Vec::new(),
    };
    table.set_columns(columns);
    Ok(View {
        table: Arc::new(table),
        base: Arc::clone(&base.name),
        base_id: base.id,
        includes_all: statement.selectors.is_empty(),
        restrictions: statement.restrictions.clone(),
    })
}

/// The base table's columns that the view has.
fn selected<'t>(base: &'t Table, statement: &CreateView) -> Result<Vec<&'t Column>, ErrorResponse> {
    let mut columns: Vec<&Column> = Vec::new();
    if statement.selectors.is_empty() {
        columns.extend(&base.columns);
    }
    for selector in &statement.selectors {
        if selector.alias.is_some() {
            return Err(invalid(format!(
                "Cannot use aliases when defining a materialized view (got {})",
                statement::selectable_text(&selector.expression)
            )));
        }
        let Selectable::Column(name) = &selector.expression else {
            return Err(invalid(format!(
                "Can only select columns by name when defining a materialized view (got {})",
                statement::selectable_text(&selector.expression)
            )));
        };
        let column = column(base, name)?;
        if columns.iter().all(|other| other.id != column.id) {
            columns.push(column);
        }
    }
    match columns.iter().find(|column| column.is_static()) {
        Some(column) => Err(invalid(format!(
            "Cannot include static column '{}' in materialized view '{}'",
            column.name, statement.name.name
        ))),
        None => Ok(columns),
    }
}

fn column<'t>(base: &'t Table, name: &str) -> Result<&'t Column, ErrorResponse> {
    base.column(name).ok_or_else(|| {
        invalid(format!(
            "Undefined column name {} in table {}.{}",
            quoted(name),
            quoted(&base.keyspace),
            quoted(&base.name)
        ))
    })
}

/// The columns of the view's primary key.
fn key_columns(
    base: &Table,
    statement: &CreateView,
    selected: &[&Column],
) -> Result<Vec<Column>, ErrorResponse> {
    let view = &statement.name.name;
    let mut seen = BTreeSet::new();
    let mut columns = Vec::new();
    for (kind, names) in [
        (ColumnKind::PartitionKey, &statement.partition_key),
        (ColumnKind::Clustering, &statement.clustering),
    ] {
        for (position, name) in names.iter().enumerate() {
            let column = base
                .column(name)
                .filter(|column| selected.iter().any(|other| other.id == column.id));
            let Some(column) = column else {
                return Err(invalid(format!(
                    "Unknown column '{name}' referenced in PRIMARY KEY for materialized view '{view}'"
                )));
            };
            if !seen.insert(name) {
                return Err(invalid(format!(
                    "Duplicate column '{name}' in PRIMARY KEY clause for materialized view '{view}'"
                )));
            }
            check_key_type(column)?;
            columns.push(Column {
                kind,
                position,
                descending: false,
                ..column.clone()
            });
        }
    }
    let order = &statement.clustering_order;
    let ordered = order.iter().map(|(name, _)| name);
    if !order.is_empty() && !ordered.eq(&statement.clustering) {
        return Err(invalid(
            "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive",
        ));
    }
    let clustering = columns
        .get_mut(statement.partition_key.len()..)
        .unwrap_or_default();
    for (column, (_, descending)) in clustering.iter_mut().zip(order) {
        column.descending = *descending;
    }
    Ok(columns)
}

fn check_key_type(column: &Column) -> Result<(), ErrorResponse> {
    let (name, ty) = (&column.name, &column.ty);
    let message = match ty {
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) => format!(
            "Invalid non-frozen collection type '{}' for PRIMARY KEY column '{name}'",
            ty.class_name()
        ),
        CqlType::Udt(_) => format!(
            "Invalid non-frozen user-defined type '{}' for PRIMARY KEY column '{name}'",
            ty.class_name()
        ),
        ty if contains(ty, &|part| *part == CqlType::Duration) => {
            format!("duration type is not supported for PRIMARY KEY column '{name}'")
        }
        _ => return Ok(()),
    };
    Err(invalid(message))
}

/// The view has the whole key of its table, lest several rows of it become one, and one more column at most.
fn check_key(base: &Table, statement: &CreateView) -> Result<(), ErrorResponse> {
    let names = || statement.partition_key.iter().chain(&statement.clustering);
    let missing: Vec<_> = base
        .primary_key()
        .iter()
        .filter(|column| names().all(|name| *name != column.name))
        .map(|column| quoted(&column.name))
        .collect();
    if !missing.is_empty() {
        return Err(invalid(format!(
            "Cannot create materialized view '{}' without primary key columns {} from base table '{}'",
            statement.name.name,
            missing.join(", "),
            base.name
        )));
    }
    let other: Vec<_> = names()
        .filter(|name| !is_key(base, name))
        .map(|name| quoted(name))
        .collect();
    if other.len() > 1 {
        return Err(invalid(format!(
            "Cannot include more than one non-primary key column in materialized view primary key (got {})",
            other.join(", ")
        )));
    }
    Ok(())
}

fn is_key(base: &Table, name: &str) -> bool {
    base.column(name).is_some_and(Column::is_primary_key)
}

fn check_restrictions(
    schema: &Schema,
    keyspace: &Keyspace,
    base: &Arc<Table>,
    statement: &CreateView,
) -> Result<(), ErrorResponse> {
    let relations = &statement.restrictions;
    if relations
        .iter()
        .any(|relation| matches!(relation, Relation::Token(..)))
    {
        return Err(invalid(
            "Cannot use token relation when defining a materialized view",
        ));
    }
    if relations
        .iter()
        .any(|relation| matches!(relation, Relation::Expression(..)))
    {
        return Err(invalid(format!(
            "WHERE clause for materialized view '{}' cannot contain custom index expressions",
            statement.name.name
        )));
    }
    for relation in relations {
        if let Relation::IsNotNull(name) = relation {
            column(base, name)?;
        }
    }
    statement::view_filters(schema, keyspace, base, relations)?;
    let restricted: Vec<&Name> = relations
        .iter()
        .flat_map(statement::restricted_columns)
        .collect();
    let free: Vec<_> = statement
        .partition_key
        .iter()
        .chain(&statement.clustering)
        .filter(|name| !restricted.contains(name))
        .map(|name| quoted(name))
        .collect();
    if !free.is_empty() {
        return Err(invalid(format!(
            "Primary key columns {} must be restricted with 'IS NOT NULL' or otherwise",
            free.join(", ")
        )));
    }
    let illegal: Vec<_> = relations
        .iter()
        .filter(|relation| !matches!(relation, Relation::IsNotNull(_)))
        .flat_map(statement::restricted_columns)
        .filter(|name| !is_key(base, name))
        .map(|name| quoted(name))
        .collect();
    if !illegal.is_empty() {
        return Err(invalid(format!(
            "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: {} restricted illegally)",
            illegal.join(",")
        )));
    }
    Ok(())
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ErrorResponse {
    ErrorResponse::invalid(message)
}
