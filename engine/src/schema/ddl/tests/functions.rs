use helenus_core::ErrorCode;
use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};

use super::World;

const ONE: &str = "CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'";

fn shown(change: &SchemaChange) -> String {
    let kind = match change.change {
        ChangeType::Created => "CREATED",
        ChangeType::Updated => "UPDATED",
        ChangeType::Dropped => "DROPPED",
    };
    match &change.target {
        SchemaTarget::Function {
            keyspace,
            name,
            arguments,
        } => {
            format!(
                "{kind} FUNCTION {keyspace}.{name}({})",
                arguments.join(", ")
            )
        }
        SchemaTarget::Aggregate {
            keyspace,
            name,
            arguments,
        } => {
            format!(
                "{kind} AGGREGATE {keyspace}.{name}({})",
                arguments.join(", ")
            )
        }
        SchemaTarget::Keyspace { keyspace } => format!("{kind} KEYSPACE {keyspace}"),
        SchemaTarget::Type { keyspace, name } => format!("{kind} TYPE {keyspace}.{name}"),
        other => format!("{kind} {other:?}"),
    }
}

#[test]
fn functions_are_created_and_replaced() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int)");
    world.ok(&format!("CREATE FUNCTION f (a int) {ONE}"));
    world.ok(&format!("CREATE FUNCTION f (a bigint) {ONE}"));
    world.unchanged(&format!("CREATE FUNCTION IF NOT EXISTS f (a int) {ONE}"));
    world.unchanged(&format!("CREATE OR REPLACE FUNCTION f (a int) {ONE}"));
    let update = world.ok("CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE JAVA AS $$return 2;$$");
    assert_eq!(
        update.change.as_ref().map(shown).as_deref(),
        Some("UPDATED FUNCTION ks.f(int)")
    );
    let of = |rest: &str| format!("CREATE FUNCTION g (a int) CALLED ON NULL INPUT RETURNS {rest}");
    for (statement, message) in [
        (format!("CREATE FUNCTION f (a int) {ONE}"), "Function 'f' already exists"),
        (
            format!("CREATE OR REPLACE FUNCTION IF NOT EXISTS f (a int) {ONE}"),
            "Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives",
        ),
        (
            "CREATE OR REPLACE FUNCTION f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'".to_owned(),
            "Function 'f' must have RETURNS NULL ON NULL INPUT directive",
        ),
        (
            "CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS text LANGUAGE java AS 'return null;'".to_owned(),
            "Cannot replace function 'f', the new return type text is not compatible with the return type int of existing \
             function",
        ),
        (
            format!("CREATE FUNCTION g (a int, a int) {ONE}"),
            "Duplicate argument names for given function g with argument names [a, a]",
        ),
        (
            format!("CREATE FUNCTION g (a frozen<u>) {ONE}"),
            "Argument 'frozen<u>' cannot be frozen; remove frozen<> modifier from 'frozen<u>'",
        ),
        (
            format!("CREATE FUNCTION g (a list<u>) {ONE}"),
            "Non-frozen UDTs are not allowed inside collections: list<u>",
        ),
        (format!("CREATE FUNCTION g (a nope) {ONE}"), "Unknown type ks.nope"),
        (
            of("frozen<u> LANGUAGE java AS 'return null;'"),
            "Return type 'frozen<u>' cannot be frozen; remove frozen<> modifier from 'frozen<u>'",
        ),
        (format!("CREATE FUNCTION nope.f (a int) {ONE}"), "Keyspace 'nope' doesn't exist"),
        (format!("CREATE FUNCTION system.f (a int) {ONE}"), "System keyspace 'system' is not user-modifiable"),
        (
            of("int LANGUAGE javascript AS 'a'"),
            "Currently only Java UDFs are available in Cassandra. For more information - CASSANDRA-18252 and CASSANDRA-17281",
        ),
        (
            of("int LANGUAGE java AS 'return System.nanoTime();'"),
            "Java source compilation failed: line 1:8 the method System.nanoTime() is not supported. This server runs a subset \
             of Java: local variables, operators, if, loops, return, throw of unchecked exceptions, and common methods of \
             String, Math, the boxes, List, Set, Map, UDTValue and TupleValue",
        ),
    ] {
        world.invalid(&statement, message);
    }
    let many = (0..256)
        .map(|n| format!("a{n} int"))
        .collect::<Vec<_>>()
        .join(", ");
    world.invalid(
        &format!("CREATE FUNCTION g ({many}) {ONE}"),
        "A function may have 255 arguments at most",
    );
    world.ok(&format!(
        "CREATE FUNCTION g (a frozen<tuple<int>>, b list<frozen<u>>) {ONE}"
    ));
}

