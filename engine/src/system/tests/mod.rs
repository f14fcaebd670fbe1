//! The system tables held against those of Apache Cassandra 5.0.4.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use helenus_core::types::Value;
use helenus_core::wire::Reader;
use uuid::Uuid;

use super::NodeInfo;
use crate::readers::{Fragment, PartitionRange, ReadCommand, ReadLimit, ReadProgress, Slices};
use crate::schema::testing::World;
use crate::schema::{Schema, Table};
use crate::storage::{ColumnData, Mutation, Row, Shard, ShardOptions};

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

/// The system tables as storage has them.
pub(crate) struct Tables {
    shard: Shard,
    tables: BTreeMap<String, Arc<Table>>,
}

impl Tables {
    fn new() -> Self {
        Self {
            shard: Shard::new(ShardOptions::default()),
            tables: BTreeMap::new(),
        }
    }

    pub(crate) fn apply(&mut self, mutations: &[Mutation]) {
        for mutation in mutations {
            let table = &mutation.table;
            self.tables.insert(
                format!("{}.{}", table.keyspace, table.name),
                Arc::clone(table),
            );
            self.shard.apply(mutation, 1_700_000_000);
        }
    }

    /// One line a row: the table, its primary key, its other columns by name.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .tables
            .iter()
            .flat_map(|(name, table)| self.rows(name, table))
            .collect();
        lines.sort();
        lines
    }

    fn rows(&self, name: &str, table: &Arc<Table>) -> Vec<String> {
        let command = ReadCommand {
            table: Arc::clone(table),
            range: PartitionRange::ALL,
            slices: Slices::All,
            reversed: false,
            now_seconds: 1_700_000_000,
            resume: None,
            limit: ReadLimit::NONE,
        };
        let mut lines = Vec::new();
        let mut partition = String::new();
        let progress = self
            .shard
            .read(&command, usize::MAX, &mut |fragment: Fragment<'_>| {
                match fragment {
                    Fragment::PartitionStart(key) => {
                        partition =
                            shown(&Value::decode(&table.partition_key()[0].ty, &key.key).unwrap());
                    }
                    Fragment::Row(clustering, row) => {
                        let mut key = vec![partition.clone()];
                        let mut reader = Reader::new(&clustering.values);
                        for column in table.clustering() {
                            let bytes = reader.bytes().unwrap().unwrap();
                            key.push(shown(&Value::decode(&column.ty, bytes).unwrap()));
                        }
                        lines.push(format!(
                            "{name} {} | {}",
                            key.join(" / "),
                            cells(table, row)
                        ));
                    }
                    _ => {}
                }
                ControlFlow::Continue(())
            });
        assert!(matches!(progress, ReadProgress::Finished));
        lines
    }
}

fn cells(table: &Table, row: &Row) -> String {
    assert!(row.liveness.is_some());
    let mut cells = Vec::new();
    for (id, data) in &row.columns {
        let column = table.column_with_id(*id).unwrap();
        let value = match data {
            ColumnData::Simple(cell) => {
                shown(&Value::decode(&column.ty, cell.value.as_ref().unwrap()).unwrap())
            }
            ColumnData::Complex { cells, .. } => {
                let elements: Vec<_> = cells
                    .iter()
                    .map(|(path, _)| String::from_utf8_lossy(&path.value).into_owned())
                    .collect();
                format!("[{}]", elements.join(", "))
            }
        };
        cells.push(format!("{}={value}", column.name));
    }
    cells.join("; ")
}

/// A line without what differs between nodes and what repeats: the table's id and the bytes of a name.
fn comparable(line: &str) -> String {
    let (key, cells) = line.split_once(" | ").unwrap();
    let cells = cells
        .split("; ")
        .filter(|cell| !cell.starts_with("column_name_bytes="));
    let cells: Vec<&str> = cells
        .map(|cell| {
            if cell.starts_with("id=") {
                "id=?"
            } else {
                cell
            }
        })
        .collect();
    format!("{key} | {}", cells.join("; "))
}

fn bootstrapped() -> Tables {
    let (_, mutations) = Schema::bootstrap(&NodeInfo::default(), 1_700_000_000_000_000);
    let mut tables = Tables::new();
    tables.apply(&mutations);
    tables
}

