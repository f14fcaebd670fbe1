use std::sync::Arc;

use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};

use super::World;

fn shown(change: &SchemaChange) -> String {
    let kind = match change.change {
        ChangeType::Created => "CREATED",
        ChangeType::Updated => "UPDATED",
        ChangeType::Dropped => "DROPPED",
    };
    match &change.target {
        SchemaTarget::Keyspace { keyspace } => format!("{kind} KEYSPACE {keyspace}"),
        SchemaTarget::Table { keyspace, name } => format!("{kind} TABLE {keyspace}.{name}"),
        SchemaTarget::Type { keyspace, name } => format!("{kind} TYPE {keyspace}.{name}"),
        other => format!("{kind} {other:?}"),
    }
}

#[test]
fn clients_are_told_of_all_that_changed() {
    let mut world = World::new();
    for (cql, events) in [
        ("CREATE TYPE w (a int, b text)", &["CREATED TYPE ks.w"][..]),
        ("CREATE TYPE x (a frozen<w>)", &["CREATED TYPE ks.x"]),
        (
            "CREATE TABLE t (a int PRIMARY KEY, b w, c frozen<x>)",
            &["CREATED TABLE ks.t"],
        ),
        (
            "CREATE TABLE t2 (a int PRIMARY KEY, b int)",
            &["CREATED TABLE ks.t2"],
        ),
        (
            "ALTER TYPE w ADD c int",
            &[
                "UPDATED TYPE ks.w",
                "UPDATED TYPE ks.x",
                "UPDATED TABLE ks.t",
            ],
        ),
        (
            "ALTER TABLE t2 WITH comment = 'x'",
            &["UPDATED TABLE ks.t2"],
        ),
        ("ALTER TABLE t2 ADD c int", &["UPDATED TABLE ks.t2"]),
        (
            "ALTER KEYSPACE ks WITH durable_writes = false",
            &["UPDATED KEYSPACE ks"],
        ),
        ("DROP TABLE t2", &["DROPPED TABLE ks.t2"]),
        ("DROP TABLE t", &["DROPPED TABLE ks.t"]),
        ("DROP TYPE x", &["DROPPED TYPE ks.x"]),
        (
            "CREATE TABLE t (a int PRIMARY KEY, b w)",
            &["CREATED TABLE ks.t"],
        ),
        (
            "DROP KEYSPACE ks",
            &[
                "DROPPED TABLE ks.t",
                "DROPPED TYPE ks.w",
                "DROPPED KEYSPACE ks",
            ],
        ),
    ] {
        let update = world.ok(cql);
        assert_eq!(
            update.events.iter().map(shown).collect::<Vec<_>>(),
            events,
            "{cql}"
        );
        let reply = if cql.starts_with("DROP KEYSPACE") {
            events.last()
        } else {
            events.first()
        };
        assert_eq!(
            update.change.as_ref().map(shown).as_deref(),
            reply.copied(),
            "{cql}"
        );
    }
}

#[test]
fn dropped_tables_are_named_by_id() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (a int PRIMARY KEY)");
    world.ok("CREATE TABLE u (a int PRIMARY KEY)");
    let id = |world: &World, name| world.schema.table("ks", name).unwrap().id;
    let (t, u) = (id(&world, "t"), id(&world, "u"));
    assert!(world.ok("ALTER TABLE t ADD b int").dropped.is_empty());
    assert_eq!(world.ok("DROP TABLE t").dropped, [t]);
    world.ok("CREATE TABLE t (a int PRIMARY KEY)");
    let again = id(&world, "t");
    assert_ne!(again, t);
    assert_eq!(world.ok("DROP KEYSPACE ks").dropped, [again, u]);
}

#[test]
fn equal_content_has_an_equal_version() {
    let mut world = World::new();
    let start = world.schema.version;
    assert_eq!(start.get_version_num(), 3);
    world.ok("CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'x'");
    let one = world.schema.version;
    world.ok("ALTER TABLE t WITH comment = 'y'");
    let two = world.schema.version;
    assert!(start != one && one != two && start != two);
    world.ok("ALTER TABLE t WITH comment = 'x'");
    assert_eq!(world.schema.version, one);
    world.ok("DROP TABLE t");
    assert_eq!(world.schema.version, start);
    assert_eq!(World::new().schema.version, start);
}

#[test]
fn what_a_change_leaves_is_shared() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (a int PRIMARY KEY)");
    let before = Arc::clone(&world.schema);
    world.ok("CREATE TABLE u (a int PRIMARY KEY)");
    assert!(Arc::ptr_eq(
        &before.keyspaces["system"],
        &world.schema.keyspaces["system"]
    ));
    assert!(Arc::ptr_eq(
        before.table("ks", "t").unwrap(),
        world.schema.table("ks", "t").unwrap()
    ));
    assert!(before.table("ks", "u").is_none());
}
