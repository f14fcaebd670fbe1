//! Executions that ask whether they may before anything of them is computed.

use std::sync::Arc;

use helenus_core::Consistency;
use helenus_core::RawValue;
use helenus_core::message::{Batch, BatchStatementList, BatchType, QueryFlags, ValueList};

use super::node::{int, show};
use super::{Node, node};

fn asking() -> Node {
    let mut node = node();
    node.all(&["INSERT INTO t (k, i) VALUES (1, 10)"]);
    node.asking = true;
    node
}

#[test]
fn a_statement_asks_for_what_it_needs_and_then_does_what_it_would_have() {
    let mut node = asking();
    assert_eq!(node.run("SELECT i FROM t WHERE k = 1"), "i / 10");
    assert_eq!(
        node.run("UPDATE t SET i = 11 WHERE k = 1 IF i = 10"),
        "[applied] / true"
    );
    let list = [RawValue::Bytes(&int(2)), RawValue::Bytes(&int(20))];
    assert_eq!(
        node.with("INSERT INTO t (k, i) VALUES (?, ?)", &list),
        "void"
    );
    assert_eq!(
        node.run("CREATE TABLE other (k int PRIMARY KEY)"),
        "altered"
    );
    assert_eq!(
        node.asked,
        [
            "SELECT <table k.t>",
            "MODIFY <table k.t>",
            "SELECT <table k.t>",
            "MODIFY <table k.t>",
            "CREATE <all tables in k>",
        ]
    );
    assert_eq!(node.run("SELECT i FROM t"), "i / 11 / 20");
}

#[test]
fn nothing_comes_of_what_is_refused() {
    let mut node = asking();
    node.refusing = true;
    for text in [
        "SELECT i FROM t",
        "DELETE FROM t WHERE k = 1",
        "UPDATE t SET i = 3 WHERE k = 1 IF EXISTS",
        "TRUNCATE t",
        "DROP TABLE t",
        "BEGIN BATCH DELETE FROM t WHERE k = 1; APPLY BATCH",
    ] {
        assert_eq!(node.run(text), "UNAUTHORIZED: no", "{text}");
    }
    node.asking = false;
    assert_eq!(node.run("SELECT i FROM t"), "i / 10");
}

#[test]
fn a_batch_asks_once_for_each_thing_that_its_statements_need() {
    let mut node = asking();
    let statement = node.prepare("INSERT INTO t (k, i) VALUES (?, 5)").unwrap();
    let lists: Vec<ValueList> = [7, 8]
        .map(|key| {
            let mut list = ValueList::new();
            list.push(RawValue::Bytes(&int(key))).unwrap();
            list
        })
        .into();
    let none = BatchStatementList::new();
    let batch = Batch {
        kind: BatchType::Logged,
        statements: none.as_statements(),
        consistency: Consistency::ONE,
        flags: QueryFlags(0),
        serial_consistency: None,
        timestamp: None,
        keyspace: None,
        now_in_seconds: None,
    };
    let statements = || {
        let values = lists.iter().map(ValueList::as_values);
        values
            .map(|values| (Arc::clone(&statement), values))
            .collect()
    };
    assert_eq!(show(&node.batch(statements(), &batch)), "void");
    assert_eq!(node.asked, ["MODIFY <table k.t>"]);
    node.refusing = true;
    assert_eq!(show(&node.batch(statements(), &batch)), "UNAUTHORIZED: no");
    node.refusing = false;
    assert_eq!(node.run("SELECT i FROM t WHERE k IN (7, 8)"), "i / 5 / 5");
}

#[test]
fn what_needs_no_permission_asks_for_none() {
    let mut node = asking();
    assert_eq!(node.run("USE k"), "use k");
    assert!(node.asked.is_empty());
}
