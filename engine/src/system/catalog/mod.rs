//! The schema as rows of `system_schema` and `system_virtual_schema`.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::types::UserType;

use super::writer::PartitionWriter;
use crate::schema::{Keyspace, Schema, Table, UserAggregate, UserFunction, View};
use crate::storage::Mutation;
use rows::{
    CatalogRow, aggregate_row, column_row, dropped_row, function_row, index_row, keyspace_row,
    table_row, text, type_row, view_row, virtual_table_row,
};

/// The rows of one table, type or function as they were and as they are.
type Pair = (Vec<CatalogRow>, Vec<CatalogRow>);

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
    let views = changed(old.map(|old| &old.views), &new.views);
    let of_views = |rows: fn(&View) -> Vec<CatalogRow>| -> Vec<_> {
        let rows = |view: Option<&View>| view.map(rows).unwrap_or_default();
        let pairs = views.iter();
        pairs.map(|(old, new)| (rows(*old), rows(*new))).collect()
    };
    let functions = changed(old.map(|old| &old.functions), &new.functions);
    let aggregates = changed(old.map(|old| &old.aggregates), &new.aggregates);
    let function_rows =
        |function: Option<&UserFunction>| Vec::from_iter(function.map(function_row));
    let aggregate_rows =
        |aggregate: Option<&UserAggregate>| Vec::from_iter(aggregate.map(aggregate_row));
    let contents: [(&str, Vec<Pair>); 9] = [
        (
            "keyspaces",
            vec![(keyspace_rows(old), keyspace_rows(Some(new)))],
        ),
        ("tables", of_tables(|table| vec![table_row(table)])),
        (
            "columns",
            of_tables(column_rows)
                .into_iter()
                .chain(of_views(|view| column_rows(&view.table)))
                .collect(),
        ),
        ("views", of_views(|view| vec![view_row(view)])),
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
            "indexes",
            of_tables(|table| {
                let indexes = table.indexes.iter();
                indexes.map(|index| index_row(table, index)).collect()
            }),
        ),
        (
            "types",
            types
                .iter()
                .map(|(old, new)| (type_rows(*old), type_rows(*new)))
                .collect(),
        ),
        (
            "functions",
            functions
                .iter()
                .map(|(old, new)| (function_rows(*old), function_rows(*new)))
                .collect(),
        ),
        (
            "aggregates",
            aggregates
                .iter()
                .map(|(old, new)| (aggregate_rows(*old), aggregate_rows(*new)))
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

fn column_rows(table: &Table) -> Vec<CatalogRow> {
    let columns = table.columns.iter();
    columns.map(|column| column_row(table, column)).collect()
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
        ("keyspaces", vec![CatalogRow::new(&[], Vec::new())]),
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

/// What differs between two states, by key, each with what it was and what it is.
fn changed<'a, K: Ord, T>(
    old: Option<&'a BTreeMap<K, Arc<T>>>,
    new: &'a BTreeMap<K, Arc<T>>,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let names: BTreeSet<&K> = old
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
    let mut before: BTreeMap<&[Arc<str>], &CatalogRow> =
        old.iter().map(|row| (&*row.key, row)).collect();
    for row in new {
        match before.remove(&*row.key) {
            None => partition.insert(&row.values),
            Some(other) if other != row => partition.replace(&row.values),
            Some(_) => {}
        }
    }
    before
        .into_values()
        .for_each(|row| partition.delete(row.clustering()));
}