#[test]
fn answers_have_the_types_as_written_and_events_as_they_are() {
    let mut world = World::new();
    world.ok("CREATE TYPE ty (a int)");
    let update = world.ok(&format!(
        "CREATE FUNCTION fu (a ty, b tuple<int, text>, c map<text, int>, d varchar, e vector<float, 3>) {ONE}"
    ));
    assert_eq!(
        update.change.as_ref().map(shown).as_deref(),
        Some(
            "CREATED FUNCTION ks.fu(ks.ty, tuple<int, text>, map<text, int>, varchar, vector<float, 3>)"
        )
    );
    let events: Vec<_> = update.events.iter().map(shown).collect();
    let expected =
        "FUNCTION ks.fu(ty, frozen<tuple<int, text>>, map<text, int>, text, vector<float, 3>)";
    assert_eq!(events, [format!("CREATED {expected}")]);
    let update = world.ok("DROP FUNCTION fu");
    assert_eq!(
        update.change.as_ref().map(shown),
        Some(format!("DROPPED {expected}"))
    );
}

#[test]
fn functions_are_dropped_by_their_arguments() {
    let mut world = World::new();
    world.ok(&format!("CREATE FUNCTION f (a int) {ONE}"));
    world.ok(&format!("CREATE FUNCTION f (s int, a int) {ONE}"));
    world.ok("CREATE AGGREGATE a (int) SFUNC f STYPE int");
    for (statement, message) in [
        (
            "DROP FUNCTION f",
            "'DROP FUNCTION f' matches multiple function definitions; specify the argument types by issuing a statement \
             like 'DROP FUNCTION f (type, type, ...)'. You can use cqlsh 'DESCRIBE FUNCTION f' command to find all overloads",
        ),
        (
            "DROP FUNCTION f (float)",
            "Function 'ks.f(float)' doesn't exist",
        ),
        ("DROP FUNCTION nope", "Function 'ks.nope' doesn't exist"),
        ("DROP FUNCTION nope.f", "Function 'nope.f' doesn't exist"),
        (
            "DROP FUNCTION f (int, int)",
            "Function 'ks.f(int, int)' is still referenced by aggregates ks.a",
        ),
        ("DROP FUNCTION a", "Function 'ks.a' doesn't exist"),
        ("DROP FUNCTION f (nope)", "Unknown type ks.nope"),
        (
            "DROP AGGREGATE a (text)",
            "Aggregate 'ks.a(text)' doesn't exist",
        ),
    ] {
        world.invalid(statement, message);
    }
    world.unchanged("DROP FUNCTION IF EXISTS f (float)");
    world.unchanged("DROP FUNCTION IF EXISTS nope.f");
    world.unchanged("DROP AGGREGATE IF EXISTS nope");
    let update = world.ok("DROP AGGREGATE a");
    assert_eq!(
        update.change.as_ref().map(shown).as_deref(),
        Some("DROPPED AGGREGATE ks.a(int)")
    );
    world.ok("DROP FUNCTION f (int, int)");
    let update = world.ok("DROP FUNCTION f");
    assert_eq!(
        update.change.as_ref().map(shown).as_deref(),
        Some("DROPPED FUNCTION ks.f(int)")
    );
}

#[test]
fn aggregates_need_functions_that_fit() {
    let mut world = World::new();
    world.ok(&format!("CREATE FUNCTION plus (s int, a int) {ONE}"));
    world.ok(&format!("CREATE FUNCTION last (s int) {ONE}"));
    world.ok("CREATE FUNCTION strict (s int, a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return s + a;'");
    world.ok("CREATE FUNCTION text (s int, a int) CALLED ON NULL INPUT RETURNS text LANGUAGE java AS 'return null;'");
    for (statement, message) in [
        (
            "CREATE AGGREGATE a (int) SFUNC nope STYPE int",
            "State function ks.nope(int, int) doesn't exist",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC plus STYPE text",
            "State function ks.plus(text, int) doesn't exist",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC text STYPE int",
            "State function ks.text(int, int) return type must be the same as the first argument type - check STYPE, argument \
             and return types",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC strict STYPE int INITCOND null",
            "Cannot create aggregate 'a' without INITCOND because state function ks.strict does not accept 'null' arguments",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC plus STYPE int FINALFUNC nope",
            "Final function ks.nope(int) doesn't exist",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC plus STYPE int INITCOND 'x'",
            "Invalid STRING constant (x) for \"(dummy)\" of type int",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC plus STYPE int INITCOND ?",
            "Invalid value for INITCOND of type int",
        ),
        (
            "CREATE AGGREGATE a (int) SFUNC plus STYPE frozen<list<int>>",
            "State type 'frozen<list<int>>' cannot be frozen; remove frozen<> modifier from 'frozen<list<int>>'",
        ),
        (
            "CREATE AGGREGATE last (int) SFUNC plus STYPE int",
            "Aggregate 'last' cannot replace a function",
        ),
        (
            "CREATE AGGREGATE system.a (int) SFUNC plus STYPE int",
            "System keyspace 'system' is not user-modifiable",
        ),
    ] {
        world.invalid(statement, message);
    }
    world.refused(
        "CREATE AGGREGATE nope.a (int) SFUNC plus STYPE int",
        ErrorCode::CONFIG_ERROR,
        "Keyspace nope doesn't exist",
    );
    world.ok("CREATE AGGREGATE a (int) SFUNC plus STYPE int");
    world.invalid(
        "CREATE AGGREGATE a (int) SFUNC plus STYPE int",
        "Aggregate 'a' already exists",
    );
    world.unchanged("CREATE AGGREGATE IF NOT EXISTS a (int) SFUNC plus STYPE int");
    world.unchanged("CREATE OR REPLACE AGGREGATE a (int) SFUNC plus STYPE int");
    let update = world.ok(
        "CREATE OR REPLACE AGGREGATE a (int) SFUNC plus STYPE int FINALFUNC last INITCOND 5 + 5",
    );
    assert_eq!(
        update.change.as_ref().map(shown).as_deref(),
        Some("UPDATED AGGREGATE ks.a(int)")
    );
    let keyspace = &world.schema.keyspaces["ks"];
    let aggregate = keyspace.aggregates_named("a").next().unwrap();
    assert_eq!(aggregate.initial_text.as_deref(), Some("10"));
    world.invalid(
        &format!("CREATE FUNCTION a (a int) {ONE}"),
        "Function 'a' cannot replace an aggregate",
    );
}

