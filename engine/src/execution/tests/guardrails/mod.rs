//! Guardrails, each with the words that Cassandra 5.0.4 has for it.

mod definitions;
mod reads;
mod words;

use helenus_core::message::{ErrorDetail, FailureReasons, QueryParams, WriteType};
use helenus_core::{Consistency, Response};

use super::node;
use super::node::{Node, show};
use crate::guardrails::{Guardrails, Threshold};

/// A node with these limits and some tables, made while there were none.
fn guarded(set: impl FnOnce(&mut Guardrails)) -> Node {
    let mut node = node();
    node.all(&[
        "CREATE TABLE two (a int, b int, PRIMARY KEY ((a, b)))",
        "CREATE TABLE log (p int, c int, v text, PRIMARY KEY (p, c))",
        "CREATE TABLE cdc (k int PRIMARY KEY, c counter) WITH cdc = true",
    ]);
    set(&mut node.guardrails);
    node
}

/// Runs a text at a consistency level with a page size.
fn run_at(
    node: &mut Node,
    cql: &str,
    consistency: Consistency,
    page_size: Option<i32>,
) -> (String, Vec<String>) {
    let mut params = QueryParams::new(consistency);
    params.page_size = page_size;
    let statement = match node.prepare(cql) {
        Ok(statement) => statement,
        Err(error) => return (error.to_string(), Vec::new()),
    };
    let completed = node.execute(&statement, &params);
    (show(&completed), completed.warnings)
}

fn run(node: &mut Node, cql: &str) -> (String, Vec<String>) {
    run_at(node, cql, Consistency::ONE, None)
}

/// Asserts that a text fails with this message, of which there is a warning too.
#[track_caller]
fn refused(node: &mut Node, cql: &str, message: &str) {
    let (answer, warnings) = run(node, cql);
    assert_eq!(answer, format!("INVALID: {message}"), "{cql}");
    assert_eq!(warnings.last().map(String::as_str), Some(message), "{cql}");
}

/// Asserts that a text works, with these warnings.
#[track_caller]
fn warned(node: &mut Node, cql: &str, expected: &[&str]) {
    let (answer, warnings) = run(node, cql);
    assert!(!answer.starts_with("INVALID"), "{cql}: {answer}");
    assert_eq!(warnings, expected, "{cql}");
}

#[test]
fn the_defaults_are_those_of_cassandra() {
    let rules = Guardrails::default();
    assert_eq!(rules.tombstones, Threshold::new(1_000, 100_000));
    assert_eq!(rules.batch_size, Threshold::new(5_120, 51_200));
    assert_eq!(rules.unlogged_batch_across_partitions, Some(10));
    assert_eq!(rules.page_size, Threshold::default());
}

#[test]
fn superusers_are_exempt_from_rules_about_users_only() {
    let rules = Guardrails {
        tombstones: Threshold::new(5, 10),
        use_statements_enabled: false,
        page_size: Threshold::new(100, 500),
        allow_filtering_enabled: false,
        ..Guardrails::default()
    };
    let exempt = rules.for_superusers();
    assert_eq!(exempt.tombstones, Threshold::new(5, 10));
    assert!(!exempt.use_statements_enabled);
    assert_eq!(exempt.page_size, Threshold::default());
    assert!(exempt.allow_filtering_enabled);
}

#[test]
fn page_sizes_are_held_against_their_limits_where_a_page_can_be_full() {
    let mut node = guarded(|rules| rules.page_size = Threshold::new(100, 500));
    let one = Consistency::ONE;
    let select = "SELECT v FROM kv WHERE k = 1";
    assert_eq!(run_at(&mut node, select, one, Some(100)).1, [""; 0]);
    assert_eq!(
        run_at(&mut node, select, one, Some(101)),
        (
            "v".to_owned(),
            vec!["Guardrail page_size violated: Query for table kv with page size 101 exceeds warning threshold of 100.".to_owned()]
        )
    );
    let message = "Guardrail page_size violated: Aborting query for table kv, page size 501 exceeds fail threshold of 500.";
    let refusal = (format!("INVALID: {message}"), vec![message.to_owned()]);
    assert_eq!(run_at(&mut node, select, one, Some(501)), refusal);
    let count = "SELECT count(*) FROM kv WHERE k = 1";
    assert_eq!(run_at(&mut node, count, one, Some(501)), refusal);
    let few = "SELECT v FROM kv WHERE k = 1 LIMIT 5";
    assert_eq!(run_at(&mut node, few, one, Some(501)).1, [""; 0]);
}

