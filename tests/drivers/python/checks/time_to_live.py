"""TTL and WRITETIME: what is told, what expires."""

import time

from cassandra import InvalidRequest

from . import check, equal, refused


@check
def ttl_and_writetime_are_told(context):
    table = context.table("k int PRIMARY KEY, v text, w int")
    context.run("INSERT INTO %s (k, v) VALUES (1, 'a') USING TTL 1000 AND TIMESTAMP 123456" % table)
    context.run("UPDATE %s USING TIMESTAMP 5 SET w = 1 WHERE k = 1" % table)
    v, ttl_v, written_v, ttl_w, written_w = context.row("SELECT v, ttl(v), writetime(v), ttl(w), writetime(w) FROM %s" % table)
    equal((v, written_v, ttl_w, written_w), ("a", 123456, None, 5))
    assert 990 <= ttl_v <= 1000, ttl_v


@check
def expired_cells_and_rows_are_gone(context):
    table = context.table("k int PRIMARY KEY, v text, w int")
    context.run("INSERT INTO %s (k, v) VALUES (1, 'row') USING TTL 1" % table)
    context.run("INSERT INTO %s (k, w) VALUES (2, 2)" % table)
    context.run("UPDATE %s USING TTL 1 SET v = 'cell' WHERE k = 2" % table)
    time.sleep(2.1)
    equal(context.rows("SELECT k, v, w FROM %s" % table), [(2, None, 2)])


@check
def a_table_has_a_default_time_to_live(context):
    table = context.table("k int PRIMARY KEY, v int", "WITH default_time_to_live = 500")
    context.run("INSERT INTO %s (k, v) VALUES (1, 1)" % table)
    context.run("INSERT INTO %s (k, v) VALUES (2, 1) USING TTL 0" % table)
    context.run("INSERT INTO %s (k, v) VALUES (3, 1) USING TTL 100" % table)
    rows = dict(context.rows("SELECT k, ttl(v) FROM %s" % table))
    equal(rows[2], None)
    assert 490 <= rows[1] <= 500 and 90 <= rows[3] <= 100, rows


@check
def wrong_times_to_live_are_refused(context):
    table = context.table("k int PRIMARY KEY, v int")
    refused(InvalidRequest, "A TTL must be greater or equal to 0", context.run, "INSERT INTO %s (k) VALUES (1) USING TTL -1" % table)
    refused(InvalidRequest, "ttl is too large", context.run, "INSERT INTO %s (k) VALUES (1) USING TTL 630720001" % table)
    refused(InvalidRequest, "", context.run, "SELECT ttl(k) FROM %s" % table)
    refused(InvalidRequest, "", context.run, "SELECT writetime(k) FROM %s" % table)


@check
def writes_without_a_timestamp_get_the_present(context):
    table = context.table("k int PRIMARY KEY, v int")
    context.run("INSERT INTO %s (k, v) VALUES (1, 1)" % table)
    written = context.row("SELECT writetime(v) FROM %s" % table)[0]
    assert abs(written / 1e6 - time.time()) < 60, written
