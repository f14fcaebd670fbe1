"""Lightweight transactions: the [applied] row, and what it carries when refused."""

from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.query import SimpleStatement

from . import check, equal, refused


@check
def insert_if_not_exists_gives_the_row_that_was_there(context):
    table = context.table("k int PRIMARY KEY, v text, w int")
    result = context.run("INSERT INTO %s (k, v) VALUES (1, 'a') IF NOT EXISTS" % table)
    equal((result.column_names, result.was_applied), (["[applied]"], True))
    result = context.run("INSERT INTO %s (k, v) VALUES (1, 'b') IF NOT EXISTS" % table)
    equal(result.column_names, ["[applied]", "k", "v", "w"])
    equal([tuple(r) for r in result], [(False, 1, "a", None)])


@check
def update_and_delete_if_exists(context):
    table = context.table("k int PRIMARY KEY, v int")
    equal(context.rows("UPDATE %s SET v = 1 WHERE k = 1 IF EXISTS" % table), [(False,)])
    equal(context.rows("DELETE FROM %s WHERE k = 1 IF EXISTS" % table), [(False,)])
    context.run("INSERT INTO %s (k, v) VALUES (1, 0)" % table)
    equal(context.rows("UPDATE %s SET v = 1 WHERE k = 1 IF EXISTS" % table), [(True,)])
    equal(context.rows("SELECT v FROM %s" % table), [(1,)])
    equal(context.rows("DELETE FROM %s WHERE k = 1 IF EXISTS" % table), [(True,)])
    equal(context.rows("SELECT v FROM %s" % table), [])


@check
def conditions_compare_columns(context):
    table = context.table("k int PRIMARY KEY, v int, t text, m map<text, int>, l list<int>")
    insert = "INSERT INTO %s (k, v, t, m, l) VALUES (1, 5, 'x', {'a': 1}, [7, 8])" % table
    context.run(insert)
    for condition, applied in [
        ("v = 5", True),
        ("v = 6", False),
        ("v != 6", True),
        ("v > 4 AND v <= 5", True),
        ("v < 5", False),
        ("v IN (1, 5)", True),
        ("v IN ()", False),
        ("t = 'x' AND v = 5", True),
        ("t = null", False),
        ("t != null", True),
        ("m['a'] = 1", True),
        ("m['b'] = null", True),
        ("l[1] = 8", True),
        ("l = [7, 8]", True),
        ("m = {'a': 2}", False),
    ]:
        got = context.rows("UPDATE %s SET t = 'x' WHERE k = 1 IF %s" % (table, condition))
        equal((condition, got[0][0]), (condition, applied))


@check
def a_refused_condition_shows_the_columns_it_asked_for(context):
    table = context.table("k int PRIMARY KEY, v int, t text")
    context.run("INSERT INTO %s (k, v, t) VALUES (1, 5, 'x')" % table)
    result = context.run("UPDATE %s SET t = 'y' WHERE k = 1 IF v = 6 AND t = 'x'" % table)
    equal(result.column_names, ["[applied]", "v", "t"])
    equal([tuple(r) for r in result], [(False, 5, "x")])
    equal(context.rows("UPDATE %s SET t = 'y' WHERE k = 9 IF v = 6" % table), [(False,)])
    equal(context.rows("DELETE t FROM %s WHERE k = 1 IF t = 'x'" % table), [(True,)])
    equal(context.rows("SELECT t FROM %s WHERE k = 1" % table), [(None,)])


@check
def conditions_are_bound(context):
    table = context.table("k int PRIMARY KEY, v int")
    update = context.prepare("UPDATE %s SET v = ? WHERE k = ? IF v = ?" % table)
    context.run("INSERT INTO %s (k, v) VALUES (1, 1)" % table)
    equal(context.rows(update, (2, 1, 1)), [(True,)])
    equal(context.rows(update, (3, 1, 1)), [(False, 2)])
    some = context.prepare("UPDATE %s SET v = 9 WHERE k = 1 IF v IN ?" % table)
    equal(context.rows(some, ([2, 3],)), [(True,)])
    statement = SimpleStatement(
        "INSERT INTO %s (k) VALUES (7) IF NOT EXISTS" % table, serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL
    )
    equal(context.rows(statement), [(True,)])


@check
def static_columns_condition_a_partition(context):
    table = context.table("p int, c int, s int static, v int, PRIMARY KEY (p, c)")
    equal(context.rows("INSERT INTO %s (p, s) VALUES (1, 1) IF NOT EXISTS" % table)[0][0], True)
    equal(context.rows("UPDATE %s SET s = 2 WHERE p = 1 IF s = 1" % table), [(True,)])
    equal(context.rows("UPDATE %s SET s = 3 WHERE p = 1 IF s = 1" % table), [(False, 2)])


@check
def wrong_conditions_are_refused(context):
    table = context.table("k int PRIMARY KEY, v int")
    for text, message in [
        ("UPDATE %s SET v = 1 WHERE k = 1 IF k = 1" % table, "PRIMARY KEY column 'k' cannot have IF conditions"),
        ("INSERT INTO %s (k) VALUES (1) IF NOT EXISTS USING TIMESTAMP 5" % table, "Cannot provide custom timestamp"),
        ("UPDATE %s SET v = 1 WHERE k IN (1, 2) IF v = 1" % table, "IN on the partition key is not supported"),
    ]:
        refused(InvalidRequest, message, context.run, text)
