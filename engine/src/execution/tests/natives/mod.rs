//! Native functions and aggregates wherever CQL may call one.

mod schema;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use helenus_core::message::{
    Batch, BatchStatementList, BatchType, QueryFlags, QueryParams, ValueList,
};
use helenus_core::types::{CqlType, Value};
use helenus_core::{Consistency, RawValue, Response};

use super::node::{int, show};
use super::{Node, expect, prepared_node};
use crate::schema::Natives;
use crate::{NativeAggregate, NativeFunction};

fn number(value: &Option<Value>) -> i32 {
    match value {
        Some(Value::Int(number)) => *number,
        _ => 0,
    }
}

/// A function of ints.
fn ints(name: &str, arity: usize, f: fn(&[i32]) -> i32) -> NativeFunction {
    let types = vec![CqlType::Int; arity];
    NativeFunction::new(name, types, CqlType::Int, move |values| {
        let numbers: Vec<_> = values.iter().map(number).collect();
        Ok(Some(Value::Int(f(&numbers))))
    })
}

/// The sum of the squares of what it folds.
fn squares(name: &str) -> NativeAggregate {
    NativeAggregate::new(
        name,
        [CqlType::Int],
        CqlType::Int,
        || 0,
        |sum: &mut i32, values| {
            let squares = values.iter().map(number).map(|n| n.wrapping_mul(n));
            *sum = squares.fold(*sum, i32::wrapping_add);
            Ok(())
        },
        |sum| Ok(Some(Value::Int(sum))),
    )
}

fn natives() -> Natives {
    let mut natives = Natives::default();
    let functions = [
        ints("k.twice", 1, |n| n[0] * 2),
        ints("k.plus", 2, |n| n[0] + n[1]),
        ints("addone", 1, |n| n[0] + 1),
        ints("k.zero", 1, |n| if n[0] == 0 { 1 } else { 0 }).called_on_null(),
        NativeFunction::new("k.fails", [CqlType::Int], CqlType::Int, |_| {
            Err("not today".into())
        }),
        NativeFunction::new("k.panics", [CqlType::Int], CqlType::Int, |values| {
            panic!("it got {:?}", values.len())
        }),
        NativeFunction::new("k.lies", [CqlType::Int], CqlType::Int, |_| {
            Ok(Some(Value::Text("no int".into())))
        }),
        NativeFunction::new("k.sorted", [], CqlType::Set(CqlType::Int.into()), |_| {
            let items = [3, 1, 2, 1].map(Value::Int);
            Ok(Some(Value::Set(items.into())))
        }),
    ];
    for function in functions {
        natives.register_function(function).unwrap();
    }
    for name in ["k.squares", "allsquares"] {
        natives.register_aggregate(squares(name)).unwrap();
    }
    natives
}

fn node() -> Node {
    let mut node = prepared_node(Node::with_natives(natives()));
    node.all(&[
        "INSERT INTO t (k, i) VALUES (1, 10)",
        "INSERT INTO t (k, i) VALUES (2, 20)",
        "INSERT INTO t (k) VALUES (3)",
        "INSERT INTO cc (p, c, d, v) VALUES (1, 1, 1, 1)",
        "INSERT INTO cc (p, c, d, v) VALUES (1, 1, 2, 2)",
        "INSERT INTO cc (p, c, d, v) VALUES (1, 2, 1, 3)",
        "INSERT INTO cc (p, c, d, v) VALUES (2, 1, 1, 4)",
    ]);
    node
}

#[test]
fn a_selection_calls_them_for_each_row_and_within_each_other() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "SELECT twice(i), i FROM t WHERE k = 1",
                "k.twice(i)|i / 20|10",
            ),
            (
                "SELECT k.twice(k.plus(i, twice(k))) AS x FROM t",
                "x / 24 / 48 / null",
            ),
            (
                "SELECT addone(k) FROM t WHERE k = 1",
                "system.addone(k) / 2",
            ),
            ("SELECT twice(4) FROM t WHERE k = 1", "k.twice(4) / 8"),
            (
                "SELECT plus(i, (int) twice(k)) FROM t WHERE k = 2",
                "k.plus(i, (int)k.twice(k)) / 24",
            ),
            ("SELECT twice(i) + 1 AS x FROM t WHERE k = 2", "x / 41"),
            ("SELECT i FROM t WHERE k = 1 LIMIT 1", "i / 10"),
            (
                "SELECT sorted() FROM t WHERE k = 1",
                "k.sorted() / {1, 2, 3}",
            ),
            (
                "SELECT JSON twice(k) AS x FROM t WHERE k = 1",
                "[json] / {\"x\": 2}",
            ),
        ],
    );
}

