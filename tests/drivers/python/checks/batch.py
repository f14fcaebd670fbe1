"""BATCH: the three types, mixed statements, timestamps, what is refused."""

from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.query import BatchStatement, BatchType, SimpleStatement

from . import check, equal, refused


@check
def batches_of_both_kinds_apply_all_statements(context):
    table = context.table("p int, c int, v text, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
    for kind, p in ((BatchType.LOGGED, 1), (BatchType.UNLOGGED, 2)):
        batch = BatchStatement(batch_type=kind)
        for c in range(5):
            batch.add(insert, (p, c, "prepared"))
        batch.add(SimpleStatement("INSERT INTO %s (p, c, v) VALUES (%d, 5, 'text')" % (table, p)))
        batch.add(SimpleStatement("DELETE FROM %s WHERE p = %d AND c = 0" % (table, p)))
        batch.add("UPDATE " + table + " SET v = %s WHERE p = %s AND c = 1", ("updated", p))
        context.run(batch)
        equal(
            context.rows("SELECT c, v FROM %s WHERE p = %d" % (table, p)),
            [(1, "updated"), (2, "prepared"), (3, "prepared"), (4, "prepared"), (5, "text")],
        )


@check
def a_batch_as_text_applies_all_statements(context):
    table = context.table("k int PRIMARY KEY, v int")
    context.run(
        "BEGIN BATCH USING TIMESTAMP 77 INSERT INTO {t} (k, v) VALUES (1, 1); UPDATE {t} SET v = 2 WHERE k = 2; "
        "APPLY BATCH".format(t=table)
    )
    rows = context.rows("SELECT k, v, writetime(v) FROM %s" % table)
    equal(sorted(rows), [(1, 1, 77), (2, 2, 77)])
    context.run("BEGIN UNLOGGED BATCH DELETE FROM {t} WHERE k = 1 APPLY BATCH;".format(t=table))
    equal(context.rows("SELECT k FROM %s" % table), [(2,)])
    prepared = context.prepare(
        "BEGIN BATCH INSERT INTO {t} (k, v) VALUES (?, ?); INSERT INTO {t} (k, v) VALUES (?, 9) APPLY BATCH".format(
            t=table
        )
    )
    context.run(prepared, (5, 6, 7))
    equal(sorted(context.rows("SELECT k, v FROM %s" % table)), [(2, 2), (5, 6), (7, 9)])


@check
def statements_of_a_batch_share_one_timestamp(context):
    table = context.table("k int PRIMARY KEY, v int")
    batch = BatchStatement()
    for k in range(3):
        batch.add(SimpleStatement("INSERT INTO %s (k, v) VALUES (%d, 0)" % (table, k)))
    context.run(batch)
    equal(len({t for (t,) in context.rows("SELECT writetime(v) FROM %s" % table)}), 1)


@check
def statements_of_a_batch_may_carry_their_own_timestamps(context):
    table = context.table("k int PRIMARY KEY, v text")
    batch = BatchStatement()
    batch.add(SimpleStatement("INSERT INTO %s (k, v) VALUES (1, 'late') USING TIMESTAMP 20" % table))
    batch.add(SimpleStatement("INSERT INTO %s (k, v) VALUES (1, 'early') USING TIMESTAMP 10" % table))
    context.run(batch)
    equal(context.row("SELECT v, writetime(v) FROM %s" % table), ("late", 20))


@check
def counters_have_batches_of_their_own(context):
    table = context.table("k int PRIMARY KEY, n counter")
    plain = context.table("k int PRIMARY KEY")
    add = context.prepare("UPDATE %s SET n = n + ? WHERE k = ?" % table)
    batch = BatchStatement(batch_type=BatchType.COUNTER)
    for k in range(3):
        batch.add(add, (k + 1, k))
    batch.add(add, (10, 0))
    context.run(batch)
    equal(sorted(context.rows("SELECT k, n FROM %s" % table)), [(0, 11), (1, 2), (2, 3)])
    wrong = BatchStatement(batch_type=BatchType.LOGGED)
    wrong.add(add, (1, 1))
    refused(InvalidRequest, "Cannot include a counter statement in a logged batch", context.run, wrong)
    mixed = BatchStatement(batch_type=BatchType.COUNTER)
    mixed.add(SimpleStatement("INSERT INTO %s (k) VALUES (1)" % plain))
    refused(InvalidRequest, "Cannot include non-counter statement in a counter batch", context.run, mixed)


@check
def a_select_in_a_batch_is_refused(context):
    table = context.table("k int PRIMARY KEY")
    batch = BatchStatement(consistency_level=ConsistencyLevel.ONE)
    batch.add(SimpleStatement("SELECT * FROM %s" % table))
    refused(InvalidRequest, "Invalid statement in batch", context.run, batch)


@check
def an_empty_batch_is_nothing(context):
    context.run("BEGIN BATCH APPLY BATCH")
    context.run(BatchStatement())


@check
def a_conditional_batch_applies_whole_or_not_at_all(context):
    table = context.table("p int, c int, v int, PRIMARY KEY (p, c)")
    text = (
        "BEGIN BATCH INSERT INTO {t} (p, c, v) VALUES (1, 1, 1) IF NOT EXISTS; "
        "INSERT INTO {t} (p, c, v) VALUES (1, 2, 2); APPLY BATCH".format(t=table)
    )
    equal(context.rows(text)[0][0], True)
    equal(context.rows("SELECT c, v FROM %s WHERE p = 1" % table), [(1, 1), (2, 2)])
    context.run("DELETE FROM %s WHERE p = 1 AND c = 2" % table)
    equal(context.rows(text), [(False, 1, 1, 1)])
    equal(context.rows("SELECT c, v FROM %s WHERE p = 1" % table), [(1, 1)])
