//! The nearest neighbours of a vector. What Apache Cassandra 5.0.4 answers.

use helenus_core::Consistency;
use helenus_core::message::QueryParams;

use super::node;
use super::node::{Node, show};
use crate::statement::FILTERING;

fn vectors() -> Node {
    let mut node = node();
    node.all(&[
        "CREATE KEYSPACE i WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE i",
    ]);
    for cql in [
        "CREATE TABLE v (k int, c int, s int static, e vector<float, 2>, f vector<float,2>, g vector<float,2>, z vector<float,2>, n int, w int, PRIMARY KEY (k, c))",
        "CREATE INDEX ei ON v (e) USING 'sai'",
        "CREATE INDEX fi ON v (f) USING 'sai' WITH OPTIONS = {'similarity_function':'euclidean'}",
        "CREATE INDEX gi ON v (g) USING 'sai' WITH OPTIONS = {'similarity_function':'dot_product'}",
        "CREATE INDEX ni ON v (n) USING 'sai'",
        "INSERT INTO v (k,c,e,f,g,n,w) VALUES (1,1,[1.0,0.0],[1.0,0.0],[1.0,0.0],1,1)",
        "INSERT INTO v (k,c,e,f,g,n,w) VALUES (1,2,[0.9,0.1],[0.9,0.1],[0.9,0.1],2,2)",
        "INSERT INTO v (k,c,e,f,g,n,w) VALUES (2,1,[0.0,5.0],[0.0,5.0],[0.0,5.0],1,1)",
        "INSERT INTO v (k,c,e,f,g,n,w) VALUES (3,1,[-3.0,0.1],[-3.0,0.1],[-3.0,0.1],2,1)",
        "INSERT INTO v (k,c,e,f,g,n,w) VALUES (4,1,[7.0,7.0],[7.0,7.0],[7.0,7.0],1,2)",
        "INSERT INTO v (k,c,n) VALUES (5,1,1)",
        "INSERT INTO v (k,c,f) VALUES (6,1,[0.0,0.0])",
        "INSERT INTO v (k,c,g) VALUES (6,2,[0.0,0.0])",
    ] {
        node.all(&[cql]);
    }
    node
}

