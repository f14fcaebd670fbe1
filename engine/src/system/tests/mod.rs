//! The system tables held against those of Apache Cassandra 5.0.4.

use std::collections::BTreeMap;

use helenus_core::types::Value;
use helenus_core::wire::Reader;

use super::NodeInfo;
use crate::schema::Schema;
use crate::schema::testing::World;
use crate::storage::{Cell, ColumnData, Mutation, Row};

/// A value as the recorded rows have it.
fn shown(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::Int(number) => number.to_string(),
        Value::Timestamp(number) => number.to_string(),
        Value::Uuid(uuid) => uuid.to_string(),
        Value::Inet(address) => address.to_string(),
        Value::Set(elements) => format!("[{}]", joined(elements.iter().map(shown).collect())),
        Value::List(elements) => format!(
            "[{}]",
            joined(elements.iter().flatten().map(shown).collect())
        ),
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Option<Value>)| {
                format!(
                    "{}: {}",
                    shown(key),
                    value.as_ref().map(shown).unwrap_or_default()
                )
            };
            format!("{{{}}}", joined(entries.iter().map(entry).collect()))
        }
        other => format!("{other:?}"),
    }
}

/// Rows by table and primary key, as the mutations applied one after the other leave them.
#[derive(Default)]
pub(crate) struct Tables(BTreeMap<(String, Vec<String>), BTreeMap<String, String>>);

impl Tables {
    pub(crate) fn apply(&mut self, mutations: &[Mutation]) {
        for mutation in mutations {
            let name = format!("{}.{}", mutation.table.keyspace, mutation.table.name);
            let partition_key = &mutation.table.partition_key()[0];
            let key = shown(&Value::decode(&partition_key.ty, &mutation.key.key).unwrap());
            if mutation.partition_deletion.is_some() {
                self.0
                    .retain(|(table, primary_key), _| *table != name || primary_key[0] != key);
            }
            for (clustering, row) in &mutation.rows {
                let mut primary_key = vec![key.clone()];
                let mut reader = Reader::new(&clustering.values);
                for column in mutation.table.clustering() {
                    let bytes = reader.bytes().unwrap().unwrap();
                    primary_key.push(shown(&Value::decode(&column.ty, bytes).unwrap()));
                }
                let place = (name.clone(), primary_key);
                if row.deletion.is_some() {
                    self.0.remove(&place);
                } else {
                    let cells = self.0.entry(place).or_default();
                    Self::merge(&mutation.table, row, cells);
                }
            }
        }
    }

    fn merge(table: &crate::schema::Table, row: &Row, cells: &mut BTreeMap<String, String>) {
        assert!(row.liveness.is_some());
        assert!(row.columns.is_sorted_by_key(|(id, _)| *id));
        for (id, data) in &row.columns {
            let column = table.column_with_id(*id).unwrap();
            let value = match data {
                ColumnData::Simple(Cell { value: None, .. }) => {
                    cells.remove(&*column.name);
                    continue;
                }
                ColumnData::Simple(Cell {
                    value: Some(bytes), ..
                }) => shown(&Value::decode(&column.ty, bytes).unwrap()),
                ColumnData::Complex { cells, .. } => {
                    let elements: Vec<_> = cells
                        .iter()
                        .map(|(path, _)| String::from_utf8_lossy(&path.value).into_owned())
                        .collect();
                    format!("[{}]", elements.join(", "))
                }
            };
            cells.insert(column.name.to_string(), value);
        }
    }

    /// One line a row: the table, its primary key, its other columns by name.
    fn lines(&self) -> Vec<String> {
        let line = |((table, key), cells): (&(String, Vec<String>), &BTreeMap<String, String>)| {
            let cells: Vec<String> = cells
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{table} {} | {}", key.join(" / "), cells.join("; "))
        };
        self.0.iter().map(line).collect()
    }
}

fn bootstrapped() -> Tables {
    let (_, mutations) = Schema::bootstrap(&NodeInfo::default(), 1_700_000_000_000_000);
    let mut tables = Tables::default();
    tables.apply(&mutations);
    tables
}

/// The rows are those of Cassandra for the same statements; recorded without table ids and the bytes of names.
#[test]
fn schema_changes_leave_the_rows_cassandra_has() {
    let mut world = World::new();
    let mut tables = Tables::default();
    for statement in include_str!("statements.cql").split_inclusive(";\n") {
        tables.apply(&world.ok(statement).mutations);
    }
    tables.0.retain(|(table, _), _| table != "system.local");
    for cells in tables.0.values_mut() {
        cells.remove("column_name_bytes");
        if let Some(id) = cells.get_mut("id") {
            *id = "?".into();
        }
    }
    let recorded: Vec<&str> = include_str!("recorded.txt").lines().collect();
    assert_eq!(tables.lines(), recorded);

    tables.apply(&world.ok("DROP KEYSPACE catalog").mutations);
    tables.0.retain(|(table, _), _| table != "system.local");
    assert_eq!(tables.lines(), [""; 0]);
}

