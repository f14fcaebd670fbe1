//! Batches of the protocol and of `BEGIN BATCH`.

use helenus_core::Consistency;
use helenus_core::message::{Batch, BatchStatementList, BatchType, QueryFlags, ValueList, Values};

use super::node::{Node, show};
use super::{expect, node};

/// A batch of the protocol with statements that take no values.
fn batch(node: &mut Node, kind: BatchType, texts: &[String]) -> (String, Vec<String>) {
    let statements = BatchStatementList::new();
    let request = Batch {
        kind,
        statements: statements.as_statements(),
        consistency: Consistency::ONE,
        flags: QueryFlags(0),
        serial_consistency: None,
        timestamp: None,
        keyspace: None,
        now_in_seconds: None,
    };
    let parts = texts
        .iter()
        .map(|text| (node.prepare(text).unwrap(), Values::EMPTY))
        .collect();
    let completed = node.batch(parts, &request);
    (show(&completed), completed.warnings)
}

#[test]
fn statements_of_a_batch_write_together() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "BEGIN BATCH INSERT INTO kv (k, v) VALUES (1, 'a'); INSERT INTO kv (k, v) VALUES (2, 'b'); INSERT INTO t (k, l) VALUES (1, [1]); UPDATE t SET l = l + [2, 3] WHERE k = 1; APPLY BATCH",
                "void",
            ),
            ("SELECT v FROM kv", "v / a / b"),
            // Both have one timestamp: the overwritten list goes, what is beside it stays.
            ("SELECT l FROM t", "l / [1, 2, 3]"),
            (
                "BEGIN BATCH USING TIMESTAMP 5 INSERT INTO kv (k, v) VALUES (3, 'c'); APPLY BATCH",
                "void",
            ),
            (
                "SELECT writetime(v) FROM kv WHERE k = 3",
                "writetime(v) / 5",
            ),
        ],
    );
}

#[test]
fn the_rules_of_batches_are_cassandras() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "BEGIN BATCH USING TIMESTAMP 1 INSERT INTO kv (k) VALUES (1) USING TIMESTAMP 1; APPLY BATCH",
                "INVALID: Timestamp must be set either on BATCH or individual statements",
            ),
            (
                "BEGIN BATCH UPDATE cn SET c = c + 1 WHERE k = 1; APPLY BATCH",
                "INVALID: Cannot include a counter statement in a logged batch",
            ),
            (
                "BEGIN COUNTER BATCH INSERT INTO kv (k) VALUES (1); APPLY BATCH",
                "INVALID: Cannot include non-counter statement in a counter batch",
            ),
            (
                "BEGIN UNLOGGED BATCH UPDATE cn SET c = c + 1 WHERE k = 1; APPLY BATCH",
                "void",
            ),
            (
                "BEGIN COUNTER BATCH UPDATE cn SET c = c + 1 WHERE k = 1; UPDATE cn SET c = c + 1 WHERE k = 1; APPLY BATCH",
                "void",
            ),
            ("SELECT c FROM cn", "c / 3"),
            ("BEGIN BATCH APPLY BATCH", "void"),
        ],
    );
}

#[test]
fn a_select_has_no_place_in_a_batch() {
    let mut node = node();
    let (answer, _) = batch(
        &mut node,
        BatchType::Logged,
        &["SELECT * FROM kv".to_owned()],
    );
    assert_eq!(
        answer,
        "INVALID: Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed."
    );
}

#[test]
fn large_batches_over_partitions_are_warned_of_and_refused() {
    let mut node = node();
    let insert = |key: i32, size: usize| {
        format!(
            "INSERT INTO kv (k, v) VALUES ({key}, '{}')",
            "x".repeat(size)
        )
    };
    let (answer, warnings) = batch(
        &mut node,
        BatchType::Logged,
        &[insert(1, 3000), insert(2, 3000)],
    );
    assert_eq!(answer, "void");
    assert_eq!(
        warnings,
        ["Batch for [k.kv] is of size 6140, exceeding specified threshold of 5120 by 1020."]
    );
    assert_eq!(
        batch(&mut node, BatchType::Logged, &[insert(1, 6000)]).1,
        Vec::<String>::new()
    );
    let (answer, _) = batch(
        &mut node,
        BatchType::Logged,
        &[insert(1, 30_000), insert(2, 30_000)],
    );
    assert_eq!(answer, "INVALID: Batch too large");
    let many: Vec<_> = (0..11).map(|key| insert(key, 1)).collect();
    assert_eq!(
        batch(&mut node, BatchType::Unlogged, &many).1,
        [
            "Unlogged batch covering 11 partitions detected against table [k.kv]. You should use a logged batch for atomicity, or asynchronous writes for performance."
        ]
    );
}

#[test]
fn values_of_a_batch_must_be_as_many_as_its_markers() {
    let mut node = node();
    let statement = node.prepare("INSERT INTO kv (k, v) VALUES (?, ?)").unwrap();
    let statements = BatchStatementList::new();
    let request = Batch {
        kind: BatchType::Logged,
        statements: statements.as_statements(),
        consistency: Consistency::ONE,
        flags: QueryFlags(0),
        serial_consistency: None,
        timestamp: None,
        keyspace: None,
        now_in_seconds: None,
    };
    let values = ValueList::new();
    let completed = node.batch(vec![(statement, values.as_values())], &request);
    assert_eq!(
        show(&completed),
        "INVALID: There were 2 markers(?) in CQL but 0 bound variables"
    );
}

#[test]
fn a_batch_reads_the_lists_it_changes_by_index() {
    let mut node = node();
    node.all(&[
        "INSERT INTO t (k, l) VALUES (1, [1, 2])",
        "INSERT INTO t (k, l) VALUES (2, [3, 4])",
    ]);
    expect(
        &mut node,
        &[
            (
                "BEGIN BATCH UPDATE t SET l[0] = 9 WHERE k = 1; UPDATE t SET l = l - [3] WHERE k = 2; INSERT INTO kv (k) VALUES (1); APPLY BATCH",
                "void",
            ),
            ("SELECT k, l FROM t", "k|l / 1|[9, 2] / 2|[4]"),
            ("SELECT k FROM kv", "k / 1"),
            (
                "BEGIN BATCH UPDATE t SET l[5] = 9 WHERE k = 1; INSERT INTO kv (k) VALUES (2); APPLY BATCH",
                "INVALID: List index 5 out of bound, list has size 2",
            ),
            ("SELECT k FROM kv", "k / 1"),
            (
                "BEGIN BATCH UPDATE t SET l[1] = 8 WHERE k = 1 IF l[0] = 9; APPLY BATCH",
                "[applied] / true",
            ),
            ("SELECT l FROM t WHERE k = 1", "l / [9, 8]"),
        ],
    );
}

#[test]
fn each_statement_of_a_batch_draws_its_own_uuid() {
    let mut node = node();
    node.run("CREATE TABLE ids (k int PRIMARY KEY, u uuid)");
    node.run("BEGIN BATCH INSERT INTO ids (k, u) VALUES (1, uuid()); INSERT INTO ids (k, u) VALUES (2, uuid()); APPLY BATCH");
    let shown = node.run("SELECT u FROM ids");
    let ids: Vec<_> = shown.split(" / ").skip(1).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids.first(), ids.last());
}
