//! What `INSERT`, `UPDATE` and `DELETE` write.

use helenus_core::RawValue;

use super::node::int;
use super::{expect, node};

#[test]
fn an_insert_makes_a_row_exist_and_an_update_does_not() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("INSERT INTO kv (k) VALUES (1)", "void"),
            ("UPDATE kv SET v = 'x' WHERE k = 2", "void"),
            ("UPDATE kv SET v = null WHERE k = 2", "void"),
            ("SELECT * FROM kv", "k|v / 1|null"),
        ],
    );
}

#[test]
fn the_greater_timestamp_wins() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO kv (k, v) VALUES (1, 'new') USING TIMESTAMP 20",
                "void",
            ),
            (
                "INSERT INTO kv (k, v) VALUES (1, 'old') USING TIMESTAMP 10",
                "void",
            ),
            ("DELETE FROM kv USING TIMESTAMP 15 WHERE k = 1", "void"),
            ("SELECT v FROM kv", "v / new"),
            ("DELETE FROM kv USING TIMESTAMP 20 WHERE k = 1", "void"),
            ("SELECT v FROM kv", "v"),
        ],
    );
}

#[test]
fn unset_values_leave_columns_as_they_are() {
    let mut node = node();
    node.run("INSERT INTO kv (k, v) VALUES (1, 'x')");
    let key = int(1);
    let update = "INSERT INTO kv (k, v) VALUES (?, ?)";
    assert_eq!(
        node.with(update, &[RawValue::Bytes(&key), RawValue::Unset]),
        "void"
    );
    assert_eq!(node.run("SELECT v FROM kv"), "v / x");
    assert_eq!(
        node.with(update, &[RawValue::Bytes(&key), RawValue::Null]),
        "void"
    );
    assert_eq!(node.run("SELECT v FROM kv"), "v / null");
    let refusal = "INVALID: Invalid unset value for column k";
    assert_eq!(
        node.with(update, &[RawValue::Unset, RawValue::Null]),
        refusal
    );
}

#[test]
fn times_to_live_end_and_have_bounds() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("INSERT INTO kv (k, v) VALUES (1, 'x') USING TTL 10", "void"),
            (
                "INSERT INTO kv (k) VALUES (1) USING TTL -1",
                "INVALID: A TTL must be greater or equal to 0, but was -1",
            ),
            (
                "INSERT INTO kv (k) VALUES (1) USING TTL 630720001",
                "INVALID: ttl is too large. requested (630720001) maximum (630720000)",
            ),
            ("ALTER TABLE kv WITH default_time_to_live = 20", "altered"),
            ("INSERT INTO kv (k, v) VALUES (2, 'y')", "void"),
            ("INSERT INTO kv (k, v) VALUES (3, 'z') USING TTL 0", "void"),
            ("SELECT ttl(v) FROM kv", "ttl(v) / 10 / 20 / null"),
        ],
    );
    node.clock += 15_000_000;
    expect(&mut node, &[("SELECT v FROM kv", "v / y / z")]);
}

#[test]
fn deletions_reach_columns_rows_ranges_and_partitions() {
    let mut node = node();
    let rows = [(1, 1), (1, 2), (2, 1), (3, 1)];
    let fill = |node: &mut super::Node| {
        for (c, d) in rows {
            node.run(&format!(
                "INSERT INTO cc (p, c, d, v, s) VALUES (1, {c}, {d}, {c}{d}, 5)"
            ));
        }
    };
    for (delete, left) in [
        (
            "DELETE v FROM cc WHERE p = 1 AND c = 1 AND d = 2",
            "v|s / 11|5 / null|5 / 21|5 / 31|5",
        ),
        (
            "DELETE FROM cc WHERE p = 1 AND c = 1 AND d = 2",
            "v|s / 11|5 / 21|5 / 31|5",
        ),
        ("DELETE FROM cc WHERE p = 1 AND c = 1", "v|s / 21|5 / 31|5"),
        (
            "DELETE FROM cc WHERE p = 1 AND c > 1 AND c <= 2",
            "v|s / 11|5 / 12|5 / 31|5",
        ),
        (
            "DELETE FROM cc WHERE p = 1 AND (c, d) IN ((1, 1), (3, 1))",
            "v|s / 12|5 / 21|5",
        ),
        (
            "DELETE s FROM cc WHERE p = 1",
            "v|s / 11|null / 12|null / 21|null / 31|null",
        ),
        ("DELETE FROM cc WHERE p = 1", "v|s"),
    ] {
        fill(&mut node);
        expect(
            &mut node,
            &[(delete, "void"), ("SELECT v, s FROM cc", left)],
        );
    }
}

