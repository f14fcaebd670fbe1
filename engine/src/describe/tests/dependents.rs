//! Indexes and views stand behind their table, and can be made again from what is said of them.

use crate::schema::testing::World;

use super::{answer, texts};

fn world() -> World {
    let mut world = World::new();
    for statement in [
        "CREATE TABLE t (k int, c int, v text, l list<int>, \"Q\" int, e vector<float, 2>, PRIMARY KEY (k, c))",
        "CREATE INDEX zi ON t (v)",
        "CREATE INDEX \"Ai\" ON t (\"Q\")",
        "CREATE INDEX l ON t (l) USING 'sai'",
        "CREATE CUSTOM INDEX e ON t (e) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'dot_product'}",
        "CREATE MATERIALIZED VIEW mv AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c > 1 AND v IS NOT NULL \
         PRIMARY KEY (v, k, c)",
    ] {
        world.ok(statement);
    }
    world
}

#[test]
fn a_table_is_described_with_its_indexes_and_views() {
    let rows = texts(&answer(&world(), Some("ks"), "DESC TABLE t").unwrap());
    let kinds: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {}", row[1], row[2]))
        .collect();
    assert_eq!(
        kinds,
        [
            "table t",
            "index \"Ai\"",
            "index e",
            "index l",
            "index zi",
            "materialized_view mv"
        ]
    );
    let statements: Vec<_> = rows[1..5].iter().map(|row| row[3].as_str()).collect();
    assert_eq!(
        statements,
        [
            "CREATE INDEX \"Ai\" ON ks.t (\"Q\");",
            "CREATE CUSTOM INDEX e ON ks.t (e) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': \
             'dot_product'};",
            "CREATE CUSTOM INDEX l ON ks.t (values(l)) USING 'sai';",
            "CREATE INDEX zi ON ks.t (v);",
        ]
    );
    assert!(rows[5][3].starts_with(
        "CREATE MATERIALIZED VIEW ks.mv AS\n    SELECT v, k, c\n    FROM ks.t\n    WHERE k IS NOT NULL AND c > 1 AND v \
         IS NOT NULL\n    PRIMARY KEY (v, k, c)\n WITH CLUSTERING ORDER BY (k ASC, c ASC)\n    AND \
         additional_write_policy = '99p'\n"
    ));
    assert!(!rows[5][3].contains("default_time_to_live"));
}

#[test]
fn an_index_or_view_is_found_by_its_name() {
    let world = world();
    for (text, kind) in [
        ("DESC INDEX zi", "index"),
        ("DESC zi", "index"),
        ("DESC MATERIALIZED VIEW mv", "materialized_view"),
        ("DESC mv", "materialized_view"),
    ] {
        let rows = texts(&answer(&world, Some("ks"), text).unwrap());
        assert_eq!((rows.len(), rows[0][1].as_str()), (1, kind), "{text}");
    }
    let refused = |text| {
        answer(&world, Some("ks"), text)
            .unwrap_err()
            .message
            .to_string()
    };
    assert_eq!(
        refused("DESC INDEX x"),
        "Table for existing index 'x' not found in 'ks'"
    );
    assert_eq!(
        refused("DESC TABLE mv"),
        "Table 'mv' not found in keyspace 'ks'"
    );
}

#[test]
fn what_is_described_can_be_made_again() {
    let world = world();
    let all = |world: &World| texts(&answer(world, None, "DESC KEYSPACE ks").unwrap());
    let mut again = World::new();
    again.ok("DROP KEYSPACE ks");
    for row in all(&world) {
        again.ok(&row[3]);
    }
    assert_eq!(all(&again), all(&world));
}