#[test]
fn nothing_is_written_for_what_stays() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (a int PRIMARY KEY, b int)");
    world.ok("CREATE TABLE u (a int PRIMARY KEY)");
    let update = world.ok("ALTER TABLE t ADD c int");
    let written: Vec<(&str, usize)> = update
        .mutations
        .iter()
        .map(|mutation| (&*mutation.table.name, mutation.rows.len()))
        .collect();
    assert_eq!(written, [("columns", 1), ("local", 1)]);
}

#[test]
fn the_local_row_follows_the_schema_version() {
    let mut world = World::new();
    let mut tables = bootstrapped();
    let version = |tables: &Tables| {
        let local = tables
            .0
            .get(&("system.local".to_owned(), vec!["local".to_owned()]));
        local.unwrap()["schema_version"].clone()
    };
    tables.apply(&world.ok("CREATE TABLE t (a int PRIMARY KEY)").mutations);
    assert_eq!(version(&tables), world.schema.version.to_string());
}

#[test]
fn the_node_describes_itself() {
    let tables = bootstrapped();
    let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 1);
    let local: Vec<String> = tables
        .lines()
        .into_iter()
        .filter(|line| line.starts_with("system.local "))
        .collect();
    let expected = format!(
        "system.local local | bootstrapped=COMPLETED; broadcast_address=127.0.0.1; broadcast_port=7000; \
         cluster_name=helenus; cql_version=3.4.7; data_center=datacenter1; gossip_generation=1700000000; \
         host_id=00000000-0000-0000-0000-000000000000; listen_address=127.0.0.1; listen_port=7000; \
         native_protocol_version=5; partitioner=org.apache.cassandra.dht.Murmur3Partitioner; rack=rack1; \
         release_version=5.0.4; rpc_address=127.0.0.1; rpc_port=9042; schema_version={}; tokens=[0]",
        schema.version
    );
    assert_eq!(local, [expected]);
    assert!(
        !tables
            .lines()
            .iter()
            .any(|line| line.starts_with("system.peers"))
    );
}

#[test]
fn system_tables_are_all_there_under_their_ids() {
    let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 1);
    let count = |keyspace: &str| schema.keyspaces[keyspace].tables.len();
    assert_eq!(
        [
            "system",
            "system_auth",
            "system_distributed",
            "system_schema",
            "system_traces"
        ]
        .map(count),
        [23, 8, 4, 11, 2]
    );
    assert_eq!(
        ["system_views", "system_virtual_schema"].map(count),
        [43, 3]
    );
    for (keyspace, table, id) in [
        ("system", "local", "7ad54392-bcdd-35a6-8417-4e047860b377"),
        (
            "system",
            "IndexInfo",
            "9f5c6374-d485-3229-9a0a-5094af9ad1e3",
        ),
        (
            "system_auth",
            "roles",
            "5bc52802-de25-35ed-aeab-188eecebb090",
        ),
        (
            "system_schema",
            "tables",
            "afddfb9d-bc1e-3068-8056-eed6c302ba09",
        ),
        (
            "system_traces",
            "sessions",
            "c5e99f16-8677-3914-b17e-960613512345",
        ),
    ] {
        assert_eq!(schema.table(keyspace, table).unwrap().id.to_string(), id);
    }
}

#[test]
fn system_tables_have_the_options_of_their_keyspace() {
    let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 1);
    let options = |keyspace: &str, table: &str| {
        let table = schema.table(keyspace, table).unwrap();
        (
            table.gc_grace_seconds,
            table.options.memtable_flush_period_in_ms,
            table.default_ttl,
        )
    };
    assert_eq!(
        options("system", "compaction_history"),
        (0, 3_600_000, 604_800)
    );
    assert_eq!(options("system_schema", "columns"), (604_800, 3_600_000, 0));
    assert_eq!(
        options("system_distributed", "repair_history"),
        (864_000, 0, 2_592_000)
    );
    assert_eq!(options("system_traces", "events"), (0, 0, 0));
    assert_eq!(
        schema
            .table("system", "paxos")
            .unwrap()
            .options
            .bloom_filter_fp_chance,
        0.01
    );
}

#[test]
fn virtual_tables_are_listed_apart() {
    let tables = bootstrapped();
    let lines = tables.lines();
    let listed = |line: &str| lines.iter().any(|known| known == line);
    assert!(listed("system_virtual_schema.keyspaces system_views | "));
    assert!(listed(
        "system_virtual_schema.tables system_views / clients | comment=currently connected clients"
    ));
    assert!(listed(
        "system_virtual_schema.columns system_virtual_schema / columns / kind | clustering_order=none; \
         column_name_bytes=6b696e64; kind=regular; position=-1; type=text"
    ));
    let mixed =
        |line: &&String| line.starts_with("system_schema.") && line.contains(" system_views");
    assert_eq!(lines.iter().find(mixed), None);
    assert!(listed(
        "system_views.settings native_transport_port | value=9042"
    ));
}
