"""SELECT: restrictions, slices, order, limits, functions, filtering, aliases."""

from cassandra import InvalidRequest

from . import check, equal, refused


def filled(context):
    table = context.table(
        "p int, c int, d text, v int, PRIMARY KEY (p, c, d)", "WITH CLUSTERING ORDER BY (c ASC, d DESC)"
    )
    insert = context.prepare("INSERT INTO %s (p, c, d, v) VALUES (?, ?, ?, ?)" % table)
    for p in (1, 2, 3):
        for c in range(4):
            for d in "ab":
                context.run(insert, (p, c, d, p * 100 + c * 10 + "ab".index(d)))
    return table


@check
def the_primary_key_finds_rows_by_every_prefix(context):
    table = filled(context)
    for where, wanted in [
        ("p = 1 AND c = 2 AND d = 'a'", [120]),
        ("p = 1 AND c = 2", [121, 120]),
        ("p = 2 AND c = 9", []),
        ("p = 1 AND c > 1 AND c < 3", [121, 120]),
        ("p = 1 AND c >= 3", [131, 130]),
        ("p = 1 AND c <= 0", [101, 100]),
        ("p = 1 AND c = 1 AND d > 'a'", [111]),
        ("p = 1 AND c = 1 AND d <= 'a'", [110]),
        ("p = 1 AND c IN (3, 0)", [101, 100, 131, 130]),
        ("p = 1 AND c IN (2, 2)", [121, 120]),
        ("p = 1 AND c IN ()", []),
        ("p = 1 AND c IN (0, 1) AND d IN ('a', 'x')", [100, 110]),
        ("p = 1 AND (c, d) = (3, 'b')", [131]),
        ("p = 1 AND (c, d) IN ((0, 'a'), (3, 'b'))", [100, 131]),
        ("p = 1 AND (c) > (2)", [131, 130]),
        ("p = 1 AND (c, d) >= (2, 'b') AND (c) < (3)", [121]),
        ("p = 1 AND c = 0 AND (d) >= ('b')", [101]),
    ]:
        got = [v for (v,) in context.rows("SELECT v FROM %s WHERE %s" % (table, where))]
        equal((where, got), (where, wanted))


@check
def several_partitions_by_in(context):
    table = filled(context)
    got = context.rows("SELECT p, v FROM %s WHERE p IN (3, 1, 7) AND c = 0 AND d = 'a'" % table)
    equal(sorted(got), [(1, 100), (3, 300)])


@check
def order_limit_and_distinct(context):
    table = filled(context)
    for text, wanted in [
        ("SELECT v FROM {t} WHERE p = 1 ORDER BY c DESC, d ASC LIMIT 3", [130, 131, 120]),
        ("SELECT v FROM {t} WHERE p = 1 ORDER BY c LIMIT 1", [101]),
        ("SELECT v FROM {t} WHERE p = 1 AND c < 3 ORDER BY c DESC LIMIT 2", [120, 121]),
        ("SELECT v FROM {t} WHERE p = 1 PER PARTITION LIMIT 1", [101]),
    ]:
        equal((text, [v for (v,) in context.rows(text.format(t=table))]), (text, wanted))
    equal(sorted(context.rows("SELECT DISTINCT p FROM %s" % table)), [(1,), (2,), (3,)])
    equal(len(context.rows("SELECT v FROM %s LIMIT 5" % table)), 5)
    refused(InvalidRequest, "Order by is currently only supported on the clustered columns", context.run, "SELECT v FROM %s WHERE p = 1 ORDER BY v" % table)
    refused(InvalidRequest, "LIMIT must be strictly positive", context.run, "SELECT v FROM %s LIMIT 0" % table)


@check
def order_with_in_merges_partitions(context):
    table = filled(context)
    select = context.prepare("SELECT c, d, p FROM %s WHERE p IN (1, 2) AND c < 2 ORDER BY c DESC" % table)
    select.fetch_size = None
    rows = context.rows(select.bind(()))
    equal(rows, [(c, d, p) for c in (1, 0) for p in (1, 2) for d in "ab"])


@check
def filtering_needs_to_be_allowed(context):
    table = filled(context)
    text = "SELECT v FROM %s WHERE v > 325" % table
    refused(InvalidRequest, "ALLOW FILTERING", context.run, text)
    equal(sorted(context.rows(text + " ALLOW FILTERING")), [(330,), (331,)])
    got = context.rows("SELECT v FROM %s WHERE c = 1 AND d = 'a' ALLOW FILTERING" % table)
    equal(sorted(got), [(110,), (210,), (310,)])
    got = context.rows("SELECT v FROM %s WHERE p = 1 AND d = 'b' ALLOW FILTERING" % table)
    equal(got, [(101,), (111,), (121,), (131,)])


