//! Guardrails whose words have more in them than a figure: of times, of terms in indexes, of options that are ignored.

use super::{guarded, refused, run, warned};
use crate::guardrails::Threshold;

/// An hour in microseconds.
const HOUR: i64 = 3_600_000_000;

#[test]
fn timestamps_of_a_statement_of_its_own_are_held_against_the_time() {
    let mut node = guarded(|rules| {
        rules.maximum_timestamp = Threshold::new(HOUR as u64, 10 * HOUR as u64);
        rules.minimum_timestamp = Threshold::new(HOUR as u64, 10 * HOUR as u64);
    });
    let now = node.context().timestamp;
    let shown = now - now % 1000;
    let insert = |at: i64| format!("INSERT INTO kv (k, v) VALUES (1, 'a') USING TIMESTAMP {at}");
    warned(&mut node, &insert(now), &[]);
    let (late, early) = (now + 2 * HOUR, now - 2 * HOUR);
    let after =
        "Timestamps too far in the future can lead to data that can't be easily overwritten";
    let before = "Timestamps too far in the past can cause writes can be unexpectedly lost";
    let bound = shown + HOUR;
    let late_words = format!(
        "Guardrail maximum_timestamp violated: The modification to table kv has a timestamp {late} after the maximum \
         allowable warning threshold {bound}. {after}"
    );
    warned(&mut node, &insert(late), &[&late_words]);
    let bound = shown - HOUR;
    let words = format!(
        "Guardrail minimum_timestamp violated: The modification to table kv has a timestamp {early} before the minimum \
         allowable warning threshold {bound}. {before}"
    );
    warned(&mut node, &insert(early), &[&words]);
    let (late, early) = (now + 20 * HOUR, now - 20 * HOUR);
    let bound = shown + 10 * HOUR;
    let words = format!(
        "Guardrail maximum_timestamp violated: The modification to table kv has a timestamp {late} after the maximum \
         allowable failure threshold {bound}. {after}"
    );
    let delete = format!("DELETE FROM kv USING TIMESTAMP {late} WHERE k = 1");
    refused(&mut node, &delete, &words);
    let bound = shown - 10 * HOUR;
    let words = format!(
        "Guardrail minimum_timestamp violated: The modification to table kv has a timestamp {early} before the minimum \
         allowable failure threshold {bound}. {before}"
    );
    refused(&mut node, &insert(early), &words);
    let batch = format!("BEGIN BATCH {}; APPLY BATCH", insert(late));
    warned(&mut node, &batch, &[]);
}

