//! `IF`: when a change applies, and what is told when it doesn't.

use super::{expect, node};

#[test]
fn existence_decides() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO kv (k, v) VALUES (1, 'x') IF NOT EXISTS",
                "[applied] / true",
            ),
            (
                "INSERT INTO kv (k, v) VALUES (1, 'y') IF NOT EXISTS",
                "[applied]|k|v / false|1|x",
            ),
            (
                "UPDATE kv SET v = 'z' WHERE k = 1 IF EXISTS",
                "[applied] / true",
            ),
            (
                "UPDATE kv SET v = 'z' WHERE k = 2 IF EXISTS",
                "[applied] / false",
            ),
            ("DELETE FROM kv WHERE k = 2 IF EXISTS", "[applied] / false"),
            ("SELECT * FROM kv", "k|v / 1|z"),
        ],
    );
}

#[test]
fn conditions_compare_columns_elements_and_fields() {
    let mut node = node();
    node.run(
        "INSERT INTO t (k, i, l, m, u) VALUES (1, 5, [7, 8], {'a': 1}, {street: 's', zip: 3})",
    );
    for (condition, answer) in [
        ("i = 5", "[applied] / true"),
        ("i != 5", "[applied]|i / false|5"),
        ("i IN (1, 5)", "[applied] / true"),
        ("i > 4 AND i <= 5", "[applied] / true"),
        ("i = 5 AND v = 'q'", "[applied]|i|v / false|5|x"),
        ("l[1] = 8", "[applied] / true"),
        ("l[2] = null", "[applied] / true"),
        ("l = [7]", "[applied]|l / false|[7, 8]"),
        ("m['a'] = 1", "[applied] / true"),
        ("m CONTAINS KEY 'b'", "[applied]|m / false|{a: 1}"),
        ("l CONTAINS 7", "[applied] / true"),
        ("u.zip < 3", "[applied]|u / false|(s, 3)"),
        (
            "i > null",
            "INVALID: Invalid comparison with null for operator \">\"",
        ),
    ] {
        node.run("UPDATE t SET v = 'x' WHERE k = 1");
        let cql = format!("UPDATE t SET v = 'x' WHERE k = 1 IF {condition}");
        assert_eq!(node.run(&cql), answer, "{condition}");
    }
    assert_eq!(
        node.run("UPDATE t SET v = 'x' WHERE k = 9 IF i = 5"),
        "[applied] / false"
    );
    assert_eq!(
        node.run("UPDATE t SET v = 'x' WHERE k = 9 IF i = null"),
        "[applied] / true"
    );
}

#[test]
fn static_columns_stand_for_the_partition() {
    let mut node = node();
    node.run("INSERT INTO cc (p, c, d, v) VALUES (1, 1, 1, 1)");
    expect(
        &mut node,
        &[
            (
                "UPDATE cc SET s = 1 WHERE p = 1 IF s = 9",
                "[applied]|s / false|null",
            ),
            (
                "UPDATE cc SET s = 1 WHERE p = 2 IF s = 9",
                "[applied] / false",
            ),
            (
                "UPDATE cc SET s = 1 WHERE p = 1 IF s = null",
                "[applied] / true",
            ),
            (
                "UPDATE cc SET v = 2 WHERE p = 1 AND c = 1 AND d = 1 IF s = 9 AND v = 9",
                "[applied]|v|s / false|1|1",
            ),
            (
                "UPDATE cc SET s = 1 WHERE p = 1 IF v = 9",
                "INVALID: Some clustering keys are missing: c, d",
            ),
        ],
    );
}

#[test]
fn what_conditions_may_not_have_is_refused() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO kv (k) VALUES (1) IF NOT EXISTS USING TIMESTAMP 5",
                "INVALID: Cannot provide custom timestamp for conditional updates",
            ),
            (
                "UPDATE kv SET v = 'x' WHERE k IN (1, 2) IF v = 'y'",
                "INVALID: IN on the partition key is not supported with conditional updates",
            ),
            (
                "UPDATE cc SET v = 1 WHERE p = 1 AND c IN (1, 2) AND d = 1 IF v = 1",
                "INVALID: IN on the clustering key columns is not supported with conditional updates",
            ),
            (
                "UPDATE kv SET v = 'x' WHERE k = 1 IF k = 1",
                "INVALID: PRIMARY KEY column 'k' cannot have IF conditions",
            ),
            (
                "UPDATE cn SET c = c + 1 WHERE k = 1 IF EXISTS",
                "INVALID: Conditional updates are not supported on counter tables",
            ),
            (
                "DELETE FROM cc WHERE p = 1 IF EXISTS",
                "INVALID: DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns",
            ),
        ],
    );
}

#[test]
fn a_conditional_batch_applies_whole_or_not_at_all() {
    let mut node = node();
    node.all(&[
        "INSERT INTO cc (p, c, d, v, w) VALUES (1, 1, 1, 1, 1)",
        "INSERT INTO cc (p, c, d, v, w) VALUES (1, 1, 2, 2, 2)",
    ]);
    expect(
        &mut node,
        &[
            (
                "BEGIN BATCH UPDATE cc SET v = 9 WHERE p = 1 AND c = 1 AND d = 1 IF v = 1; UPDATE cc SET w = 9 WHERE p = 1 AND c = 1 AND d = 2 IF w = 7; APPLY BATCH",
                "[applied]|p|c|d|v|w / false|1|1|1|1|1 / false|1|1|2|2|2",
            ),
            (
                "BEGIN BATCH UPDATE cc SET v = 9 WHERE p = 1 AND c = 1 AND d = 1 IF v = 1; UPDATE cc SET w = 9 WHERE p = 1 AND c = 1 AND d = 2; APPLY BATCH",
                "[applied] / true",
            ),
            ("SELECT v, w FROM cc", "v|w / 9|1 / 2|9"),
            (
                "BEGIN BATCH INSERT INTO kv (k) VALUES (1) IF NOT EXISTS; INSERT INTO kv (k) VALUES (2); APPLY BATCH",
                "INVALID: Batch with conditions cannot span multiple partitions",
            ),
        ],
    );
}