#[test]
fn consistency_levels_are_warned_of_and_disallowed() {
    let mut node = guarded(|rules| {
        for levels in [
            &mut rules.read_consistency_levels,
            &mut rules.write_consistency_levels,
        ] {
            levels.warned = vec![Consistency::ALL];
            levels.disallowed = vec![Consistency::EACH_QUORUM];
        }
    });
    for (cql, what, name) in [
        (
            "SELECT v FROM kv WHERE k = 1",
            "read",
            "read_consistency_levels",
        ),
        (
            "INSERT INTO kv (k, v) VALUES (1, 'x')",
            "write",
            "write_consistency_levels",
        ),
        (
            "BEGIN BATCH INSERT INTO kv (k) VALUES (1) APPLY BATCH",
            "write",
            "write_consistency_levels",
        ),
    ] {
        let warned = run_at(&mut node, cql, Consistency::ALL, None).1;
        assert_eq!(
            warned,
            [format!(
                "Guardrail {name} violated: Provided values [ALL] are not recommended for {what} consistency levels (warned values are: [ALL])"
            )]
        );
        let message = format!(
            "Guardrail {name} violated: Provided values [EACH_QUORUM] are not allowed for {what} consistency levels (disallowed values are: [EACH_QUORUM])"
        );
        assert_eq!(
            run_at(&mut node, cql, Consistency::EACH_QUORUM, None),
            (format!("INVALID: {message}"), vec![message])
        );
        assert_eq!(run(&mut node, cql).1, [""; 0]);
    }
}

#[test]
fn features_that_are_off_are_refused() {
    let mut node = guarded(|rules| {
        rules.user_timestamps_enabled = false;
        rules.group_by_enabled = false;
        rules.allow_filtering_enabled = false;
        rules.read_before_write_list_operations_enabled = false;
        rules.drop_truncate_table_enabled = false;
        rules.drop_keyspace_enabled = false;
        rules.alter_table_enabled = false;
        rules.secondary_indexes_enabled = false;
        rules.uncompressed_tables_enabled = false;
        rules.simplestrategy_enabled = false;
        rules.vector_type_enabled = false;
    });
    for (cql, message) in [
        (
            "INSERT INTO kv (k) VALUES (1) USING TIMESTAMP 5",
            "user_timestamps violated: User provided timestamps (USING TIMESTAMP) is not allowed",
        ),
        (
            "BEGIN BATCH INSERT INTO kv (k) VALUES (1) USING TIMESTAMP 5 APPLY BATCH",
            "user_timestamps violated: User provided timestamps (USING TIMESTAMP) is not allowed",
        ),
        (
            "SELECT * FROM cc WHERE p = 1 GROUP BY c",
            "group_by violated: GROUP BY functionality is not allowed",
        ),
        (
            "SELECT * FROM kv WHERE v = 'x' ALLOW FILTERING",
            "allow_filtering violated: Querying with ALLOW FILTERING is not allowed. ALLOW FILTERING can potentially visit all the data in the table and have unpredictable performance.",
        ),
        (
            "UPDATE t SET l[0] = 3 WHERE k = 1",
            "read_before_write_list_operations violated: Setting of list items by index requiring read before write is not allowed",
        ),
        (
            "DELETE l[0] FROM t WHERE k = 1",
            "read_before_write_list_operations violated: Removal of list items by index requiring read before write is not allowed",
        ),
        (
            "UPDATE t SET l = l - [1] WHERE k = 1",
            "read_before_write_list_operations violated: Removal of list items requiring read before write is not allowed",
        ),
        (
            "DROP TABLE kv",
            "drop_truncate_table_enabled violated: DROP and TRUNCATE TABLE functionality is not allowed",
        ),
        (
            "TRUNCATE kv",
            "drop_truncate_table_enabled violated: DROP and TRUNCATE TABLE functionality is not allowed",
        ),
        (
            "DROP KEYSPACE IF EXISTS nope",
            "drop_keyspace_enabled violated: DROP KEYSPACE functionality is not allowed",
        ),
        (
            "ALTER TABLE kv ADD z int",
            "alter_table violated: User access to ALTER TABLE statement for column mutation is not allowed",
        ),
        (
            "CREATE INDEX ON kv (v)",
            "secondary_indexes violated: Creating secondary indexes is not allowed",
        ),
        (
            "CREATE TABLE u (k int PRIMARY KEY) WITH compression = {'enabled': 'false'}",
            "uncompressed_tables_enabled violated: Uncompressed table is not allowed",
        ),
        (
            "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "simplestrategy violated: SimpleStrategy is not allowed",
        ),
        (
            "CREATE TABLE v (k int PRIMARY KEY, v vector<float, 3>)",
            "vector_type_enabled violated: usage of the vector type is not allowed",
        ),
    ] {
        refused(&mut node, cql, &format!("Guardrail {message}"));
    }
    warned(&mut node, "ALTER TABLE kv WITH comment = 'x'", &[]);
    warned(&mut node, "UPDATE t SET s = s - {'a'} WHERE k = 1", &[]);
    // The timestamp of the protocol isn't the statement's.
    let mut params = QueryParams::new(Consistency::ONE);
    params.timestamp = Some(5);
    let insert = node.prepare("INSERT INTO kv (k) VALUES (1)").unwrap();
    assert_eq!(node.execute(&insert, &params).response, Response::Void);
}