#[test]
fn neighbours_come_nearest_first_under_the_function_of_their_index() {
    let mut node = vectors();
    for (cql, answer) in [
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|2 / 1|1 / 4|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 10",
            "k|c / 1|2 / 1|1 / 4|1 / 2|1 / 3|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY f ANN OF [1.0, 0.1] LIMIT 10",
            "k|c / 1|1 / 1|2 / 6|1 / 3|1 / 2|1 / 4|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY g ANN OF [1.0, 0.1] LIMIT 10",
            "k|c / 4|1 / 1|1 / 1|2 / 2|1 / 6|2 / 3|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY z ANN OF [1.0, 0.1] LIMIT 10",
            "INVALID: ANN ordering by vector requires the column to be indexed",
        ),
        (
            "SELECT k,c FROM v ORDER BY n ANN OF [1.0, 0.1] LIMIT 10",
            "INVALID: Unexpected receiver type 'int'; only list and vector are expected",
        ),
        (
            "SELECT k,c FROM v ORDER BY n ANN OF 1 LIMIT 10",
            "INVALID: ANN ordering is only supported on float vector indexes",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1]",
            "INVALID: Top-K queries must have a limit specified and the limit must be less than the query page size",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 1001",
            "INVALID: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 1001",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 1000",
            "k|c / 1|2 / 1|1 / 4|1 / 2|1 / 3|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] DESC LIMIT 3",
            "INVALID: Descending ANN ordering is not supported",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] ASC LIMIT 3",
            "k|c / 1|2 / 1|1 / 4|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1], f ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Cannot specify more than one ANN ordering",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1], c LIMIT 3",
            "INVALID: ANN ordering does not support any other ordering",
        ),
        (
            "SELECT k,c FROM v ORDER BY c, e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: ANN ordering does not support any other ordering",
        ),
        (
            "SELECT k,c FROM v ORDER BY e LIMIT 3",
            "INVALID: ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
        ),
        (
            "SELECT k,c FROM v WHERE k = 1 ORDER BY e LIMIT 3",
            "INVALID: Order by is currently only supported on the clustered columns of the PRIMARY KEY, got e",
        ),
        (
            "SELECT k,c FROM v WHERE k = 1 ORDER BY n LIMIT 3",
            "INVALID: Order by is currently only supported on the clustered columns of the PRIMARY KEY, got n",
        ),
        (
            "SELECT k,c FROM v WHERE e = [1.0, 0.0]",
            "INVALID: Vector indexes only support ANN queries",
        ),
        (
            "SELECT k,c FROM v WHERE e > [1.0, 0.0]",
            "INVALID: Vector indexes only support ANN queries",
        ),
        (
            "SELECT k,c FROM v WHERE e = [1.0, 0.0] ALLOW FILTERING",
            "INVALID: Vector indexes only support ANN queries",
        ),
        (
            "SELECT k,c FROM v WHERE z = [1.0, 0.0] ALLOW FILTERING",
            "k|c",
        ),
        (
            "SELECT k,c FROM v WHERE n = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|1 / 4|1 / 2|1",
        ),
        (
            "SELECT k,c FROM v WHERE n > 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|2 / 3|1",
        ),
        (
            "SELECT k,c FROM v WHERE w = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: ANN ordering by vector requires all restricted column(s) to be indexed",
        ),
        (
            "SELECT k,c FROM v WHERE w = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3 ALLOW FILTERING",
            "INVALID: ANN ordering by vector requires all restricted column(s) to be indexed",
        ),
        (
            "SELECT k,c FROM v WHERE n = 1 AND w = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3 ALLOW FILTERING",
            "INVALID: ANN ordering by vector requires all restricted column(s) to be indexed",
        ),
        (
            "SELECT k,c FROM v WHERE k = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|2 / 1|1",
        ),
        (
            "SELECT k,c FROM v WHERE k = 1 AND c = 2 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|2",
        ),
        (
            "SELECT k,c FROM v WHERE k = 1 AND c > 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 1|2",
        ),
        (
            "SELECT k,c FROM v WHERE k IN (1,2) ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
        ),
        (
            "SELECT k,c FROM v WHERE c = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: ANN ordering by vector requires all restricted column(s) to be indexed",
        ),
        (
            "SELECT k,c FROM v WHERE c = 1 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3 ALLOW FILTERING",
            "INVALID: ANN ordering by vector requires all restricted column(s) to be indexed",
        ),
        (
            "SELECT k,c FROM v WHERE token(k) > 0 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c / 3|1",
        ),
        (
            "SELECT k,c FROM v WHERE token(k) > 0 AND token(k) < 100 ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "k|c",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0, 0.1] PER PARTITION LIMIT 1 LIMIT 3",
            "INVALID: Top-K queries do not support per-partition limits",
        ),
        (
            "SELECT k,c FROM v GROUP BY k ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Top-K queries can not be run with aggregation",
        ),
        (
            "SELECT count(*) FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Top-K queries can not be run with aggregation",
        ),
        (
            "SELECT max(c) FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Top-K queries can not be run with aggregation",
        ),
        (
            "SELECT DISTINCT k FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
        ),
        (
            "SELECT k,c, similarity_cosine(e, [1.0, 0.1]), similarity_euclidean(e, [1.0,0.1]), similarity_dot_product(e,[1.0,0.1]) FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 4",
            "k|c|system.similarity_cosine(e, [1.0, 0.1])|system.similarity_euclidean(e, [1.0, 0.1])|system.similarity_dot_product(e, [1.0, 0.1]) / 1|2|0.99996984|0.990099|0.955 / 1|1|0.9975186|0.990099|1.0 / 4|1|0.8869786|0.011818934|4.35 / 2|1|0.5497519|0.03844675|0.75",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF [1.0] LIMIT 3",
            "INVALID: Invalid vector literal for e of type vector<float, 2>; expected 2 elements, but given 1",
        ),
        (
            "SELECT k,c FROM v ORDER BY f ANN OF [0.0, 0.0] LIMIT 3",
            "k|c / 6|1 / 1|2 / 1|1",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF null LIMIT 3",
            "INVALID: Unsupported null value for column e",
        ),
        (
            "SELECT k,c FROM v ORDER BY e ANN OF 'x' LIMIT 3",
            "INVALID: Invalid STRING constant (x) for \"e\" of type vector<float, 2>",
        ),
        (
            "SELECT k,c FROM v ORDER BY nope ANN OF [1.0, 0.1] LIMIT 3",
            "INVALID: Undefined column name nope in table i.v",
        ),
    ] {
        let found = node.run(cql).replace(FILTERING, "FILTERING");
        assert_eq!(found, answer, "{cql}");
    }
}

