//! Statements run to the end on one shard: what each kind does and answers.

mod access;
mod asking;
mod batch;
mod conditional;
mod floor;
mod functions;
mod group_by;
mod guardrails;
mod indexes;
mod json;
mod modify;
mod natives;
mod nearest;
mod node;
mod paging;
mod prepared;
mod select;
mod views;

use node::Node;

/// A node with keyspace `k` in use and some tables.
fn node() -> Node {
    prepared_node(Node::new())
}

fn prepared_node(mut node: Node) -> Node {
    node.all(&[
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TYPE addr (street text, zip int)",
        "CREATE TABLE kv (k int PRIMARY KEY, v text)",
        "CREATE TABLE cc (p int, c int, d int, v int, w int, s int static, PRIMARY KEY (p, c, d))",
        "CREATE TABLE mix (p int, c int, d int, v int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC)",
        "CREATE TABLE t (k int PRIMARY KEY, i int, v text, l list<int>, s set<text>, m map<text, int>, u addr, fl frozen<list<int>>)",
        "CREATE TABLE cn (k int PRIMARY KEY, c counter)",
    ]);
    node
}

/// Asserts that statements answer as given.
fn expect(node: &mut Node, steps: &[(&str, &str)]) {
    for (cql, answer) in steps {
        assert_eq!(node.run(cql), *answer, "{cql}");
    }
}
