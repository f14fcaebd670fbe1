"""Prepared statements: metadata, markers, null and unset, ids that survive or don't."""

from cassandra import InvalidRequest
from cassandra.query import UNSET_VALUE

from . import check, each, equal, refused


@check
def variables_are_described(context):
    table = context.table("p int, c text, v map<text, frozen<list<int>>>, PRIMARY KEY ((p, c))")
    prepared = context.prepare("INSERT INTO %s (v, c, p) VALUES (?, ?, :named)" % table)
    columns = prepared.column_metadata
    equal([c.name for c in columns], ["v", "c", "named"])
    equal([c.table_name for c in columns], [table] * 3)
    equal([c.keyspace_name for c in columns], [context.keyspace] * 3)
    equal(
        [c.type.cql_parameterized_type() for c in columns],
        ["map<varchar, list<int>>", "varchar", "int"],
    )
    if context.version >= 4:
        equal(prepared.routing_key_indexes, [2, 1])


@check
def markers_take_the_names_and_types_of_what_they_stand_for(context):
    table = context.table("p int, c int, m map<text, bigint>, l list<text>, PRIMARY KEY (p, c)")
    cases = [
        ("SELECT m FROM {t} WHERE p = ? AND c IN ? LIMIT ?", [("p", "int"), ("in(c)", "list<int>"), ("[limit]", "int")]),
        ("SELECT m FROM {t} WHERE token(p) > ?", [("partition key token", "bigint")]),
        (
            "UPDATE {t} USING TTL ? AND TIMESTAMP ? SET m[?] = ?, l = l + ? WHERE p = ? AND c = ?",
            [
                ("[ttl]", "int"),
                ("[timestamp]", "bigint"),
                ("key(m)", "varchar"),
                ("value(m)", "bigint"),
                ("l", "list<varchar>"),
                ("p", "int"),
                ("c", "int"),
            ],
        ),
        ("DELETE l[?] FROM {t} WHERE p = ? AND c = ?", [("idx(l)", "int"), ("p", "int"), ("c", "int")]),
        ("SELECT m FROM {t} WHERE p = ? AND (c) >= ?", [("p", "int"), ("(c)", "frozen<tuple<int>>")]),
    ]

    def described(text, wanted):
        columns = context.prepare(text.format(t=table)).column_metadata
        equal([(c.name, c.type.cql_parameterized_type()) for c in columns], wanted)

    each(cases, described)


