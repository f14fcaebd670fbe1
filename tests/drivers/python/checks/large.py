"""Messages that are large, and those whose size is just what a segment holds."""

from cassandra.query import SimpleStatement

from . import check, equal

SEGMENT = 131071


def blob(k, size):
    return (bytes((i * 7 + k) % 251 for i in range(997)) * (size // 997 + 1))[:size]


@check
def a_large_cell_goes_there_and_back(context):
    table = context.table("k int PRIMARY KEY, b blob")
    insert = context.prepare("INSERT INTO %s (k, b) VALUES (?, ?)" % table)
    for k, size in enumerate((0, 1, 300_000, 3 << 20)):
        context.run(insert, (k, blob(k, size)))
        equal(context.row("SELECT b FROM %s WHERE k = %d" % (table, k)), (blob(k, size),))


@check
def messages_around_the_size_of_a_segment_go_there_and_back(context):
    # What surrounds the blob takes some dozens of bytes: one of these requests, and one of these answers, has
    # exactly 131071 bytes, and the next 131072.
    table = context.table("k int PRIMARY KEY, b blob")
    insert = context.prepare("INSERT INTO %s (k, b) VALUES (?, ?)" % table)
    select = context.prepare("SELECT b FROM %s WHERE k = ?" % table)
    sizes = list(range(SEGMENT - 130, SEGMENT - 20)) + [SEGMENT, SEGMENT + 1]
    for futures in (
        [context.session.execute_async(insert, (size, blob(size, size))) for size in sizes],
        [context.session.execute_async(select, (size,)) for size in sizes],
    ):
        found = [future.result() for future in futures]
    wrong = [size for size, result in zip(sizes, found) if result.one()[0] != blob(size, size)]
    equal(wrong, [])


@check
def a_page_of_200_kb_is_one_answer(context):
    table = context.table("p int, c int, t text, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, t) VALUES (1, ?, ?)" % table)
    wanted = [(c, "%04d" % c * 25) for c in range(2000)]
    for future in [context.session.execute_async(insert, row) for row in wanted]:
        future.result()
    result = context.session.execute(SimpleStatement("SELECT c, t FROM %s WHERE p = 1" % table, fetch_size=2000))
    equal([tuple(row) for row in result.current_rows] == wanted, True)
