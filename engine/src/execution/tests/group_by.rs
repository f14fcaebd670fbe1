//! `GROUP BY`: which rows make a group, what a group shows, and how limits and pages count groups.

use helenus_core::message::QueryParams;
use helenus_core::{Consistency, Response};

use super::node::{Node, show};
use super::{expect, node};

fn groups() -> Node {
    let mut node = node();
    node.all(&[
        "CREATE TABLE g (a int, b int, c int, d int, s int static, v int, PRIMARY KEY (a, b, c, d))",
        "CREATE TABLE g2 (a int, b int, c int, v int, PRIMARY KEY ((a, b), c))",
        "CREATE TABLE ts (k int, t timestamp, v int, PRIMARY KEY (k, t))",
        "INSERT INTO g (a, b, c, d, v) VALUES (1, 2, 1, 3, 6)",
        "INSERT INTO g (a, b, c, d, v) VALUES (1, 2, 1, 6, 12)",
        "INSERT INTO g (a, b, c, d, v) VALUES (1, 3, 2, 12, 24)",
        "INSERT INTO g (a, b, c, d, v) VALUES (1, 4, 2, 12, 24)",
        "INSERT INTO g (a, b, c, d, v) VALUES (1, 4, 2, 6, 12)",
        "INSERT INTO g (a, b, c, d, v) VALUES (2, 2, 3, 3, 6)",
        "INSERT INTO g (a, b, c, d, v) VALUES (2, 4, 3, 6, 12)",
        "INSERT INTO g (a, b, c, d, v) VALUES (4, 8, 2, 12, 24)",
        "INSERT INTO g (a, s) VALUES (5, 50)",
        "UPDATE g SET s = 10 WHERE a = 1",
        "INSERT INTO g2 (a, b, c, v) VALUES (1, 1, 1, 1)",
        "INSERT INTO g2 (a, b, c, v) VALUES (1, 1, 2, 2)",
        "INSERT INTO g2 (a, b, c, v) VALUES (1, 2, 1, 3)",
        "INSERT INTO g2 (a, b, c, v) VALUES (2, 1, 1, 4)",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-27 16:10:00+0000', 1)",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-27 16:12:00+0000', 2)",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-28 16:30:00+0000', 3)",
        "INSERT INTO ts (k, t, v) VALUES (2, '2016-09-27 16:10:00+0000', 4)",
    ]);
    node
}

/// Every page of a query up to the one that says it is the last, as rows without names.
fn pages(node: &mut Node, cql: &str, size: i32) -> Vec<String> {
    let statement = node.prepare(cql).unwrap();
    let mut state = None;
    let mut pages = Vec::new();
    loop {
        let mut params = QueryParams::new(Consistency::ONE);
        params.page_size = Some(size);
        params.paging_state = state.as_deref();
        let completed = node.execute(&statement, &params);
        let Response::Rows(rows) = &completed.response else {
            panic!("{}", show(&completed));
        };
        let shown = show(&completed);
        let shown = shown.split(" ! ").next().unwrap_or_default();
        pages.push(
            shown
                .split_once(" / ")
                .map_or("", |(_, rows)| rows)
                .to_owned(),
        );
        state = rows.paging_state.clone();
        if state.is_none() {
            return pages;
        }
    }
}