@check
def collections_are_filtered_by_contains(context):
    table = context.table("k int PRIMARY KEY, l list<int>, m map<text, int>, f frozen<set<int>>")
    context.run("INSERT INTO %s (k, l, m, f) VALUES (1, [1, 2], {'a': 1}, {1})" % table)
    context.run("INSERT INTO %s (k, l, m, f) VALUES (2, [2, 3], {'b': 1}, {1, 2})" % table)
    for where, wanted in [
        ("l CONTAINS 2", [1, 2]),
        ("l CONTAINS 3", [2]),
        ("m CONTAINS KEY 'a'", [1]),
        ("m CONTAINS 1", [1, 2]),
        ("m['b'] = 1", [2]),
        ("f = {1, 2}", [2]),
        ("l CONTAINS 1 AND l CONTAINS 2", [1]),
    ]:
        got = sorted(k for (k,) in context.rows("SELECT k FROM %s WHERE %s ALLOW FILTERING" % (table, where)))
        equal((where, got), (where, wanted))


@check
def counts_are_counted(context):
    table = filled(context)
    equal(context.row("SELECT count(*) FROM %s" % table), (24,))
    equal(context.row("SELECT count(1) FROM %s WHERE p = 1" % table), (8,))
    equal(context.row("SELECT COUNT(*) AS n FROM %s WHERE p = 4" % table), (0,))
    equal(context.run("SELECT COUNT(*) AS n FROM %s" % table).column_names, ["n"])
    equal(context.run("SELECT COUNT(*) FROM %s" % table).column_names, ["count"])


@check
def token_orders_the_partitions(context):
    table = context.table("k int PRIMARY KEY")
    for k in range(30):
        context.run("INSERT INTO %s (k) VALUES (%d)" % (table, k))
    rows = context.rows("SELECT token(k), k FROM %s" % table)
    equal(len(rows), 30)
    equal(rows, sorted(rows))
    equal(dict((k, t) for t, k in rows)[1], -4069959284402364209)
    equal(dict((k, t) for t, k in rows)[0], -3485513579396041028)
    split = rows[11][0]
    equal(context.rows("SELECT token(k), k FROM %s WHERE token(k) > %d" % (table, split)), rows[12:])
    equal(context.rows("SELECT token(k), k FROM %s WHERE token(k) <= %d" % (table, split)), rows[:12])
    select = "SELECT token(k), k FROM %s WHERE token(k) > token(%d) AND token(k) < token(%d)"
    equal(context.rows(select % (table, rows[4][1], rows[20][1])), rows[5:20])


@check
def a_composite_partition_key_has_the_token_of_its_parts(context):
    table = context.table("a int, b text, v int, PRIMARY KEY ((a, b))")
    context.run("INSERT INTO %s (a, b, v) VALUES (1, 'x', 7)" % table)
    token = context.row("SELECT token(a, b) FROM %s" % table)[0]
    prepared = context.prepare("SELECT v FROM %s WHERE a = ? AND b = ?" % table)
    bound = prepared.bind((1, "x"))
    equal(context.cluster.metadata.token_map.token_class.from_key(bound.routing_key).value, token)
    equal(context.rows(bound), [(7,)])
    equal(context.rows("SELECT v FROM %s WHERE a IN (1, 2) AND b IN ('x', 'y')" % table), [(7,)])
    refused(InvalidRequest, "", context.run, "SELECT v FROM %s WHERE a = 1" % table)


@check
def results_name_their_columns(context):
    table = context.table("p int, c int, s int static, a text, b text, PRIMARY KEY (p, c)")
    equal(context.run("SELECT * FROM %s" % table).column_names, ["p", "c", "s", "a", "b"])
    text = "SELECT a AS first, token(p), writetime(a), ttl(b), cast(c AS text), p FROM %s" % table
    wanted = ["first", "system.token(p)", "writetime(a)", "ttl(b)", "cast(c as text)", "p"]
    equal(context.run(text).column_names, wanted)


@check
def json_free_aggregates_free_selects_of_literals_and_casts(context):
    table = context.table("k int PRIMARY KEY, v int")
    context.run("INSERT INTO %s (k, v) VALUES (1, 300)" % table)
    equal(context.row("SELECT cast(v AS bigint), cast(v AS text), cast(v AS double) FROM %s" % table), (300, "300", 300.0))


@check
def reversed_tables_slice_the_right_way(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)", "WITH CLUSTERING ORDER BY (c DESC)")
    for c in range(6):
        context.run("INSERT INTO %s (p, c) VALUES (1, %d)" % (table, c))
    for where, wanted in [
        ("c > 3", [5, 4]),
        ("c >= 3 AND c < 5", [4, 3]),
        ("c < 2", [1, 0]),
        ("c > 3 ORDER BY c ASC", [4, 5]),
        ("c IN (1, 4)", [4, 1]),
    ]:
        got = [c for (c,) in context.rows("SELECT c FROM %s WHERE p = 1 AND %s" % (table, where))]
        equal((where, got), (where, wanted))
