"""CREATE, ALTER, DROP: what the driver's metadata shows, and the events that others see."""

from cassandra import AlreadyExists, InvalidRequest
from cassandra.protocol import SyntaxException

from . import check, each, equal, eventually, refused


@check
def keyspaces_come_change_and_go(context):
    name = context.keyspace + "_other"
    context.run("DROP KEYSPACE IF EXISTS %s" % name)
    context.run(
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2} "
        "AND durable_writes = false" % name
    )
    keyspaces = context.cluster.metadata.keyspaces
    equal(keyspaces[name].durable_writes, False)
    equal(keyspaces[name].replication_strategy.replication_factor, 2)
    context.run(
        "ALTER KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}" % name
    )
    equal(type(keyspaces[name].replication_strategy).__name__, "NetworkTopologyStrategy")
    equal(
        context.row("SELECT durable_writes, replication FROM system_schema.keyspaces WHERE keyspace_name = '%s'" % name),
        (False, {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "datacenter1": "1"}),
    )
    refused(
        AlreadyExists,
        "Keyspace '%s' already exists" % name,
        context.run,
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % name,
    )
    context.run(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % name
    )
    context.run("DROP KEYSPACE %s" % name)
    assert name not in keyspaces
    refused(InvalidRequest, "Keyspace '%s' doesn't exist" % name, context.run, "DROP KEYSPACE %s" % name)
    context.run("DROP KEYSPACE IF EXISTS %s" % name)


@check
def tables_come_change_and_go(context):
    table = context.table(
        "a int, b text, c timeuuid, d uuid, s set<int> static, v frozen<map<text, int>>, PRIMARY KEY ((a, b), c, d)",
        "WITH CLUSTERING ORDER BY (c DESC, d ASC) AND comment = 'it''s' AND gc_grace_seconds = 60",
    )
    metadata = context.cluster.metadata.keyspaces[context.keyspace].tables[table]
    equal([c.name for c in metadata.partition_key], ["a", "b"])
    equal([c.name for c in metadata.clustering_key], ["c", "d"])
    equal([c.is_reversed for c in metadata.clustering_key], [True, False])
    equal(
        {c.name: (c.cql_type, c.is_static) for c in metadata.columns.values()},
        {
            "a": ("int", False),
            "b": ("text", False),
            "c": ("timeuuid", False),
            "d": ("uuid", False),
            "s": ("set<int>", True),
            "v": ("frozen<map<text, int>>", False),
        },
    )
    equal((metadata.options["comment"], metadata.options["gc_grace_seconds"]), ("it's", 60))
    context.run("ALTER TABLE %s ADD (e int, f list<text>)" % table)
    context.run("ALTER TABLE %s DROP v" % table)
    context.run("ALTER TABLE %s RENAME c TO z" % table)
    context.run("ALTER TABLE %s WITH comment = 'other' AND default_time_to_live = 9" % table)
    metadata = context.cluster.metadata.keyspaces[context.keyspace].tables[table]
    equal(list(metadata.columns), ["a", "b", "z", "d", "e", "f", "s"])
    equal((metadata.options["comment"], metadata.options["default_time_to_live"]), ("other", 9))
    refused(AlreadyExists, "", context.run, "CREATE TABLE %s (k int PRIMARY KEY)" % table)
    context.run("CREATE TABLE IF NOT EXISTS %s (k int PRIMARY KEY)" % table)
    context.run("DROP TABLE %s" % table)
    assert table not in context.cluster.metadata.keyspaces[context.keyspace].tables
    refused(InvalidRequest, "doesn't exist", context.run, "DROP TABLE %s" % table)
    context.run("DROP TABLE IF EXISTS %s" % table)


@check
def the_driver_writes_the_table_down(context):
    table = context.table("p int, c text, v frozen<list<int>>, PRIMARY KEY (p, c)", "WITH CLUSTERING ORDER BY (c DESC)")
    text = context.cluster.metadata.keyspaces[context.keyspace].tables[table].export_as_string()
    lines = text.replace("%s.%s" % (context.keyspace, table), "KS.T").splitlines()
    equal(lines[:6], ["CREATE TABLE KS.T (", "    p int,", "    c text,", "    v frozen<list<int>>,", "    PRIMARY KEY (p, c)", ") WITH CLUSTERING ORDER BY (c DESC)"])
    options = {}
    for line in lines[6:]:
        name, _, value = line.strip().rstrip(";").partition(" = ")
        options[name[len("AND "):]] = value
    each(OPTIONS.items(), lambda name, value: equal(options.get(name), value))


