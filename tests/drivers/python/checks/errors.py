"""Errors: the code, the message, and a connection that goes on."""

from cassandra import ConsistencyLevel, InvalidRequest, Unavailable
from cassandra.policies import FallthroughRetryPolicy
from cassandra.protocol import SyntaxException
from cassandra.query import SimpleStatement

from . import check, each, equal, refused


@check
def syntax_errors_tell_the_position(context):
    # At the end of the text Cassandra says line 0:-1; the true place is better.
    cases = [
        ("SELEC * FROM t", "line 1:0 no viable alternative at input 'SELEC'"),
        ("SELECT * FORM t", "line 1:9 mismatched input 'FORM' expecting K_FROM"),
        ("SELECT * FROM", "no viable alternative at input '<EOF>'"),
        ("SELECT *\nFROM t WHERE", "no viable alternative at input '<EOF>'"),
        ("", "no viable alternative at input '<EOF>'"),
        ("INSERT INTO t (k) VALUES (1", "mismatched input '<EOF>' expecting ')'"),
        ("SELECT * FROM t WHERE k = 'unclosed", "mismatched character '<EOF>'"),
    ]
    each(cases, lambda text, message: refused(SyntaxException, message, context.run, text))


@check
def invalid_statements_tell_what_is_wrong(context):
    table = context.table("p int, c int, v text, PRIMARY KEY (p, c)")
    # At the end of the text Cassandra says line 0:-1; the true place is better.
    cases = [
        ("SELECT * FROM nosuchtable", "table nosuchtable does not exist"),
        ("SELECT * FROM nosuchks.t", "keyspace nosuchks does not exist"),
        ("SELECT x FROM %s" % table, "Undefined column name x in table %s.%s" % (context.keyspace, table)),
        ("SELECT * FROM %s WHERE x = 1" % table, "Undefined column name x"),
        ("SELECT * FROM %s WHERE p = 'a'" % table, 'Invalid STRING constant (a) for "p" of type int'),
        ("INSERT INTO %s (p) VALUES (1)" % table, "Some clustering keys are missing: c"),
        ("INSERT INTO %s (c) VALUES (1)" % table, "Some partition key parts are missing: p"),
        ("INSERT INTO %s (p, c, v) VALUES (1, 2)" % table, "Unmatched column names/values"),
        ("INSERT INTO %s (p, c, v) VALUES (1, 2, 3)" % table, 'Invalid INTEGER constant (3) for "v" of type text'),
        ("INSERT INTO %s (p, p) VALUES (1, 2)" % table, "The column names contains duplicates"),
        ("UPDATE %s SET c = 1 WHERE p = 1" % table, "PRIMARY KEY part c found in SET part"),
        ("UPDATE %s SET v = 'a' WHERE p = 1" % table, "Some clustering keys are missing: c"),
        ("DELETE FROM %s WHERE c = 1" % table, "Some partition key parts are missing: p"),
        ("SELECT * FROM %s WHERE p = 1 AND p = 2" % table, "p cannot be restricted by more than one relation"),
        ("SELECT nosuchfunction(p) FROM %s" % table, "Unknown function"),
        ("SELECT * FROM %s WHERE p > 1" % table, "ALLOW FILTERING"),
        ("USE nosuchks", "Keyspace 'nosuchks' does not exist"),
        ("TRUNCATE nosuchtable", "nosuchtable"),
    ]
    each(cases, lambda text, message: refused(InvalidRequest, message, context.run, text))
    context.run("INSERT INTO %s (p, c, v) VALUES (1, 2, 'still serving')" % table)


@check
def more_replicas_than_there_are_is_unavailable(context):
    table = context.table("k int PRIMARY KEY")
    for level in (ConsistencyLevel.TWO, ConsistencyLevel.THREE):
        for text in ("SELECT * FROM %s WHERE k = 1", "INSERT INTO %s (k) VALUES (1)"):
            statement = SimpleStatement(
                text % table, consistency_level=level, retry_policy=FallthroughRetryPolicy()
            )
            error = refused(Unavailable, "Cannot achieve consistency level", context.run, statement)
            equal((error.required_replicas, error.alive_replicas, error.consistency), (level, 1, level))


@check
def every_other_level_is_served(context):
    table = context.table("k int PRIMARY KEY")
    for level in ("ONE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM", "ANY"):
        write = SimpleStatement(
            "INSERT INTO %s (k) VALUES (1)" % table, consistency_level=getattr(ConsistencyLevel, level)
        )
        context.run(write)
    for level in ("ONE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "SERIAL", "LOCAL_SERIAL"):
        read = SimpleStatement("SELECT k FROM %s" % table, consistency_level=getattr(ConsistencyLevel, level))
        equal(context.rows(read), [(1,)])
    read = SimpleStatement("SELECT k FROM %s" % table, consistency_level=ConsistencyLevel.ANY)
    refused(InvalidRequest, "ANY ConsistencyLevel is only supported for writes", context.run, read)


@check
def no_keyspace_no_table(context):
    other = context.cluster.connect()
    refused(InvalidRequest, "No keyspace has been specified", other.execute, "SELECT * FROM t")
    other.shutdown()


@check
def a_thousand_errors_leave_the_connection_whole(context):
    futures = [context.session.execute_async("SELECT nothing FROM nowhere") for _ in range(1000)]
    for future in futures:
        refused(InvalidRequest, "table nowhere does not exist", future.result)
    equal(context.row("SELECT key FROM system.local"), ("local",))
