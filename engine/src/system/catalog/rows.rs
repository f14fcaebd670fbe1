//! Keyspaces, tables, columns, types and functions as the rows that describe them.

use std::sync::Arc;

use helenus_core::types::{UserType, Value};

use helenus_core::types::CqlType;

use crate::schema::{
    Column, ColumnKind, DroppedColumn, Index, Keyspace, OptionMap, Table, UserAggregate,
    UserFunction, View, type_names,
};

/// A row: the texts of its clustering columns, and the values of all its columns by name, those of the clustering first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CatalogRow {
    pub(super) key: Vec<Arc<str>>,
    pub(super) values: Vec<(&'static str, Value)>,
}

impl CatalogRow {
    pub(super) fn new(
        clustering: &[(&'static str, &Arc<str>)],
        rest: Vec<(&'static str, Value)>,
    ) -> Self {
        let key = clustering
            .iter()
            .map(|(_, value)| Arc::clone(value))
            .collect();
        let mut values: Vec<_> = clustering
            .iter()
            .map(|(name, value)| (*name, text(value)))
            .collect();
        values.extend(rest);
        Self { key, values }
    }

    /// The values of the clustering columns.
    pub(super) fn clustering(&self) -> &[(&'static str, Value)] {
        self.values.get(..self.key.len()).unwrap_or_default()
    }
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn list(texts: impl Iterator<Item = String>) -> Value {
    Value::List(texts.map(|item| Some(Value::Text(item))).collect())
}

fn map(map: &OptionMap) -> Value {
    Value::Map(
        map.iter()
            .map(|(key, value)| (text(key), Some(text(value))))
            .collect(),
    )
}

/// A number Cassandra keeps as an `int`.
fn int(number: u32) -> Value {
    Value::Int(i32::try_from(number).unwrap_or(i32::MAX))
}

pub(super) fn keyspace_row(keyspace: &Keyspace) -> CatalogRow {
    CatalogRow::new(
        &[],
        vec![
            ("durable_writes", Value::Boolean(keyspace.durable_writes)),
            ("replication", map(keyspace.replication.options())),
        ],
    )
}

pub(super) fn table_row(table: &Table) -> CatalogRow {
    let flags: &[&str] = if table.is_counter {
        &["compound", "counter"]
    } else {
        &["compound"]
    };
    let mut rest = properties(table);
    rest.push((
        "flags",
        Value::Set(flags.iter().copied().map(text).collect()),
    ));
    CatalogRow::new(&[("table_name", &table.name)], rest)
}

pub(super) fn view_row(view: &View) -> CatalogRow {
    let mut rest = properties(&view.table);
    rest.extend([
        ("base_table_id", Value::Uuid(view.base_id)),
        ("base_table_name", text(&view.base)),
        ("include_all_columns", Value::Boolean(view.includes_all)),
        ("where_clause", text(&view.where_clause())),
    ]);
    CatalogRow::new(&[("view_name", &view.table.name)], rest)
}

/// What tables and views have alike.
fn properties(table: &Table) -> Vec<(&'static str, Value)> {
    let options = &table.options;
    let mut rest = vec![
        (
            "additional_write_policy",
            text(&options.additional_write_policy),
        ),
        (
            "bloom_filter_fp_chance",
            Value::Double(options.bloom_filter_fp_chance),
        ),
        ("caching", map(&options.caching)),
        ("comment", text(&options.comment)),
        ("compaction", map(&options.compaction)),
        ("compression", map(&options.compression)),
        ("crc_check_chance", Value::Double(options.crc_check_chance)),
        ("dclocal_read_repair_chance", Value::Double(0.0)),
        ("default_time_to_live", int(table.default_ttl)),
        ("extensions", Value::Map(Vec::new())),
        ("gc_grace_seconds", int(table.gc_grace_seconds)),
        ("id", Value::Uuid(table.id)),
        ("max_index_interval", int(options.max_index_interval)),
        (
            "memtable_flush_period_in_ms",
            int(options.memtable_flush_period_in_ms),
        ),
        ("min_index_interval", int(options.min_index_interval)),
        ("read_repair", text(&options.read_repair)),
        ("read_repair_chance", Value::Double(0.0)),
        ("speculative_retry", text(&options.speculative_retry)),
    ];
    // Cassandra writes what is newer than the table's columns only where it isn't the default; `cdc` and `memtable`
    // not at all on a node that doesn't have them configured.
    for (name, value) in [
        ("allow_auto_snapshot", options.allow_auto_snapshot),
        ("incremental_backups", options.incremental_backups),
    ] {
        if !value {
            rest.push((name, Value::Boolean(false)));
        }
    }
    rest
}

pub(super) fn virtual_table_row(table: &Table) -> CatalogRow {
    CatalogRow::new(
        &[("table_name", &table.name)],
        vec![("comment", text(&table.options.comment))],
    )
}

pub(super) fn column_row(table: &Table, column: &Column) -> CatalogRow {
    let order = match (column.kind, column.descending) {
        (ColumnKind::Clustering, true) => "desc",
        (ColumnKind::Clustering, false) => "asc",
        _ => "none",
    };
    let position = match column.is_primary_key() {
        true => i32::try_from(column.position).unwrap_or(i32::MAX),
        false => -1,
    };
    CatalogRow::new(
        &[("table_name", &table.name), ("column_name", &column.name)],
        vec![
            ("clustering_order", text(order)),
            (
                "column_name_bytes",
                Value::Blob(column.name.as_bytes().to_vec()),
            ),
            ("kind", text(column.kind.as_str())),
            ("position", Value::Int(position)),
            ("type", text(&column.ty.to_string())),
        ],
    )
}

pub(super) fn dropped_row(table: &Table, column: &DroppedColumn) -> CatalogRow {
    let kind = if column.is_static {
        ColumnKind::Static
    } else {
        ColumnKind::Regular
    };
    CatalogRow::new(
        &[("table_name", &table.name), ("column_name", &column.name)],
        vec![
            (
                "dropped_time",
                Value::Timestamp(column.dropped_at.div_euclid(1000)),
            ),
            ("kind", text(kind.as_str())),
            ("type", text(&column.ty.to_string())),
        ],
    )
}

pub(super) fn index_row(table: &Table, index: &Index) -> CatalogRow {
    CatalogRow::new(
        &[("table_name", &table.name), ("index_name", &index.name)],
        vec![
            ("kind", text(index.kind_name())),
            ("options", map(&index.options)),
        ],
    )
}

pub(super) fn type_row(ty: &UserType) -> CatalogRow {
    let names = list(ty.fields.iter().map(|(name, _)| name.to_string()));
    let types = list(ty.fields.iter().map(|(_, field)| field.to_string()));
    CatalogRow::new(
        &[("type_name", &ty.name)],
        vec![("field_names", names), ("field_types", types)],
    )
}

pub(super) fn function_row(function: &UserFunction) -> CatalogRow {
    let names = list(function.argument_names.iter().map(ToString::to_string));
    let values = vec![
        ("argument_names", names),
        ("body", text(&function.body)),
        (
            "called_on_null_input",
            Value::Boolean(function.called_on_null),
        ),
        ("language", text(&function.language)),
        ("return_type", text(&function.returns.to_string())),
    ];
    callable_row(
        "function_name",
        &function.name,
        &function.argument_types,
        values,
    )
}

pub(super) fn aggregate_row(aggregate: &UserAggregate) -> CatalogRow {
    let mut values = vec![
        ("return_type", text(&aggregate.returns.to_string())),
        ("state_func", text(&aggregate.state_function)),
        ("state_type", text(&aggregate.state_type.to_string())),
    ];
    for (name, part) in [
        ("final_func", &aggregate.final_function),
        ("initcond", &aggregate.initial_text),
    ] {
        values.extend(part.as_ref().map(|part| (name, text(part))));
    }
    callable_row(
        "aggregate_name",
        &aggregate.name,
        &aggregate.argument_types,
        values,
    )
}

/// The row of a function or aggregate: its clustering columns are the name and the list of argument types.
fn callable_row(
    column: &'static str,
    name: &Arc<str>,
    types: &[CqlType],
    rest: Vec<(&'static str, Value)>,
) -> CatalogRow {
    let types = type_names(types);
    let key = vec![Arc::clone(name), types.join(",").into()];
    let mut values = vec![
        (column, text(name)),
        ("argument_types", list(types.into_iter())),
    ];
    values.extend(rest);
    CatalogRow { key, values }
}
