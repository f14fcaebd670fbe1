use helenus_core::ErrorCode;

use super::World;
use crate::schema::ColumnId;

fn refusals(cases: &[(&str, &str)]) {
    let mut world = World::new();
    for (cql, message) in cases {
        world.invalid(cql, message);
    }
}

#[test]
fn exactly_one_primary_key_of_existing_columns() {
    refusals(&[
        (
            "CREATE TABLE t (a int)",
            "No PRIMARY KEY specifed for table 't' (exactly one required)",
        ),
        (
            "CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)",
            "Multiple PRIMARY KEY specified for table 't' (exactly one required)",
        ),
        (
            "CREATE TABLE t (a int PRIMARY KEY, b int, PRIMARY KEY (a))",
            "Multiple PRIMARY KEY specified for table 't' (exactly one required)",
        ),
        (
            "CREATE TABLE t (a int, b int, PRIMARY KEY (c))",
            "Unknown column 'c' referenced in PRIMARY KEY for table 't'",
        ),
        (
            "CREATE TABLE t (a int, b int, PRIMARY KEY (a, c))",
            "Unknown column 'c' referenced in PRIMARY KEY for table 't'",
        ),
        (
            "CREATE TABLE t (a int, b int, PRIMARY KEY (a, a))",
            "Duplicate column 'a' in PRIMARY KEY clause for table 't'",
        ),
        (
            "CREATE TABLE t (a int, b int, PRIMARY KEY ((a, b), b))",
            "Duplicate column 'b' in PRIMARY KEY clause for table 't'",
        ),
        (
            "CREATE TABLE t (a int, a int, PRIMARY KEY (a))",
            "Duplicate column 'a' declaration for table 't'",
        ),
    ]);
}

#[test]
fn keys_have_types_that_can_be_keys() {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int)");
    world.ok("CREATE TYPE d (a duration)");
    for (ty, message) in [
        (
            "list<int>",
            "Invalid non-frozen collection type list<int> for PRIMARY KEY column 'k'",
        ),
        (
            "map<int, int>",
            "Invalid non-frozen collection type map<int, int> for PRIMARY KEY column 'k'",
        ),
        (
            "w",
            "Invalid non-frozen user-defined type \"ks.w\" for PRIMARY KEY column 'k'",
        ),
        (
            "counter",
            "counter type is not supported for PRIMARY KEY column 'k'",
        ),
        (
            "duration",
            "duration type is not supported for PRIMARY KEY column 'k'",
        ),
        (
            "frozen<list<duration>>",
            "duration type is not supported for PRIMARY KEY column 'k'",
        ),
        (
            "tuple<int, duration>",
            "duration type is not supported for PRIMARY KEY column 'k'",
        ),
        (
            "frozen<d>",
            "duration type is not supported for PRIMARY KEY column 'k'",
        ),
    ] {
        world.invalid(&format!("CREATE TABLE t (k {ty} PRIMARY KEY)"), message);
        world.invalid(
            &format!("CREATE TABLE t (a int, k {ty}, PRIMARY KEY (a, k))"),
            message,
        );
    }
    world.ok("CREATE TABLE t (k frozen<w>, c frozen<set<int>>, PRIMARY KEY (k, c))");
}

#[test]
fn element_types_follow_the_rules_of_freezing() {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int, b text)");
    for (ty, message) in [
        (
            "list<list<int>>",
            "Non-frozen collections are not allowed inside collections: list<list<int>>",
        ),
        (
            "set<list<int>>",
            "Non-frozen collections are not allowed inside collections: set<list<int>>",
        ),
        (
            "map<list<int>,int>",
            "Non-frozen collections are not allowed inside collections: map<list<int>, int>",
        ),
        (
            "map<int,list<int>>",
            "Non-frozen collections are not allowed inside collections: map<int, list<int>>",
        ),
        (
            "list<nope>",
            "Non-frozen UDTs are not allowed inside collections: list<nope>",
        ),
        (
            "map<w, int>",
            "Non-frozen UDTs are not allowed inside collections: map<w, int>",
        ),
        ("nope", "Unknown type ks.nope"),
        ("frozen<nope>", "Unknown type ks.nope"),
        (
            "frozen<other.w>",
            "Statement on keyspace ks cannot refer to a user type in keyspace other; user types can only be used in \
             the keyspace they are defined in",
        ),
        (
            "map<duration, int>",
            "Durations are not allowed as map keys: map<duration, int>",
        ),
        (
            "frozen<map<duration, int>>",
            "Durations are not allowed as map keys: frozen<map<duration, int>>",
        ),
        (
            "set<duration>",
            "Durations are not allowed inside sets: set<duration>",
        ),
        (
            "list<counter>",
            "Counters are not allowed inside collections: list<counter>",
        ),
        (
            "map<int, counter>",
            "Counters are not allowed inside collections: map<int, counter>",
        ),
        (
            "map<counter, int>",
            "Counters are not allowed inside collections: map<counter, int>",
        ),
        ("tuple<counter>", "Counters are not allowed inside tuples"),
        (
            "vector<int, 0>",
            "vectors may only have positive dimensions; given 0",
        ),
    ] {
        world.invalid(
            &format!("CREATE TABLE t (a int PRIMARY KEY, b {ty})"),
            message,
        );
    }
    world.syntax(
        "CREATE TABLE t (a int PRIMARY KEY, b 'org.apache.cassandra.db.marshal.Nope')",
        "Error setting type org.apache.cassandra.db.marshal.Nope: Unable to find abstract-type class \
         'org.apache.cassandra.db.marshal.Nope'",
    );
}

