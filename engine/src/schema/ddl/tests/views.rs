//! Statements on materialized views. What Apache Cassandra 5.0.4 answers.

use crate::schema::testing::World;

#[test]
fn views_are_made_altered_and_dropped_and_guard_their_table() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, b text)");
    world.ok("CREATE TABLE t (k int, c int, v text, n int, l list<int>, m map<text,int>, u1 u, d duration, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE st (k int, c int, s int static, v text, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE cnt (k int PRIMARY KEY, c counter)");
    world.ok("CREATE TABLE p2 (a int, b int, c int, v text, w text, PRIMARY KEY ((a, b), c))");
    world.ok("CREATE TABLE ttl (k int PRIMARY KEY, v int) WITH default_time_to_live = 100");
    world.ok("CREATE MATERIALIZED VIEW mv AS SELECT k, c, v, n FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.unchanged("CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.invalid("CREATE MATERIALIZED VIEW t AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Cannot create materialized view 't' - a table with the same name already exists");
    world.invalid("CREATE MATERIALIZED VIEW IF NOT EXISTS t AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Cannot create materialized view 't' - a table with the same name already exists");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM nope WHERE k IS NOT NULL PRIMARY KEY (k)", "Base table 'nope' doesn't exist");
    world.invalid(
        "CREATE MATERIALIZED VIEW x AS SELECT * FROM cnt WHERE k IS NOT NULL PRIMARY KEY (k)",
        "Materialized views are not supported on counter tables",
    );
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Primary key columns c must be restricted with 'IS NOT NULL' or otherwise");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, k, c)", "Primary key columns v must be restricted with 'IS NOT NULL' or otherwise");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)", "Cannot create materialized view 'x' without primary key columns c from base table 't'");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL AND n IS NOT NULL PRIMARY KEY (v, n, k, c)", "Unknown column 'n' referenced in PRIMARY KEY for materialized view 'x'");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (nope, k, c)", "Unknown column 'nope' referenced in PRIMARY KEY for materialized view 'x'");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND n IS NOT NULL PRIMARY KEY (n, k, c)", "Unknown column 'n' referenced in PRIMARY KEY for materialized view 'x'");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT k, c, n FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Unknown column 'v' referenced in PRIMARY KEY for materialized view 'x'");
    world.invalid("CREATE MATERIALIZED VIEW x AS SELECT nope FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Undefined column name nope in table ks.t");
    world.ok("CREATE MATERIALIZED VIEW x AS SELECT k, c, v, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.ok("CREATE MATERIALIZED VIEW xs AS SELECT k,c,v FROM st WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.invalid("CREATE MATERIALIZED VIEW mvdesc AS SELECT * FROM t WHERE k IS NOT NULL AND c > 1 AND v = 'a' AND n IS NOT NULL PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (k DESC, c ASC) AND comment = 'hi'", "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: v restricted illegally)");
    world.invalid("CREATE MATERIALIZED VIEW mvn AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL AND n > 1 PRIMARY KEY (v, k, c)", "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: n restricted illegally)");
    world.ok("CREATE MATERIALIZED VIEW mvi AS SELECT * FROM t WHERE k IN (1,2) AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.ok("CREATE MATERIALIZED VIEW mvk AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)");
    world.ok("CREATE MATERIALIZED VIEW mv2 AS SELECT * FROM p2 WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY ((v, a), b, c)");
    world.invalid("CREATE MATERIALIZED VIEW mvtok AS SELECT * FROM t WHERE token(k) > 0 AND k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Cannot use token relation when defining a materialized view");
    world.invalid("CREATE MATERIALIZED VIEW mvl AS SELECT * FROM t WHERE l CONTAINS 1 AND k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: l restricted illegally)");
    world.invalid(
        "DROP TABLE mv",
        "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.",
    );
    world.invalid(
        "DROP TABLE IF EXISTS mv",
        "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.",
    );
    world.invalid(
        "DROP TABLE t",
        "Cannot drop a table when materialized views still depend on it (ks)",
    );
    world.invalid(
        "ALTER TABLE mv ADD x int",
        "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead",
    );
    world.invalid(
        "ALTER TABLE mv WITH comment = 'a'",
        "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead",
    );
    world.invalid(
        "ALTER TABLE t DROP v",
        "Cannot drop column v on base table t with materialized views",
    );
    world.invalid(
        "ALTER TABLE t DROP n",
        "Cannot drop column n on base table t with materialized views",
    );
    world.invalid(
        "ALTER TABLE p2 DROP w",
        "Cannot drop column w on base table p2 with materialized views",
    );
    world.ok("ALTER TABLE t RENAME k TO kk");
    world.ok("ALTER TABLE t RENAME kk TO k");
    world.ok("ALTER TABLE t ADD nw int");
    world.ok("ALTER MATERIALIZED VIEW mv WITH comment = 'x'");
    world.invalid(
        "ALTER MATERIALIZED VIEW nope WITH comment = 'x'",
        "Materialized view 'ks.nope' doesn't exist",
    );
    world.unchanged("ALTER MATERIALIZED VIEW IF EXISTS nope WITH comment = 'x'");
    world.invalid(
        "ALTER MATERIALIZED VIEW t WITH comment = 'x'",
        "Materialized view 'ks.t' doesn't exist",
    );
    world.invalid("ALTER MATERIALIZED VIEW mv WITH default_time_to_live = 10", "Forbidden default_time_to_live detected for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table. default_time_to_live must be set to zero, see CASSANDRA-12868 for more information");
    world.invalid("ALTER MATERIALIZED VIEW mv WITH gc_grace_seconds = 0", "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.");
    world.syntax(
        "ALTER MATERIALIZED VIEW mv WITH nope = 0",
        "Unknown property 'nope'",
    );
    world.invalid(
        "DROP MATERIALIZED VIEW nope",
        "Materialized view 'ks.nope' doesn't exist",
    );
    world.unchanged("DROP MATERIALIZED VIEW IF EXISTS nope");
    world.invalid(
        "DROP MATERIALIZED VIEW t",
        "Materialized view 'ks.t' doesn't exist",
    );
    world.ok("ALTER TYPE u ADD z int");
    world.invalid(
        "DROP TYPE u",
        "Cannot drop user type 'ks.u' as it is still used by tables t",
    );
    world.invalid(
        "CREATE INDEX ON mv (n)",
        "Secondary indexes on materialized views aren't supported",
    );
    world.invalid(
        "CREATE INDEX ON mv (n) USING 'sai'",
        "Secondary indexes on materialized views aren't supported",
    );
    world.ok("CREATE INDEX ON t (n)");
    world.ok("DROP MATERIALIZED VIEW mv");
}