#[test]
fn rows_that_agree_in_the_grouped_columns_make_one_row() {
    let mut node = groups();
    expect(
        &mut node,
        &[
            (
                "SELECT a, b, v, count(b), max(v) FROM g GROUP BY a",
                "a|b|v|system.count(b)|system.max(v) / 5|null|null|0|null / 1|2|6|5|24 / 2|2|6|2|12 / 4|8|24|1|24",
            ),
            (
                "SELECT a, b, v, count(b), max(v) FROM g GROUP BY a, b",
                "a|b|v|system.count(b)|system.max(v) / 5|null|null|0|null / 1|2|6|2|12 / 1|3|24|1|24 / 1|4|12|2|24 / 2|2|6|1|6 / 2|4|12|1|12 / 4|8|24|1|24",
            ),
            (
                "SELECT a, b, v, count(*) FROM g GROUP BY a, b, c",
                "a|b|v|count / 5|null|null|1 / 1|2|6|2 / 1|3|24|1 / 1|4|12|2 / 2|2|6|1 / 2|4|12|1 / 4|8|24|1",
            ),
            (
                "SELECT a, b, v FROM g GROUP BY a, b",
                "a|b|v / 5|null|null / 1|2|6 / 1|3|24 / 1|4|12 / 2|2|6 / 2|4|12 / 4|8|24",
            ),
            (
                "SELECT * FROM g GROUP BY a, b",
                "a|b|c|d|s|v / 5|null|null|null|50|null / 1|2|1|3|10|6 / 1|3|2|12|10|24 / 1|4|2|6|10|12 / 2|2|3|3|null|6 / 2|4|3|6|null|12 / 4|8|2|12|null|24",
            ),
            (
                "SELECT * FROM g GROUP BY a",
                "a|b|c|d|s|v / 5|null|null|null|50|null / 1|2|1|3|10|6 / 2|2|3|3|null|6 / 4|8|2|12|null|24",
            ),
            (
                "SELECT a, b, c, d FROM g GROUP BY a, b, c, d",
                "a|b|c|d / 5|null|null|null / 1|2|1|3 / 1|2|1|6 / 1|3|2|12 / 1|4|2|6 / 1|4|2|12 / 2|2|3|3 / 2|4|3|6 / 4|8|2|12",
            ),
            (
                "SELECT a, b, max(v) FROM g GROUP BY a, b LIMIT 2",
                "a|b|system.max(v) / 5|null|null / 1|2|12",
            ),
            (
                "SELECT a, b, max(v) FROM g GROUP BY a, b PER PARTITION LIMIT 1",
                "a|b|system.max(v) / 5|null|null / 1|2|12 / 2|2|6 / 4|8|24",
            ),
            (
                "SELECT a, b, max(v) FROM g GROUP BY a, b PER PARTITION LIMIT 1 LIMIT 2",
                "a|b|system.max(v) / 5|null|null / 1|2|12",
            ),
            (
                "SELECT a, b, v FROM g GROUP BY a, b PER PARTITION LIMIT 2 LIMIT 3",
                "a|b|v / 5|null|null / 1|2|6 / 1|3|24",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a = 1 GROUP BY a, b",
                "a|b|count / 1|2|2 / 1|3|1 / 1|4|2",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a = 1 GROUP BY b",
                "a|b|count / 1|2|2 / 1|3|1 / 1|4|2",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a = 1 GROUP BY a, b ORDER BY b DESC, c DESC",
                "a|b|count / 1|4|2 / 1|3|1 / 1|2|2",
            ),
            (
                "SELECT a, b, v FROM g WHERE a = 1 GROUP BY a, b ORDER BY b DESC",
                "a|b|v / 1|4|24 / 1|3|24 / 1|2|12",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a IN (1,2) GROUP BY a, b",
                "a|b|count / 1|2|2 / 1|3|1 / 1|4|2 / 2|2|1 / 2|4|1",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a IN (1,2) GROUP BY a, b ORDER BY b",
                "a|b|count / 1|2|2 / 2|2|1 / 1|3|1 / 1|4|2 / 2|4|1",
            ),
            (
                "SELECT a, b, count(*) FROM g WHERE a IN (2,1) GROUP BY a, b LIMIT 2",
                "a|b|count / 1|2|2 / 1|3|1",
            ),
            (
                "SELECT a, c, count(*) FROM g WHERE a = 1 AND b = 2 GROUP BY c",
                "a|c|count / 1|1|2",
            ),
            (
                "SELECT a, c, count(*) FROM g WHERE a = 1 AND b = 4 GROUP BY a, c",
                "a|c|count / 1|2|2",
            ),
            (
                "SELECT a, b, c, count(*) FROM g WHERE a = 1 AND b IN (2,4) GROUP BY a, b, c",
                "a|b|c|count / 1|2|1|2 / 1|4|2|2",
            ),
            (
                "SELECT a, b, count(*) FROM g2 GROUP BY a, b",
                "a|b|count / 2|1|1 / 1|2|1 / 1|1|2",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 AND b = 1 GROUP BY c",
                "a|b|count / 1|1|1 / 1|1|1",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 AND b = 1 GROUP BY a, c",
                "a|b|count / 1|1|1 / 1|1|1",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 AND b IN (1,2) GROUP BY b",
                "a|b|count / 1|1|2 / 1|2|1",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 GROUP BY b ALLOW FILTERING",
                "a|b|count / 1|2|1 / 1|1|2",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 GROUP BY a, b ALLOW FILTERING",
                "a|b|count / 1|2|1 / 1|1|2",
            ),
            ("SELECT DISTINCT a FROM g GROUP BY a", "a / 5 / 1 / 2 / 4"),
            (
                "SELECT DISTINCT a, count(*) FROM g GROUP BY a",
                "a|count / 5|1 / 1|1 / 2|1 / 4|1",
            ),
            (
                "SELECT DISTINCT a, s, count(s) FROM g GROUP BY a",
                "a|s|system.count(s) / 5|50|1 / 1|10|1 / 2|null|0 / 4|null|0",
            ),
            (
                "SELECT a, s, count(b), count(s), count(*) FROM g GROUP BY a",
                "a|s|system.count(b)|system.count(s)|count / 5|50|0|1|1 / 1|10|5|5|5 / 2|null|2|0|2 / 4|null|1|0|1",
            ),
            (
                "SELECT a, b, s, count(b), count(s), count(*) FROM g GROUP BY a, b",
                "a|b|s|system.count(b)|system.count(s)|count / 5|null|50|0|1|1 / 1|2|10|2|2|2 / 1|3|10|1|1|1 / 1|4|10|2|2|2 / 2|2|null|1|0|1 / 2|4|null|1|0|1 / 4|8|null|1|0|1",
            ),
            (
                "SELECT s, count(*) FROM g WHERE a = 5 GROUP BY a",
                "s|count / 50|1",
            ),
            (
                "SELECT a, count(*) FROM g WHERE a = 99 GROUP BY a",
                "a|count",
            ),
            ("SELECT a, count(*) FROM g WHERE a = 99", "a|count / null|0"),
            (
                "SELECT a, max(v) FROM g WHERE v = 12 GROUP BY a ALLOW FILTERING",
                "a|system.max(v) / 1|12 / 2|12",
            ),
            (
                "SELECT a, b, max(v) FROM g WHERE v > 6 GROUP BY a, b ALLOW FILTERING",
                "a|b|system.max(v) / 1|2|12 / 1|3|24 / 1|4|24 / 2|4|12 / 4|8|24",
            ),
            (
                "SELECT a, count(*) FROM g WHERE token(a) > -9223372036854775807 GROUP BY a",
                "a|count / 5|1 / 1|5 / 2|2 / 4|1",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, todate(t)",
                "k|system.min(v) / 1|1 / 1|3 / 2|4",
            ),
            (
                "SELECT count(*) FROM g GROUP BY a PER PARTITION LIMIT 1",
                "count / 1 / 5 / 2 / 1",
            ),
        ],
    );
}

