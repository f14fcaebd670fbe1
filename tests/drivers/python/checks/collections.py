"""Collections, tuples, user types, vectors: whole, in parts, frozen and nested."""

from collections import namedtuple

from cassandra import InvalidRequest
from cassandra.util import SortedSet

from . import check, equal, refused


@check
def collections_are_written_and_read_whole(context):
    table = context.table("k int PRIMARY KEY, l list<text>, s set<int>, m map<text, bigint>")
    insert = context.prepare("INSERT INTO %s (k, l, s, m) VALUES (?, ?, ?, ?)" % table)
    context.run(insert, (1, ["b", "a", "b"], {3, 1, 2}, {"z": 1, "a": -1}))
    l, s, m = context.row("SELECT l, s, m FROM %s WHERE k = 1" % table)
    equal(l, ["b", "a", "b"])
    equal(list(s), [1, 2, 3])
    equal(list(m.items()), [("a", -1), ("z", 1)])
    context.run("INSERT INTO %s (k, l, s, m) VALUES (2, ['x'], {9, 8}, {'q': 7})" % table)
    l, s, m = context.row("SELECT l, s, m FROM %s WHERE k = 2" % table)
    equal((l, list(s), dict(m)), (["x"], [8, 9], {"q": 7}))


@check
def an_empty_unfrozen_collection_is_null(context):
    table = context.table("k int PRIMARY KEY, l list<int>, s set<int>, m map<int, int>, f frozen<list<int>>")
    insert = context.prepare("INSERT INTO %s (k, l, s, m, f) VALUES (?, ?, ?, ?, ?)" % table)
    context.run(insert, (1, [], set(), {}, []))
    equal(context.row("SELECT l, s, m, f FROM %s" % table), (None, None, None, []))


@check
def lists_change_in_place(context):
    table = context.table("k int PRIMARY KEY, l list<int>")
    context.run("INSERT INTO %s (k, l) VALUES (1, [1, 2, 3])" % table)
    for change, wanted in [
        ("l = l + [4, 5]", [1, 2, 3, 4, 5]),
        ("l = [-1, 0] + l", [-1, 0, 1, 2, 3, 4, 5]),
        ("l[1] = 9", [-1, 9, 1, 2, 3, 4, 5]),
        ("l = l - [9, 4]", [-1, 1, 2, 3, 5]),
        ("l += [6]", [-1, 1, 2, 3, 5, 6]),
        ("l -= [6]", [-1, 1, 2, 3, 5]),
        ("l = [7]", [7]),
    ]:
        context.run("UPDATE %s SET %s WHERE k = 1" % (table, change))
        equal((change, context.row("SELECT l FROM %s" % table)[0]), (change, wanted))
    context.run("UPDATE %s SET l = [1, 2, 3] WHERE k = 1" % table)
    context.run("DELETE l[1] FROM %s WHERE k = 1" % table)
    equal(context.row("SELECT l FROM %s" % table), ([1, 3],))
    refused(
        InvalidRequest,
        "List index 5 out of bound, list has size 2",
        context.run,
        "UPDATE %s SET l[5] = 1 WHERE k = 1" % table,
    )


@check
def sets_and_maps_change_in_place(context):
    table = context.table("k int PRIMARY KEY, s set<text>, m map<text, int>")
    context.run("UPDATE %s SET s = s + {'b', 'a'}, m = m + {'x': 1, 'y': 2} WHERE k = 1" % table)
    context.run("UPDATE %s SET s = s + {'c'}, m['z'] = 3 WHERE k = 1" % table)
    context.run("UPDATE %s SET s = s - {'a'}, m = m - {'x'} WHERE k = 1" % table)
    context.run("UPDATE %s SET m['y'] = null WHERE k = 1" % table)
    s, m = context.row("SELECT s, m FROM %s" % table)
    equal((list(s), dict(m)), (["b", "c"], {"z": 3}))
    context.run("DELETE s['b'], m['z'] FROM %s WHERE k = 1" % table)
    s, m = context.row("SELECT s, m FROM %s" % table)
    equal((list(s), m), (["c"], None))


@check
def elements_and_slices_of_collections_are_selected(context):
    table = context.table("k int PRIMARY KEY, s set<int>, m map<text, int>")
    context.run("INSERT INTO %s (k, s, m) VALUES (1, {1, 2, 3, 4}, {'a': 1, 'b': 2, 'c': 3})" % table)
    equal(context.row("SELECT m['b'], m['nothing'], s[3] FROM %s" % table), (2, None, 3))
    m, s = context.row("SELECT m['b'..'c'], s[2..3] FROM %s" % table)
    equal((dict(m), list(s)), ({"b": 2, "c": 3}, [2, 3]))


@check
def frozen_collections_nest(context):
    table = context.table(
        "k int PRIMARY KEY, a map<text, frozen<list<int>>>, b frozen<set<frozen<map<int, text>>>>, "
        "c list<frozen<tuple<int, text>>>"
    )
    insert = context.prepare("INSERT INTO %s (k, a, b, c) VALUES (?, ?, ?, ?)" % table)
    context.run(insert, (1, {"x": [1, 2], "y": []}, [{1: "one"}, {2: "two", 3: "three"}], [(1, "a"), (2, None)]))
    a, b, c = context.row("SELECT a, b, c FROM %s" % table)
    equal({key: list(value) for key, value in a.items()}, {"x": [1, 2], "y": []})
    equal([dict(value) for value in b], [{1: "one"}, {2: "two", 3: "three"}])
    equal(c, [(1, "a"), (2, None)])
    refused(
        InvalidRequest,
        "Non-frozen collections are not allowed inside collections",
        context.run,
        "CREATE TABLE refused (k int PRIMARY KEY, v list<list<int>>)",
    )


