//! Materialized views: what they show, and that they follow their table. What Apache Cassandra 5.0.4 answers.

use helenus_core::message::QueryParams;
use helenus_core::{Consistency, Response};

use super::expect;
use super::node::{Node, show};

fn views() -> Node {
    let mut node = Node::new();
    node.all(&[
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TABLE t (k int, c int, v text, n int, l list<int>, m map<text,int>, PRIMARY KEY (k, c))",
        "CREATE TABLE p2 (a int, b int, c int, v text, w text, PRIMARY KEY ((a, b), c))",
        "CREATE MATERIALIZED VIEW mv AS SELECT k, c, v, n FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)",
        "CREATE MATERIALIZED VIEW mvd AS SELECT * FROM t WHERE k IS NOT NULL AND c > 1 AND v IS NOT NULL PRIMARY KEY (v, k, c) WITH CLUSTERING ORDER BY (k DESC, c ASC)",
        "CREATE MATERIALIZED VIEW mvn AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL AND n IS NOT NULL PRIMARY KEY (v, k, c)",
        "CREATE MATERIALIZED VIEW mvi AS SELECT * FROM t WHERE k IN (1,2) AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)",
        "CREATE MATERIALIZED VIEW mvk AS SELECT k, c FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)",
        "CREATE MATERIALIZED VIEW mv2 AS SELECT * FROM p2 WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY ((v, a), b, c)",
        "INSERT INTO t (k,c,v,n,l,m) VALUES (1,1,'a',1,[1],{'a':1})",
        "INSERT INTO t (k,c,v,n) VALUES (1,2,'a',2)",
        "INSERT INTO t (k,c,v,n) VALUES (2,1,'b',3)",
        "INSERT INTO t (k,c,n) VALUES (3,1,3)",
        "INSERT INTO t (k,c,v,n) VALUES (4,4,'a',2)",
        "INSERT INTO t (k,c,v) VALUES (5,5,'a')",
        "INSERT INTO p2 (a,b,c,v,w) VALUES (1,2,3,'x','w')",
        "INSERT INTO p2 (a,b,c,v,w) VALUES (1,3,3,'x','y')",
        "INSERT INTO p2 (a,b,c,v,w) VALUES (2,2,3,'x','z')",
    ]);
    node
}