#[test]
fn a_page_smaller_than_the_limit_is_warned_of_and_ignored() {
    let mut node = vectors();
    let statement = node
        .prepare("SELECT k, c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 4")
        .unwrap();
    let mut params = QueryParams::new(Consistency::ONE);
    params.page_size = Some(2);
    let completed = node.execute(&statement, &params);
    assert_eq!(show(&completed), "k|c / 1|2 / 1|1 / 4|1 / 2|1");
    assert_eq!(
        completed.warnings,
        [
            "Top-K queries do not support paging and the page size is set to 2, which is less than LIMIT 4. The page size \
             has been set to 4 to match the LIMIT."
        ]
    );
    params.page_size = Some(4);
    assert!(node.execute(&statement, &params).warnings.is_empty());
}

#[test]
fn a_vector_without_direction_is_no_neighbour_by_angle_and_has_none() {
    let mut node = vectors();
    let ten = "SELECT k, c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 10";
    let before = node.run(ten);
    node.all(&["INSERT INTO v (k, c, e) VALUES (9, 9, [0.0, 0.0])"]);
    assert_eq!(node.run(ten), before);
    assert_eq!(
        node.run("SELECT k, c FROM v ORDER BY e ANN OF [0.0, 0.0] LIMIT 3"),
        "INVALID: Zero and near-zero vectors cannot be indexed or queried with cosine similarity"
    );
}

#[test]
fn neighbours_follow_what_is_written() {
    let mut node = vectors();
    node.all(&[
        "INSERT INTO v (k, c, e) VALUES (7, 1, [1.0, 0.1])",
        "DELETE FROM v WHERE k = 1 AND c = 1",
        "UPDATE v SET e = null WHERE k = 1 AND c = 2",
    ]);
    node.budget = 2;
    assert_eq!(
        node.run("SELECT k, c FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 3"),
        "k|c / 7|1 / 4|1 / 2|1"
    );
    assert!(node.yields > 0);
}

#[test]
fn neighbours_are_searched_on_one_replica_whatever_is_asked() {
    let mut node = vectors();
    let statement = node
        .prepare("SELECT k FROM v ORDER BY e ANN OF [1.0, 0.1] LIMIT 1")
        .unwrap();
    let completed = node.execute(&statement, &QueryParams::new(Consistency::QUORUM));
    assert_eq!(show(&completed), "k / 1");
    assert_eq!(
        completed.warnings,
        [
            "Top-K queries can only be run with consistency level ONE / LOCAL_ONE / NODE_LOCAL. Consistency level QUORUM was \
             requested. Downgrading the consistency level to ONE."
        ]
    );
    let completed = node.execute(&statement, &QueryParams::new(Consistency::SERIAL));
    assert_eq!(
        show(&completed),
        "INVALID: Top-K queries can only be run with consistency level ONE/LOCAL_ONE. Consistency level SERIAL was used."
    );
}
