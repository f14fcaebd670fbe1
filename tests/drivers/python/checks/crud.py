"""Rows come, change and go: insert, update, delete, static columns, ranges, truncation."""

from cassandra import InvalidRequest

from . import check, equal, refused


@check
def an_insert_writes_a_row_even_without_values(context):
    table = context.table("k int PRIMARY KEY, v text")
    context.run("INSERT INTO %s (k) VALUES (1)" % table)
    equal(context.rows("SELECT k, v FROM %s" % table), [(1, None)])


@check
def an_update_upserts_without_a_row_marker(context):
    table = context.table("k int PRIMARY KEY, v text")
    context.run("UPDATE %s SET v = 'a' WHERE k = 1" % table)
    equal(context.rows("SELECT k, v FROM %s" % table), [(1, "a")])
    context.run("UPDATE %s SET v = null WHERE k = 1" % table)
    equal(context.rows("SELECT k, v FROM %s" % table), [])


@check
def deletes_take_cells_rows_and_partitions(context):
    table = context.table("p int, c int, a int, b int, PRIMARY KEY (p, c)")
    for p in (1, 2):
        for c in range(4):
            context.run("INSERT INTO %s (p, c, a, b) VALUES (%d, %d, %d, %d)" % (table, p, c, c * 10, c * 100))
    context.run("DELETE a FROM %s WHERE p = 1 AND c = 0" % table)
    context.run("DELETE FROM %s WHERE p = 1 AND c = 1" % table)
    context.run("DELETE FROM %s WHERE p = 2" % table)
    equal(
        context.rows("SELECT p, c, a, b FROM %s" % table),
        [(1, 0, None, 0), (1, 2, 20, 200), (1, 3, 30, 300)],
    )


@check
def range_deletes_take_what_lies_between(context):
    table = context.table("p int, c int, d int, v int, PRIMARY KEY (p, c, d)")

    def fill():
        for c in range(4):
            for d in range(3):
                context.run("INSERT INTO %s (p, c, d, v) VALUES (1, %d, %d, 0)" % (table, c, d))

    def left():
        return [c * 10 + d for c, d in context.rows("SELECT c, d FROM %s WHERE p = 1" % table)]

    fill()
    context.run("DELETE FROM %s WHERE p = 1 AND c = 1" % table)
    equal(left(), [0, 1, 2, 20, 21, 22, 30, 31, 32])
    context.run("DELETE FROM %s WHERE p = 1 AND c > 0 AND c <= 2" % table)
    equal(left(), [0, 1, 2, 30, 31, 32])
    context.run("DELETE FROM %s WHERE p = 1 AND c = 3 AND d >= 1" % table)
    equal(left(), [0, 1, 2, 30])
    context.run("DELETE FROM %s WHERE p = 1 AND (c, d) < (0, 2)" % table)
    equal(left(), [2, 30])
    fill()
    equal(left(), [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32])
    context.run("DELETE FROM %s WHERE p = 1 AND c IN (0, 3)" % table)
    equal(left(), [10, 11, 12, 20, 21, 22])


@check
def static_columns_belong_to_the_partition(context):
    table = context.table("p int, c int, s text static, v int, PRIMARY KEY (p, c)")
    context.run("INSERT INTO %s (p, s) VALUES (1, 'alone')" % table)
    equal(context.rows("SELECT p, c, s, v FROM %s" % table), [(1, None, "alone", None)])
    context.run("INSERT INTO %s (p, c, s, v) VALUES (1, 1, 'shared', 10)" % table)
    context.run("INSERT INTO %s (p, c, v) VALUES (1, 2, 20)" % table)
    equal(context.rows("SELECT p, c, s, v FROM %s" % table), [(1, 1, "shared", 10), (1, 2, "shared", 20)])
    equal(context.rows("SELECT DISTINCT p, s FROM %s" % table), [(1, "shared")])
    context.run("DELETE s FROM %s WHERE p = 1" % table)
    equal(context.rows("SELECT c, s FROM %s WHERE p = 1" % table), [(1, None), (2, None)])


@check
def a_later_timestamp_wins_whatever_the_order(context):
    table = context.table("k int PRIMARY KEY, v text")
    context.run("INSERT INTO %s (k, v) VALUES (1, 'new') USING TIMESTAMP 200" % table)
    context.run("INSERT INTO %s (k, v) VALUES (1, 'old') USING TIMESTAMP 100" % table)
    equal(context.row("SELECT v, writetime(v) FROM %s" % table), ("new", 200))
    context.run("DELETE FROM %s USING TIMESTAMP 150 WHERE k = 1" % table)
    equal(context.rows("SELECT v FROM %s" % table), [("new",)])
    context.run("UPDATE %s USING TIMESTAMP 200 SET v = 'newer' WHERE k = 1" % table)
    equal(context.rows("SELECT v FROM %s" % table), [("newer",)])
    context.run("DELETE FROM %s USING TIMESTAMP 200 WHERE k = 1" % table)
    equal(context.rows("SELECT v FROM %s" % table), [])


@check
def truncate_empties_a_table(context):
    table = context.table("k int PRIMARY KEY")
    for k in range(20):
        context.run("INSERT INTO %s (k) VALUES (%d)" % (table, k))
    context.run("TRUNCATE %s" % table)
    equal(context.rows("SELECT k FROM %s" % table), [])
    context.run("INSERT INTO %s (k) VALUES (5)" % table)
    context.run("TRUNCATE TABLE %s" % table)
    equal(context.row("SELECT count(*) FROM %s" % table), (0,))


@check
def quoted_names_keep_their_case(context):
    table = context.table('"Key" int PRIMARY KEY, "select" text, "a""b" int')
    context.run('INSERT INTO %s ("Key", "select", "a""b") VALUES (1, \'x\', 2)' % table)
    equal(context.row('SELECT "select", "a""b" FROM %s WHERE "Key" = 1' % table), ("x", 2))
    result = context.run('SELECT * FROM %s' % table)
    equal(result.column_names, ["Key", 'a"b', "select"])
    refused(InvalidRequest, "Undefined column name key", context.run, "SELECT key FROM %s" % table)


@check
def comments_and_case_of_keywords_are_free(context):
    table = context.table("k int PRIMARY KEY, v int")
    context.run("insert /* here */ into %s (K, V) -- the rest\n values (1, 2) // and more\n ;" % table)
    equal(context.row("SeLeCt v FrOm %s" % table), (2,))
