//! The guardrails of statements that change the schema, held against the schema they would change. Answers to the
//! `validate` and `apply` of Cassandra's `AlterSchemaStatement`s.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::ErrorResponse;

use super::guard::{Guard, Limit, Lists};
use crate::cql::ast::{
    AlterTable, AlterType, ColumnDefinition, CreateIndex, CreateTable, CreateView, Ddl, Properties,
    Property, TableName, TypeName,
};
use crate::schema::{Keyspace, Schema, Table, is_system};

/// Checks a statement that changes the schema, and gives what is left of it: without the options of tables that are
/// ignored. `session_keyspace` is the one of `USE`, for names without one.
pub(crate) fn check_definition(
    schema: &Schema,
    ddl: &Arc<Ddl>,
    session_keyspace: Option<&str>,
    guard: &mut Guard<'_>,
) -> Result<Arc<Ddl>, ErrorResponse> {
    if matches!(**ddl, Ddl::CreateView(_)) && !guard.rules.materialized_views_enabled {
        return Err(ErrorResponse::invalid(
            "Materialized views are disabled. Enable in cassandra.yaml to use.",
        ));
    }
    let mut ddl = Arc::clone(ddl);
    if let Some(properties) = table_properties(&ddl) {
        check_properties(properties, guard)?;
        let ignored = &guard.rules.table_properties.ignored;
        let is_ignored = |name: &str| {
            ignored
                .iter()
                .any(|ignored| ignored.eq_ignore_ascii_case(name))
        };
        if properties.iter().any(|(name, _)| is_ignored(name))
            && let Some(properties) = table_properties_mut(Arc::make_mut(&mut ddl))
        {
            properties.retain(|(name, _)| !is_ignored(name));
        }
    }
    let place = Place {
        schema,
        session_keyspace,
    };
    check(&place, &ddl, guard)?;
    Ok(ddl)
}

/// The options of a table, or a view, that a statement sets.
fn table_properties(ddl: &Ddl) -> Option<&Properties> {
    match ddl {
        Ddl::CreateTable(CreateTable { properties, .. })
        | Ddl::AlterTable {
            change: AlterTable::Properties(properties),
            ..
        }
        | Ddl::CreateView(CreateView { properties, .. })
        | Ddl::AlterView { properties, .. } => Some(properties),
        _ => None,
    }
}

fn table_properties_mut(ddl: &mut Ddl) -> Option<&mut Properties> {
    match ddl {
        Ddl::CreateTable(CreateTable { properties, .. })
        | Ddl::AlterTable {
            change: AlterTable::Properties(properties),
            ..
        }
        | Ddl::CreateView(CreateView { properties, .. })
        | Ddl::AlterView { properties, .. } => Some(properties),
        _ => None,
    }
}

fn check(place: &Place<'_>, ddl: &Ddl, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let schema = place.schema;
    match ddl {
        Ddl::CreateKeyspace {
            name, properties, ..
        } => {
            let present = user_keyspaces(schema).count();
            check_keyspaces(name, present + 1, guard)?;
            check_replication(name, properties, guard)
        }
        Ddl::AlterKeyspace {
            name, properties, ..
        } => check_replication(name, properties, guard),
        Ddl::DropKeyspace { .. } => guard.enabled(
            guard.rules.drop_keyspace_enabled,
            "drop_keyspace_enabled",
            "DROP KEYSPACE functionality",
        ),
        Ddl::CreateTable(create) => create_table(schema, create, guard),
        Ddl::AlterTable { table, change, .. } => {
            alter_table(place.table(table), &table.name, change, guard)
        }
        Ddl::DropTable { .. } => super::check_truncate(guard),
        Ddl::CreateIndex(create) => create_index(place.table(&create.table), create, guard),
        Ddl::CreateView(create) => create_view(place, create, guard),
        Ddl::CreateType { name, fields, .. } => check_fields(&name.name, fields.len(), guard),
        Ddl::AlterType {
            name,
            change: AlterType::Add { .. },
            ..
        } => {
            let known = place
                .keyspace(name)
                .and_then(|found| found.types.get(&name.name));
            known.map_or(Ok(()), |ty| {
                check_fields(&name.name, ty.fields.len() + 1, guard)
            })
        }
        Ddl::CreateFunction(_) | Ddl::CreateAggregate(_)
            if !guard.rules.user_defined_functions_enabled =>
        {
            Err(ErrorResponse::invalid(
                "User-defined functions are disabled in cassandra.yaml - set \
                 user_defined_functions_enabled=true to enable",
            ))
        }
        _ => Ok(()),
    }
}

/// Where a statement finds what it names.
struct Place<'s> {
    schema: &'s Schema,
    session_keyspace: Option<&'s str>,
}

impl<'s> Place<'s> {
    fn keyspace(&self, name: &TableName) -> Option<&'s Keyspace> {
        let keyspace = name.keyspace.as_deref().or(self.session_keyspace)?;
        self.schema.keyspaces.get(keyspace).map(|found| &**found)
    }

    fn table(&self, name: &TableName) -> Option<&'s Table> {
        let found = self.keyspace(name)?.tables.get(&name.name)?;
        Some(found)
    }
}