#[test]
fn what_does_not_follow_the_primary_key_is_refused() {
    let mut node = groups();
    expect(
        &mut node,
        &[
            (
                "SELECT a, c, count(*) FROM g WHERE a = 1 AND b IN (2,4) GROUP BY a, c",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, c FROM g GROUP BY a, c",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, c FROM g GROUP BY b",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, c FROM g GROUP BY a, a",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, c FROM g GROUP BY b, a",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, c FROM g GROUP BY v",
                "INVALID: Group by is currently only supported on the columns of the PRIMARY KEY, got v",
            ),
            (
                "SELECT a, c FROM g GROUP BY s",
                "INVALID: Group by is currently only supported on the columns of the PRIMARY KEY, got s",
            ),
            (
                "SELECT a, c FROM g GROUP BY a, s",
                "INVALID: Group by is currently only supported on the columns of the PRIMARY KEY, got s",
            ),
            (
                "SELECT a, c FROM g GROUP BY nope",
                "INVALID: Undefined column name nope in table k.g",
            ),
            (
                "SELECT a, c FROM g GROUP BY a, b, c, d, v",
                "INVALID: Group by is currently only supported on the columns of the PRIMARY KEY, got v",
            ),
            (
                "SELECT a, c FROM g GROUP BY a, b, d",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, b, count(*) FROM g2 GROUP BY a",
                "INVALID: Group by is not supported on only a part of the partition key",
            ),
            (
                "SELECT a, b, count(*) FROM g2 GROUP BY b",
                "INVALID: Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT a, b, count(*) FROM g2 WHERE a = 1 AND b = 1 GROUP BY a",
                "INVALID: Group by is not supported on only a part of the partition key",
            ),
            (
                "SELECT DISTINCT a FROM g GROUP BY a, b",
                "INVALID: Grouping on clustering columns is not allowed for SELECT DISTINCT queries",
            ),
            (
                "SELECT DISTINCT a, b FROM g GROUP BY a",
                "INVALID: SELECT DISTINCT queries must only request partition key columns and/or static columns (not b)",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, token(t)",
                "INVALID: Type error: t cannot be passed as argument 0 of function system.token of type int",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, count(t)",
                "INVALID: Aggregate functions are not supported within the GROUP BY clause, got: system.count",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY token(k)",
                "INVALID: Group by functions are only supported on clustering columns, got k",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, t + 1h",
                "INVALID: Only monotonic functions are supported in the GROUP BY clause. Got: system._add : (timestamp, duration) -> timestamp",
            ),
            (
                "SELECT count(*) FROM g PER PARTITION LIMIT 1",
                "INVALID: PER PARTITION LIMIT is not allowed with aggregate queries.",
            ),
        ],
    );
}

