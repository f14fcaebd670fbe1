//! Queries through indexes: which ones need no `ALLOW FILTERING`, and what they find. What Apache Cassandra 5.0.4 answers.

use super::node;
use super::node::Node;
use crate::statement::FILTERING;

/// Asserts that statements answer as given, the long refusal of filtering cut short.
fn check(node: &mut Node, steps: &[(&str, &str)]) {
    for (cql, answer) in steps {
        let found = node.run(cql).replace(FILTERING, "FILTERING");
        assert_eq!(found, *answer, "{cql}");
    }
}

/// Tables with rows, and indexes whose statements end like this.
fn indexed(using: &str) -> Node {
    let mut node = node();
    node.all(&[
        "CREATE KEYSPACE i WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE i",
    ]);
    for cql in [
        "CREATE TABLE t (k int, c int, d int, s int static, v text, n int, w int, x int, l list<int>, st set<int>, m map<text,int>, m2 map<text,int>, fl frozen<list<int>>, fm frozen<map<text,int>>, PRIMARY KEY (k, c, d))",
        "INSERT INTO t (k,c,d,s,v,n,w,x,l,st,m,m2,fl,fm) VALUES (1,1,1,10,'a',1,1,1,[1,2],{1,2},{'a':1},{'a':1,'b':2},[1,2],{'a':1})",
        "INSERT INTO t (k,c,d,v,n,w,x,l,st,m,m2,fl,fm) VALUES (1,2,1,'b',2,2,1,[2,3],{2,3},{'b':2},{'b':2},[2],{'b':1})",
        "INSERT INTO t (k,c,d,s,v,n,w,x,l,st,m,m2,fl,fm) VALUES (2,1,1,20,'a',2,1,2,[1],{1},{'a':2},{'a':2},[1,2],{'a':1})",
        "INSERT INTO t (k,c,d,v) VALUES (3,1,1,'')",
        "INSERT INTO t (k,s) VALUES (4,10)",
        "CREATE TABLE c2 (a int, b int, c int, d int, e int, PRIMARY KEY ((a, b), c, d))",
        "INSERT INTO c2 (a,b,c,d,e) VALUES (1,1,1,1,1)",
        "INSERT INTO c2 (a,b,c,d,e) VALUES (1,2,1,2,1)",
        "INSERT INTO c2 (a,b,c,d,e) VALUES (2,1,2,1,1)",
    ] {
        node.all(&[cql]);
    }
    for target in [
        "ON t (v)",
        "ON t (n)",
        "ON t (s)",
        "ON t (l)",
        "ON t (st)",
        "ON t (keys(m))",
        "ON t (values(m2))",
        "ON t (entries(m2))",
        "ON t (full(fl))",
        "ON t (full(fm))",
        "ON c2 (a)",
        "ON c2 (c)",
        "ON c2 (d)",
    ] {
        node.all(&[&format!("CREATE INDEX {target}{using}")]);
    }
    node
}

