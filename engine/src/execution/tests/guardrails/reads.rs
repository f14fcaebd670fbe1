//! Guardrails of what reads pass over and return.

use helenus_core::message::{ErrorDetail, FailureReasons, QueryParams};
use helenus_core::{Consistency, Response};

use super::{guarded, run, warned};
use crate::guardrails::Threshold;

#[test]
fn tombstones_that_a_read_passes_over_are_counted() {
    let mut node = guarded(|rules| rules.tombstones = Threshold::new(5, 10));
    let mut texts = Vec::new();
    texts.extend((0..7).map(|c| format!("DELETE FROM log WHERE p = 1 AND c = {c}")));
    texts.extend((0..4).map(|c| {
        let (start, end) = (10 * c, 10 * c + 5);
        format!("DELETE FROM log WHERE p = 2 AND c >= {start} AND c < {end}")
    }));
    texts.extend((0..12).map(|c| format!("DELETE FROM log WHERE p = 3 AND c = {c}")));
    texts.extend((0..7).map(|c| format!("INSERT INTO log (p, c, v) VALUES (4, {c}, null)")));
    texts
        .iter()
        .for_each(|text| assert_eq!(node.run(text), "void"));
    let warning = |count, key, token: i64| {
        format!(
            "1 nodes scanned up to {count} tombstones and issued tombstone warnings for query SELECT * FROM k.log WHERE p = {key} ALLOW FILTERING (see tombstone_warn_threshold) with token={token}"
        )
    };
    let (one, two) = (-4069959284402364209, -3248873570005575792);
    warned(
        &mut node,
        "SELECT * FROM log WHERE p = 1",
        &[&warning(7, 1, one)],
    );
    warned(
        &mut node,
        "SELECT * FROM log WHERE p = 2",
        &[&warning(8, 2, two)],
    );
    warned(
        &mut node,
        "SELECT * FROM log WHERE p = 4",
        &[&warning(7, 4, -2729420104000364805)],
    );
    warned(
        &mut node,
        "SELECT * FROM log WHERE p IN (1, 2)",
        &[&warning(7, 1, one), &warning(8, 2, two)],
    );
    warned(&mut node, "SELECT * FROM log WHERE p = 1 AND c > 1", &[]);

    let aborted = "1 nodes scanned over 11 tombstones and aborted the query SELECT * FROM k.log WHERE p = 3 ALLOW FILTERING (see tombstone_failure_threshold)";
    // Budgets that make the read yield change nothing.
    for budget in [1000, 3] {
        node.budget = budget;
        let statement = node.prepare("SELECT * FROM log WHERE p IN (1, 3)").unwrap();
        let completed = node.execute(&statement, &QueryParams::new(Consistency::ONE));
        let Response::Error(error) = &completed.response else {
            panic!("{completed:?}")
        };
        assert_eq!(
            error.to_string(),
            format!(
                "READ_FAILURE: Operation failed - {aborted}: READ_TOO_MANY_TOMBSTONES from /127.0.0.1:7000"
            )
        );
        assert_eq!(
            error.detail,
            ErrorDetail::ReadFailure {
                consistency: Consistency::ONE,
                received: 0,
                block_for: 1,
                reasons: FailureReasons::Map(vec![([127, 0, 0, 1].into(), 1)]),
                data_present: false,
            }
        );
        assert_eq!(
            completed.warnings,
            [
                format!("{aborted} with token=9010454139840013625"),
                warning(7, 1, one)
            ]
        );
    }
    node.budget = 1000;
    assert!(run(&mut node, "SELECT * FROM log").0.contains(
        "aborted the query SELECT * FROM k.log ALLOW FILTERING (see tombstone_failure_threshold)"
    ));
}

#[test]
fn the_bytes_of_a_page_are_held_against_their_limits_where_reads_are_measured() {
    let mut node = guarded(|rules| {
        rules.coordinator_read_size = Threshold::new(4 << 10, 16 << 10);
    });
    let x = "x".repeat(1000);
    for (p, rows) in [(1, 6), (2, 20)] {
        for c in 0..rows {
            node.run(&format!(
                "INSERT INTO log (p, c, v) VALUES ({p}, {c}, '{x}')"
            ));
        }
    }
    warned(&mut node, "SELECT * FROM log WHERE p = 2", &[]);
    node.guardrails.read_thresholds_enabled = true;
    let text = |kind, bytes, place| {
        format!(
            "Read on table k.log has exceeded the size {kind} threshold of {bytes} bytes with {place}"
        )
    };
    warned(
        &mut node,
        "SELECT * FROM log WHERE p = 1",
        &[&text("warning", "4,096", "token: -4069959284402364209")],
    );
    warned(
        &mut node,
        "SELECT * FROM log WHERE p IN (1, 3)",
        &[&text(
            "warning",
            "4,096",
            "tokens: [-4069959284402364209, 9010454139840013625]",
        )],
    );
    warned(&mut node, "SELECT p FROM log", &[]);
    for (cql, place) in [
        (
            "SELECT * FROM log WHERE p = 2",
            "token: -3248873570005575792",
        ),
        (
            "SELECT * FROM log",
            "token range: (-9223372036854775808, -9223372036854775808)",
        ),
    ] {
        let message = text("failure", "16,384", place);
        assert_eq!(
            run(&mut node, cql),
            (
                format!(
                    "READ_FAILURE: Operation failed - {message}: READ_SIZE from /127.0.0.1:7000"
                ),
                vec![message]
            )
        );
    }
}
