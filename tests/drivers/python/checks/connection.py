"""What the connection agreed on, and much at once on one connection."""

from . import check, equal


@check
def the_connection_has_the_version_that_was_asked_for(context):
    equal(context.cluster.protocol_version, context.version)


@check
def the_connection_compresses_as_asked(context):
    connection = context.cluster.control_connection._connection
    if context.compression == "none":
        equal(connection.compression, False)
    else:
        equal(connection._compression_type, context.compression)


@check
def hundreds_of_requests_in_flight_are_each_answered_on_their_stream(context):
    table = context.table("k int PRIMARY KEY, v text")
    insert = context.prepare("INSERT INTO %s (k, v) VALUES (?, ?)" % table)
    for future in [context.session.execute_async(insert, (k, "v%d" % k)) for k in range(500)]:
        future.result()
    select = context.prepare("SELECT k, v FROM %s WHERE k = ?" % table)
    futures = [context.session.execute_async(select, (k,)) for k in range(500)]
    equal([tuple(f.result().one()) for f in futures], [(k, "v%d" % k) for k in range(500)])


@check
def use_switches_the_keyspace_of_the_session(context):
    other = context.cluster.connect()
    other.execute("USE %s" % context.keyspace)
    equal(other.keyspace, context.keyspace)
    equal(other.execute("SELECT key FROM system.local").one()[0], "local")
    other.shutdown()
