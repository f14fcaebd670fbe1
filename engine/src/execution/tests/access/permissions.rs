//! What is granted, what of it counts, and what statements need.

use super::{expect, guarded};
use crate::access::{Permission, PermissionSet, Resource};

#[test]
fn permissions_are_granted_listed_and_revoked() {
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE r1", "void"),
            (
                "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
                "altered",
            ),
            ("GRANT SELECT ON k.kv TO r1", "void"),
            (
                "GRANT SELECT, MODIFY ON kv TO r1",
                "void; Role 'r1' was already granted SELECT on <table k.kv>",
            ),
            (
                "GRANT SELECT ON k.nope TO r1",
                "INVALID: Resource <table k.nope> doesn't exist",
            ),
            (
                "GRANT SELECT ON kv TO nope",
                "INVALID: Role nope doesn't exist",
            ),
            (
                "GRANT EXECUTE ON KEYSPACE k TO r1",
                "SYNTAX_ERROR: Resource type DataResource does not support any of the requested permissions",
            ),
            (
                "GRANT CREATE ON ROLE r1 TO r1",
                "SYNTAX_ERROR: Resource type RoleResource does not support any of the requested permissions",
            ),
            ("GRANT EXECUTE, SELECT ON FUNCTION f(int) TO r1", "void"),
            (
                "GRANT EXECUTE ON FUNCTION system.now() TO r1",
                "INVALID: Altering permissions on builtin functions is not supported",
            ),
            ("GRANT DESCRIBE ON ALL ROLES TO r1", "void"),
            (
                "GRANT SELECT ON MBEAN 'org.apache.cassandra.db:*' TO r1",
                "void",
            ),
            (
                "GRANT SELECT ON MBEAN 'bad' TO r1",
                "SYNTAX_ERROR: bad is not a valid JMX object name",
            ),
            ("GRANT CREATE ON ALL TABLES IN KEYSPACE k TO r1", "void"),
            (
                "LIST ALL PERMISSIONS OF r1",
                "role|username|resource|permission / \
                 r1|r1|<all tables in k>|CREATE / \
                 r1|r1|<table k.kv>|SELECT / \
                 r1|r1|<table k.kv>|MODIFY / \
                 r1|r1|<function k.f(int)>|EXECUTE / \
                 r1|r1|<mbean org.apache.cassandra.db:*>|SELECT / \
                 r1|r1|<all roles>|DESCRIBE",
            ),
            (
                "LIST MODIFY, CREATE ON kv OF r1",
                "role|username|resource|permission / r1|r1|<all tables in k>|CREATE / r1|r1|<table k.kv>|MODIFY",
            ),
            (
                "LIST ALL ON kv OF r1 NORECURSIVE",
                "role|username|resource|permission / r1|r1|<table k.kv>|SELECT / r1|r1|<table k.kv>|MODIFY",
            ),
            (
                "LIST ALL ON k.nope",
                "INVALID: <table k.nope> doesn't exist",
            ),
            ("LIST ALL OF nope", "INVALID: <role nope> doesn't exist"),
            ("REVOKE SELECT ON kv FROM r1", "void"),
            (
                "REVOKE SELECT, DROP ON kv FROM r1",
                "void; Role 'r1' was not granted DROP, SELECT on <table k.kv>",
            ),
            (
                "REVOKE ALL ON ALL ROLES FROM r1",
                "void; Role 'r1' was not granted ALTER, AUTHORIZE, CREATE, DROP on <all roles>",
            ),
            ("LIST ALL ON ALL ROLES OF r1", "void"),
            (
                "SELECT * FROM system_auth.role_permissions WHERE role = 'r1' AND resource = 'data/k/kv'",
                "role|resource|permissions / r1|data/k/kv|{MODIFY}",
            ),
            (
                "SELECT role FROM system_auth.resource_role_permissons_index WHERE resource = 'roles'",
                "role",
            ),
        ],
    );
}

