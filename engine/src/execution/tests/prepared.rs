//! What preparing tells: variables, key indexes, result columns, ids; and what binding and consistency levels refuse.

use helenus_core::message::{QueryParams, ValueList};
use helenus_core::{Consistency, RawValue, Response};

use super::node::{int, show};
use super::{Node, node};

fn variables(node: &Node, cql: &str) -> String {
    let statement = node.prepare(cql).unwrap();
    let columns = statement.variables.columns().iter();
    columns
        .map(|column| format!("{} {}", column.name, column.ty))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn variables_are_named_after_what_they_are_bound_to() {
    let node = node();
    for (cql, expected) in [
        (
            "INSERT INTO kv (k, v) VALUES (?, :named) USING TTL ? AND TIMESTAMP ?",
            "k int, named text, [ttl] int, [timestamp] bigint",
        ),
        (
            "SELECT v FROM kv WHERE k = ? PER PARTITION LIMIT ? LIMIT ?",
            "k int, [per_partition_limit] int, [limit] int",
        ),
        ("SELECT v FROM kv WHERE k IN ?", "in(k) list<int>"),
        (
            "SELECT v FROM kv WHERE token(k) > ?",
            "partition key token bigint",
        ),
        (
            "SELECT v FROM cc WHERE p = ? AND (c, d) > (?, ?)",
            "p int, c int, d int",
        ),
        (
            "SELECT v FROM cc WHERE p = ? AND (c, d) > ?",
            "p int, (c,d) tuple<int, int>",
        ),
        (
            "SELECT v FROM cc WHERE p = ? AND (c, d) IN ?",
            "p int, in(c,d) list<tuple<int, int>>",
        ),
        (
            "UPDATE t SET l[?] = ?, m[?] = ?, u.zip = ? WHERE k = ? IF i = ?",
            "idx(l) int, value(l) int, key(m) text, value(m) int, u.zip int, k int, i int",
        ),
    ] {
        assert_eq!(variables(&node, cql), expected, "{cql}");
    }
}

#[test]
fn key_indexes_need_every_part_of_the_key() {
    let mut node = node();
    node.run("CREATE TABLE ck (a int, b text, c int, PRIMARY KEY ((a, b), c))");
    let indexes = |cql: &str| node.prepare(cql).unwrap().pk_indexes.clone();
    assert_eq!(indexes("INSERT INTO ck (c, b, a) VALUES (?, ?, ?)"), [2, 1]);
    assert_eq!(indexes("SELECT * FROM ck WHERE a = ? AND b = 'x'"), []);
    assert_eq!(indexes("SELECT * FROM kv WHERE k = ?"), [0]);
    assert_eq!(indexes("SELECT * FROM kv WHERE k IN ?"), []);
}

#[test]
fn ids_depend_on_the_keyspace_only_where_the_text_does() {
    let mut node = node();
    let qualified = node.prepare("SELECT v FROM k.kv").unwrap().id;
    let plain = node.prepare("SELECT v FROM kv").unwrap();
    // MD5 of "kSELECT v FROM kv".
    assert_eq!(
        plain.id,
        *<md5::Md5 as md5::Digest>::digest("kSELECT v FROM kv")
    );
    node.keyspace = None;
    assert_eq!(node.prepare("SELECT v FROM k.kv").unwrap().id, qualified);
}

#[test]
fn the_metadata_id_changes_with_the_columns_and_tells_so() {
    let mut node = node();
    let before = node.prepare("SELECT * FROM kv").unwrap();
    node.run("ALTER TABLE kv ADD w int");
    assert!(!before.is_current(&node.schema));
    let after = node.prepare("SELECT * FROM kv").unwrap();
    assert!(after.is_current(&node.schema));
    let id = |statement: &crate::statement::Statement| {
        statement.result.as_ref().unwrap().id().unwrap().clone()
    };
    assert_ne!(id(&before), id(&after));

    let mut params = QueryParams::new(Consistency::ONE);
    params.flags = helenus_core::message::QueryFlags::SKIP_METADATA;
    for (known, changed) in [(id(&before), true), (id(&after), false)] {
        let context = node.context();
        let mut execution = crate::execution::Execution::new(
            node.schema.clone(),
            after.clone(),
            &params,
            Some(&known),
            None,
            context,
            std::sync::Arc::default(),
        )
        .unwrap();
        let crate::execution::Action::Read(_) = execution.poll_action() else {
            panic!()
        };
        execution.resume(crate::execution::Outcome::Read(
            crate::readers::ReadProgress::Finished,
        ));
        let crate::execution::Action::Done(completed) = execution.poll_action() else {
            panic!()
        };
        let Response::Rows(rows) = completed.response else {
            panic!()
        };
        assert_eq!(
            (rows.metadata_changed, rows.skip_metadata),
            (changed, !changed)
        );
    }
}

#[test]
fn values_are_checked_against_their_types() {
    let mut node = node();
    let insert = "INSERT INTO kv (k, v) VALUES (?, ?)";
    for (values, answer) in [
        (
            &[RawValue::Bytes(&[0, 0, 1]), RawValue::Null][..],
            "INVALID: Expected 4 or 0 byte int (3)",
        ),
        (
            &[RawValue::Bytes(&[0, 0, 0, 1]), RawValue::Bytes(&[0xFF])],
            "INVALID: String didn't validate.",
        ),
        (
            &[RawValue::Null],
            "INVALID: there were 2 markers(?) in CQL but 1 bound variables",
        ),
        (
            &[RawValue::Null, RawValue::Null],
            "INVALID: Invalid null value in condition for column k",
        ),
        (
            &[RawValue::Bytes(&[]), RawValue::Null],
            "INVALID: Key may not be empty",
        ),
    ] {
        assert_eq!(node.with(insert, values), answer);
    }
}

#[test]
fn values_may_come_by_name_in_any_order() {
    let mut node = node();
    let statement = node
        .prepare("INSERT INTO kv (k, v) VALUES (:a, :b)")
        .unwrap();
    let mut values = ValueList::named();
    values.push_named("b", RawValue::Bytes(b"x")).unwrap();
    values.push_named("a", RawValue::Bytes(&int(1))).unwrap();
    let mut params = QueryParams::new(Consistency::ONE);
    params.values = values.as_values();
    assert_eq!(show(&node.execute(&statement, &params)), "void");
    assert_eq!(node.run("SELECT * FROM kv"), "k|v / 1|x");
}

#[test]
fn bound_collections_are_put_in_order() {
    let mut node = node();
    node.run("CREATE TABLE f (k int PRIMARY KEY, s frozen<set<int>>)");
    let key = int(1);
    let set = [
        &[0, 0, 0, 3][..],
        &[0, 0, 0, 4, 0, 0, 0, 2],
        &[0, 0, 0, 4, 0, 0, 0, 1],
        &[0, 0, 0, 4, 0, 0, 0, 2],
    ]
    .concat();
    let values = [RawValue::Bytes(&key), RawValue::Bytes(&set)];
    assert_eq!(
        node.with("INSERT INTO f (k, s) VALUES (?, ?)", &values),
        "void"
    );
    assert_eq!(node.run("SELECT s FROM f"), "s / {1, 2}");
}

#[test]
fn consistency_levels_ask_for_replicas_there_are_not() {
    let mut node = node();
    node.run("CREATE KEYSPACE three WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
    node.run("CREATE TABLE three.kv (k int PRIMARY KEY)");
    let mut answer = |cql: &str, level| {
        let statement = node.prepare(cql).unwrap();
        show(&node.execute(&statement, &QueryParams::new(level)))
    };
    for (cql, level, expected) in [
        (
            "SELECT * FROM kv",
            Consistency::ANY,
            "INVALID: ANY ConsistencyLevel is only supported for writes",
        ),
        (
            "SELECT * FROM kv",
            Consistency::TWO,
            "UNAVAILABLE: Cannot achieve consistency level TWO",
        ),
        ("SELECT * FROM kv", Consistency::QUORUM, "k|v"),
        ("SELECT * FROM kv", Consistency::SERIAL, "k|v"),
        ("INSERT INTO kv (k) VALUES (1)", Consistency::ANY, "void"),
        ("INSERT INTO kv (k) VALUES (1)", Consistency::ALL, "void"),
        (
            "INSERT INTO kv (k) VALUES (1)",
            Consistency::SERIAL,
            "INVALID: You must use conditional updates for serializable writes",
        ),
        (
            "UPDATE cn SET c = c + 1 WHERE k = 1",
            Consistency::ANY,
            "INVALID: Consistency level ANY is not yet supported for counter table cn",
        ),
        (
            "INSERT INTO three.kv (k) VALUES (1)",
            Consistency::ONE,
            "void",
        ),
        (
            "INSERT INTO three.kv (k) VALUES (1)",
            Consistency::QUORUM,
            "UNAVAILABLE: Cannot achieve consistency level QUORUM",
        ),
        (
            "SELECT * FROM three.kv",
            Consistency::SERIAL,
            "UNAVAILABLE: Cannot achieve consistency level QUORUM",
        ),
        (
            "INSERT INTO three.kv (k) VALUES (1) IF NOT EXISTS",
            Consistency::ONE,
            "UNAVAILABLE: Cannot achieve consistency level QUORUM",
        ),
    ] {
        assert_eq!(answer(cql, level), expected, "{cql} at {level}");
    }
}
