//! What `SELECT` reads, filters and computes.

use super::{Node, expect, node};

fn rows() -> Node {
    let mut node = node();
    node.all(&[
        "INSERT INTO cc (p, c, d, v, w, s) VALUES (1, 1, 1, 1, 1, 9)",
        "INSERT INTO cc (p, c, d, v, w) VALUES (1, 1, 2, 2, 2)",
        "INSERT INTO cc (p, c, d, v, w) VALUES (1, 2, 1, 3, 3)",
        "INSERT INTO cc (p, c, d, v, w) VALUES (2, 2, 1, 4, 3)",
        "INSERT INTO cc (p, c, d, v, w) VALUES (-1, 2, 1, 5, 3)",
        "INSERT INTO cc (p, s) VALUES (7, 77)",
    ]);
    node
}

#[test]
fn partitions_come_in_token_order_and_statics_alone_make_a_row() {
    let mut node = rows();
    expect(
        &mut node,
        &[(
            "SELECT p, c, s FROM cc",
            "p|c|s / 1|1|9 / 1|1|9 / 1|2|9 / 2|2|null / 7|null|77 / -1|2|null",
        )],
    );
}

#[test]
fn partitions_of_in_come_in_the_order_of_the_key() {
    let mut node = rows();
    expect(
        &mut node,
        &[
            (
                "SELECT p, c FROM cc WHERE p IN (2, 1, -1, 2)",
                "p|c / -1|2 / 1|1 / 1|1 / 1|2 / 2|2",
            ),
            (
                "SELECT p, c FROM cc WHERE p IN (2, 1, -1) ORDER BY c DESC LIMIT 3",
                "p|c / -1|2 / 1|2 / 2|2",
            ),
            ("SELECT p FROM cc WHERE p IN ()", "p"),
        ],
    );
}

#[test]
fn clustering_columns_select_rows_and_ranges() {
    let mut node = rows();
    expect(
        &mut node,
        &[
            ("SELECT v FROM cc WHERE p = 1 AND c = 1 AND d = 2", "v / 2"),
            ("SELECT v FROM cc WHERE p = 1 AND c = 1", "v / 1 / 2"),
            (
                "SELECT v FROM cc WHERE p = 1 AND c IN (2, 1) AND d = 1",
                "v / 1 / 3",
            ),
            ("SELECT v FROM cc WHERE p = 1 AND c > 1", "v / 3"),
            (
                "SELECT v FROM cc WHERE p = 1 AND c >= 1 AND c < 2",
                "v / 1 / 2",
            ),
            ("SELECT v FROM cc WHERE p = 1 AND c > 2 AND c < 1", "v"),
            (
                "SELECT v FROM cc WHERE p = 1 AND (c, d) > (1, 1)",
                "v / 2 / 3",
            ),
            (
                "SELECT v FROM cc WHERE p = 1 AND (c, d) >= (1, 2) AND (c) < (2)",
                "v / 2",
            ),
            (
                "SELECT v FROM cc WHERE p = 1 AND (c, d) IN ((2, 1), (1, 1))",
                "v / 1 / 3",
            ),
            (
                "SELECT v FROM cc WHERE p = 1 ORDER BY c DESC",
                "v / 3 / 2 / 1",
            ),
            (
                "SELECT v FROM cc WHERE p = 1 AND c = 1 ORDER BY d DESC",
                "v / 2 / 1",
            ),
        ],
    );
}

#[test]
fn ranges_over_columns_of_both_directions_compare_values_not_places() {
    let mut node = node();
    for (c, d) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)] {
        node.run(&format!(
            "INSERT INTO mix (p, c, d, v) VALUES (0, {c}, {d}, {c}{d})"
        ));
    }
    expect(
        &mut node,
        &[
            (
                "SELECT v FROM mix WHERE p = 0",
                "v / 13 / 12 / 11 / 22 / 21",
            ),
            (
                "SELECT v FROM mix WHERE p = 0 AND (c, d) > (1, 2)",
                "v / 13 / 22 / 21",
            ),
            (
                "SELECT v FROM mix WHERE p = 0 AND (c, d) >= (1, 2) AND (c, d) < (2, 2)",
                "v / 13 / 12 / 21",
            ),
            (
                "SELECT v FROM mix WHERE p = 0 AND (c, d) <= (1, 2)",
                "v / 12 / 11",
            ),
            (
                "SELECT v FROM mix WHERE p = 0 AND c = 1 AND d > 1",
                "v / 13 / 12",
            ),
            (
                "SELECT v FROM mix WHERE p = 0 ORDER BY c DESC, d ASC",
                "v / 21 / 22 / 11 / 12 / 13",
            ),
        ],
    );
}

