//! Guardrails of statements that change the schema.

use super::{guarded, refused, warned};
use crate::guardrails::Threshold;

#[test]
fn definitions_are_held_against_their_limits() {
    let mut node = guarded(|rules| {
        rules.columns_per_table = Threshold::new(3, 5);
        rules.secondary_indexes_per_table = Threshold::new(1, 2);
        rules.fields_per_udt = Threshold::new(1, 2);
        rules.vector_dimensions = Threshold::new(2, 4);
        rules.maximum_replication_factor = Threshold::new(2, 4);
        rules.table_properties.warned = vec!["comment".to_owned()];
        rules.table_properties.disallowed = vec!["bloom_filter_fp_chance".to_owned()];
    });
    warned(
        &mut node,
        "CREATE TABLE w (a int PRIMARY KEY, b int, c int, d int)",
        &[
            "Guardrail columns_per_table violated: The table w has 4 columns, this exceeds the warning threshold of 3.",
        ],
    );
    refused(
        &mut node,
        "CREATE TABLE w2 (a int PRIMARY KEY, b int, c int, d int, e int, f int)",
        "Guardrail columns_per_table violated: Tables cannot have more than 5 columns, but 6 provided for table w2",
    );
    refused(
        &mut node,
        "CREATE TABLE w3 (a int PRIMARY KEY) WITH comment = 'x' AND bloom_filter_fp_chance = 0.1",
        "Guardrail table_properties violated: Provided values [bloom_filter_fp_chance] are not allowed for Table Properties (disallowed values are: [bloom_filter_fp_chance])",
    );
    warned(
        &mut node,
        "ALTER TABLE kv WITH comment = 'y'",
        &[
            "Guardrail table_properties violated: Provided values [comment] are not recommended for Table Properties (warned values are: [comment])",
        ],
    );
    warned(&mut node, "CREATE INDEX i1 ON w (b)", &[]);
    warned(
        &mut node,
        "CREATE INDEX i2 ON w (c)",
        &[
            "Guardrail secondary_indexes_per_table violated: Creating secondary index i2 on table w, current number of indexes 2 exceeds warning threshold of 1.",
        ],
    );
    refused(
        &mut node,
        "CREATE INDEX ON w (d)",
        "Guardrail secondary_indexes_per_table violated: Tables cannot have more than 2 secondary indexes, aborting the creation of secondary index on table w",
    );
    warned(&mut node, "CREATE TYPE ty1 (a int)", &[]);
    refused(
        &mut node,
        "CREATE TYPE ty3 (a int, b int, c int)",
        "Guardrail fields_per_udt violated: User types cannot have more than 2 columns, but 3 provided for user type ty3.",
    );
    warned(
        &mut node,
        "ALTER TYPE ty1 ADD b int",
        &[
            "Guardrail fields_per_udt violated: The user type ty1 has 2 columns, this exceeds the warning threshold of 1.",
        ],
    );
    warned(
        &mut node,
        "CREATE TABLE vec1 (a int PRIMARY KEY, v vector<float, 3>)",
        &[
            "Guardrail vector_dimensions violated: Column v has a vector of 3 dimensions, this exceeds the warning threshold of 2.",
        ],
    );
    refused(
        &mut node,
        "CREATE TABLE vec2 (a int PRIMARY KEY, v list<frozen<vector<float, 5>>>)",
        "Guardrail vector_dimensions violated: Column v has a vector of 5 dimensions, this exceeds the failure threshold of 4.",
    );
    warned(
        &mut node,
        "CREATE KEYSPACE g3 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
        &[
            "Guardrail maximum_replication_factor violated: The keyspace g3 has a replication factor of 3, above the warning threshold of 2.",
            "Your replication factor 3 for keyspace g3 is higher than the number of nodes 1",
        ],
    );
    refused(
        &mut node,
        "CREATE KEYSPACE g6 WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 5}",
        "Guardrail maximum_replication_factor violated: The keyspace g6 has a replication factor of 5, above the failure threshold of 4.",
    );
}

#[test]
fn keyspaces_tables_and_views_are_counted() {
    let mut node = guarded(|rules| {
        rules.keyspaces = Threshold::new(1, 2);
        rules.tables = Threshold::new(9, 10);
        rules.materialized_views_per_table = Threshold::new(0, 1);
        rules.minimum_replication_factor = Threshold::new(2, 1);
    });
    warned(
        &mut node,
        "CREATE KEYSPACE b WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        &[
            "Guardrail keyspaces violated: Creating keyspace b, current number of keyspaces 2 exceeds warning threshold of 1.",
            "Guardrail minimum_replication_factor violated: The keyspace b has a replication factor of 1, below the warning threshold of 2.",
        ],
    );
    refused(
        &mut node,
        "CREATE KEYSPACE c WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "Guardrail keyspaces violated: Cannot have more than 2 keyspaces, aborting the creation of keyspace c",
    );
    warned(&mut node, "CREATE TABLE t9 (k int PRIMARY KEY)", &[]);
    warned(
        &mut node,
        "CREATE TABLE t10 (k int PRIMARY KEY)",
        &[
            "Guardrail tables violated: Creating table t10, current number of tables 10 exceeds warning threshold of 9.",
        ],
    );
    refused(
        &mut node,
        "CREATE TABLE t11 (k int PRIMARY KEY)",
        "Guardrail tables violated: Cannot have more than 10 tables, aborting the creation of table t11",
    );
    let view = |name| {
        format!(
            "CREATE MATERIALIZED VIEW {name} AS SELECT * FROM log WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, p)"
        )
    };
    warned(
        &mut node,
        &view("v1"),
        &[
            "Guardrail materialized_views_per_table violated: Creating materialized view v1 on table log, current number of views 1 exceeds warning threshold of 0.",
            "Materialized views are experimental and are not recommended for production use.",
        ],
    );
    refused(
        &mut node,
        &view("v2"),
        "Guardrail materialized_views_per_table violated: Tables cannot have more than 1 materialized views, aborting the creation of materialized view v2 on table log",
    );
}