OPTIONS = {
    "bloom_filter_fp_chance": "0.01",
    "caching": "{'keys': 'ALL', 'rows_per_partition': 'NONE'}",
    "comment": "''",
    "compaction": "{'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4'}",
    "compression": "{'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.LZ4Compressor'}",
    "crc_check_chance": "1.0",
    "default_time_to_live": "0",
    "gc_grace_seconds": "864000",
    "max_index_interval": "2048",
    "memtable_flush_period_in_ms": "0",
    "min_index_interval": "128",
    "speculative_retry": "'99p'",
}


@check
def user_types_come_change_and_go(context):
    context.run("CREATE TYPE shape (name text, sides int)")
    types = context.cluster.metadata.keyspaces[context.keyspace].user_types
    equal((types["shape"].field_names, types["shape"].field_types), (["name", "sides"], ["text", "int"]))
    context.run("ALTER TYPE shape ADD area double")
    types = context.cluster.metadata.keyspaces[context.keyspace].user_types
    equal((types["shape"].field_names, types["shape"].field_types), (["name", "sides", "area"], ["text", "int", "double"]))
    context.run("ALTER TYPE shape RENAME name TO title")
    types = context.cluster.metadata.keyspaces[context.keyspace].user_types
    equal(types["shape"].field_names, ["title", "sides", "area"])
    context.run("DROP TYPE shape")
    assert "shape" not in context.cluster.metadata.keyspaces[context.keyspace].user_types


@check
def another_client_sees_changes_as_events(context):
    observer = context.connect()
    try:
        observer.connect()
        keyspaces = observer.metadata.keyspaces
        table = context.table("k int PRIMARY KEY")
        tables = lambda: observer.metadata.keyspaces[context.keyspace].tables  # noqa: E731
        eventually(lambda: table in tables(), "CREATE TABLE")
        context.run("ALTER TABLE %s ADD v int" % table)
        eventually(lambda: "v" in tables()[table].columns, "ALTER TABLE")
        context.run("CREATE TYPE seen (a int)")
        eventually(lambda: "seen" in keyspaces[context.keyspace].user_types, "CREATE TYPE")
        context.run("DROP TABLE %s" % table)
        eventually(lambda: table not in tables(), "DROP TABLE")
        name = context.keyspace + "_event"
        context.run("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % name)
        eventually(lambda: name in observer.metadata.keyspaces, "CREATE KEYSPACE")
        context.run("DROP KEYSPACE %s" % name)
        eventually(lambda: name not in observer.metadata.keyspaces, "DROP KEYSPACE")
    finally:
        observer.shutdown()


@check
def a_dropped_column_may_return_without_its_old_values(context):
    table = context.table("k int PRIMARY KEY, v int")
    context.run("INSERT INTO %s (k, v) VALUES (1, 1)" % table)
    context.run("ALTER TABLE %s DROP v" % table)
    refused(InvalidRequest, "Undefined column name v", context.run, "SELECT v FROM %s" % table)
    context.run("ALTER TABLE %s ADD v int" % table)
    equal(context.rows("SELECT k, v FROM %s" % table), [(1, None)])
    refused(InvalidRequest, "", context.run, "ALTER TABLE %s DROP k" % table)
    refused(InvalidRequest, "", context.run, "ALTER TABLE %s ADD v text" % table)


@check
def wrong_definitions_are_refused(context):
    cases = [
        ("CREATE TABLE x (k int)", "No PRIMARY KEY specifed for table"),
        ("CREATE TABLE x (k int PRIMARY KEY, k text)", ""),
        ("CREATE TABLE x (k int, PRIMARY KEY (k, z))", ""),
        ("CREATE TABLE x (k nosuchtype PRIMARY KEY)", "Unknown type"),
        ("CREATE TABLE x (k list<int> PRIMARY KEY)", "Invalid non-frozen collection type"),
        ("CREATE TABLE x (k int PRIMARY KEY, s int static)", "Static columns are only useful"),
        ("CREATE TABLE x (k int PRIMARY KEY, v duration, PRIMARY KEY (v))", ""),
        ("CREATE TABLE x (k duration PRIMARY KEY)", "duration type is not supported for PRIMARY KEY column"),
        ("CREATE TABLE nosuchks.x (k int PRIMARY KEY)", "Keyspace 'nosuchks' doesn't exist"),
        ("ALTER TABLE nosuchtable ADD v int", "Table '%s.nosuchtable' doesn't exist" % context.keyspace),
        ("CREATE KEYSPACE x WITH durable_writes = true", "Missing mandatory option 'replication'"),
    ]
    each(cases, lambda text, message: refused(InvalidRequest, message, context.run, text))
    unknown = "CREATE TABLE x (k int PRIMARY KEY) WITH nosuchoption = 1"
    refused(SyntaxException, "Unknown property 'nosuchoption'", context.run, unknown)