#[test]
fn terms_of_storage_attached_indexes_are_measured() {
    let mut node = guarded(|rules| {
        rules.sai_string_term_size = Threshold::new(3, 6);
        rules.sai_frozen_term_size = Threshold::new(20, 40);
        rules.sai_vector_term_size = Threshold::new(4, 8);
    });
    node.all(&[
        "CREATE TABLE s (k text, c text, st text static, v text, l list<text>, m map<text, text>, \
         f frozen<list<text>>, n int, plain text, e vector<float, 2>, e3 vector<float, 3>, PRIMARY KEY (k, c))",
        "CREATE INDEX ON s (c) USING 'sai'",
        "CREATE INDEX ON s (st) USING 'sai'",
        "CREATE INDEX ON s (v) USING 'sai'",
        "CREATE INDEX ON s (l) USING 'sai'",
        "CREATE INDEX ON s (values(m)) USING 'sai'",
        "CREATE INDEX ON s (keys(m)) USING 'sai'",
        "CREATE INDEX ON s (full(f)) USING 'sai'",
        "CREATE INDEX ON s (n) USING 'sai'",
        "CREATE INDEX ON s (plain)",
    ]);
    // Of the index of a vector the client is warned anyway.
    node.run("CREATE INDEX ON s (e) USING 'sai'");
    let of = |rule: &str, column: &str, size: u32, bound: &str| {
        format!(
            "Guardrail sai_{rule}_term_size violated: Value of column '{column}' has size {size}, this exceeds the {bound}."
        )
    };
    let string = |column, size| of("string", column, size, "warning threshold of 3");
    let mut warned = |cql: &str, expected: &[String]| {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        warned(&mut node, cql, &expected);
    };
    warned(
        "INSERT INTO s (k, c, v, plain, n) VALUES ('long key', 'c', 'abc', 'long enough', 70000)",
        &[],
    );
    warned(
        "INSERT INTO s (k, c, st, v) VALUES ('k', 'long', 'longe', 'longer')",
        &[string("c", 4), string("st", 5), string("v", 6)],
    );
    warned(
        "INSERT INTO s (k, c, l, m) VALUES ('k', 'c', ['a', 'four'], {'five5': 'sixsix'})",
        &[string("l", 4), string("m", 6), string("m", 5)],
    );
    warned(
        "DELETE FROM s WHERE k = 'k' AND c = 'long'",
        &[string("c", 4)],
    );
    warned(
        "UPDATE s SET l = l - ['four'] WHERE k = 'k' AND c = 'c'",
        &[],
    );
    warned(
        "UPDATE s SET f = ['a', 'b', 'cde'] WHERE k = 'k' AND c = 'c' IF EXISTS",
        &[of("frozen", "f", 21, "warning threshold of 20")],
    );
    warned(
        "UPDATE s SET e = [1, 2] WHERE k = 'k' AND c = 'c'",
        &[of("vector", "e", 8, "warning threshold of 4")],
    );
    let refusal = of("string", "v", 7, "failure threshold of 6");
    refused(
        &mut node,
        "INSERT INTO s (k, c, v) VALUES ('k', 'c', 'longest')",
        &refusal,
    );
    let batch = "BEGIN BATCH INSERT INTO s (k, c, v) VALUES ('k', 'c', 'longest') APPLY BATCH";
    refused(&mut node, batch, &refusal);
}

#[test]
fn options_of_tables_that_are_ignored_are_not_set() {
    let mut node = guarded(|rules| {
        let properties = &mut rules.table_properties;
        properties.ignored = ["comment", "gc_grace_seconds"].map(str::to_owned).to_vec();
        properties.warned = vec!["speculative_retry".to_owned()];
    });
    let ignored = |found: &str| {
        format!(
            "Guardrail table_properties violated: Ignoring provided values {found} as they are not supported for Table \
             Properties (ignored values are: [gc_grace_seconds, comment])"
        )
    };
    let options = "SELECT comment, gc_grace_seconds, default_time_to_live FROM system_schema.tables \
                   WHERE keyspace_name = 'k' AND table_name = 'p'";
    warned(
        &mut node,
        "CREATE TABLE p (k int PRIMARY KEY) WITH comment = 'x' AND default_time_to_live = 3 AND gc_grace_seconds = 'no'",
        &[&ignored("[comment, gc_grace_seconds]")],
    );
    assert_eq!(
        node.run(options),
        "comment|gc_grace_seconds|default_time_to_live / |864000|3"
    );
    warned(
        &mut node,
        "ALTER TABLE p WITH comment = 'y' AND default_time_to_live = 4 AND speculative_retry = 'NONE'",
        &[
            &ignored("[comment]"),
            "Guardrail table_properties violated: Provided values [speculative_retry] are not recommended for Table \
             Properties (warned values are: [speculative_retry])",
        ],
    );
    assert_eq!(
        node.run(options),
        "comment|gc_grace_seconds|default_time_to_live / |864000|4"
    );
}

