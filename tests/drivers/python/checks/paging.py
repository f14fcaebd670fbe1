"""Paging: every row once, whatever the page size; states that resume elsewhere."""

from cassandra.query import SimpleStatement

from . import check, equal


def pages(context, statement, parameters=None):
    """The rows of each page."""
    result = context.session.execute(statement, parameters)
    found = [[tuple(r) for r in result.current_rows]]
    while result.has_more_pages:
        result.fetch_next_page()
        found.append([tuple(r) for r in result.current_rows])
    return found


@check
def one_partition_in_pages_of_any_size(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c) VALUES (1, ?)" % table)
    for future in [context.session.execute_async(insert, (c,)) for c in range(100)]:
        future.result()
    for size in (1, 7, 50, 99, 100, 101, 5000):
        for text, wanted in [
            ("SELECT c FROM %s WHERE p = 1", list(range(100))),
            ("SELECT c FROM %s WHERE p = 1 ORDER BY c DESC", list(range(99, -1, -1))),
            ("SELECT c FROM %s WHERE p = 1 AND c >= 10 AND c < 60 LIMIT 45", list(range(10, 55))),
            ("SELECT c FROM %s WHERE p = 1 AND c IN (5, 6, 7, 90)", [5, 6, 7, 90]),
        ]:
            found = pages(context, SimpleStatement(text % table, fetch_size=size))
            assert all(len(page) == size for page in found[:-1]), (text, size, [len(p) for p in found])
            equal((text, size, [c for page in found for (c,) in page]), (text, size, wanted))


@check
def a_scan_in_pages_gives_every_row_once(context):
    table = context.table("p int, c int, s int static, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, s) VALUES (?, ?, ?)" % table)
    futures = [context.session.execute_async(insert, (p, c, p)) for p in range(20) for c in range(5)]
    for future in futures:
        future.result()
    alone = context.prepare("INSERT INTO %s (p, s) VALUES (?, ?)" % table)
    for p in range(20, 25):
        context.run(alone, (p, p))
    whole = context.rows(SimpleStatement("SELECT p, c, s FROM %s" % table, fetch_size=5000))
    equal(len(whole), 105)
    equal(sorted(whole, key=repr), sorted([(p, c, p) for p in range(20) for c in range(5)] + [(p, None, p) for p in range(20, 25)], key=repr))
    for size in (1, 3, 50, 104, 105, 106):
        found = pages(context, SimpleStatement("SELECT p, c, s FROM %s" % table, fetch_size=size))
        equal((size, [row for page in found for row in page]), (size, whole))
    distinct = pages(context, SimpleStatement("SELECT DISTINCT p FROM %s" % table, fetch_size=4))
    equal([len(page) for page in distinct][:6], [4] * 6)
    equal(sorted(row for page in distinct for row in page), [(p,) for p in range(25)])
    limited = pages(context, SimpleStatement("SELECT p, c FROM %s LIMIT 42" % table, fetch_size=10))
    equal([len(page) for page in limited], [10, 10, 10, 10, 2])
    counted = pages(context, SimpleStatement("SELECT count(*) FROM %s" % table, fetch_size=10))
    equal(counted, [[(105,)]])


@check
def partitions_by_in_are_paged_in_one_order(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c) VALUES (?, ?)" % table)
    for p in range(5):
        for c in range(7):
            context.run(insert, (p, c))
    text = "SELECT p, c FROM %s WHERE p IN (4, 0, 2)" % table
    whole = context.rows(SimpleStatement(text, fetch_size=1000))
    equal(sorted(whole), [(p, c) for p in (0, 2, 4) for c in range(7)])
    for size in (1, 4, 7, 20):
        found = pages(context, SimpleStatement(text, fetch_size=size))
        equal((size, [row for page in found for row in page]), (size, whole))


@check
def filtered_rows_fill_pages(context):
    table = context.table("p int, c int, v int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
    for p in range(10):
        for c in range(10):
            context.run(insert, (p, c, c % 2))
    text = "SELECT p, c FROM %s WHERE v = 1 ALLOW FILTERING" % table
    found = pages(context, SimpleStatement(text, fetch_size=8))
    equal(sorted(row for page in found for row in page), [(p, c) for p in range(10) for c in range(1, 10, 2)])


@check
def pages_without_rows_end_or_go_on(context):
    table = context.table("p int, c int, v int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
    everything = SimpleStatement("SELECT c FROM %s" % table, fetch_size=2)
    equal(pages(context, everything), [[]])
    for p in range(10):
        for c in range(4):
            context.run(insert, (p, c, c))
    nothing = SimpleStatement("SELECT c FROM %s WHERE v = 77 ALLOW FILTERING" % table, fetch_size=2)
    equal([row for page in pages(context, nothing) for row in page], [])
    for p in range(1, 10):
        context.run("DELETE FROM %s WHERE p = %d" % (table, p))
    equal([row for page in pages(context, everything) for row in page], [(0,), (1,), (2,), (3,)])


@check
def a_paging_state_resumes_on_another_connection(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)")
    for c in range(10):
        context.run("INSERT INTO %s (p, c) VALUES (1, %d)" % (table, c))
    statement = SimpleStatement("SELECT c FROM %s WHERE p = 1" % table, fetch_size=4)
    result = context.session.execute(statement)
    equal([c for (c,) in result.current_rows], [0, 1, 2, 3])
    other = context.cluster.connect(context.keyspace)
    rest = other.execute(statement, paging_state=result.paging_state)
    equal([c for (c,) in rest.current_rows], [4, 5, 6, 7])
    last = other.execute(statement, paging_state=rest.paging_state)
    equal([c for (c,) in last.current_rows], [8, 9])
    equal(last.paging_state, None)
    other.shutdown()


@check
def rows_that_go_and_come_between_pages_confuse_nothing(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)")
    for c in range(0, 20, 2):
        context.run("INSERT INTO %s (p, c) VALUES (1, %d)" % (table, c))
    statement = SimpleStatement("SELECT c FROM %s WHERE p = 1" % table, fetch_size=4)
    result = context.session.execute(statement)
    equal([c for (c,) in result.current_rows], [0, 2, 4, 6])
    context.run("DELETE FROM %s WHERE p = 1 AND c = 6" % table)
    context.run("DELETE FROM %s WHERE p = 1 AND c = 8" % table)
    context.run("INSERT INTO %s (p, c) VALUES (1, 1)" % table)
    context.run("INSERT INTO %s (p, c) VALUES (1, 9)" % table)
    result.fetch_next_page()
    equal([c for (c,) in result.current_rows], [9, 10, 12, 14])


@check
def a_prepared_statement_is_paged(context):
    table = context.table("p int, c int, t text, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, t) VALUES (?, ?, ?)" % table)
    for c in range(25):
        context.run(insert, (1, c, "x" * c))
    select = context.prepare("SELECT c, t FROM %s WHERE p = ? AND c > ?" % table)
    select.fetch_size = 10
    found = pages(context, select, (1, 2))
    equal([len(page) for page in found], [10, 10, 2])
    equal([row for page in found for row in page], [(c, "x" * c) for c in range(3, 25)])