/// The keyspaces that aren't the server's own.
fn user_keyspaces(schema: &Schema) -> impl Iterator<Item = &Keyspace> {
    let keyspaces = schema.keyspaces.values().map(|keyspace| &**keyspace);
    keyspaces.filter(|keyspace| !is_system(&keyspace.name))
}

fn check_keyspaces(name: &str, count: usize, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let exceeded = guard.rules.keyspaces.exceeded_by(count as u64);
    guard.limit("keyspaces", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Creating keyspace {name}, current number of keyspaces {count} exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Cannot have more than {bound} keyspaces, aborting the creation of keyspace {name}"
        ),
    })
}

fn check_replication(
    keyspace: &str,
    properties: &Properties,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let replication = properties.iter().find_map(|(name, value)| match value {
        Property::Map(entries) if &**name == "replication" => Some(entries),
        _ => None,
    });
    let Some(entries) = replication else {
        return Ok(());
    };
    let is_simple = entries
        .iter()
        .any(|(key, value)| &**key == "class" && value.ends_with("SimpleStrategy"));
    if is_simple {
        guard.enabled(
            guard.rules.simplestrategy_enabled,
            "simplestrategy",
            "SimpleStrategy",
        )?;
    }
    let factors: BTreeMap<&str, u64> = entries
        .iter()
        .filter(|(key, _)| &**key != "class")
        .filter_map(|(key, value)| Some((&**key, value.split('/').next()?.parse().ok()?)))
        .collect();
    for factor in factors.into_values() {
        let missed = guard.rules.minimum_replication_factor.missed_by(factor);
        guard.limit("minimum_replication_factor", missed, |limit| {
            format!(
                "The keyspace {keyspace} has a replication factor of {factor}, below the {limit}."
            )
        })?;
        let exceeded = guard.rules.maximum_replication_factor.exceeded_by(factor);
        guard.limit("maximum_replication_factor", exceeded, |limit| {
            format!(
                "The keyspace {keyspace} has a replication factor of {factor}, above the {limit}."
            )
        })?;
    }
    Ok(())
}

fn create_table(
    schema: &Schema,
    create: &CreateTable,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let name = &create.table.name;
    check_columns(name, create.columns.len(), guard)?;
    let tables: usize = user_keyspaces(schema)
        .map(|keyspace| keyspace.tables.len())
        .sum();
    let count = tables + 1;
    let exceeded = guard.rules.tables.exceeded_by(count as u64);
    guard.limit("tables", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Creating table {name}, current number of tables {count} exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => {
            format!("Cannot have more than {bound} tables, aborting the creation of table {name}")
        }
    })?;
    let enabled = guard.rules.compact_tables_enabled || !create.compact_storage;
    guard.enabled(
        enabled,
        "compact_tables",
        "Creation of new COMPACT STORAGE tables",
    )?;
    check_time_to_live(&create.properties, guard)?;
    check_vectors(&create.columns, guard)?;
    check_compression(&create.properties, guard)
}

fn alter_table(
    table: Option<&Table>,
    name: &str,
    change: &AlterTable,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    if let AlterTable::Properties(properties) = change {
        check_time_to_live(properties, guard)?;
        return check_compression(properties, guard);
    }
    let Some(table) = table else {
        return Ok(());
    };
    guard.enabled(
        guard.rules.alter_table_enabled,
        "alter_table",
        "User access to ALTER TABLE statement for column mutation",
    )?;
    if let AlterTable::Add { columns, .. } = change {
        check_columns(name, table.columns.len() + columns.len(), guard)?;
        check_vectors(columns, guard)?;
    }
    Ok(())
}

fn check_columns(table: &str, count: usize, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let exceeded = guard.rules.columns_per_table.exceeded_by(count as u64);
    guard.limit("columns_per_table", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "The table {table} has {count} columns, this exceeds the warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Tables cannot have more than {bound} columns, but {count} provided for table {table}"
        ),
    })
}

fn check_vectors(columns: &[ColumnDefinition], guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    for column in columns {
        check_vector(&column.name, &column.ty, guard)?;
    }
    Ok(())
}

fn check_vector(column: &str, ty: &TypeName, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    match ty {
        TypeName::Vector(element, dimensions) => {
            guard.enabled(
                guard.rules.vector_type_enabled,
                "vector_type_enabled",
                "usage of the vector type",
            )?;
            let figure = u64::try_from(*dimensions).unwrap_or(0);
            let exceeded = guard.rules.vector_dimensions.exceeded_by(figure);
            guard.limit("vector_dimensions", exceeded, |limit| {
                format!(
                    "Column {column} has a vector of {dimensions} dimensions, this exceeds the {limit}."
                )
            })?;
            check_vector(column, element, guard)
        }
        TypeName::List(inner) | TypeName::Set(inner) | TypeName::Frozen(inner) => {
            check_vector(column, inner, guard)
        }
        TypeName::Map(key, value) => {
            check_vector(column, key, guard)?;
            check_vector(column, value, guard)
        }
        TypeName::Tuple(parts) => parts
            .iter()
            .try_for_each(|part| check_vector(column, part, guard)),
        TypeName::Native(_) | TypeName::User(_) | TypeName::Custom(_) => Ok(()),
    }
}