#[test]
fn null_gives_null_unless_it_is_called_on_null() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("SELECT twice(i) FROM t WHERE k = 3", "k.twice(i) / null"),
            ("SELECT zero(i) FROM t WHERE k = 3", "k.zero(i) / 1"),
        ],
    );
}

#[test]
fn terms_call_them_wherever_a_value_may_stand() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("SELECT i FROM t WHERE k = plus(1, addone(0))", "i / 20"),
            ("SELECT k FROM t WHERE k IN (twice(1), 1)", "k / 1 / 2"),
            (
                "INSERT INTO t (k, i) VALUES (plus(twice(2), 1), twice(twice(3)))",
                "void",
            ),
            ("SELECT i FROM t WHERE k = 5", "i / 12"),
            ("UPDATE t SET l = [twice(1), 7] WHERE k = 5", "void"),
            ("SELECT l FROM t WHERE k = 5", "l / [2, 7]"),
            (
                "UPDATE t SET i = twice(8) WHERE k = 5 IF i = twice(6)",
                "[applied] / true",
            ),
            (
                "UPDATE t SET i = 0 WHERE k = 5 IF i = twice(6)",
                "[applied]|i / false|16",
            ),
            ("DELETE FROM t WHERE k = plus(2, 3)", "void"),
            ("SELECT i FROM t WHERE k = 5", "i"),
            (
                "BEGIN BATCH INSERT INTO t (k, i) VALUES (7, twice(7)); INSERT INTO t (k, i) VALUES (8, addone(7)); APPLY BATCH",
                "void",
            ),
            ("SELECT i FROM t WHERE k IN (7, 8)", "i / 14 / 8"),
            (
                "INSERT INTO t (k, i) VALUES (1, fails(1))",
                "FUNCTION_FAILURE: execution of 'k.fails[int]' failed: not today",
            ),
        ],
    );
}

#[test]
fn bound_values_reach_them() {
    let mut node = node();
    let (five, two) = (int(5), int(2));
    let values = [RawValue::Bytes(&two), RawValue::Bytes(&five)];
    let shown = node.with(
        "INSERT INTO t (k, i) VALUES (twice(?), plus(?, 1))",
        &values,
    );
    assert_eq!(shown, "void");
    assert_eq!(node.run("SELECT i FROM t WHERE k = 4"), "i / 6");
    let shown = node.with(
        "INSERT INTO t (k, i) VALUES (9, twice(?))",
        &[RawValue::Unset],
    );
    assert_eq!(
        shown,
        "INVALID: Invalid unset value for argument in call to function k.twice"
    );
    assert_eq!(
        node.with("SELECT twice(?) AS x FROM t WHERE k = 1", &values[..1]),
        "x / 4"
    );
}

#[test]
fn statements_of_a_batch_call_them_together() {
    let mut node = node();
    let statement = node
        .prepare("INSERT INTO t (k, i) VALUES (?, twice(?))")
        .unwrap();
    let numbers = [int(20), int(21), int(22)];
    let lists: Vec<ValueList> = numbers
        .iter()
        .map(|number| {
            let mut list = ValueList::new();
            list.push(RawValue::Bytes(number)).unwrap();
            list.push(RawValue::Bytes(number)).unwrap();
            list
        })
        .collect();
    let statements = lists
        .iter()
        .map(|list| (Arc::clone(&statement), list.as_values()))
        .collect();
    let before = node.calls;
    let list = BatchStatementList::new();
    let batch = Batch {
        kind: BatchType::Unlogged,
        statements: list.as_statements(),
        consistency: Consistency::ONE,
        flags: QueryFlags(0),
        serial_consistency: None,
        timestamp: None,
        keyspace: None,
        now_in_seconds: None,
    };
    assert_eq!(show(&node.batch(statements, &batch)), "void");
    assert_eq!(node.calls - before, 1);
    assert_eq!(
        node.run("SELECT i FROM t WHERE k IN (20, 21, 22)"),
        "i / 40 / 42 / 44"
    );
}

