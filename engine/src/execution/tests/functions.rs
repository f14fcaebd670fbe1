//! User functions and aggregates at work, with Cassandra's answers.

use super::{Node, expect, node};

fn functions() -> Node {
    let mut node = node();
    node.all(&[
        "CREATE FUNCTION plus (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return (s == null ? 0 : s) + (a == null ? 0 : a);'",
        "CREATE FUNCTION strict (s int, a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return s + a;'",
        "CREATE FUNCTION dbl (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a == null ? null : a * 2;'",
        "CREATE FUNCTION dbl (a double) CALLED ON NULL INPUT RETURNS double LANGUAGE java AS 'return a * 2;'",
        "CREATE FUNCTION dbl (a text) CALLED ON NULL INPUT RETURNS text LANGUAGE java AS 'return a + a;'",
        "CREATE FUNCTION div (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1 / (a - 1);'",
        "CREATE FUNCTION zip (x addr) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return x.getInt(\"zip\");'",
        "INSERT INTO t (k, i, u) VALUES (1, 10, {zip: 5})",
        "INSERT INTO t (k, i) VALUES (2, 20)",
        "INSERT INTO t (k) VALUES (3)",
    ]);
    node
}

#[test]
fn functions_are_chosen_by_their_arguments_and_name_their_columns() {
    let mut node = functions();
    expect(
        &mut node,
        &[
            (
                "SELECT dbl(i), k.plus(i, k) FROM t WHERE k = 1",
                "k.dbl(i)|k.plus(i, k) / 20|11",
            ),
            (
                "SELECT dbl(5), dbl('x'), dbl(1.5) FROM t WHERE k = 1",
                "k.dbl(5)|k.dbl('x')|k.dbl(1.5) / 10|xx|3.0",
            ),
            ("SELECT dbl(dbl(i)) AS x FROM t WHERE k = 3", "x / null"),
            (
                "SELECT strict(k, i) FROM t WHERE k = 3",
                "k.strict(k, i) / null",
            ),
            ("SELECT zip(u) FROM t WHERE k = 1", "k.zip(u) / 5"),
            ("SELECT k FROM t WHERE k = plus(1, 1)", "k / 2"),
            (
                "INSERT INTO kv (k, v) VALUES (plus(1, 2), dbl('y'))",
                "void",
            ),
            ("SELECT v FROM kv WHERE k = 3", "v / yy"),
            (
                "SELECT max(dbl(i)), dbl(max(i)) FROM t",
                "system.max(k.dbl(i))|k.dbl(system.max(i)) / 40|40",
            ),
            (
                "SELECT dbl(l) FROM t",
                "INVALID: Invalid call to function dbl, none of its type signatures match (known type signatures: k.dbl : \
                 (double) -> double, k.dbl : (int) -> int, k.dbl : (text) -> text)",
            ),
            (
                "SELECT strict(1) FROM t",
                "INVALID: Invalid number of arguments in call to function k.strict: 2 required but 1 provided",
            ),
            ("SELECT nope(i) FROM t", "INVALID: Unknown function 'nope'"),
            (
                "SELECT other.plus(i, i) FROM t",
                "INVALID: Unknown function 'other.plus'",
            ),
        ],
    );
}

#[test]
fn a_function_of_a_keyspace_hides_the_servers() {
    let mut node = functions();
    node.all(&[
        "CREATE FUNCTION max (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
    ]);
    expect(
        &mut node,
        &[
            ("SELECT max(i) FROM t WHERE k = 1", "k.max(i) / 1"),
            ("SELECT system.max(i) FROM t", "system.max(i) / 20"),
            ("SELECT max(k) FROM t WHERE k = 1", "k.max(k) / 1"),
        ],
    );
}

#[test]
fn an_exception_fails_the_statement() {
    let mut node = functions();
    expect(
        &mut node,
        &[
            (
                "SELECT div(k) FROM t WHERE k = 1",
                "FUNCTION_FAILURE: java.lang.ArithmeticException: / by zero",
            ),
            ("SELECT div(k) FROM t WHERE k = 2", "k.div(k) / 1"),
            (
                "SELECT k FROM t WHERE k = div(1)",
                "FUNCTION_FAILURE: java.lang.ArithmeticException: / by zero",
            ),
            (
                "UPDATE t SET i = div(1) WHERE k = 1",
                "FUNCTION_FAILURE: java.lang.ArithmeticException: / by zero",
            ),
        ],
    );
}