#[test]
fn what_is_granted_on_all_keyspaces_writes_to_no_system_keyspace() {
    const LIMITED: &str = "UNAUTHORIZED: Granting permissions on system keyspaces is strictly limited, this operation is not permitted";
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE p", "void"),
            ("GRANT ALL ON ALL KEYSPACES TO p", "void"),
            ("GRANT SELECT ON system.local TO p", "void"),
            ("GRANT MODIFY ON system.local TO p", LIMITED),
            ("GRANT ALL ON KEYSPACE system_auth TO p", LIMITED),
            ("@p", ""),
            ("INSERT INTO kv (k, v) VALUES (1, 'x')", "void"),
            (
                "SELECT role FROM system_auth.roles WHERE role = 'p'",
                "role / p",
            ),
            (
                "UPDATE system_auth.roles SET is_superuser = true WHERE role = 'p'",
                "UNAUTHORIZED: User p has no MODIFY permission on <table system_auth.roles> or any of its parents",
            ),
            (
                "TRUNCATE system_auth.roles",
                "UNAUTHORIZED: User p has no MODIFY permission on <table system_auth.roles> or any of its parents",
            ),
        ],
    );
}

#[test]
fn creators_own_what_they_create_until_it_is_gone() {
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE boss", "void"),
            ("GRANT CREATE ON ALL KEYSPACES TO boss", "void"),
            ("@boss", ""),
            (
                "CREATE KEYSPACE own WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
                "altered",
            ),
            ("CREATE TABLE own.t (k int PRIMARY KEY, v int)", "altered"),
            ("INSERT INTO own.t (k) VALUES (1)", "void"),
            (
                "CREATE FUNCTION own.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
                "altered",
            ),
            ("SELECT own.f(k) FROM own.t", "own.f(k) / 1"),
            (
                "SELECT resource FROM system_auth.role_permissions WHERE role = 'boss'",
                "UNAUTHORIZED: User boss has no SELECT permission on <table system_auth.role_permissions> or any of its parents",
            ),
            ("@cassandra", ""),
            (
                "SELECT resource FROM system_auth.role_permissions WHERE role = 'boss'",
                "resource / data / data/own / data/own/t / functions/own / \
                 functions/own/f[org.apache.cassandra.db.marshal.Int32Type]",
            ),
            ("DROP TABLE own.t", "altered"),
            (
                "SELECT resource FROM system_auth.role_permissions WHERE role = 'boss' AND resource >= 'data/own/' AND resource < 'e'",
                "resource",
            ),
            ("DROP KEYSPACE own", "altered"),
            (
                "SELECT resource FROM system_auth.role_permissions WHERE role = 'boss'",
                "resource / data",
            ),
        ],
    );
}