#[test]
fn values_of_a_rule_are_listed_in_cassandras_order() {
    let mut node = guarded(|rules| {
        let names = [
            "speculative_retry",
            "comment",
            "gc_grace_seconds",
            "crc_check_chance",
        ];
        rules.table_properties.warned = names.map(str::to_owned).to_vec();
    });
    warned(
        &mut node,
        "CREATE TABLE p (k int PRIMARY KEY) WITH speculative_retry = 'NONE' AND crc_check_chance = 0.5",
        &[
            "Guardrail table_properties violated: Provided values [crc_check_chance, speculative_retry] are not \
             recommended for Table Properties (warned values are: [speculative_retry, gc_grace_seconds, \
             crc_check_chance, comment])",
        ],
    );
}

#[test]
fn data_that_never_expires_in_windows_of_time_is_looked_at_where_a_statement_says_so() {
    let words = |judgement: &str| {
        format!(
            "Guardrail zero_ttl_on_twcs violated: 0 default_time_to_live on a table with TimeWindowCompactionStrategy \
             compaction strategy is not {judgement}. It is suspicious to use default_time_to_live set to 0 with such \
             compaction strategy. Please keep in mind that data will not start to automatically expire after they are \
             older than a respective compaction window unit of a certain size. Please set TTL for your INSERT or UPDATE \
             statements if you expect data to be expired as table settings will not do it. "
        )
    };
    let windows = "compaction = {'class': 'TimeWindowCompactionStrategy'}";
    let mut node = guarded(|rules| rules.zero_ttl_on_twcs_warned = true);
    let recommended = words("recommended");
    warned(
        &mut node,
        &format!("CREATE TABLE w (k int PRIMARY KEY) WITH {windows}"),
        &[&recommended],
    );
    warned(
        &mut node,
        &format!(
            "CREATE TABLE w2 (k int PRIMARY KEY) WITH {windows} AND default_time_to_live = 10"
        ),
        &[],
    );
    warned(
        &mut node,
        "ALTER TABLE w2 WITH default_time_to_live = 0",
        &[],
    );
    warned(
        &mut node,
        "ALTER TABLE w2 WITH default_time_to_live = 10",
        &[],
    );
    // Whatever the table has already.
    warned(
        &mut node,
        &format!("ALTER TABLE w2 WITH {windows}"),
        &[&recommended],
    );
    node.guardrails.zero_ttl_on_twcs_enabled = false;
    refused(
        &mut node,
        &format!("CREATE TABLE w3 (k int PRIMARY KEY) WITH default_time_to_live = 0 AND {windows}"),
        &words("allowed"),
    );
}

#[test]
fn indexes_may_be_kept_from_answering_for_all_partitions() {
    let mut node = guarded(|rules| {
        rules.non_partition_restricted_index_query_enabled = false;
        rules.compact_tables_enabled = false;
    });
    node.all(&[
        "CREATE TABLE i (k int, c int, a int, b int, PRIMARY KEY (k, c))",
        "CREATE INDEX ON i (a) USING 'sai'",
        "CREATE TABLE old (k int PRIMARY KEY, v text)",
        "CREATE INDEX ON old (v)",
    ]);
    for everywhere in [
        "SELECT * FROM i WHERE a = 1",
        "SELECT * FROM i WHERE token(k) > 1 AND a = 1",
        "SELECT * FROM i WHERE a = 1 AND b = 2 ALLOW FILTERING",
        "SELECT count(*) FROM old WHERE v = 'a'",
    ] {
        refused(
            &mut node,
            everywhere,
            "Guardrail non_partition_restricted_index_query_enabled violated: Non-partition key restricted query is not \
             allowed. Executing a query on secondary indexes without partition key restriction might degrade performance",
        );
    }
    for somewhere in [
        "SELECT * FROM i WHERE k = 1 AND a = 1",
        "SELECT * FROM i WHERE b = 1 ALLOW FILTERING",
    ] {
        assert!(
            !run(&mut node, somewhere).0.starts_with("INVALID"),
            "{somewhere}"
        );
    }
    refused(
        &mut node,
        "CREATE TABLE compact (k int PRIMARY KEY, v int) WITH COMPACT STORAGE",
        "Guardrail compact_tables violated: Creation of new COMPACT STORAGE tables is not allowed",
    );
}
