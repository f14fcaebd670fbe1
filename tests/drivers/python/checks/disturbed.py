"""A server that stops answering, or that ends and comes back on the same port."""

from cassandra import OperationTimedOut
from cassandra.cluster import NoHostAvailable
from cassandra.policies import ConstantReconnectionPolicy

from . import check, equal, eventually


@check
def a_request_times_out_and_the_connection_goes_on(context):
    table = context.table("k int PRIMARY KEY, v int")
    insert = context.prepare("INSERT INTO %s (k, v) VALUES (?, ?)" % table)
    context.run(insert, (1, 1))
    if not context.control("pause"):
        return
    late = 0
    try:
        for k in range(3):
            try:
                context.session.execute(insert, (k, 10 + k), timeout=0.3)
            except OperationTimedOut:
                late += 1
    finally:
        context.control("resume")
    equal(late, 3)
    # The late answers belong to nobody; what is asked now is answered with its own.
    for k in range(20):
        context.run(insert, (k, k))
        equal(context.row("SELECT k, v FROM %s WHERE k = %d" % (table, k)), (k, k))


@check
def a_session_outlives_its_server(context):
    if not context.control("resume"):
        return
    name = context.keyspace + "_again"
    schema = [
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % name,
        "CREATE TABLE %s.t (k int PRIMARY KEY, v text)" % name,
    ]
    cluster = context.connect(reconnection_policy=ConstantReconnectionPolicy(0.1, None))
    session = cluster.connect()
    for cql in schema:
        session.execute(cql)
    insert = session.prepare("INSERT INTO %s.t (k, v) VALUES (?, ?)" % name)
    session.execute(insert, (1, "before"))
    context.control("restart")

    def answers():
        try:
            return session.execute("SELECT key FROM system.local").one()[0] == "local"
        except (NoHostAvailable, OperationTimedOut):
            return False

    eventually(answers, "an answer of the server that came back", 30)
    # It keeps nothing: the statement that the driver prepared before is unknown, and prepared again.
    for cql in schema:
        session.execute(cql)
    session.execute(insert, (1, "after"))
    equal([tuple(row) for row in session.execute("SELECT k, v FROM %s.t" % name)], [(1, "after")])
    session.execute("DROP KEYSPACE %s" % name)
    cluster.shutdown()
    # The other checks' keyspace is gone with the old server; this session may still look for it.
    context.cluster.shutdown()
    context.cluster = context.connect()
    context.session = context.cluster.connect()
