//! Native functions in the schema: listed, described, and nobody's to change.

use super::{ints, natives, node};
use crate::execution::tests::expect;

#[test]
fn they_are_there_as_long_as_their_keyspace_is() {
    let mut node = node();
    let listed = "SELECT function_name, argument_types, language, return_type, called_on_null_input FROM system_schema.functions \
                  WHERE keyspace_name = 'k' AND function_name IN ('twice', 'zero')";
    expect(
        &mut node,
        &[
            (
                listed,
                "function_name|argument_types|language|return_type|called_on_null_input / twice|[int]|native|int|false / \
                 zero|[int]|native|int|true",
            ),
            (
                "SELECT function_name, language FROM system_schema.functions WHERE keyspace_name = 'system'",
                "function_name|language / addone|native",
            ),
            (
                "SELECT aggregate_name, state_func, state_type, return_type FROM system_schema.aggregates WHERE keyspace_name = 'k'",
                "aggregate_name|state_func|state_type|return_type / squares|native|int|int",
            ),
            ("DROP KEYSPACE k", "altered"),
            (
                "SELECT function_name FROM system_schema.functions WHERE keyspace_name = 'k'",
                "function_name",
            ),
            (
                "SELECT k.twice(1) FROM system.local",
                "INVALID: Unknown function 'k.twice'",
            ),
            (
                "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
                "altered",
            ),
            (
                "SELECT k.twice(1), addone(1) FROM system.local",
                "k.twice(1)|system.addone(1) / 2|2",
            ),
        ],
    );
}

#[test]
fn no_statement_changes_them() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "DROP FUNCTION twice",
                "INVALID: Function 'k.twice(int)' is native: only the program that registered it can change it",
            ),
            (
                "DROP AGGREGATE IF EXISTS squares (int)",
                "INVALID: Aggregate 'k.squares(int)' is native: only the program that registered it can change it",
            ),
            (
                "CREATE OR REPLACE FUNCTION twice (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
                "INVALID: Function 'k.twice(int)' is native: only the program that registered it can change it",
            ),
            (
                "CREATE FUNCTION twice (a text) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE java AS 'return a + a;'",
                "altered",
            ),
            (
                "SELECT twice('x'), twice(k) FROM t WHERE k = 1",
                "k.twice('x')|k.twice(k) / xx|2",
            ),
            (
                "CREATE AGGREGATE sums (int) SFUNC plus STYPE int INITCOND 0",
                "INVALID: State function k.plus(int, int) is native: register a native aggregate instead",
            ),
            (
                "CREATE FUNCTION step (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return s + a;'",
                "altered",
            ),
            (
                "CREATE AGGREGATE sums (int) SFUNC step STYPE int INITCOND twice(1)",
                "INVALID: Invalid value for INITCOND of type int",
            ),
        ],
    );
}

#[test]
fn what_cannot_be_registered_says_why() {
    let mut natives = natives();
    let mut refused = |name: &str| {
        let function = ints(name, 1, |n| n[0]);
        natives.register_function(function).unwrap_err().to_string()
    };
    assert_eq!(
        refused("k.twice"),
        "k.twice[int] can't be registered: there is one with these arguments already"
    );
    assert_eq!(
        refused("k.squares"),
        "k.squares[int] can't be registered: there is one with these arguments already"
    );
    assert_eq!(
        refused("system_auth.f"),
        "system_auth.f[int] can't be registered: of the server's own keyspaces only system takes functions"
    );
    assert_eq!(
        refused("k."),
        "k.[int] can't be registered: its name isn't made of letters, digits and underscores"
    );
    assert_eq!(
        refused("k-k.f"),
        "k-k.f[int] can't be registered: its keyspace isn't made of up to 48 letters, digits and underscores"
    );
}

#[test]
fn they_are_described_as_what_no_statement_can_make() {
    let mut node = node();
    let function = node.run("DESCRIBE FUNCTION k.plus");
    assert!(
        function.ends_with(
            "|/*\nWarning: Function k.plus(int, int) is a native function and cannot be recreated with CQL.\n\
             Structure, for reference:\n\
             CREATE FUNCTION k.plus(arg0 int, arg1 int)\n    RETURNS NULL ON NULL INPUT\n    RETURNS int\n    LANGUAGE native;\n*/"
        ),
        "{function}"
    );
    let aggregate = node.run("DESCRIBE AGGREGATE k.squares");
    assert!(
        aggregate.ends_with(
            "|/*\nWarning: Aggregate k.squares(int) is a native aggregate and cannot be recreated with CQL.\n\
             Structure, for reference:\n\
             CREATE AGGREGATE k.squares(int)\n    RETURNS int\n    LANGUAGE native;\n*/"
        ),
        "{aggregate}"
    );
    let listed = node.run("DESCRIBE FUNCTIONS");
    assert!(listed.contains("k|function|twice(int)"), "{listed}");
}