#[test]
fn features_of_the_server_that_are_off_are_refused_without_a_warning() {
    let mut node = guarded(|rules| {
        rules.use_statements_enabled = false;
        rules.user_defined_functions_enabled = false;
        rules.materialized_views_enabled = false;
    });
    for (cql, message) in [
        (
            "USE k",
            "USE statements prohibited. (see use_statements_enabled in cassandra.yaml)",
        ),
        (
            "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
            "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to enable",
        ),
        (
            "CREATE MATERIALIZED VIEW mv AS SELECT * FROM log WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, p)",
            "Materialized views are disabled. Enable in cassandra.yaml to use.",
        ),
    ] {
        assert_eq!(
            run(&mut node, cql),
            (format!("INVALID: {message}"), Vec::new())
        );
    }
}

#[test]
fn the_places_that_in_relations_name_are_counted() {
    let mut node = guarded(|rules| {
        rules.partition_keys_in_select = Threshold::new(2, 4);
        rules.in_select_cartesian_product = Threshold::new(2, 6);
    });
    const PRODUCT: &str = "Guardrail in_select_cartesian_product violated: ";
    const KEYS: &str = "Guardrail partition_keys_in_select violated: ";
    warned(
        &mut node,
        "SELECT * FROM log WHERE p IN (1, 2, 3)",
        &[
            &format!(
                "{PRODUCT}The cartesian product of the IN restrictions on partition key produces 3 values, this exceeds warning threshold of 2."
            ),
            &format!(
                "{KEYS}Query with partition keys in IN clause on table log, with number of partition keys 3 exceeds warning threshold of 2."
            ),
        ],
    );
    refused(
        &mut node,
        "SELECT * FROM log WHERE p IN (1, 2, 3, 4, 5)",
        &format!(
            "{KEYS}Aborting query with partition keys in IN clause on table log, number of partition keys 5 exceeds fail threshold of 4."
        ),
    );
    refused(
        &mut node,
        "SELECT * FROM two WHERE a IN (1, 2, 3) AND b IN (1, 2, 3)",
        &format!(
            "{PRODUCT}Aborting query because the cartesian product of the IN restrictions on partition key produces 9 values, this exceeds fail threshold of 6."
        ),
    );
    warned(
        &mut node,
        "DELETE FROM log WHERE p = 1 AND c IN (1, 2, 3)",
        &[&format!(
            "{PRODUCT}The cartesian product of the IN restrictions on clustering key produces 3 values, this exceeds warning threshold of 2."
        )],
    );
    warned(
        &mut node,
        "SELECT * FROM cc WHERE p = 1 AND c IN (1, 2, 3)",
        &[],
    );
}