#[test]
fn an_index_of_the_first_kind_finds_what_one_equality_asks_for() {
    check(
        &mut indexed(""),
        &[
            ("SELECT k,c,d FROM t WHERE v = 'a'", "k|c|d / 1|1|1 / 2|1|1"),
            ("SELECT k,c,d FROM t WHERE v = ''", "k|c|d / 3|1|1"),
            ("SELECT k,c,d FROM t WHERE v > 'a'", "INVALID: FILTERING"),
            (
                "SELECT k,c,d FROM t WHERE v != 'a'",
                "INVALID: Unsupported \"!=\" relation: v != 'a'",
            ),
            (
                "SELECT k,c,d FROM t WHERE v IN ('a')",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v IN ('a','b')",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND n = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND w = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND n = 1 ALLOW FILTERING",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 AND c = 1",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 AND d = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 AND c > 0 AND d = 1",
                "INVALID: Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ relation)",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 AND c > 0",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND c = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND c = 1 ALLOW FILTERING",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND d = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k IN (1,2)",
                "INVALID: Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k IN (1,2) ALLOW FILTERING",
                "INVALID: Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k IN (1)",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 AND c IN (1,2)",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k > 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND token(k) > 0",
                "k|c|d",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND token(k) > -9223372036854775807",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE k = 1 AND v = 'a' AND w = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE k = 1 AND w = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE s = 10",
                "k|c|d / 1|1|1 / 1|2|1 / 4|null|null",
            ),
            ("SELECT k,s FROM t WHERE s = 10", "k|s / 1|10 / 1|10 / 4|10"),
            (
                "SELECT DISTINCT k,s FROM t WHERE s = 10",
                "k|s / 1|10 / 4|10",
            ),
            (
                "SELECT k,c,d FROM t WHERE s = 10 AND v = 'a'",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE l CONTAINS 1",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE l CONTAINS 1 AND l CONTAINS 2",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE l CONTAINS 1 AND l CONTAINS 2 ALLOW FILTERING",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE st CONTAINS 2",
                "k|c|d / 1|1|1 / 1|2|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE m CONTAINS KEY 'a'",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE m CONTAINS 1",
                "INVALID: FILTERING",
            ),
            ("SELECT k,c,d FROM t WHERE m['a'] = 1", "INVALID: FILTERING"),
            (
                "SELECT k,c,d FROM t WHERE m2 CONTAINS 2",
                "k|c|d / 1|1|1 / 1|2|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE m2 CONTAINS KEY 'a'",
                "INVALID: FILTERING",
            ),
            ("SELECT k,c,d FROM t WHERE m2['a'] = 1", "k|c|d / 1|1|1"),
            (
                "SELECT k,c,d FROM t WHERE m2['a'] > 1",
                "INVALID: Only EQ relations are supported on map entries",
            ),
            (
                "SELECT k,c,d FROM t WHERE m2['a'] = 1 AND m2 CONTAINS 2",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE fl = [1,2]",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE fl CONTAINS 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE fm = {'a':1}",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE fm CONTAINS KEY 'a'",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE fm['a'] = 1",
                "INVALID: Map-entry equality predicates on frozen map column fm are not supported",
            ),
            (
                "SELECT k,c,d FROM t WHERE l = [1]",
                "INVALID: Collection column 'l' (list<int>) cannot be restricted by a '=' relation",
            ),
            (
                "SELECT k,c,d FROM t WHERE v LIKE 'a%'",
                "INVALID: LIKE restriction is only supported on properly indexed columns. v LIKE 'a%' is not valid.",
            ),
            (
                "SELECT k,c,d FROM t WHERE expr(t_v_idx, 'a')",
                "INVALID: Only CUSTOM indexes may be used in custom index expressions, t_v_idx is not valid",
            ),
            (
                "SELECT k,c,d FROM t WHERE expr(nope, 'a')",
                "INVALID: Invalid index expression, index nope not found for i.t",
            ),
            ("SELECT count(*) FROM t WHERE v = 'a'", "count / 2"),
            ("SELECT k,c,d FROM t WHERE v = 'a' LIMIT 1", "k|c|d / 1|1|1"),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' ORDER BY c",
                "INVALID: ORDER BY with 2ndary indexes is not supported, except for ANN queries.",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 ORDER BY c DESC",
                "INVALID: ORDER BY with 2ndary indexes is not supported, except for ANN queries.",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND k = 1 ORDER BY c ASC",
                "INVALID: ORDER BY with 2ndary indexes is not supported, except for ANN queries.",
            ),
            (
                "SELECT k,c,d FROM t WHERE k = 1 ORDER BY v",
                "INVALID: Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v",
            ),
            (
                "SELECT k,c,d FROM t WHERE k = 1 ORDER BY v ANN OF [1.0,2.0] LIMIT 2",
                "INVALID: Unexpected receiver type 'text'; only list and vector are expected",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = null",
                "INVALID: Unsupported null value for column v",
            ),
            (
                "SELECT DISTINCT k FROM t WHERE v = 'a'",
                "INVALID: SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
            ),
            (
                "SELECT k,c,d FROM t WHERE (c, d) = (1, 1) AND v = 'a'",
                "INVALID: FILTERING",
            ),
            (
                "SELECT k,c,d FROM t WHERE k = 1 AND (c, d) > (1, 0) AND v = 'a'",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t PER PARTITION LIMIT 1",
                "k|c|d / 1|1|1 / 2|1|1 / 4|null|null / 3|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE v = 'a' PER PARTITION LIMIT 1",
                "k|c|d / 1|1|1 / 2|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            ("SELECT * FROM c2 WHERE b = 1", "INVALID: FILTERING"),
            ("SELECT * FROM c2 WHERE a > 1", "INVALID: FILTERING"),
            (
                "SELECT * FROM c2 WHERE a IN (1)",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b > 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND c = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE c = 1",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            ("SELECT * FROM c2 WHERE c > 1", "INVALID: FILTERING"),
            (
                "SELECT * FROM c2 WHERE c IN (1)",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE d = 1",
                "a|b|c|d|e / 2|1|2|1|1 / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE c = 1 AND d = 1",
                "INVALID: FILTERING",
            ),
            ("SELECT * FROM c2 WHERE (c,d) = (1,1)", "INVALID: FILTERING"),
            (
                "SELECT * FROM c2 WHERE (c) = (1)",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND d = 1",
                "a|b|c|d|e / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND c = 1",
                "a|b|c|d|e / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND e = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND d > 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND c > 0 AND d = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE token(a,b) > -9223372036854775807 AND c = 1",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            ("SELECT * FROM c2 WHERE e = 1", "INVALID: FILTERING"),
            (
                "SELECT * FROM c2 WHERE e = 1 AND c = 1",
                "INVALID: FILTERING",
            ),
            (
                "SELECT * FROM c2 WHERE b = 1 AND d = 1 ALLOW FILTERING",
                "a|b|c|d|e / 2|1|2|1|1 / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a IN (1,2) AND b = 1 AND d = 1",
                "INVALID: Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            ),
        ],
    );
}

#[test]
fn storage_attached_indexes_find_ranges_and_go_together() {
    check(
        &mut indexed(" USING 'sai'"),
        &[
            (
                "SELECT k,c,d FROM t WHERE v = 'a' AND n = 1",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE s = 10 AND v = 'a'",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE l CONTAINS 1 AND l CONTAINS 2",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE m2['a'] = 1 AND m2 CONTAINS 2",
                "k|c|d / 1|1|1",
            ),
            (
                "SELECT k,c,d FROM t WHERE expr(t_v_idx, 'a')",
                "INVALID: Index t_v_idx does not support custom expressions",
            ),
            ("SELECT * FROM c2 WHERE a > 1", "a|b|c|d|e / 2|1|2|1|1"),
            (
                "SELECT * FROM c2 WHERE a = 1 AND c = 1",
                "a|b|c|d|e / 1|2|1|2|1 / 1|1|1|1|1",
            ),
            ("SELECT * FROM c2 WHERE c > 1", "a|b|c|d|e / 2|1|2|1|1"),
            (
                "SELECT * FROM c2 WHERE c = 1 AND d = 1",
                "a|b|c|d|e / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE (c,d) = (1,1)",
                "a|b|c|d|e / 1|1|1|1|1",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND d > 1",
                "a|b|c|d|e",
            ),
            (
                "SELECT * FROM c2 WHERE a = 1 AND b = 1 AND c > 0 AND d = 1",
                "a|b|c|d|e / 1|1|1|1|1",
            ),
        ],
    );
}