@check
def null_deletes_and_unset_leaves_alone(context):
    table = context.table("k int PRIMARY KEY, a int, b int")
    insert = context.prepare("INSERT INTO %s (k, a, b) VALUES (?, ?, ?)" % table)
    context.run(insert, (1, 10, 20))
    context.run(insert, (1, None, 21))
    equal(context.row("SELECT a, b FROM %s WHERE k = 1" % table), (None, 21))
    if context.version < 4:
        return
    context.run(insert, (1, 11, UNSET_VALUE))
    equal(context.row("SELECT a, b FROM %s WHERE k = 1" % table), (11, 21))
    clustered = context.table("p int, c int, v int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % clustered)
    refused(InvalidRequest, "Invalid unset value for column c", context.run, insert, (1, UNSET_VALUE, 1))


@check
def null_in_a_key_is_refused(context):
    table = context.table("p int, c int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c) VALUES (?, ?)" % table)
    refused(InvalidRequest, "Invalid null value in condition for column p", context.run, insert, (None, 1))
    refused(InvalidRequest, "Invalid null value in condition for column c", context.run, insert, (1, None))
    select = context.prepare("SELECT * FROM %s WHERE p = ?" % table)
    refused(InvalidRequest, "Invalid null value in condition for column p", context.run, select, (None,))


@check
def in_is_bound_as_a_list(context):
    table = context.table("p int, c int, v int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
    for p in range(3):
        for c in range(3):
            context.run(insert, (p, c, p * 10 + c))
    select = context.prepare("SELECT v FROM %s WHERE p IN ? AND c IN ?" % table)
    equal(sorted(context.rows(select, ([0, 2, 9], [1, 2]))), [(1,), (2,), (21,), (22,)])
    equal(context.rows(select, ([], [1])), [])
    each = context.prepare("SELECT v FROM %s WHERE p = ? AND (c) IN ?" % table)
    equal(context.rows(each, (1, [(0,), (2,)])), [(10,), (12,)])


@check
def the_same_text_has_the_same_id(context):
    table = context.table("k int PRIMARY KEY")
    text = "SELECT k FROM %s WHERE k = ?" % table
    first, second = context.prepare(text), context.prepare(text)
    equal(first.query_id, second.query_id)
    equal(len(first.query_id), 16)
    assert context.prepare(text + " LIMIT 1").query_id != first.query_id


@check
def a_statement_survives_a_change_of_its_table(context):
    table = context.table("k int PRIMARY KEY, v text")
    context.run("INSERT INTO %s (k, v) VALUES (1, 'a')" % table)
    select = context.prepare("SELECT * FROM %s WHERE k = ?" % table)
    equal(context.row(select, (1,)), (1, "a"))
    context.run("ALTER TABLE %s ADD extra int" % table)
    context.run("UPDATE %s SET extra = 5 WHERE k = 1" % table)
    if context.version >= 5:
        equal(context.row(select, (1,)), (1, 5, "a"))
        context.run("ALTER TABLE %s DROP extra" % table)
        equal(context.row(select, (1,)), (1, "a"))
    else:
        # Before v5 the driver decodes with the metadata of PREPARE; it prepares again by itself.
        equal(context.row(context.prepare("SELECT k, extra, v FROM %s WHERE k = ?" % table), (1,)), (1, 5, "a"))


@check
def two_clients_prepare_again_after_either_changed_the_table(context):
    table = context.table("k int PRIMARY KEY, v text")
    other = context.cluster.connect(context.keyspace)
    insert, select = "INSERT INTO %s (k, v) VALUES (?, ?)" % table, "SELECT k, v FROM %s WHERE k = ?" % table
    clients = [(session, session.prepare(insert), session.prepare(select)) for session in (context.session, other)]
    for step, (changer, _, _) in enumerate(clients):
        changer.execute("ALTER TABLE %s ADD added%d int" % (table, step))
        for k, (session, put, get) in enumerate(clients):
            session.execute(put, (k, "v%d" % step))
            equal([tuple(row) for row in session.execute(get, (k,))], [(k, "v%d" % step)])
    other.shutdown()


@check
def a_statement_survives_the_drop_and_return_of_its_table(context):
    table = context.table("k int PRIMARY KEY, v int")
    insert = context.prepare("INSERT INTO %s (k, v) VALUES (?, ?)" % table)
    context.run(insert, (1, 1))
    context.run("DROP TABLE %s" % table)
    context.run("CREATE TABLE %s (k int PRIMARY KEY, v int)" % table)
    context.run(insert, (2, 2))
    equal(context.rows("SELECT k, v FROM %s" % table), [(2, 2)])


@check
def prepared_ddl_use_and_system_reads_work(context):
    prepared = context.prepare("SELECT key, cluster_name FROM system.local WHERE key = ?")
    equal(context.row(prepared, ("local",))[0], "local")
    table = context.table("k int PRIMARY KEY")
    limit = context.prepare("SELECT k FROM %s LIMIT :n" % table)
    equal(context.rows(limit, {"n": 3}), [])


@check
def functions_take_bound_arguments(context):
    table = context.table("k int PRIMARY KEY, u timeuuid")
    low = context.prepare("SELECT k FROM %s WHERE u > minTimeuuid(?) ALLOW FILTERING" % table)
    context.run("INSERT INTO %s (k, u) VALUES (1, now())" % table)
    equal(context.rows(low, (1000,)), [(1,)])