#[test]
fn a_view_has_a_key_of_its_tables_key_and_one_more_column() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, b text)");
    world.ok("CREATE TABLE t (k int, c int, v text, n int, l list<int>, m map<text,int>, u1 u, d duration, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE st (k int, c int, s int static, v text, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE ttl (k int PRIMARY KEY, v int) WITH default_time_to_live = 100");
    world.invalid("CREATE MATERIALIZED VIEW x1 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND l IS NOT NULL PRIMARY KEY (l, k, c)", "Unknown column 'l' referenced in PRIMARY KEY for materialized view 'x1'");
    world.invalid("CREATE MATERIALIZED VIEW x2 AS SELECT k, c, l FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND l IS NOT NULL PRIMARY KEY (l, k, c)", "Invalid non-frozen collection type 'org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.Int32Type)' for PRIMARY KEY column 'l'");
    world.invalid("CREATE MATERIALIZED VIEW x3 AS SELECT k, c, v, d FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL PRIMARY KEY (d, k, c)", "duration type is not supported for PRIMARY KEY column 'd'");
    world.invalid("CREATE MATERIALIZED VIEW x4 AS SELECT k, c, v, u1 FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND u1 IS NOT NULL PRIMARY KEY (u1, k, c)", "Invalid non-frozen user-defined type 'org.apache.cassandra.db.marshal.UserType(ks,75,61:org.apache.cassandra.db.marshal.Int32Type,62:org.apache.cassandra.db.marshal.UTF8Type)' for PRIMARY KEY column 'u1'");
    world.invalid("CREATE MATERIALIZED VIEW x5 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND nope IS NOT NULL PRIMARY KEY (v, k, c)", "Undefined column name nope in table ks.t");
    world.invalid("CREATE MATERIALIZED VIEW x6 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, k, c)", "Duplicate column 'k' in PRIMARY KEY clause for materialized view 'x6'");
    world.invalid("CREATE MATERIALIZED VIEW x7 AS SELECT * FROM st WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Cannot include static column 's' in materialized view 'x7'");
    world.invalid("CREATE MATERIALIZED VIEW x8 AS SELECT k,c,v,s FROM st WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Cannot include static column 's' in materialized view 'x8'");
    world.invalid("CREATE MATERIALIZED VIEW x9 AS SELECT k,c,s FROM st WHERE k IS NOT NULL AND c IS NOT NULL AND s IS NOT NULL PRIMARY KEY (s, k, c)", "Cannot include static column 's' in materialized view 'x9'");
    world.invalid("CREATE MATERIALIZED VIEW x10 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH default_time_to_live = 10", "Cannot set default_time_to_live for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table.");
    world.ok("CREATE MATERIALIZED VIEW x11 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH gc_grace_seconds = 0");
    world.syntax("CREATE MATERIALIZED VIEW x12 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH nope = 10", "Unknown property 'nope'");
    world.invalid("CREATE MATERIALIZED VIEW x13 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (c DESC)", "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive");
    world.invalid("CREATE MATERIALIZED VIEW x14 AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (v DESC)", "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive");
    world.invalid("CREATE MATERIALIZED VIEW mvdesc AS SELECT * FROM t WHERE k IS NOT NULL AND c > 1 AND v = 'a' PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (k DESC, c ASC) AND comment = 'hi'", "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: v restricted illegally)");
    world.ok("CREATE MATERIALIZED VIEW mvdes2 AS SELECT * FROM t WHERE k IS NOT NULL AND c > 1 AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (k DESC, c ASC) AND comment = 'hi'");
    world.ok("CREATE MATERIALIZED VIEW mvnn AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL AND n IS NOT NULL PRIMARY KEY (v, k, c)");
    world.ok("CREATE MATERIALIZED VIEW mvi AS SELECT * FROM t WHERE k IN (1,2) AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.ok("CREATE MATERIALIZED VIEW mvt AS SELECT * FROM t WHERE k IS NOT NULL AND (c) > (1) AND v IS NOT NULL PRIMARY KEY (v, k, c)");
    world.ok("CREATE MATERIALIZED VIEW x16 AS SELECT * FROM ttl WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)");
    world.invalid("CREATE MATERIALIZED VIEW x17 AS SELECT * FROM mvi WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)", "Base table 'mvi' doesn't exist");
    world.ok("CREATE MATERIALIZED VIEW kk AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (k, c)");
    world.ok("CREATE MATERIALIZED VIEW \"Up\" AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)");
    world.configuration("CREATE MATERIALIZED VIEW \"Wei rd\" AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)", "ks.Wei rd: Table name must not be empty, more than 48 characters long, or contain non-alphanumeric-underscore characters (got \"Wei rd\")");
    world.ok("CREATE MATERIALIZED VIEW x18 AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND c > 1 PRIMARY KEY (c, k)");
    world.invalid("CREATE MATERIALIZED VIEW x19 AS SELECT k, c FROM t WHERE k = 1 AND k = 2 AND c IS NOT NULL PRIMARY KEY (c, k)", "k cannot be restricted by more than one relation if it includes an Equal");
    world.invalid("CREATE MATERIALIZED VIEW x20 AS SELECT k, c FROM t WHERE k = 'x' AND c IS NOT NULL PRIMARY KEY (c, k)", "Invalid STRING constant (x) for \"k\" of type int");
    world.ok("ALTER TABLE t ADD nw int");
    world.ok("DROP MATERIALIZED VIEW mvi");
}