#[test]
fn a_view_has_the_rows_of_its_table_under_its_own_key() {
    expect(
        &mut views(),
        &[
            (
                "SELECT * FROM mv",
                "v|k|c|n / a|1|1|1 / a|1|2|2 / a|4|4|2 / a|5|5|null / b|2|1|3",
            ),
            (
                "SELECT * FROM mvd",
                "v|k|c|l|m|n / a|5|5|null|null|null / a|4|4|null|null|2 / a|1|2|null|null|2",
            ),
            (
                "SELECT * FROM mvn",
                "v|k|c|l|m|n / a|1|1|[1]|{a: 1}|1 / a|1|2|null|null|2 / a|4|4|null|null|2 / a|5|5|null|null|null / b|2|1|null|null|3",
            ),
            (
                "SELECT * FROM mvi",
                "v|k|c|l|m|n / a|1|1|[1]|{a: 1}|1 / a|1|2|null|null|2 / b|2|1|null|null|3",
            ),
            (
                "SELECT * FROM mvk",
                "c|k / 5|5 / 1|1 / 1|2 / 1|3 / 2|1 / 4|4",
            ),
            (
                "SELECT * FROM mv2",
                "v|a|b|c|w / x|2|2|3|z / x|1|2|3|w / x|1|3|3|y",
            ),
            (
                "SELECT * FROM mv2 WHERE v = 'x' AND a = 1",
                "v|a|b|c|w / x|1|2|3|w / x|1|3|3|y",
            ),
            (
                "SELECT * FROM mv2 WHERE v = 'x' AND a = 1 AND b = 3 AND c = 3",
                "v|a|b|c|w / x|1|3|3|y",
            ),
            (
                "SELECT * FROM mv2 WHERE v = 'x' AND a IN (2, 1)",
                "v|a|b|c|w / x|1|2|3|w / x|1|3|3|y / x|2|2|3|z",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a'",
                "v|k|c|n / a|1|1|1 / a|1|2|2 / a|4|4|2 / a|5|5|null",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' AND k = 1",
                "v|k|c|n / a|1|1|1 / a|1|2|2",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' AND k = 1 AND c = 2",
                "v|k|c|n / a|1|2|2",
            ),
            (
                "SELECT * FROM mv WHERE v = 'b' AND k = 1 AND c = 2",
                "v|k|c|n",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' AND k > 1",
                "v|k|c|n / a|4|4|2 / a|5|5|null",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' ORDER BY k DESC",
                "v|k|c|n / a|5|5|null / a|4|4|2 / a|1|2|2 / a|1|1|1",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' ORDER BY k DESC LIMIT 1",
                "v|k|c|n / a|5|5|null",
            ),
            (
                "SELECT * FROM mv WHERE v = 'a' LIMIT 2",
                "v|k|c|n / a|1|1|1 / a|1|2|2",
            ),
            ("SELECT * FROM mv LIMIT 2", "v|k|c|n / a|1|1|1 / a|1|2|2"),
            (
                "SELECT * FROM mv PER PARTITION LIMIT 1",
                "v|k|c|n / a|1|1|1 / b|2|1|3",
            ),
            ("SELECT count(*) FROM mv WHERE v = 'a'", "count / 4"),
            (
                "SELECT v, count(*) FROM mv GROUP BY v",
                "v|count / a|4 / b|1",
            ),
            ("SELECT k FROM mv WHERE k = 1 ALLOW FILTERING", "k / 1 / 1"),
            (
                "SELECT k FROM mv WHERE n = 2 LIMIT 1 ALLOW FILTERING",
                "k / 1",
            ),
            (
                "SELECT token(v), k FROM mv",
                "system.token(v)|k / -8839064797231613815|1 / -8839064797231613815|1 / -8839064797231613815|4 / -8839064797231613815|5 / 8833996863197925870|2",
            ),
            ("SELECT k FROM mv WHERE token(v) > 0", "k / 2"),
            ("SELECT DISTINCT v FROM mv", "v / a / b"),
            (
                "SELECT v FROM mv WHERE v IN ('b', 'a')",
                "v / a / a / a / a / b",
            ),
            (
                "SELECT ttl(n), n FROM mv",
                "ttl(n)|n / null|1 / null|2 / null|2 / null|null / null|3",
            ),
        ],
    );
}

#[test]
fn a_view_follows_every_write_of_its_table() {
    expect(
        &mut views(),
        &[
            ("UPDATE t SET v = 'z' WHERE k = 1 AND c = 1", "void"),
            ("DELETE v FROM t WHERE k = 1 AND c = 2", "void"),
            ("DELETE FROM t WHERE k = 4 AND c = 4", "void"),
            (
                "UPDATE t USING TTL 1000 SET n = 77 WHERE k = 2 AND c = 1",
                "void",
            ),
            (
                "SELECT * FROM mv",
                "v|k|c|n / z|1|1|1 / a|5|5|null / b|2|1|77",
            ),
            ("SELECT v,k,c,n FROM mv WHERE v = 'b'", "v|k|c|n / b|2|1|77"),
            ("UPDATE t SET v = 'a' WHERE k = 1 AND c = 1", "void"),
            (
                "SELECT * FROM mv",
                "v|k|c|n / a|1|1|1 / a|5|5|null / b|2|1|77",
            ),
            ("DELETE FROM t WHERE k = 5", "void"),
            ("INSERT INTO t (k,c,v,n) VALUES (6,6,'',2)", "void"),
            ("INSERT INTO p2 (a,b,c,v,w) VALUES (9,9,9,'','z')", "void"),
            ("SELECT v,k,c FROM mv", "v|k|c / |6|6 / a|1|1 / b|2|1"),
            (
                "SELECT v,a,b FROM mv2 WHERE v = '' AND a = 9",
                "v|a|b / |9|9",
            ),
            ("TRUNCATE t", "void"),
            ("SELECT * FROM mv", "v|k|c|n"),
        ],
    );
}