#[test]
fn the_first_state_reads_back_as_it_was_written() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, \"B\" text)");
    for (index, (ty, given, shown)) in [
        ("text", "'it''s'", "'it''s'"),
        ("map<text, int>", "{'b': 2, 'a': 1}", "{'a': 1, 'b': 2}"),
        ("u", "{a: 1}", "{a: 1, \"B\": null}"),
        ("tuple<int, bigint>", "(0, null)", "(0, null)"),
        ("blob", "0x01", "0x01"),
        ("timestamp", "'2020-01-01'", "'2020-01-01T00:00:00.000Z'"),
        ("date", "'2020-01-01'", "'2020-01-01'"),
        ("inet", "'1.2.3.4'", "'1.2.3.4'"),
        (
            "uuid",
            "550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-446655440000",
        ),
        ("double", "1", "1.0"),
        ("float", "NaN", "NaN"),
        ("decimal", "1.50", "1.50"),
        ("duration", "1mo", "1mo"),
        ("set<int>", "{2, 1}", "{1, 2}"),
        ("map<int, frozen<list<text>>>", "{1: ['x']}", "{1: ['x']}"),
        ("vector<float, 2>", "[1, 2]", "[1.0, 2.0]"),
        ("boolean", "true", "true"),
        ("list<int>", "[]", "[]"),
    ]
    .into_iter()
    .enumerate()
    {
        world.ok(&format!(
            "CREATE FUNCTION f{index} (s {ty}, a text) CALLED ON NULL INPUT RETURNS {ty} LANGUAGE java AS 'return s;'"
        ));
        for written in [given, shown] {
            world.run(&format!("CREATE OR REPLACE AGGREGATE a{index} (text) SFUNC f{index} STYPE {ty} INITCOND {written}")).unwrap();
            let keyspace = &world.schema.keyspaces["ks"];
            let aggregate = keyspace
                .aggregates_named(&format!("a{index}"))
                .next()
                .unwrap();
            assert_eq!(aggregate.initial_text.as_deref(), Some(shown), "{ty}");
        }
    }
}

#[test]
fn types_of_functions_stay_and_follow_changes() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int)");
    world.ok(&format!("CREATE FUNCTION f (a u) {ONE}"));
    world.ok("CREATE FUNCTION g (s u) CALLED ON NULL INPUT RETURNS u LANGUAGE java AS 'return s;'");
    world.ok("CREATE AGGREGATE a () SFUNC g STYPE u");
    world.invalid(
        "DROP TYPE u",
        "Cannot drop user type 'ks.u' as it is still used by functions ks.f, ks.g, ks.a",
    );
    let update = world.ok("ALTER TYPE u ADD b text");
    let events: Vec<_> = update.events.iter().map(shown).collect();
    assert_eq!(
        events,
        [
            "UPDATED TYPE ks.u",
            "UPDATED FUNCTION ks.f(u)",
            "UPDATED FUNCTION ks.g(u)",
            "UPDATED AGGREGATE ks.a()"
        ]
    );
    let before = world.schema.version;
    let update = world.ok("DROP KEYSPACE ks");
    let events: Vec<_> = update.events.iter().map(shown).collect();
    assert_eq!(
        events,
        [
            "DROPPED AGGREGATE ks.a()",
            "DROPPED FUNCTION ks.f(u)",
            "DROPPED FUNCTION ks.g(u)",
            "DROPPED TYPE ks.u",
            "DROPPED KEYSPACE ks"
        ]
    );
    assert_ne!(world.schema.version, before);
}

#[test]
fn functions_are_part_of_the_schema_version() {
    let mut world = World::new();
    let empty = world.schema.version;
    world.ok(&format!("CREATE FUNCTION f (s int, a int) {ONE}"));
    let with_function = world.schema.version;
    world.ok("CREATE AGGREGATE a (int) SFUNC f STYPE int");
    let with_aggregate = world.schema.version;
    assert!(empty != with_function && with_function != with_aggregate);
    world.ok("DROP AGGREGATE a");
    assert_eq!(world.schema.version, with_function);
    world.ok("DROP FUNCTION f");
    assert_eq!(world.schema.version, empty);
}