#[test]
fn clients_are_told_of_views_that_follow_their_table() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int)");
    world.ok("CREATE TABLE t (k int PRIMARY KEY, v int, f frozen<u>)");
    let where_clause = "FROM t WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)";
    let created = world.ok(&format!(
        "CREATE MATERIALIZED VIEW all AS SELECT * {where_clause}"
    ));
    assert_eq!(
        created.warnings,
        ["Materialized views are experimental and are not recommended for production use."]
    );
    world.ok(&format!(
        "CREATE MATERIALIZED VIEW some AS SELECT k, v {where_clause}"
    ));
    let mut told = |cql: &str| -> Vec<String> {
        let events = world.ok(cql).events.into_iter();
        let names = events.map(|event| match event.target {
            helenus_core::message::SchemaTarget::Table { name, .. } => name.to_string(),
            other => format!("{other:?}"),
        });
        names.collect()
    };
    assert_eq!(told("ALTER TABLE t ADD w int"), ["t", "all"]);
    assert_eq!(told("ALTER TABLE t RENAME k TO kk"), ["t", "all", "some"]);
    assert_eq!(told("ALTER TYPE u ADD b int").split_off(1), ["t", "all"]);
    assert_eq!(told("DROP MATERIALIZED VIEW some"), ["some"]);
    assert_eq!(
        told("DROP KEYSPACE ks").first().map(String::as_str),
        Some("all")
    );
}