#[test]
fn rows_are_filtered_only_where_that_is_allowed() {
    let mut node = rows();
    let refusal = format!("INVALID: {}", crate::statement::FILTERING);
    expect(
        &mut node,
        &[
            ("SELECT v FROM cc WHERE w = 3", &*refusal),
            (
                "SELECT v FROM cc WHERE w = 3 ALLOW FILTERING",
                "v / 3 / 4 / 5",
            ),
            (
                "SELECT v FROM cc WHERE p > 1 ALLOW FILTERING",
                "v / 4 / null",
            ),
            (
                "SELECT v FROM cc WHERE c = 2 ALLOW FILTERING",
                "v / 3 / 4 / 5",
            ),
            (
                "SELECT v FROM cc WHERE p = 1 AND s = 9 AND d = 1 ALLOW FILTERING",
                "v / 1 / 3",
            ),
            (
                "SELECT v FROM cc WHERE w IN (1, 2) ALLOW FILTERING",
                "v / 1 / 2",
            ),
        ],
    );
}

#[test]
fn contents_of_collections_are_filtered() {
    let mut node = node();
    node.all(&[
        "INSERT INTO t (k, l, s, m, fl) VALUES (1, [1, 2], {'a'}, {'x': 1}, [1, 2])",
        "INSERT INTO t (k, l, s, m, fl) VALUES (2, [3], {'b'}, {'y': 2}, [1])",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT k FROM t WHERE l CONTAINS 2 ALLOW FILTERING",
                "k / 1",
            ),
            (
                "SELECT k FROM t WHERE s CONTAINS 'b' ALLOW FILTERING",
                "k / 2",
            ),
            (
                "SELECT k FROM t WHERE m CONTAINS KEY 'x' ALLOW FILTERING",
                "k / 1",
            ),
            ("SELECT k FROM t WHERE m['y'] = 2 ALLOW FILTERING", "k / 2"),
            ("SELECT k FROM t WHERE fl = [1] ALLOW FILTERING", "k / 2"),
        ],
    );
}

#[test]
fn limits_count_rows() {
    let mut node = rows();
    expect(
        &mut node,
        &[
            ("SELECT v FROM cc LIMIT 2", "v / 1 / 2"),
            (
                "SELECT v FROM cc PER PARTITION LIMIT 1",
                "v / 1 / 4 / null / 5",
            ),
            (
                "SELECT v FROM cc PER PARTITION LIMIT 2 LIMIT 3",
                "v / 1 / 2 / 4",
            ),
            (
                "SELECT DISTINCT p, s FROM cc",
                "p|s / 1|9 / 2|null / 7|77 / -1|null",
            ),
            (
                "SELECT v FROM cc LIMIT 0",
                "INVALID: LIMIT must be strictly positive",
            ),
        ],
    );
}

#[test]
fn tokens_bound_the_ring() {
    let mut node = rows();
    expect(
        &mut node,
        &[
            (
                "SELECT token(p) FROM cc WHERE p = 1 LIMIT 1",
                "system.token(p) / -4069959284402364209",
            ),
            (
                "SELECT DISTINCT p FROM cc WHERE token(p) > token(1)",
                "p / 2 / 7 / -1",
            ),
            (
                "SELECT DISTINCT p FROM cc WHERE token(p) >= token(2) AND token(p) < token(-1)",
                "p / 2 / 7",
            ),
            (
                "SELECT DISTINCT p FROM cc WHERE token(p) < -9223372036854775808",
                "p / 1 / 2 / 7 / -1",
            ),
        ],
    );
}

#[test]
fn aggregates_make_one_row() {
    let mut node = rows();
    expect(
        &mut node,
        &[
            ("SELECT count(*) FROM cc", "count / 6"),
            (
                "SELECT count(1), count(v) FROM cc",
                "count|system.count(v) / 6|5",
            ),
            (
                "SELECT max(v), min(v), sum(v), avg(v) FROM cc WHERE p = 1",
                "system.max(v)|system.min(v)|system.sum(v)|system.avg(v) / 3|1|6|2",
            ),
            (
                "SELECT count(*), max(v), sum(v), p FROM cc WHERE p = 99",
                "count|system.max(v)|system.sum(v)|p / 0|null|0|null",
            ),
            (
                "SELECT p, count(*) FROM cc WHERE p = 1 LIMIT 1",
                "p|count / 1|3",
            ),
        ],
    );
}

#[test]
fn expressions_are_computed_and_named_as_cassandra_names_them() {
    let mut node = node();
    node.run("INSERT INTO t (k, i, v, m, s, u) VALUES (1, 5, 'x', {'a': 1, 'b': 2}, {'q'}, {street: 'r', zip: 3})");
    expect(
        &mut node,
        &[
            (
                "SELECT k + 1, k * 2.5, -k FROM t",
                "k + 1|k * 2.5|-k / 2|2.5|-1",
            ),
            (
                "SELECT m['a'], m['a'..'a'], s['z'], u.zip FROM t",
                "m['a']|m['a'..'a']|s['z']|u.zip / 1|{a: 1}|null|3",
            ),
            (
                "SELECT CAST(i AS text) AS \"T\", (int) 5 FROM t",
                "T|(int)5 / 5|5",
            ),
            (
                "SELECT blobAsInt(intAsBlob(i)) FROM t",
                "system.blobasint(system.intasblob(i)) / 5",
            ),
            (
                "SELECT i / 0 FROM t",
                "FUNCTION_FAILURE: the operation 'int / int' failed: / by zero",
            ),
            ("SELECT nope(i) FROM t", "INVALID: Unknown function 'nope'"),
        ],
    );
}