/// The rows are those of Cassandra for the same statements; recorded without table ids and the bytes of names.
#[test]
fn schema_changes_leave_the_rows_cassandra_has() {
    let mut world = World::new();
    let mut tables = Tables::new();
    for statement in include_str!("statements.cql").split_inclusive(";\n") {
        tables.apply(&world.ok(statement).mutations);
    }
    let catalog = |tables: &Tables| -> Vec<String> {
        let lines = tables
            .lines()
            .into_iter()
            .filter(|line| !line.starts_with("system.local "));
        lines.map(|line| comparable(&line)).collect()
    };
    let recorded: Vec<&str> = include_str!("recorded.txt").lines().collect();
    assert_eq!(catalog(&tables), recorded);

    tables.apply(&world.ok("DROP KEYSPACE catalog").mutations);
    assert_eq!(catalog(&tables), [""; 0]);

    let again = "CREATE KEYSPACE catalog WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}";
    tables.apply(&world.ok(again).mutations);
    assert_eq!(
        catalog(&tables),
        [
            "system_schema.keyspaces catalog | durable_writes=true; replication={class: \
          org.apache.cassandra.locator.SimpleStrategy, replication_factor: 3}"
        ]
    );
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
    tables.apply(&world.ok("CREATE TABLE t (a int PRIMARY KEY)").mutations);
    let version = format!("schema_version={};", world.schema.version);
    let local = tables
        .lines()
        .into_iter()
        .find(|line| line.starts_with("system.local "))
        .unwrap();
    assert!(
        local.contains(&version) && local.contains("rpc_port=9042"),
        "{local}"
    );
}

#[test]
fn a_node_among_others_lists_them_and_counts_its_datacenters() {
    let peer = |last, datacenter: &str| {
        let mut peer = NodeInfo::new([127, 0, 0, last].into(), 9042, Uuid::from_u128(last.into()));
        peer.data_center = datacenter.to_owned();
        peer.tokens = vec![last.into()];
        peer
    };
    let peers = [peer(2, "datacenter2"), peer(3, "datacenter1")];
    let (schema, mutations) = Schema::bootstrap_among(&NodeInfo::default(), &peers, 1);
    let centres: Vec<_> = schema.datacenters.iter().collect();
    assert_eq!(
        centres,
        [(&"datacenter1".into(), &2), (&"datacenter2".into(), &1)]
    );
    let mut tables = Tables::new();
    tables.apply(&mutations);
    let changed = [127, 0, 0, 2].into();
    tables.apply(&schema.set_peer_version(changed, Uuid::from_u128(7), 2));
    let lines = tables.lines();
    let of_peers = lines.iter().filter(|line| line.contains("127.0.0.2"));
    assert_eq!(
        of_peers.collect::<Vec<_>>(),
        [
            "system.peers 127.0.0.2 | data_center=datacenter2; host_id=00000000-0000-0000-0000-000000000002; \
             rack=rack1; release_version=5.0.4; rpc_address=127.0.0.2; \
             schema_version=00000000-0000-0000-0000-000000000007; tokens=[2]",
            "system.peers_v2 127.0.0.2 / 7000 | data_center=datacenter2; \
             host_id=00000000-0000-0000-0000-000000000002; native_address=127.0.0.2; native_port=9042; rack=rack1; \
             release_version=5.0.4; schema_version=00000000-0000-0000-0000-000000000007; tokens=[2]",
        ]
    );
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

#[test]
fn indexes_and_views_have_rows_that_go_with_them() {
    let mut world = World::new();
    let mut tables = Tables::new();
    let mut run = |cql: &str| {
        tables.apply(&world.ok(cql).mutations);
        let lines = tables.lines().into_iter();
        let wanted = lines.filter(|line| {
            line.starts_with("system_schema.indexes") || line.starts_with("system_schema.views")
        });
        wanted.collect::<Vec<_>>()
    };
    run("CREATE TABLE t (k int PRIMARY KEY, v int) WITH ID = 123e4567-e89b-12d3-a456-426614174000");
    assert_eq!(
        run("CREATE INDEX i ON t (v) USING 'sai'"),
        ["system_schema.indexes ks / t / i | kind=CUSTOM; options={class_name: sai, target: v}"]
    );
    assert_eq!(run("DROP INDEX i"), [""; 0]);
    let rows = run(
        "CREATE MATERIALIZED VIEW mv AS SELECT * FROM t WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)",
    );
    assert_eq!(rows.len(), 1);
    for part in [
        "system_schema.views ks / mv | ",
        "base_table_id=123e4567-e89b-12d3-a456-426614174000; base_table_name=t; ",
        "include_all_columns=true; ",
        "where_clause=k IS NOT NULL AND v IS NOT NULL",
    ] {
        assert!(rows[0].contains(part), "{}", rows[0]);
    }
    assert_eq!(run("DROP MATERIALIZED VIEW mv"), [""; 0]);
}