@check
def a_frozen_collection_is_a_key(context):
    table = context.table("p frozen<set<int>>, c frozen<list<text>>, v int, PRIMARY KEY (p, c)")
    insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
    for v, c in enumerate((["b"], ["a", "z"], ["a"], [])):
        context.run(insert, ({2, 1}, c, v))
    rows = context.rows("SELECT c, v FROM %s WHERE p = {1, 2}" % table)
    equal(rows, [([], 3), (["a"], 2), (["a", "z"], 1), (["b"], 0)])


@check
def tuples_keep_nulls_and_missing_tails(context):
    table = context.table("k int PRIMARY KEY, t tuple<int, text, frozen<tuple<float, boolean>>>")
    insert = context.prepare("INSERT INTO %s (k, t) VALUES (?, ?)" % table)
    context.run(insert, (1, (1, "x", (0.5, True))))
    context.run(insert, (2, (None, None, None)))
    context.run("INSERT INTO %s (k, t) VALUES (3, (3, 'y'))" % table)
    select = context.prepare("SELECT t FROM %s WHERE k = ?" % table)
    equal(context.row(select, (1,)), ((1, "x", (0.5, True)),))
    equal(context.row(select, (2,)), ((None, None, None),))
    equal(context.row(select, (3,)), ((3, "y", None),))


@check
def user_types_whole_by_field_and_nested(context):
    context.run("CREATE TYPE address (street text, zip int)")
    context.run("CREATE TYPE person (name text, home frozen<address>, mails set<text>)")
    table = context.table("k int PRIMARY KEY, p frozen<person>, a address, h list<frozen<address>>")
    context.run(
        "INSERT INTO %s (k, p, a, h) VALUES (1, {name: 'Ada', home: {street: 'Main', zip: 7}, mails: {'x', 'y'}}, "
        "{street: 'Side', zip: 8}, [{street: 'One'}, {zip: 2}])" % table
    )
    p, a, h = context.row("SELECT p, a, h FROM %s" % table)
    equal((p.name, p.home.street, p.home.zip, list(p.mails)), ("Ada", "Main", 7, ["x", "y"]))
    equal((a.street, a.zip), ("Side", 8))
    equal([(x.street, x.zip) for x in h], [("One", None), (None, 2)])
    equal(context.row("SELECT p.name, p.home.zip, a.street FROM %s" % table), ("Ada", 7, "Side"))
    context.run("UPDATE %s SET a.zip = 9 WHERE k = 1" % table)
    equal(context.row("SELECT a.street, a.zip FROM %s" % table), ("Side", 9))
    context.run("DELETE a.street FROM %s WHERE k = 1" % table)
    equal(context.row("SELECT a.street, a.zip FROM %s" % table), (None, 9))
    refused(
        InvalidRequest, "Cannot drop", context.run, "DROP TYPE address"
    )


@check
def a_user_type_bound_as_an_object(context):
    context.run("CREATE TYPE point (x double, y double)")
    table = context.table("k int PRIMARY KEY, p frozen<point>")
    point = namedtuple("point", "x y")
    insert = context.prepare("INSERT INTO %s (k, p) VALUES (?, ?)" % table)
    context.run(insert, (1, point(1.5, -2.0)))
    got = context.row("SELECT p FROM %s WHERE k = 1" % table)[0]
    equal((got.x, got.y), (1.5, -2.0))


@check
def a_type_that_gained_a_field_reads_old_values_with_null(context):
    context.run("CREATE TYPE growing (a int)")
    table = context.table("k int PRIMARY KEY, g frozen<growing>")
    context.run("INSERT INTO %s (k, g) VALUES (1, {a: 1})" % table)
    context.run("ALTER TYPE growing ADD b text")
    context.run("INSERT INTO %s (k, g) VALUES (2, {a: 2, b: 'two'})" % table)
    rows = dict(context.rows("SELECT k, g FROM %s" % table))
    equal((rows[1].a, rows[1].b, rows[2].a, rows[2].b), (1, None, 2, "two"))
    context.run("ALTER TYPE growing RENAME a TO z")
    equal(context.rows("SELECT g.z FROM %s WHERE k = 2" % table), [(2,)])


@check
def vectors_of_fixed_and_variable_elements(context):
    table = context.table("k int PRIMARY KEY, f vector<float, 3>, t vector<text, 2>")
    insert = context.prepare("INSERT INTO %s (k, f, t) VALUES (?, ?, ?)" % table)
    context.run(insert, (1, [0.5, -1.0, 2.25], ["a", "longer"]))
    context.run("INSERT INTO %s (k, f) VALUES (2, [1, 2, 3])" % table)
    rows = {k: (f, t) for k, f, t in context.rows("SELECT k, f, t FROM %s" % table)}
    equal(list(rows[1][0]), [0.5, -1.0, 2.25])
    equal(list(rows[1][1]), ["a", "longer"])
    equal((list(rows[2][0]), rows[2][1]), ([1.0, 2.0, 3.0], None))
    refused(
        InvalidRequest, "Invalid vector literal", context.run, "INSERT INTO %s (k, f) VALUES (3, [1, 2])" % table
    )


@check
def a_set_bound_in_any_order_is_read_sorted(context):
    table = context.table("k int PRIMARY KEY, s set<varint>")
    insert = context.prepare("INSERT INTO %s (k, s) VALUES (1, ?)" % table)
    context.run(insert, ([300, -5, 2**70, 0, 12],))
    got = context.row("SELECT s FROM %s" % table)[0]
    assert isinstance(got, SortedSet)
    equal(list(got), [-5, 0, 12, 300, 2**70])
