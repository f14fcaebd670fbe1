//! The schema as rows of `system_schema` and `system_virtual_schema`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::types::{UserType, Value};

use super::writer::PartitionWriter;
use crate::schema::{Column, ColumnKind, DroppedColumn, Keyspace, OptionMap, Schema, Table};
use crate::storage::Mutation;

/// A row by the names of its columns, those of the clustering first.
#[derive(Debug, Clone, PartialEq)]
struct CatalogRow {
    clustering: usize,
    values: Vec<(&'static str, Value)>,
}

/// The rows of one table or type as they were and as they are.
type Pair = (Vec<CatalogRow>, Vec<CatalogRow>);

impl CatalogRow {
    fn new(clustering: Vec<(&'static str, Value)>, rest: Vec<(&'static str, Value)>) -> Self {
        let len = clustering.len();
        let mut values = clustering;
        values.extend(rest);
        Self {
            clustering: len,
            values,
        }
    }

    fn key(&self) -> &[(&'static str, Value)] {
        self.values.get(..self.clustering).unwrap_or_default()
    }
}

/// The mutations that turn the rows of one state of a keyspace into those of another: rows that are gone deleted,
/// rows that differ written whole. Nothing for what both states share.
pub(crate) fn changes(
    schema: &Schema,
    old: Option<&Keyspace>,
    new: Option<&Keyspace>,
    timestamp: i64,
) -> Vec<Mutation> {
    let Some(name) = new.or(old).map(|keyspace| &keyspace.name) else {
        return Vec::new();
    };
    let key = [("keyspace_name", text(name))];
    let open = |table: &Arc<Table>| PartitionWriter::new(table, timestamp, &key);
    let Some(new) = new else {
        let tables = schema
            .keyspaces
            .get("system_schema")
            .into_iter()
            .flat_map(|keyspace| keyspace.tables.values());
        let deleted = tables.map(|table| {
            let mut partition = open(table);
            partition.delete_partition();
            partition.finish()
        });
        return deleted.collect();
    };

    let tables = changed(old.map(|old| &old.tables), &new.tables);
    let types = changed(old.map(|old| &old.types), &new.types);
    let of_tables = |rows: fn(&Table) -> Vec<CatalogRow>| -> Vec<_> {
        let rows = |table: Option<&Table>| table.map(rows).unwrap_or_default();
        tables
            .iter()
            .map(|(old, new)| (rows(*old), rows(*new)))
            .collect()
    };
    let keyspace_rows =
        |keyspace: Option<&Keyspace>| keyspace.map(keyspace_row).into_iter().collect::<Vec<_>>();
    let type_rows = |ty: Option<&UserType>| ty.map(type_row).into_iter().collect::<Vec<_>>();
    let contents: [(&str, Vec<Pair>); 5] = [
        (
            "keyspaces",
            vec![(keyspace_rows(old), keyspace_rows(Some(new)))],
        ),
        ("tables", of_tables(|table| vec![table_row(table)])),
        (
            "columns",
            of_tables(|table| {
                table
                    .columns
                    .iter()
                    .map(|column| column_row(table, column))
                    .collect()
            }),
        ),
        (
            "dropped_columns",
            of_tables(|table| {
                table
                    .dropped
                    .iter()
                    .map(|column| dropped_row(table, column))
                    .collect()
            }),
        ),
        (
            "types",
            types
                .iter()
                .map(|(old, new)| (type_rows(*old), type_rows(*new)))
                .collect(),
        ),
    ];
    let mut mutations = Vec::new();
    for (table, pairs) in contents {
        let Some(mut partition) = schema.table("system_schema", table).map(open) else {
            continue;
        };
        pairs
            .iter()
            .for_each(|(old, new)| merge(&mut partition, old, new));
        if !partition.is_empty() {
            mutations.push(partition.finish());
        }
    }
    mutations
}

/// The rows of a virtual keyspace in `system_virtual_schema`.
pub(super) fn virtual_content(
    schema: &Schema,
    keyspace: &Keyspace,
    timestamp: i64,
) -> Vec<Mutation> {
    let key = [("keyspace_name", text(&keyspace.name))];
    let tables = || keyspace.tables.values();
    let rows = [
        ("keyspaces", vec![CatalogRow::new(Vec::new(), Vec::new())]),
        (
            "tables",
            tables().map(|table| virtual_table_row(table)).collect(),
        ),
        (
            "columns",
            tables()
                .flat_map(|table| table.columns.iter().map(|column| column_row(table, column)))
                .collect(),
        ),
    ];
    let mutations = rows.into_iter().filter_map(|(name, rows)| {
        let mut partition = PartitionWriter::new(
            schema.table("system_virtual_schema", name)?,
            timestamp,
            &key,
        );
        merge(&mut partition, &[], &rows);
        Some(partition.finish())
    });
    mutations.collect()
}

/// What differs between two states, by name, each with what it was and what it is.
fn changed<'a, T>(
    old: Option<&'a BTreeMap<Arc<str>, Arc<T>>>,
    new: &'a BTreeMap<Arc<str>, Arc<T>>,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let names: BTreeSet<&Arc<str>> = old
        .into_iter()
        .flat_map(BTreeMap::keys)
        .chain(new.keys())
        .collect();
    let pairs = names
        .into_iter()
        .map(|name| (old.and_then(|old| old.get(name)), new.get(name)));
    let differing =
        pairs.filter(|pair| !matches!(pair, (Some(old), Some(new)) if Arc::ptr_eq(old, new)));
    differing
        .map(|(old, new)| (old.map(|old| &**old), new.map(|new| &**new)))
        .collect()
}

fn merge(partition: &mut PartitionWriter, old: &[CatalogRow], new: &[CatalogRow]) {
    for row in new {
        match old.iter().find(|other| other.key() == row.key()) {
            None => partition.insert(&row.values),
            Some(other) if other != row => partition.replace(&row.values),
            Some(_) => {}
        }
    }
    for row in old {
        if !new.iter().any(|other| other.key() == row.key()) {
            partition.delete(row.key());
        }
    }
}

fn text(text: &str) -> Value {
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

fn keyspace_row(keyspace: &Keyspace) -> CatalogRow {
    CatalogRow::new(
        Vec::new(),
        vec![
            ("durable_writes", Value::Boolean(keyspace.durable_writes)),
            ("replication", map(&keyspace.replication)),
        ],
    )
}

fn table_row(table: &Table) -> CatalogRow {
    let options = &table.options;
    let flags: &[&str] = if table.is_counter {
        &["compound", "counter"]
    } else {
        &["compound"]
    };
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
        (
            "flags",
            Value::Set(flags.iter().copied().map(text).collect()),
        ),
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
    CatalogRow::new(vec![("table_name", text(&table.name))], rest)
}

fn virtual_table_row(table: &Table) -> CatalogRow {
    CatalogRow::new(
        vec![("table_name", text(&table.name))],
        vec![("comment", text(&table.options.comment))],
    )
}

fn column_row(table: &Table, column: &Column) -> CatalogRow {
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
        vec![
            ("table_name", text(&table.name)),
            ("column_name", text(&column.name)),
        ],
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

fn dropped_row(table: &Table, column: &DroppedColumn) -> CatalogRow {
    let kind = if column.is_static {
        ColumnKind::Static
    } else {
        ColumnKind::Regular
    };
    CatalogRow::new(
        vec![
            ("table_name", text(&table.name)),
            ("column_name", text(&column.name)),
        ],
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

fn type_row(ty: &UserType) -> CatalogRow {
    let names = list(ty.fields.iter().map(|(name, _)| name.to_string()));
    let types = list(ty.fields.iter().map(|(_, field)| field.to_string()));
    CatalogRow::new(
        vec![("type_name", text(&ty.name))],
        vec![("field_names", names), ("field_types", types)],
    )
}