#[test]
fn aggregates_fold_groups_and_stand_among_others() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("SELECT squares(v) FROM cc", "k.squares(v) / 30"),
            (
                "SELECT allsquares(v), count(*) FROM cc",
                "system.allsquares(v)|count / 30|4",
            ),
            (
                "SELECT p, squares(twice(v)), max(v), twice(max(v)) AS m FROM cc GROUP BY p",
                "p|k.squares(k.twice(v))|system.max(v)|m / 1|56|3|6 / 2|64|4|8",
            ),
            (
                "SELECT p, c, twice(twice(squares(v))) AS s FROM cc GROUP BY p, c",
                "p|c|s / 1|1|20 / 1|2|36 / 2|1|64",
            ),
            (
                "SELECT p, c, twice(v) AS v, sum(twice(v)) AS s FROM cc GROUP BY p, c LIMIT 2",
                "p|c|v|s / 1|1|2|6 / 1|2|6|6",
            ),
            (
                "SELECT p, c, squares(v) AS s FROM cc GROUP BY p, c PER PARTITION LIMIT 1",
                "p|c|s / 1|1|5 / 2|1|16",
            ),
            (
                "SELECT p, c, sum(twice(v)) AS s FROM cc GROUP BY p, c PER PARTITION LIMIT 1",
                "p|c|s / 1|1|6 / 2|1|8",
            ),
            ("SELECT squares(v) FROM cc WHERE p = 9", "k.squares(v) / 0"),
            ("SELECT twice(squares(i)) AS s FROM t", "s / 1000"),
            (
                "SELECT squares(squares(v)) FROM cc",
                "INVALID: aggregate functions cannot be used as arguments of aggregate functions",
            ),
            (
                "SELECT p FROM cc GROUP BY p, twice(c)",
                "INVALID: Group by is currently only supported on the columns of the PRIMARY KEY and functions of them, got system.twice(c)",
            ),
        ],
    );
}

#[test]
fn sorted_and_filtered_rows_are_called_for_when_they_are_wanted() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "SELECT p, c, twice(v) AS x FROM cc WHERE p IN (1, 2) ORDER BY c DESC",
                "p|c|x / 1|2|6 / 1|1|4 / 1|1|2 / 2|1|8",
            ),
            (
                "SELECT twice(v) AS x FROM cc WHERE v = 3 ALLOW FILTERING",
                "x / 6",
            ),
            (
                "SELECT p, twice(v) AS x FROM cc PER PARTITION LIMIT 1",
                "p|x / 1|2 / 2|8",
            ),
            (
                "SELECT DISTINCT p, twice(p) AS x FROM cc",
                "p|x / 1|2 / 2|4",
            ),
        ],
    );
}

#[test]
fn the_rows_of_a_page_are_one_piece_of_work() {
    let mut node = node();
    for number in 0..2_500 {
        node.run(&format!(
            "INSERT INTO cc (p, c, d, v) VALUES (5, {number}, 0, {number})"
        ));
    }
    for (page_size, budget, pages, calls) in [
        (100, 10_000, 26, 25),
        (100, 7, 26, 25),
        (2_000, 10_000, 2, 3),
        (10_000, 10_000, 1, 3),
    ] {
        let statement = node
            .prepare("SELECT c, twice(v) AS x FROM cc WHERE p = 5")
            .unwrap();
        node.budget = budget;
        let (mut state, mut seen, mut had, before) = (None::<Vec<u8>>, 0, 0, node.calls);
        loop {
            let mut params = QueryParams::new(Consistency::ONE);
            params.page_size = Some(page_size);
            params.paging_state = state.as_deref();
            let completed = node.execute(&statement, &params);
            let Response::Rows(rows) = &completed.response else {
                panic!("{}", show(&completed));
            };
            for (index, row) in show(&completed).split(" / ").skip(1).enumerate() {
                let number = seen + index;
                assert_eq!(row, format!("{number}|{}", number * 2));
            }
            seen += rows.row_count as usize;
            had += 1;
            match &rows.paging_state {
                Some(next) => state = Some(next.to_vec()),
                None => break,
            }
        }
        assert_eq!(
            (seen, had, node.calls - before),
            (2_500, pages, calls),
            "{page_size}"
        );
    }
    node.budget = 1_000;
    let before = node.calls;
    assert_eq!(
        node.run("SELECT squares(c) FROM cc WHERE p = 5 AND c < 10"),
        "k.squares(c) / 285"
    );
    assert_eq!(node.calls - before, 1);
    node.run("SELECT squares(c) FROM cc WHERE p = 5");
    assert_eq!(node.calls - before, 4);
}

