"""JSON, and user functions and aggregates: what they compute, what the driver's metadata has of them, failures."""

from cassandra import FunctionFailure, InvalidRequest

from . import check, equal, eventually, refused

BODY = "CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return (s == null ? 0 : s) + (a == null ? 0 : a);'"


@check
def documents_go_in_and_out(context):
    table = context.table("k int PRIMARY KEY, v map<text, frozen<list<double>>>, w blob")
    insert = context.prepare("INSERT INTO %s JSON ?" % table)
    context.run(insert, ('{"k": 1, "v": {"a": [1, 2.5]}, "w": "0x00ff"}',))
    equal(
        context.rows("SELECT JSON * FROM %s" % table),
        [('{"k": 1, "v": {"a": [1.0, 2.5]}, "w": "0x00ff"}',)],
    )
    equal(context.rows("SELECT toJson(v) FROM %s" % table), [('{"a": [1.0, 2.5]}',)])
    refused(InvalidRequest, "unrecognized column: zz", context.run, insert, ('{"k": 1, "zz": 2}',))


@check
def functions_and_aggregates_are_called_and_described(context):
    table = context.table("k int PRIMARY KEY, v int")
    for k in range(1, 5):
        context.run("INSERT INTO %s (k, v) VALUES (%d, %d)" % (table, k, 10 * k))
    context.run("CREATE OR REPLACE FUNCTION plus (s int, a int) " + BODY)
    context.run("CREATE OR REPLACE AGGREGATE total (int) SFUNC plus STYPE int INITCOND 5")
    equal(context.rows("SELECT total(v), plus(1, 2) FROM %s" % table), [(105, 3)])
    # v3 knows no functions, so that the driver is told of a changed keyspace and looks no further.
    if context.cluster.protocol_version > 3:
        keyspace = context.cluster.metadata.keyspaces[context.keyspace]
        eventually(lambda: "total(int)" in keyspace.aggregates, "the aggregate in the driver's metadata")
        function, aggregate = keyspace.functions["plus(int,int)"], keyspace.aggregates["total(int)"]
        equal((function.argument_names, function.return_type, function.called_on_null_input), (["s", "a"], "int", True))
        equal((aggregate.state_func, aggregate.state_type, aggregate.initial_condition), ("plus", "int", "5"))
    refused(InvalidRequest, "still referenced by aggregates", context.run, "DROP FUNCTION plus (int, int)")
    context.run("DROP AGGREGATE total")
    context.run("DROP FUNCTION plus")


@check
def a_failing_function_says_which(context):
    table = context.table("k int PRIMARY KEY")
    context.run("INSERT INTO %s (k) VALUES (1)" % table)
    context.run(
        "CREATE OR REPLACE FUNCTION inverse (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS "
        "'return 1 / (a - 1);'"
    )
    kind = FunctionFailure if context.cluster.protocol_version > 3 else InvalidRequest
    error = refused(kind, "/ by zero", context.run, "SELECT inverse(k) FROM %s" % table)
    if kind is FunctionFailure:
        equal((error.keyspace, error.function, error.arg_types), (context.keyspace, "inverse", ["int"]))
    refused(
        InvalidRequest,
        "compilation failed",
        context.run,
        "CREATE FUNCTION bad (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return b;'",
    )
    context.run("DROP FUNCTION inverse")
