"""Counters: sums, deletes, refusals."""

from cassandra import InvalidRequest

from . import check, equal, refused


@check
def counters_add_up(context):
    table = context.table("p int, c text, n counter, m counter, PRIMARY KEY (p, c)")
    add = context.prepare("UPDATE %s SET n = n + ?, m = m - ? WHERE p = 1 AND c = 'x'" % table)
    for i in range(10):
        context.run(add, (i, 1))
    equal(context.rows("SELECT n, m FROM %s" % table), [(45, -10)])
    context.run("UPDATE %s SET n += 5 WHERE p = 1 AND c = 'y'" % table)
    equal(context.rows("SELECT c, n, m FROM %s" % table), [("x", 45, -10), ("y", 5, None)])


@check
def concurrent_increments_are_all_counted(context):
    table = context.table("k int PRIMARY KEY, n counter")
    add = context.prepare("UPDATE %s SET n = n + 1 WHERE k = 1" % table)
    for future in [context.session.execute_async(add) for _ in range(200)]:
        future.result()
    equal(context.row("SELECT n FROM %s" % table), (200,))


@check
def counters_are_refused_where_they_have_no_meaning(context):
    table = context.table("k int PRIMARY KEY, n counter")
    for text in [
        "INSERT INTO %s (k, n) VALUES (1, 1)" % table,
        "UPDATE %s SET n = 5 WHERE k = 1" % table,
        "UPDATE %s USING TTL 5 SET n = n + 1 WHERE k = 1" % table,
        "UPDATE %s USING TIMESTAMP 5 SET n = n + 1 WHERE k = 1" % table,
        "CREATE TABLE refused (k int PRIMARY KEY, n counter, v int)",
        "CREATE TABLE refused (k counter PRIMARY KEY, v int)",
    ]:
        refused(InvalidRequest, "", context.run, text)


@check
def a_deleted_counter_is_gone(context):
    table = context.table("k int PRIMARY KEY, n counter")
    context.run("UPDATE %s SET n = n + 3 WHERE k = 1" % table)
    context.run("DELETE FROM %s WHERE k = 1" % table)
    equal(context.rows("SELECT n FROM %s" % table), [])