#[test]
fn values_and_collections_that_are_written_are_measured() {
    let mut node = guarded(|rules| {
        rules.column_value_size = Threshold::new(50, 100);
        rules.items_per_collection = Threshold::new(2, 4);
        rules.collection_size = Threshold::new(64, 110);
    });
    let (x51, x101) = ("x".repeat(51), "x".repeat(101));
    let warning = |column| {
        format!(
            "Guardrail column_value_size violated: Value of column '{column}' has size 51, this exceeds the warning threshold of 50."
        )
    };
    warned(
        &mut node,
        &format!("INSERT INTO kv (k, v) VALUES (1, '{x51}')"),
        &[&warning('v')],
    );
    warned(
        &mut node,
        &format!("UPDATE t SET m['{x51}'] = 1 WHERE k = 1"),
        &[
            &warning('m'),
            "Guardrail collection_size violated: Detected collection m of size 75, this exceeds the warning threshold of 64.",
        ],
    );
    warned(
        &mut node,
        &format!("UPDATE t SET s = s - {{'{x51}'}} WHERE k = 1"),
        &[&warning('s')],
    );
    let message = "Guardrail column_value_size violated: Value of column 'v' has size 101, this exceeds the failure threshold of 100.";
    refused(
        &mut node,
        &format!("INSERT INTO kv (k, v) VALUES (2, '{x101}')"),
        message,
    );
    refused(
        &mut node,
        &format!("INSERT INTO kv (k, v) VALUES (2, '{x101}') IF NOT EXISTS"),
        message,
    );
    refused(
        &mut node,
        &format!("BEGIN BATCH INSERT INTO kv (k, v) VALUES (2, '{x101}') APPLY BATCH"),
        message,
    );
    assert_eq!(node.run("SELECT k FROM kv WHERE k = 2"), "k");
    refused(
        &mut node,
        "INSERT INTO t (k, l) VALUES (1, [1, 2, 3])",
        "Guardrail collection_size violated: Detected collection l of size 120, this exceeds the failure threshold of 110.",
    );
    refused(
        &mut node,
        "INSERT INTO t (k, l) VALUES (1, [1, 2, 3, 4, 5])",
        "Guardrail items_per_collection violated: Detected collection l with 5 items, this exceeds the failure threshold of 4.",
    );
    warned(
        &mut node,
        "INSERT INTO t (k, fl) VALUES (1, [1, 2, 3])",
        &[
            "Guardrail items_per_collection violated: Detected collection fl with 3 items, this exceeds the warning threshold of 2.",
        ],
    );
}

#[test]
fn writes_that_cannot_be_logged_fail() {
    let mut node = guarded(|rules| {
        rules.cdc_enabled = true;
        rules.cdc_total_space = 1 << 20;
    });
    let update = node
        .prepare("UPDATE cdc SET c = c + 1 WHERE k = 1")
        .unwrap();
    let completed = node.execute(&update, &QueryParams::new(Consistency::ONE));
    let Response::Error(error) = completed.response else {
        panic!()
    };
    assert_eq!(
        error.to_string(),
        "WRITE_FAILURE: Operation failed - received 0 responses and 1 failures: UNKNOWN from /127.0.0.1:7000"
    );
    assert_eq!(
        error.detail,
        ErrorDetail::WriteFailure {
            consistency: Consistency::ONE,
            received: 0,
            block_for: 1,
            reasons: FailureReasons::Map(vec![([127, 0, 0, 1].into(), 0)]),
            write_type: WriteType::COUNTER,
        }
    );
    warned(&mut node, "INSERT INTO kv (k) VALUES (1)", &[]);
    node.guardrails.cdc_total_space = 32 << 20;
    warned(&mut node, "UPDATE cdc SET c = c + 1 WHERE k = 1", &[]);
}