#[test]
fn lists_grow_at_both_ends_and_change_by_index_and_value() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("UPDATE t SET l = [2, 3] WHERE k = 1", "void"),
            ("UPDATE t SET l = l + [4, 2] WHERE k = 1", "void"),
            ("UPDATE t SET l = [0, 1] + l WHERE k = 1", "void"),
            ("SELECT l FROM t", "l / [0, 1, 2, 3, 4, 2]"),
            ("UPDATE t SET l[1] = 9 WHERE k = 1", "void"),
            ("UPDATE t SET l = l - [2] WHERE k = 1", "void"),
            ("DELETE l[0] FROM t WHERE k = 1", "void"),
            ("SELECT l FROM t", "l / [9, 3, 4]"),
            (
                "UPDATE t SET l[3] = 1 WHERE k = 1",
                "INVALID: List index 3 out of bound, list has size 3",
            ),
            (
                "UPDATE t SET l[0] = 1 WHERE k = 2",
                "INVALID: Attempted to set an element on a list which is null",
            ),
            ("UPDATE t SET l = [7] WHERE k = 1", "void"),
            ("SELECT l FROM t", "l / [7]"),
        ],
    );
}

#[test]
fn sets_maps_and_user_types_change_by_element() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO t (k, s, m, u) VALUES (1, {'b', 'a'}, {'x': 1}, {street: 'r', zip: 1})",
                "void",
            ),
            (
                "UPDATE t SET s = s + {'c'}, m = m + {'y': 2}, m['z'] = 3, u.zip = 2 WHERE k = 1",
                "void",
            ),
            (
                "SELECT s, m, u FROM t",
                "s|m|u / {a, b, c}|{x: 1, y: 2, z: 3}|(r, 2)",
            ),
            (
                "UPDATE t SET s = s - {'a'}, m = m - {'x'} WHERE k = 1",
                "void",
            ),
            ("DELETE s['b'], m['y'], u.street FROM t WHERE k = 1", "void"),
            ("SELECT s, m, u FROM t", "s|m|u / {c}|{z: 3}|(null, 2)"),
            ("UPDATE t SET s = {}, m = null WHERE k = 1", "void"),
            ("SELECT s, m FROM t", "s|m / null|null"),
        ],
    );
}

#[test]
fn counters_count() {
    let mut node = node();
    expect(
        &mut node,
        &[
            ("UPDATE cn SET c = c + 5 WHERE k = 1", "void"),
            ("UPDATE cn SET c = c - 2 WHERE k = 1", "void"),
            ("SELECT c FROM cn", "c / 3"),
            (
                "INSERT INTO cn (k, c) VALUES (1, 1)",
                "INVALID: INSERT statements are not allowed on counter tables, use UPDATE instead",
            ),
            (
                "UPDATE cn SET c = 1 WHERE k = 1",
                "INVALID: Cannot set the value of counter column c (counters can only be incremented/decremented, not set)",
            ),
            (
                "UPDATE cn USING TTL 1 SET c = c + 1 WHERE k = 1",
                "INVALID: Cannot provide custom TTL for counter updates",
            ),
        ],
    );
}

#[test]
fn keys_must_be_whole() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO cc (p, v) VALUES (1, 1)",
                "INVALID: Some clustering keys are missing: c, d",
            ),
            (
                "INSERT INTO cc (c, d) VALUES (1, 1)",
                "INVALID: Some partition key parts are missing: p",
            ),
            (
                "INSERT INTO cc (p, c, d) VALUES (1, null, 1)",
                "INVALID: Invalid null value in condition for column c",
            ),
            (
                "UPDATE cc SET v = 1 WHERE p = 1 AND c = 1",
                "INVALID: Some clustering keys are missing: d",
            ),
            (
                "UPDATE cc SET v = 1 WHERE p IN (1, 2) AND c IN (1, 2) AND d = 1",
                "void",
            ),
            ("SELECT p, c FROM cc", "p|c / 1|1 / 1|2 / 2|1 / 2|2"),
        ],
    );
}