#[test]
fn aggregates_fold_rows_through_their_functions() {
    let mut node = functions();
    node.all(&[
        "CREATE AGGREGATE total (int) SFUNC plus STYPE int",
        "CREATE AGGREGATE hundred (int) SFUNC plus STYPE int FINALFUNC dbl INITCOND 100",
        "CREATE AGGREGATE careful (int) SFUNC strict STYPE int INITCOND 0",
        "CREATE AGGREGATE rows () SFUNC dbl STYPE int INITCOND 1",
        "CREATE FUNCTION step (s tuple<int, bigint>, a int) CALLED ON NULL INPUT RETURNS tuple<int, bigint> LANGUAGE java AS \
         'if (a != null) { s.setInt(0, s.getInt(0) + 1); s.setLong(1, s.getLong(1) + a.intValue()); } return s;'",
        "CREATE FUNCTION mean (s tuple<int, bigint>) CALLED ON NULL INPUT RETURNS double LANGUAGE java AS \
         'double r = 0; if (s.getInt(0) == 0) return null; r = s.getLong(1); r /= s.getInt(0); return Double.valueOf(r);'",
        "CREATE AGGREGATE average (int) SFUNC step STYPE tuple<int, bigint> FINALFUNC mean INITCOND (0, 0)",
        "CREATE FUNCTION both (s int, a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return s + a * b;'",
        "CREATE AGGREGATE product (int, int) SFUNC both STYPE int INITCOND 0",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT total(i), hundred(i), careful(i), rows(), average(i) FROM t",
                "k.total(i)|k.hundred(i)|k.careful(i)|k.rows()|k.average(i) / 30|260|30|8|15.0",
            ),
            (
                "SELECT total(i), hundred(i), average(i) FROM t WHERE k = 99",
                "k.total(i)|k.hundred(i)|k.average(i) / null|200|null",
            ),
            (
                "SELECT total(dbl(i)), dbl(total(i)) FROM t",
                "k.total(k.dbl(i))|k.dbl(k.total(i)) / 60|60",
            ),
            (
                "SELECT k, product(i, k) AS p FROM t WHERE k IN (1, 2) GROUP BY k",
                "k|p / 1|10 / 2|40",
            ),
            ("SELECT JSON total(i) AS x FROM t", r#"[json] / {"x": 30}"#),
            (
                "SELECT total(total(i)) FROM t",
                "INVALID: aggregate functions cannot be used as arguments of aggregate functions",
            ),
            (
                "UPDATE t SET i = total(5) WHERE k = 1",
                "INVALID: Aggregation function are not supported in the where clause",
            ),
        ],
    );
}

#[test]
fn a_function_that_loops_asks_for_time_and_pauses() {
    let mut node = functions();
    node.all(&[
        "CREATE FUNCTION spin (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS \
         'int s = 0; for (int i = 0; i < a; i++) s += i; return s;'",
    ]);
    for c in 0..20 {
        node.all(&[&format!("INSERT INTO cc (p, c, d) VALUES (1, {c}, 0)")]);
    }
    assert_eq!(
        node.run("SELECT dbl(i) FROM t WHERE k = 1"),
        "k.dbl(i) / 20"
    );
    assert_eq!(node.deferred, 0);
    let rows = node.run("SELECT c, spin(1000) AS x FROM cc WHERE p = 1");
    let expected: String = (0..20).map(|c| format!(" / {c}|499500")).collect();
    assert_eq!(rows, format!("c|x{expected}"));
    assert_eq!(node.deferred, 1);
    assert_eq!(
        node.run("SELECT max(spin(c)) FROM cc"),
        "system.max(k.spin(c)) / 171"
    );
    assert_eq!(
        node.run("SELECT spin(100000000) FROM t WHERE k = 1"),
        "FUNCTION_FAILURE: it took more than 1048576 steps and was stopped"
    );
    assert_eq!(
        node.run("INSERT INTO t (k, i) VALUES (5, spin(100000000))"),
        "FUNCTION_FAILURE: it took more than 131072 steps and was stopped"
    );
    let statement = "INSERT INTO t (k, i) VALUES (5, spin(5000)); ";
    let batch = format!("BEGIN UNLOGGED BATCH {} APPLY BATCH", statement.repeat(20));
    assert!(node.run(&batch).contains("steps"), "{batch}");
}

#[test]
fn a_statement_is_stale_once_its_function_changes() {
    let mut node = functions();
    node.all(&["CREATE AGGREGATE total (int) SFUNC plus STYPE int"]);
    let call = node.prepare("SELECT dbl(i) FROM t").unwrap();
    let fold = node.prepare("SELECT total(i) FROM t").unwrap();
    let value = node
        .prepare("INSERT INTO t (k, i) VALUES (1, dbl(2))")
        .unwrap();
    let plain = node.prepare("SELECT i FROM t").unwrap();
    let body = "CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'";
    node.all(&[&format!("CREATE OR REPLACE FUNCTION dbl (a int) {body}")]);
    let schema = node.schema.clone();
    assert_eq!(
        [&call, &fold, &value, &plain].map(|statement| statement.is_current(&schema)),
        [false, true, false, true]
    );
    node.all(&[&format!(
        "CREATE OR REPLACE FUNCTION plus (s int, a int) {body}"
    )]);
    assert!(!fold.is_current(&node.schema));
    assert_eq!(
        node.run("SELECT total(i), dbl(i) FROM t WHERE k = 1"),
        "k.total(i)|k.dbl(i) / 1|1"
    );
}