#[test]
fn groups_go_on_behind_a_page_that_was_full() {
    let mut node = node();
    for number in 0..30 {
        let (p, c) = (10 + number % 3, number / 3);
        node.run(&format!(
            "INSERT INTO cc (p, c, d, v) VALUES ({p}, {c}, 0, {c})"
        ));
    }
    for text in [
        "SELECT p, c, squares(v) AS x FROM cc WHERE p IN (10, 11, 12) GROUP BY p, c",
        "SELECT p, c, sum(twice(v)) AS x FROM cc WHERE p IN (10, 11, 12) GROUP BY p, c",
    ] {
        let whole = node.run(text);
        assert_eq!(whole.split(" / ").count(), 31);
        let statement = node.prepare(text).unwrap();
        let (mut state, mut pages) = (None::<Vec<u8>>, String::from("p|c|x"));
        loop {
            let mut params = QueryParams::new(Consistency::ONE);
            params.page_size = Some(7);
            params.paging_state = state.as_deref();
            let completed = node.execute(&statement, &params);
            let Response::Rows(rows) = &completed.response else {
                panic!("{}", show(&completed));
            };
            for row in show(&completed).split(" / ").skip(1) {
                pages.push_str(" / ");
                pages.push_str(row);
            }
            match &rows.paging_state {
                Some(next) => state = Some(next.to_vec()),
                None => break,
            }
        }
        assert_eq!(pages, whole);
    }
}

#[test]
fn failures_are_the_statements_answer() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "SELECT fails(k) FROM t",
                "FUNCTION_FAILURE: execution of 'k.fails[int]' failed: not today",
            ),
            (
                "SELECT panics(k) FROM t",
                "FUNCTION_FAILURE: execution of 'k.panics[int]' failed: it panicked: it got 1",
            ),
            ("SELECT twice(k) FROM t WHERE k = 1", "k.twice(k) / 2"),
        ],
    );
    let lied = node.run("SELECT lies(k) FROM t");
    assert!(
        lied.starts_with(
            "FUNCTION_FAILURE: execution of 'k.lies[int]' failed: its result is no int: "
        ),
        "{lied}"
    );
}

#[test]
fn views_call_them_too() {
    let mut node = node();
    node.all(&[
        "CREATE MATERIALIZED VIEW by_v AS SELECT p, c, d, v FROM cc WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL PRIMARY KEY (v, p, c, d)",
    ]);
    expect(
        &mut node,
        &[
            ("SELECT twice(v) AS x, p FROM by_v WHERE v = 3", "x|p / 6|1"),
            ("SELECT squares(v) AS x FROM by_v", "x / 30"),
            (
                "CREATE MATERIALIZED VIEW no AS SELECT p, c, d, v FROM cc WHERE v = twice(1) AND p IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL PRIMARY KEY (v, p, c, d)",
                "INVALID: User functions are not supported in the WHERE of a materialized view",
            ),
        ],
    );
}

#[test]
fn a_driver_may_stop_between_calls() {
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    let mut natives = Natives::default();
    let counts = NativeFunction::new("k.counts", [CqlType::Int], CqlType::Int, |_| {
        CALLED.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    });
    natives.register_function(counts).unwrap();
    let mut node = prepared_node(Node::with_natives(natives));
    node.all(&[
        "INSERT INTO t (k, i) VALUES (1, 1)",
        "INSERT INTO t (k) VALUES (2)",
    ]);
    assert_eq!(
        node.run("SELECT counts(i) FROM t"),
        "k.counts(i) / null / null"
    );
    assert_eq!(CALLED.load(Ordering::Relaxed), 1);
    let before = node.calls;
    assert_eq!(
        node.run("SELECT counts(i) FROM t WHERE k = 2"),
        "k.counts(i) / null"
    );
    assert_eq!(node.calls, before, "nothing was to be called");
}