#[test]
fn a_view_is_not_written_itself() {
    expect(
        &mut views(),
        &[
            (
                "INSERT INTO mv (v,k,c) VALUES ('a',1,1)",
                "INVALID: Cannot directly modify a materialized view",
            ),
            (
                "UPDATE mv SET n = 1 WHERE v = 'a' AND k = 1 AND c = 1",
                "INVALID: Cannot directly modify a materialized view",
            ),
            (
                "DELETE FROM mv WHERE v = 'a' AND k = 1 AND c = 1",
                "INVALID: Cannot directly modify a materialized view",
            ),
            (
                "TRUNCATE mv",
                "INVALID: Cannot TRUNCATE materialized view directly; must truncate base table instead",
            ),
        ],
    );
}

#[test]
fn a_view_follows_the_columns_of_its_table() {
    let mut node = views();
    node.all(&["TRUNCATE t"]);
    expect(
        &mut node,
        &[
            ("ALTER TABLE t RENAME k TO kk", "altered"),
            ("INSERT INTO t (kk,c,v,n) VALUES (1,2,'a',2)", "void"),
            ("ALTER TABLE t ADD nw int", "altered"),
            ("SELECT * FROM mv", "v|kk|c|n / a|1|2|2"),
            (
                "SELECT * FROM mvi",
                "v|kk|c|l|m|n|nw / a|1|2|null|null|2|null",
            ),
            (
                "SELECT view_name, where_clause, include_all_columns, base_table_name FROM system_schema.views WHERE keyspace_name = 'k'",
                "view_name|where_clause|include_all_columns|base_table_name / mv|kk IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL|false|t / mv2|a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL|true|p2 / mvd|kk IS NOT NULL AND c > 1 AND v IS NOT NULL|true|t / mvi|kk IN (1, 2) AND c IS NOT NULL AND v IS NOT NULL|true|t / mvk|kk IS NOT NULL AND c IS NOT NULL|false|t / mvn|kk IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL AND n IS NOT NULL|true|t",
            ),
        ],
    );
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
        let rows_only = shown.split_once(" / ").map_or("", |(_, rows)| rows);
        pages.push(rows_only.to_owned());
        state = rows.paging_state.clone();
        if state.is_none() {
            return pages;
        }
    }
}

#[test]
fn pages_of_a_view_end_and_begin_where_those_of_a_table_would() {
    let mut node = views();
    let mut check = |cql: &str, size, expected: &[&str]| {
        assert_eq!(pages(&mut node, cql, size), expected, "{cql}");
    };
    check(
        "SELECT k, c FROM mv WHERE v = 'a'",
        2,
        &["1|1 / 1|2", "4|4 / 5|5", ""],
    );
    check(
        "SELECT v, k, c FROM mv",
        2,
        &["a|1|1 / a|1|2", "a|4|4 / a|5|5", "b|2|1"],
    );
    check(
        "SELECT v, k, c FROM mv",
        1,
        &["a|1|1", "a|1|2", "a|4|4", "a|5|5", "b|2|1", ""],
    );
    check(
        "SELECT v, k, c FROM mv WHERE v IN ('b', 'a')",
        2,
        &["a|1|1 / a|1|2", "a|4|4 / a|5|5", "b|2|1"],
    );
    check(
        "SELECT k FROM mv WHERE n = 2 ALLOW FILTERING",
        2,
        &["1 / 4", ""],
    );
    check(
        "SELECT k, c FROM mv WHERE v = 'a' ORDER BY k DESC",
        3,
        &["5|5 / 4|4 / 1|2", "1|1"],
    );
}

#[test]
fn a_read_of_a_view_yields_as_others_do() {
    let mut node = views();
    let whole = node.run("SELECT * FROM mv");
    node.budget = 1;
    assert_eq!(node.run("SELECT * FROM mv"), whole);
    assert!(node.yields > 0);
}

#[test]
fn a_prepared_statement_on_a_view_is_stale_once_view_or_table_changed() {
    let mut node = views();
    let statement = node.prepare("SELECT * FROM mv").unwrap();
    assert!(statement.is_current(&node.schema));
    node.run("ALTER TABLE p2 ADD x int");
    assert!(statement.is_current(&node.schema));
    node.run("ALTER TABLE t ADD x int");
    assert!(!statement.is_current(&node.schema));
    let statement = node.prepare("SELECT * FROM mv").unwrap();
    node.run("ALTER MATERIALIZED VIEW mv WITH comment = 'x'");
    assert!(!statement.is_current(&node.schema));
}
