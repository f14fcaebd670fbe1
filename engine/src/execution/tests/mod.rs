//! Statements run to the end on one shard: what each kind does and answers.

mod node;

use node::Node;

/// A node with keyspace `k` in use and some tables.
fn node() -> Node {
    let mut node = Node::new();
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

#[cfg(test)]
mod compare {
    use super::*;

    #[test]
    #[ignore]
    fn against() {
        let mut node = Node::new();
        node.run("CREATE KEYSPACE gx WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        node.run("USE gx");
        for file in std::env::var("GQ").unwrap().split(',') {
            for line in std::fs::read_to_string(file).unwrap().lines() {
                if !line.trim().is_empty() {
                    println!("{} => {}", line.trim(), node.run(line.trim()));
                }
            }
        }
    }
}