#[test]
fn cells_tell_when_they_were_written_and_how_long_they_live() {
    let mut node = node();
    node.all(&[
        "INSERT INTO t (k, v, l) VALUES (1, 'x', [1, 2]) USING TIMESTAMP 5 AND TTL 100",
        "UPDATE t USING TIMESTAMP 7 SET i = 1 WHERE k = 1",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT writetime(v), ttl(v), ttl(i) FROM t",
                "writetime(v)|ttl(v)|ttl(i) / 5|100|null",
            ),
            (
                "SELECT writetime(l), maxwritetime(l) FROM t",
                "writetime(l)|maxwritetime(l) / [5, 5]|5",
            ),
            (
                "SELECT writetime(k) FROM t",
                "INVALID: Cannot use selection function writetime on PRIMARY KEY part k",
            ),
        ],
    );
    node.clock += 40_000_000;
    expect(&mut node, &[("SELECT ttl(v) FROM t", "ttl(v) / 60")]);
}

#[test]
fn a_scan_yields_and_still_reads_every_row_once() {
    let mut node = node();
    for p in 0..20 {
        for c in 0..30 {
            node.run(&format!(
                "INSERT INTO cc (p, c, d, v) VALUES ({p}, {c}, 0, 1)"
            ));
        }
    }
    node.budget = 7;
    assert_eq!(node.run("SELECT count(*) FROM cc"), "count / 600");
    assert!(node.yields >= 600 / 7, "{}", node.yields);
    assert_eq!(
        node.run("SELECT sum(v) FROM cc PER PARTITION LIMIT 2"),
        "INVALID: PER PARTITION LIMIT is not allowed with aggregate queries."
    );
    let shown = node.run("SELECT v FROM cc PER PARTITION LIMIT 3");
    assert_eq!(shown.matches(" / ").count(), 60);
}

#[test]
fn nested_calls_are_planned_in_linear_time() {
    let mut node = node();
    node.run("INSERT INTO kv (k) VALUES (1)");
    let nested = format!("{}k{}", "blobAsInt(intAsBlob(".repeat(30), "))".repeat(30));
    let shown = node.run(&format!("SELECT {nested} AS x FROM kv"));
    assert_eq!(shown, "x / 1");
}

#[test]
fn combinations_of_in_are_bounded() {
    let mut node = node();
    let many = (0..300)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let refusal = "INVALID: The cartesian product of the IN restrictions produces 90000 combination values, above fail threshold of 65536";
    expect(
        &mut node,
        &[
            (
                &format!("SELECT v FROM cc WHERE p = 1 AND c IN ({many}) AND d IN ({many})"),
                refusal,
            ),
            (
                &format!("UPDATE cc SET v = 1 WHERE p IN ({many}) AND c IN ({many}) AND d = 1"),
                refusal,
            ),
        ],
    );
}

#[test]
fn every_range_over_both_directions_holds_the_rows_it_should() {
    let mut node = node();
    let grid = || (0..4).flat_map(|c| (0..4).map(move |d| (c, d)));
    for (c, d) in grid() {
        node.run(&format!(
            "INSERT INTO mix (p, c, d, v) VALUES (0, {c}, {d}, {c}{d})"
        ));
    }
    for (c, d) in grid() {
        let bound = (c, d);
        type Test = fn(&(i32, i32), &(i32, i32)) -> bool;
        let tests: [(&str, Test); 4] = [
            (">", |row, bound| row > bound),
            (">=", |row, bound| row >= bound),
            ("<", |row, bound| row < bound),
            ("<=", |row, bound| row <= bound),
        ];
        for (sign, test) in tests {
            for (order, reversed) in [("c ASC, d DESC", false), ("c DESC, d ASC", true)] {
                let mut rows: Vec<_> = grid().filter(|row| test(row, &bound)).collect();
                rows.sort_by_key(|(c, d)| (*c, -d));
                if reversed {
                    rows.reverse();
                }
                let expected: Vec<_> = rows.iter().map(|(c, d)| (c * 10 + d).to_string()).collect();
                let cql = format!(
                    "SELECT v FROM mix WHERE p = 0 AND (c, d) {sign} ({c}, {d}) ORDER BY {order}"
                );
                let shown = node.run(&cql);
                let found: Vec<_> = shown.split(" / ").skip(1).collect();
                assert_eq!(found, expected, "{cql}");
            }
        }
    }
}
