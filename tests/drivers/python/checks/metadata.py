"""What the driver reads about the node: system.local, peers, versions, schema agreement."""

import uuid

from . import check, equal


@check
def the_node_describes_itself(context):
    row = context.row(
        "SELECT key, bootstrapped, data_center, rack, partitioner, native_protocol_version, cql_version, "
        "host_id, schema_version FROM system.local WHERE key = 'local'"
    )
    equal(row[:6], ("local", "COMPLETED", "datacenter1", "rack1", "org.apache.cassandra.dht.Murmur3Partitioner", "5"))
    assert row[6].startswith("3.4."), row[6]
    assert isinstance(row[7], uuid.UUID) and isinstance(row[8], uuid.UUID)


@check
def the_driver_knows_the_host(context):
    hosts = context.cluster.metadata.all_hosts()
    equal([(h.address, h.datacenter, h.rack, h.is_up) for h in hosts], [("127.0.0.1", "datacenter1", "rack1", True)])
    equal(context.cluster.metadata.partitioner, "org.apache.cassandra.dht.Murmur3Partitioner")
    assert context.cluster.metadata.token_map is not None
    assert hosts[0].release_version.startswith(("4.", "5.")), hosts[0].release_version


@check
def there_are_no_peers(context):
    equal(context.rows("SELECT * FROM system.peers"), [])
    equal(context.rows("SELECT * FROM system.peers_v2"), [])


@check
def schemas_agree_and_the_version_changes(context):
    before = context.row("SELECT schema_version FROM system.local")
    context.table("k int PRIMARY KEY")
    after = context.row("SELECT schema_version FROM system.local")
    assert before != after
    assert context.cluster.control_connection.wait_for_schema_agreement(wait_time=5)


@check
def system_tables_describe_user_tables(context):
    table = context.table("p int, c text, s int static, v map<text, int>, PRIMARY KEY (p, c)", "WITH CLUSTERING ORDER BY (c DESC)")
    equal(
        context.rows(
            "SELECT column_name, clustering_order, kind, position, type FROM system_schema.columns "
            "WHERE keyspace_name = '%s' AND table_name = '%s'" % (context.keyspace, table)
        ),
        [
            ("c", "desc", "clustering", 0, "text"),
            ("p", "none", "partition_key", 0, "int"),
            ("s", "none", "static", -1, "int"),
            ("v", "none", "regular", -1, "map<text, int>"),
        ],
    )
    equal(
        context.rows(
            "SELECT flags, gc_grace_seconds FROM system_schema.tables "
            "WHERE keyspace_name = '%s' AND table_name = '%s'" % (context.keyspace, table)
        )[0][1],
        864000,
    )


@check
def system_keyspaces_are_read_only(context):
    from cassandra import InvalidRequest, Unauthorized

    for text in ("DROP KEYSPACE system", "DROP TABLE system.local", "CREATE TABLE system.x (k int PRIMARY KEY)"):
        try:
            context.run(text)
        except (InvalidRequest, Unauthorized):
            continue
        raise AssertionError("%s was accepted" % text)
