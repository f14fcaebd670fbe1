//! Statements that change the schema.

use super::super::ast::*;
use super::statement;

fn name(keyspace: &str, name: &str) -> TableName {
    TableName {
        keyspace: (!keyspace.is_empty()).then(|| keyspace.into()),
        name: name.into(),
    }
}

fn native(name: &str) -> TypeName {
    TypeName::Native(name.into())
}

fn ddl(text: &str) -> Ddl {
    match statement(text) {
        Statement::Ddl(ddl) => *ddl,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn keyspaces_are_created_altered_and_dropped() {
    let text = "CREATE KEYSPACE IF NOT EXISTS \"K\" WITH replication = {'class': 'SimpleStrategy', 'n': 1} \
                AND durable_writes = true";
    let properties = vec![
        (
            "replication".into(),
            Property::Map(vec![
                ("class".into(), "SimpleStrategy".into()),
                ("n".into(), "1".into()),
            ]),
        ),
        ("durable_writes".into(), Property::Value("true".into())),
    ];
    let expected = Ddl::CreateKeyspace {
        name: "K".into(),
        if_not_exists: true,
        properties,
    };
    assert_eq!(ddl(text), expected);
    let dropped = Ddl::DropKeyspace {
        name: "k".into(),
        if_exists: true,
    };
    assert_eq!(ddl("DROP KEYSPACE IF EXISTS k"), dropped);
    assert!(matches!(
        ddl("ALTER KEYSPACE k WITH durable_writes = false"),
        Ddl::AlterKeyspace {
            if_exists: false,
            ..
        }
    ));
}

#[test]
fn create_table_with_everything() {
    let Ddl::CreateTable(create) = ddl(
        "CREATE COLUMNFAMILY IF NOT EXISTS ks.t (a int, b text STATIC, c frozen<list<int>>, PRIMARY KEY ((a, b), c),) \
         WITH CLUSTERING ORDER BY (c DESC) AND COMPACT STORAGE AND comment = 'it''s' AND caching = {} AND gc = 5",
    ) else {
        panic!("no table");
    };
    assert!(create.if_not_exists && create.compact_storage);
    assert_eq!(create.columns.len(), 3);
    assert!(create.columns[1].is_static && !create.columns[0].is_static);
    let key = (vec!["a".into(), "b".into()], vec!["c".into()]);
    assert_eq!(create.primary_key, Some(key));
    assert_eq!(create.clustering_order, [("c".into(), true)]);
    let properties = [
        ("comment".into(), Property::Value("it's".into())),
        ("caching".into(), Property::Map(vec![])),
        ("gc".into(), Property::Value("5".into())),
    ];
    assert_eq!(create.properties, properties);
    let Ddl::CreateTable(inline) = ddl("CREATE TABLE t (a int PRIMARY KEY)") else {
        panic!("no table");
    };
    assert!(inline.columns[0].is_primary_key && inline.primary_key.is_none());
}

#[test]
fn alter_table_in_every_way() {
    let change = |text: &str| match ddl(&format!("ALTER TABLE IF EXISTS t {text}")) {
        Ddl::AlterTable {
            if_exists: true,
            change,
            ..
        } => change,
        other => panic!("{other:?}"),
    };
    let column = |name: &str, is_static| ColumnDefinition {
        name: name.into(),
        ty: native("int"),
        is_static,
        is_primary_key: false,
    };
    let added = AlterTable::Add {
        if_not_exists: true,
        columns: vec![column("a", false), column("b", true)],
    };
    assert_eq!(change("ADD IF NOT EXISTS (a int, b int STATIC)"), added);
    let one = AlterTable::Add {
        if_not_exists: false,
        columns: vec![column("a", false)],
    };
    assert_eq!(change("ADD a int"), one);
    let dropped = AlterTable::Drop {
        if_exists: true,
        columns: vec!["a".into(), "b".into()],
        timestamp: Some(5),
    };
    assert_eq!(change("DROP IF EXISTS (a, b) USING TIMESTAMP 5"), dropped);
    let renamed = AlterTable::Rename {
        if_exists: false,
        columns: vec![("a".into(), "b".into()), ("c".into(), "d".into())],
    };
    assert_eq!(change("RENAME a TO b AND c TO d"), renamed);
    assert_eq!(
        change("ALTER a TYPE int"),
        AlterTable::Type("a".into(), native("int"))
    );
    let properties = vec![("comment".into(), Property::Value("x".into()))];
    assert_eq!(
        change("WITH comment = 'x'"),
        AlterTable::Properties(properties)
    );
}

#[test]
fn types_are_created_altered_and_dropped() {
    let created = Ddl::CreateType {
        name: name("ks", "u"),
        if_not_exists: true,
        fields: vec![("a".into(), native("int")), ("b".into(), native("text"))],
    };
    assert_eq!(
        ddl("CREATE TYPE IF NOT EXISTS ks.u (a int, b text)"),
        created
    );
    let change = |text: &str| match ddl(&format!("ALTER TYPE u {text}")) {
        Ddl::AlterType { change, .. } => change,
        other => panic!("{other:?}"),
    };
    let added = AlterType::Add {
        if_not_exists: true,
        field: "c".into(),
        ty: native("int"),
    };
    assert_eq!(change("ADD IF NOT EXISTS c int"), added);
    let renamed = AlterType::Rename {
        if_exists: true,
        fields: vec![("a".into(), "b".into())],
    };
    assert_eq!(change("RENAME IF EXISTS a TO b"), renamed);
    assert_eq!(
        change("ALTER a TYPE int"),
        AlterType::Type("a".into(), native("int"))
    );
    let dropped = Ddl::DropType {
        name: name("", "u"),
        if_exists: false,
    };
    assert_eq!(ddl("DROP TYPE u"), dropped);
}