#[test]
fn each_statement_needs_the_permissions_that_cassandra_asks_for() {
    let mut node = guarded();
    node.all(&[
        "CREATE INDEX i ON kv (v)",
        "CREATE MATERIALIZED VIEW kvv AS SELECT * FROM kv WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
        "CREATE FUNCTION s (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
        "CREATE AGGREGATE agg (int) SFUNC s STYPE int FINALFUNC f",
    ]);
    for (cql, needed) in [
        ("SELECT * FROM t", "SELECT <table k.t>"),
        ("SELECT * FROM kvv", "SELECT <table k.kv>"),
        (
            "SELECT f(k) FROM t",
            "SELECT <table k.t>; EXECUTE <function k.f(int)>",
        ),
        (
            "SELECT agg(k) FROM t",
            "SELECT <table k.t>; EXECUTE <function k.agg(int)>; EXECUTE <function k.s(int, int)>; \
             EXECUTE <function k.f(int)>",
        ),
        (
            "INSERT INTO t (k) VALUES (f(1))",
            "MODIFY <table k.t>; EXECUTE <function k.f(int)>",
        ),
        (
            "INSERT INTO t (k) VALUES (1) IF NOT EXISTS",
            "MODIFY <table k.t>; SELECT <table k.t>",
        ),
        (
            "DELETE FROM kv WHERE k = 1",
            "MODIFY <table k.kv>; SELECT <table k.kv>; MODIFY <table k.kvv>",
        ),
        (
            "BEGIN BATCH DELETE FROM t WHERE k = 1; UPDATE cc SET v = 1 WHERE p = 1 AND c = 1 AND d = 1 APPLY BATCH",
            "MODIFY <table k.t>; MODIFY <table k.cc>",
        ),
        ("TRUNCATE t", "MODIFY <table k.t>"),
        ("USE k", ""),
        ("DESCRIBE KEYSPACES", ""),
        (
            "CREATE KEYSPACE x WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "CREATE <all keyspaces>",
        ),
        (
            "ALTER KEYSPACE k WITH durable_writes = true",
            "ALTER <keyspace k>",
        ),
        ("DROP KEYSPACE nope", "DROP <keyspace nope>"),
        (
            "CREATE TABLE nope.t (k int PRIMARY KEY)",
            "CREATE <all tables in nope>",
        ),
        ("ALTER TABLE t ADD z int", "ALTER <table k.t>"),
        ("DROP TABLE IF EXISTS nope", "DROP <table k.nope>"),
        ("CREATE TYPE y (a int)", "CREATE <all tables in k>"),
        ("ALTER TYPE addr ADD b int", "ALTER <all tables in k>"),
        ("DROP TYPE addr", "DROP <all tables in k>"),
        ("CREATE INDEX ON t (v)", "ALTER <table k.t>"),
        ("DROP INDEX i", "ALTER <table k.kv>"),
        ("DROP INDEX nope", ""),
        ("DROP MATERIALIZED VIEW kvv", "ALTER <table k.kv>"),
        (
            "ALTER MATERIALIZED VIEW kvv WITH comment = 'x'",
            "ALTER <table k.kv>",
        ),
        (
            "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
            "CREATE <all functions in k>",
        ),
        (
            "CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
            "ALTER <function k.f(int)>",
        ),
        (
            "CREATE AGGREGATE b (int) SFUNC s STYPE int",
            "CREATE <all functions in k>; EXECUTE <function k.s(int, int)>",
        ),
        ("DROP FUNCTION f", "DROP <function k.f(int)>"),
        ("DROP FUNCTION s(int, int)", "DROP <function k.s(int, int)>"),
        ("DROP AGGREGATE agg", "DROP <function k.agg(int)>"),
        ("DROP FUNCTION nope", ""),
        ("CREATE TABLE system_auth.t (k int PRIMARY KEY)", ""),
        (
            "ALTER KEYSPACE system_auth WITH durable_writes = true",
            "ALTER <keyspace system_auth>",
        ),
    ] {
        let statement = node.prepare(cql).unwrap();
        let needed_here = statement.permissions(&node.schema, node.keyspace.as_deref());
        let shown: Vec<_> = needed_here
            .iter()
            .map(|(permission, resource)| format!("{permission} {resource}"))
            .collect();
        assert_eq!(shown.join("; "), needed, "{cql}");
    }
}

#[test]
fn the_names_of_resources_lead_back_to_them() {
    for name in [
        "data",
        "data/k",
        "data/k/*",
        "data/k/t",
        "functions",
        "functions/k",
        "functions/k/f[]",
        "functions/k/f[org.apache.cassandra.db.marshal.Int32Type^org.apache.cassandra.db.marshal.UTF8Type]",
        "roles",
        "roles/a/b",
        "mbean",
        "mbean/org.apache.cassandra.db:type=x",
    ] {
        assert_eq!(Resource::from_name(name).unwrap().name(), name);
    }
    for name in ["", "x", "data2/k", "functions/k/f", "functions/k/f[nope(]"] {
        assert_eq!(Resource::from_name(name), None, "{name}");
    }
    let both = PermissionSet::of(&[Permission::Select, Permission::Alter]);
    assert_eq!(
        both.iter().collect::<Vec<_>>(),
        [Permission::Alter, Permission::Select]
    );
}