#[test]
fn pages_count_groups_and_a_full_last_page_promises_more() {
    let mut node = groups();
    let mut check = |cql: &str, size, expected: &[&str]| {
        assert_eq!(pages(&mut node, cql, size), expected, "{cql}");
    };
    check(
        "SELECT a, b, v, count(b), max(v) FROM g GROUP BY a",
        1,
        &[
            "5|null|null|0|null",
            "1|2|6|5|24",
            "2|2|6|2|12",
            "4|8|24|1|24",
            "",
        ],
    );
    check(
        "SELECT a, b, v, count(b), max(v) FROM g GROUP BY a, b",
        2,
        &[
            "5|null|null|0|null / 1|2|6|2|12",
            "1|3|24|1|24 / 1|4|12|2|24",
            "2|2|6|1|6 / 2|4|12|1|12",
            "4|8|24|1|24",
        ],
    );
    check(
        "SELECT a, b, v, count(b), max(v) FROM g GROUP BY a, b LIMIT 3",
        1,
        &["5|null|null|0|null", "1|2|6|2|12", "1|3|24|1|24"],
    );
    check(
        "SELECT a, b, v FROM g GROUP BY a, b",
        2,
        &[
            "5|null|null / 1|2|6",
            "1|3|24 / 1|4|12",
            "2|2|6 / 2|4|12",
            "4|8|24",
        ],
    );
    check(
        "SELECT a, b, count(*) FROM g WHERE a = 1 GROUP BY a, b",
        1,
        &["1|2|2", "1|3|1", "1|4|2", ""],
    );
    check(
        "SELECT a, b, count(*) FROM g WHERE a IN (1, 2) GROUP BY a, b",
        2,
        &["1|2|2 / 1|3|1", "1|4|2 / 2|2|1", "2|4|1"],
    );
    check(
        "SELECT a, b, count(*) FROM g WHERE a = 1 GROUP BY a, b ORDER BY b DESC",
        3,
        &["1|4|2 / 1|3|1 / 1|2|2", ""],
    );
    check(
        "SELECT a, s, count(b) FROM g GROUP BY a",
        2,
        &["5|50|0 / 1|10|5", "2|null|2 / 4|null|1", ""],
    );
    check("SELECT count(*) FROM g", 2, &["9"]);
}

#[test]
fn a_partition_limit_counts_groups_across_pages() {
    let mut node = groups();
    let limited = "SELECT a, b, count(*) FROM g GROUP BY a, b PER PARTITION LIMIT 2";
    assert_eq!(
        pages(&mut node, limited, 1),
        ["5|null|1", "1|2|2", "1|3|1", "2|2|1", "2|4|1", "4|8|1", ""]
    );
    let both = "SELECT a, b, count(*) FROM g GROUP BY a, b PER PARTITION LIMIT 2 LIMIT 3";
    assert_eq!(pages(&mut node, both, 1), ["5|null|1", "1|2|2", "1|3|1"]);
}

#[test]
fn a_read_that_yields_folds_the_same_groups() {
    let mut node = groups();
    let whole = node.run("SELECT a, b, count(*), max(v) FROM g GROUP BY a, b");
    node.budget = 1;
    assert_eq!(
        node.run("SELECT a, b, count(*), max(v) FROM g GROUP BY a, b"),
        whole
    );
    assert!(node.yields > 0);
}