#[test]
fn tuples_and_what_frozen_holds_are_frozen() {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int, b text)");
    world.ok("CREATE TYPE \"Q r\" (a int)");
    world.ok(
        "CREATE TABLE t (a int PRIMARY KEY, b tuple<int, list<int>>, c frozen<tuple<int>>, d list<frozen<tuple<int, \
         text>>>, e list<tuple<int>>, f frozen<list<list<int>>>, g vector<tuple<int>, 2>, h frozen<vector<int, 2>>, \
         i map<text, frozen<vector<int, 3>>>, j vector<list<int>, 2>, k tuple<w>, l vector<w, 2>, m ks.w, \
         n frozen<map<int, w>>, o frozen<list<list<w>>>, p frozen<vector<list<int>, 2>>, q frozen<w>, \
         r vector<frozen<list<int>>, 2>, s list<frozen<\"Q r\">>, u 'Int32Type', v list<duration>)",
    );
    assert_eq!(
        world.columns("t"),
        [
            "a int",
            "b frozen<tuple<int, frozen<list<int>>>>",
            "c frozen<tuple<int>>",
            "d list<frozen<tuple<int, text>>>",
            "e list<frozen<tuple<int>>>",
            "f frozen<list<frozen<list<int>>>>",
            "g vector<frozen<tuple<int>>, 2>",
            "h vector<int, 2>",
            "i map<text, vector<int, 3>>",
            "j vector<list<int>, 2>",
            "k frozen<tuple<frozen<w>>>",
            "l vector<w, 2>",
            "m w",
            "n frozen<map<int, frozen<w>>>",
            "o frozen<list<frozen<list<frozen<w>>>>>",
            "p vector<list<int>, 2>",
            "q frozen<w>",
            "r vector<frozen<list<int>>, 2>",
            "s list<frozen<\"Q r\">>",
            "u int",
            "v list<duration>",
        ]
    );
}

#[test]
fn static_columns_need_clustering_and_are_no_keys() {
    let useless = "Static columns are only useful (and thus allowed) if the table has at least one clustering column";
    refusals(&[
        (
            "CREATE TABLE t (a int STATIC PRIMARY KEY)",
            "Static column 'a' cannot be part of the PRIMARY KEY",
        ),
        ("CREATE TABLE t (a int PRIMARY KEY, b int STATIC)", useless),
        (
            "CREATE TABLE t (a int, b int STATIC, PRIMARY KEY (a, b))",
            "Static column 'b' cannot be part of the PRIMARY KEY",
        ),
    ]);
}

#[test]
fn clustering_order_names_the_first_clustering_columns_in_order() {
    let table = "CREATE TABLE t (a int, b int, c int, d int, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY ";
    let mut world = World::new();
    for (order, message) in [
        (
            "(d DESC)",
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [d] are not clustering columns",
        ),
        (
            "(a DESC)",
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [a] are not clustering columns",
        ),
        ("(c DESC)", "Missing CLUSTERING ORDER for column b"),
        (
            "(c DESC, b DESC)",
            "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns (b must \
             appear before c)",
        ),
        (
            "(b DESC, b ASC)",
            "Duplicate column 'b' in CLUSTERING ORDER BY clause for table 't'",
        ),
    ] {
        world.invalid(&format!("{table}{order}"), message);
    }
    world.ok(&format!("{table}(b DESC)"));
    let orders: Vec<bool> = world
        .schema
        .table("ks", "t")
        .unwrap()
        .clustering()
        .iter()
        .map(|column| column.descending)
        .collect();
    assert_eq!(orders, [true, false]);
}

