"""Secondary indexes, nearest neighbours, materialized views and GROUP BY, with what the driver makes of their schema."""

from cassandra import InvalidRequest

from . import check, equal, eventually, refused


@check
def an_index_finds_rows_and_stands_in_the_metadata(context):
    table = context.table("k int PRIMARY KEY, v text, n int")
    context.run("CREATE INDEX %s_v ON %s (v)" % (table, table))
    for k in range(6):
        context.run("INSERT INTO %s (k, v, n) VALUES (%d, '%s', %d)" % (table, k, "ab"[k % 2], k))
    found = context.rows("SELECT k FROM %s WHERE v = 'b'" % table)
    equal(sorted(found), [(1,), (3,), (5,)])
    refused(InvalidRequest, "ALLOW FILTERING", context.run, "SELECT k FROM %s WHERE v = 'b' AND n = 1" % table)

    def index():
        return context.cluster.metadata.keyspaces[context.keyspace].indexes.get("%s_v" % table)

    eventually(lambda: index() is not None, "the index in the metadata")
    equal((index().kind, index().index_options["target"]), ("COMPOSITES", "v"))
    refused(InvalidRequest, "already exists", context.run, "CREATE INDEX %s_v ON %s (n)" % (table, table))
    context.run("DROP INDEX %s_v" % table)
    eventually(lambda: index() is None, "the index gone from the metadata")
    refused(InvalidRequest, "ALLOW FILTERING", context.run, "SELECT k FROM %s WHERE v = 'b'" % table)


@check
def storage_attached_indexes_go_together(context):
    table = context.table("k int PRIMARY KEY, v text, n int, s set<int>")
    for column in ("v", "n", "s"):
        context.run("CREATE INDEX ON %s (%s) USING 'sai'" % (table, column))
    for k in range(6):
        context.run("INSERT INTO %s (k, v, n, s) VALUES (%d, '%s', %d, {%d, 9})" % (table, k, "ab"[k % 2], k, k))
    for where, wanted in [
        ("n > 1 AND n <= 4", [2, 3, 4]),
        ("v = 'a' AND n > 1", [2, 4]),
        ("s CONTAINS 9 AND v = 'b' AND n < 4", [1, 3]),
    ]:
        got = sorted(k for (k,) in context.rows("SELECT k FROM %s WHERE %s" % (table, where)))
        equal((where, got), (where, wanted))


@check
def the_nearest_vectors_come_first(context):
    table = context.table("k int PRIMARY KEY, e vector<float, 2>")
    context.run("CREATE INDEX ON %s (e) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}" % table)
    insert = context.prepare("INSERT INTO %s (k, e) VALUES (?, ?)" % table)
    for k in range(8):
        context.run(insert, (k, [float(k), 0.0]))
    nearest = context.prepare("SELECT k FROM %s ORDER BY e ANN OF ? LIMIT ?" % table)
    equal(context.rows(nearest, ([4.9, 0.0], 3)), [(5,), (4,), (6,)])
    refused(InvalidRequest, "LIMIT", context.run, nearest, ([4.9, 0.0], 1001))


@check
def a_view_shows_its_table_by_another_key(context):
    table = context.table("k int, c int, v text, PRIMARY KEY (k, c)")
    view = "%s_by_v" % table
    context.run(
        "CREATE MATERIALIZED VIEW %s AS SELECT * FROM %s WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL "
        "PRIMARY KEY (v, k, c)" % (view, table)
    )
    for k, c, v in [(1, 1, "a"), (1, 2, "b"), (2, 1, "a")]:
        context.run("INSERT INTO %s (k, c, v) VALUES (%d, %d, '%s')" % (table, k, c, v))
    select = context.prepare("SELECT k, c FROM %s WHERE v = ?" % view)
    eventually(lambda: context.rows(select, ("a",)) == [(1, 1), (2, 1)], "the view's rows")
    context.run("UPDATE %s SET v = 'b' WHERE k = 2 AND c = 1" % table)
    eventually(lambda: context.rows(select, ("b",)) == [(1, 2), (2, 1)], "a row under its new key")
    equal(context.rows(select, ("a",)), [(1, 1)])
    keyspace = context.cluster.metadata.keyspaces[context.keyspace]
    eventually(lambda: view in keyspace.views, "the view in the metadata")
    equal(sorted(keyspace.views[view].columns), ["c", "k", "v"])
    refused(InvalidRequest, "Cannot directly modify", context.run, "INSERT INTO %s (v, k, c) VALUES ('a', 9, 9)" % view)
    refused(InvalidRequest, "materialized views still depend", context.run, "DROP TABLE %s" % table)
    context.run("DROP MATERIALIZED VIEW %s" % view)
    context.run("DROP TABLE %s" % table)


@check
def groups_are_counted_by_limits_and_pages(context):
    table = context.table("p int, c int, d int, v int, PRIMARY KEY (p, c, d)")
    insert = context.prepare("INSERT INTO %s (p, c, d, v) VALUES (?, ?, ?, ?)" % table)
    for c in range(3):
        for d in range(c + 1):
            context.run(insert, (1, c, d, 10 * c + d))
    grouped = "SELECT c, count(*), max(v) FROM %s WHERE p = 1 GROUP BY p, c" % table
    equal(context.rows(grouped), [(0, 1, 0), (1, 2, 11), (2, 3, 22)])
    equal(context.rows(grouped + " LIMIT 2"), [(0, 1, 0), (1, 2, 11)])
    refused(InvalidRequest, "Group by", context.run, "SELECT v FROM %s GROUP BY v" % table)