fn check_properties(properties: &Properties, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let rules = &guard.rules.table_properties;
    let lists = Lists {
        disallowed: &rules.disallowed,
        ignored: &rules.ignored,
        warned: &rules.warned,
    };
    if lists.are_empty() {
        return Ok(());
    }
    let names: Vec<String> = properties
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase())
        .collect();
    guard.values(("table_properties", "Table Properties"), &names, &lists)
}

/// Checks that a table whose data is to expire by windows of time has it expire. Cassandra looks at what the statement
/// says alone, whatever the table has already.
fn check_time_to_live(properties: &Properties, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let rules = guard.rules;
    let compacts_by_windows = properties.iter().any(|(name, value)| match value {
        Property::Map(entries) if &**name == "compaction" => entries.iter().any(|(key, value)| {
            &**key == "class" && value.ends_with("TimeWindowCompactionStrategy")
        }),
        _ => false,
    });
    let expires = properties.iter().any(|(name, value)| match value {
        Property::Value(value) if &**name == "default_time_to_live" => &**value != "0",
        _ => false,
    });
    if !compacts_by_windows
        || expires
        || rules.zero_ttl_on_twcs_enabled && !rules.zero_ttl_on_twcs_warned
    {
        return Ok(());
    }
    let text = |judgement| {
        format!(
            "0 default_time_to_live on a table with TimeWindowCompactionStrategy compaction strategy is not {judgement}. \
             It is suspicious to use default_time_to_live set to 0 with such compaction strategy. Please keep in mind \
             that data will not start to automatically expire after they are older than a respective compaction window \
             unit of a certain size. Please set TTL for your INSERT or UPDATE statements if you expect data to be \
             expired as table settings will not do it. "
        )
    };
    guard.enabled_or(
        rules.zero_ttl_on_twcs_enabled,
        "zero_ttl_on_twcs",
        text("allowed"),
    )?;
    guard.violated("zero_ttl_on_twcs", text("recommended"));
    Ok(())
}

fn check_compression(properties: &Properties, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let off = |key: &str, value: &str| match key {
        "enabled" => value.eq_ignore_ascii_case("false"),
        "class" | "sstable_compression" => value.is_empty(),
        _ => false,
    };
    let uncompressed = properties.iter().any(|(name, value)| match value {
        Property::Map(entries) if &**name == "compression" => {
            entries.iter().any(|(key, value)| off(key, value))
        }
        _ => false,
    });
    let enabled = guard.rules.uncompressed_tables_enabled || !uncompressed;
    guard.enabled(enabled, "uncompressed_tables_enabled", "Uncompressed table")
}

fn create_index(
    table: Option<&Table>,
    create: &CreateIndex,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    guard.enabled(
        guard.rules.secondary_indexes_enabled,
        "secondary_indexes",
        "Creating secondary indexes",
    )?;
    let Some(table) = table else {
        return Ok(());
    };
    let named = |index: &crate::schema::Index| create.name.as_ref() == Some(&index.name);
    if table.indexes.iter().any(named) {
        return Ok(());
    }
    let count = table.indexes.len() + 1;
    let what = match &create.name {
        Some(name) => format!("{name} on table {}", table.name),
        None => format!("on table {}", table.name),
    };
    let exceeded = guard
        .rules
        .secondary_indexes_per_table
        .exceeded_by(count as u64);
    guard.limit("secondary_indexes_per_table", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Creating secondary index {what}, current number of indexes {count} exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Tables cannot have more than {bound} secondary indexes, aborting the creation of secondary index {what}"
        ),
    })
}

fn create_view(
    place: &Place<'_>,
    create: &CreateView,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let Some(keyspace) = place.keyspace(&create.base) else {
        return Ok(());
    };
    let count = keyspace.views_of(&create.base.name).count() + 1;
    let what = format!("{} on table {}", create.name.name, create.base.name);
    let exceeded = guard
        .rules
        .materialized_views_per_table
        .exceeded_by(count as u64);
    guard.limit("materialized_views_per_table", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Creating materialized view {what}, current number of views {count} exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Tables cannot have more than {bound} materialized views, aborting the creation of materialized view {what}"
        ),
    })
}

fn check_fields(ty: &str, count: usize, guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let exceeded = guard.rules.fields_per_udt.exceeded_by(count as u64);
    guard.limit("fields_per_udt", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "The user type {ty} has {count} columns, this exceeds the warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "User types cannot have more than {bound} columns, but {count} provided for user type {ty}."
        ),
    })
}