#[test]
fn counters_stand_alone() {
    refusals(&[
        (
            "CREATE TABLE t (a int PRIMARY KEY, b counter, c int)",
            "Cannot mix counter and non counter columns in the same table",
        ),
        (
            "CREATE TABLE t (a int, b int, d counter, PRIMARY KEY (a, b)) WITH default_time_to_live = 5",
            "Cannot set default_time_to_live on a table with counters",
        ),
    ]);
    let mut world = World::new();
    world.ok("CREATE TABLE t (a int, c int, d counter, e counter STATIC, PRIMARY KEY (a, c))");
    assert!(world.schema.table("ks", "t").unwrap().is_counter);
}

#[test]
fn columns_are_ordered_as_select_star_gives_them() {
    let mut world = World::new();
    world.ok(
        "CREATE TABLE t (z int, y text, \"X\" int, w set<int>, s text STATIC, r int STATIC, b int, a int, \
         PRIMARY KEY ((b, a), y, \"X\"))",
    );
    assert_eq!(
        world.columns("t"),
        [
            "b int",
            "a int",
            "y text",
            "X int",
            "r int",
            "s text",
            "w set<int>",
            "z int"
        ]
    );
    let table = world.schema.table("ks", "t").unwrap();
    let counts = (
        table.partition_key_len,
        table.clustering_len,
        table.static_len,
        table.regulars().len(),
    );
    assert_eq!(counts, (2, 2, 2, 2));
    for column in &table.columns {
        assert_eq!(table.column(&column.name), Some(column));
        assert_eq!(table.column_with_id(column.id), Some(column));
    }
    assert_eq!(table.column("nope"), None);
    assert_eq!(table.columns[5].id, ColumnId(5));
}

#[test]
fn options_are_read_before_columns() {
    let mut world = World::new();
    world.syntax(
        "CREATE TABLE t (a int PRIMARY KEY, b nope) WITH foo = 'x'",
        "Unknown property 'foo'",
    );
    world.configuration(
        "CREATE TABLE t (a int PRIMARY KEY, b nope) WITH gc_grace_seconds = -1",
        "gc_grace_seconds must be greater than or equal to 0 (got -1)",
    );
}

#[test]
fn an_id_may_be_given_once() {
    let mut world = World::new();
    world.configuration(
        "CREATE TABLE t (a int PRIMARY KEY) WITH ID = 'zzz'",
        "Invalid table id",
    );
    world.ok("CREATE TABLE t (a int PRIMARY KEY) WITH ID = 5a1c395e-b41f-11e5-9f22-ba0be0483c18");
    let id = world.schema.table("ks", "t").unwrap().id;
    assert_eq!(id.to_string(), "5a1c395e-b41f-11e5-9f22-ba0be0483c18");
    world.configuration(
        "CREATE TABLE u (a int PRIMARY KEY) WITH ID = 5a1c395e-b41f-11e5-9f22-ba0be0483c18",
        "Table id 5a1c395e-b41f-11e5-9f22-ba0be0483c18 is that of ks.t",
    );
}

#[test]
fn tables_exist_once_in_keyspaces_that_exist() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (a int PRIMARY KEY)");
    let error = world
        .run("CREATE TABLE t (a int PRIMARY KEY, b nope)")
        .unwrap_err();
    let message = "Cannot add already existing table \"t\" to keyspace \"ks\"";
    assert_eq!(
        (error.code, &*error.message),
        (ErrorCode::ALREADY_EXISTS, message)
    );
    world.unchanged("CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b nope) WITH foo = 'x'");
    world.invalid(
        "CREATE TABLE IF NOT EXISTS nope.t (a int PRIMARY KEY)",
        "Keyspace 'nope' doesn't exist",
    );
    world.invalid("DROP TABLE u", "Table 'ks.u' doesn't exist");
    world.invalid("DROP TABLE nope.u", "Table 'nope.u' doesn't exist");
    world.unchanged("DROP TABLE IF EXISTS u");
    world.configuration(
        "CREATE TABLE \"T T\" (a int PRIMARY KEY)",
        "ks.T T: Table name must not be empty, more than 48 characters long, or contain non-alphanumeric-underscore \
         characters (got \"T T\")",
    );
}

#[test]
fn names_fit_the_protocol_and_a_directory() {
    let mut world = World::new();
    let long = "x".repeat(65_536);
    let message = "A name may have 65535 bytes at most";
    world.invalid(
        &format!("CREATE TABLE t (a int PRIMARY KEY, {long} int)"),
        message,
    );
    world.invalid(&format!("CREATE TYPE {long} (a int)"), message);
    world.ok(&format!(
        "CREATE TABLE {} (a int PRIMARY KEY)",
        "t".repeat(222)
    ));
    assert!(
        world
            .run(&format!(
                "CREATE TABLE {} (a int PRIMARY KEY)",
                "t".repeat(223)
            ))
            .is_err()
    );
}
