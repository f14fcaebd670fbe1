//! Roles, users and identities.

use super::{expect, guarded};

#[test]
fn roles_are_created_altered_listed_and_dropped() {
    expect(
        &mut guarded(),
        &[
            (
                "CREATE ROLE r1 WITH PASSWORD = 'r1' AND LOGIN = true",
                "void",
            ),
            ("CREATE ROLE r1", "INVALID: r1 already exists"),
            ("CREATE ROLE IF NOT EXISTS r1", "void"),
            ("CREATE ROLE \"Mixed\" WITH LOGIN = true", "void"),
            ("CREATE USER Upper WITH PASSWORD 'x' SUPERUSER", "void"),
            ("CREATE USER u3", "void"),
            (
                "CREATE ROLE r3 WITH OPTIONS = {}",
                "INVALID: org.apache.cassandra.auth.CassandraRoleManager doesn't support OPTIONS",
            ),
            (
                "CREATE ROLE r4 WITH HASHED PASSWORD = 'abc'",
                "INVALID: Invalid hashed password value. Please use jBcrypt.",
            ),
            (
                "CREATE ROLE r5 WITH ACCESS TO DATACENTERS {'nope'}",
                "INVALID: Invalid value(s) for DATACENTERS '[nope]',All values must be valid datacenters",
            ),
            (
                "CREATE ROLE r5 WITH ACCESS TO DATACENTERS {'datacenter1'}",
                "void",
            ),
            (
                "CREATE ROLE r6 WITH ACCESS FROM CIDRS {'nope'}",
                "INVALID: Invalid CIDR group(s): [nope]. Available CIDR Groups are: []",
            ),
            (
                "CREATE ROLE ''",
                "INVALID: Role name can't be an empty string",
            ),
            ("ALTER ROLE r1", "INVALID: ALTER [ROLE|USER] can't be empty"),
            (
                "ALTER USER nope WITH PASSWORD 'x'",
                "INVALID: Role nope doesn't exist",
            ),
            ("ALTER ROLE IF EXISTS nope WITH LOGIN = true", "void"),
            (
                "ALTER ROLE cassandra WITH SUPERUSER = false",
                "UNAUTHORIZED: You aren't allowed to alter your own superuser status or that of a role granted to you",
            ),
            ("ALTER ROLE r1 WITH HASHED PASSWORD = '$x'", "void"),
            (
                "SELECT can_login, is_superuser, salted_hash FROM system_auth.roles WHERE role = 'r1'",
                "can_login|is_superuser|salted_hash / true|false|$x",
            ),
            (
                "LIST ROLES",
                "role|super|login|options|datacenters / \
                 Mixed|false|true|{}|ALL / \
                 Upper|true|true|{}|ALL / \
                 cassandra|true|true|{}|ALL / \
                 r1|false|true|{}|ALL / \
                 r5|false|false|{}|ALL / \
                 u3|false|true|{}|ALL",
            ),
            (
                "LIST USERS",
                "name|super|datacenters / Mixed|false|ALL / Upper|true|ALL / cassandra|true|ALL / r1|false|ALL / u3|false|ALL",
            ),
            ("DROP USER nope", "INVALID: nope doesn't exist"),
            ("DROP ROLE IF EXISTS nope", "void"),
            (
                "DROP ROLE cassandra",
                "INVALID: Cannot DROP primary role for current login",
            ),
            ("DROP ROLE r1", "void"),
            ("LIST ROLES OF r1", "INVALID: <role r1> doesn't exist"),
            (
                "SELECT role FROM system_auth.role_permissions WHERE role = 'cassandra' AND resource = 'roles/r1'",
                "role",
            ),
        ],
    );
}

#[test]
fn roles_are_granted_and_revoked_but_not_in_circles() {
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE a", "void"),
            ("CREATE ROLE b", "void"),
            ("CREATE ROLE c", "void"),
            ("GRANT a TO b", "void"),
            ("GRANT b TO c", "void"),
            ("GRANT a TO b", "INVALID: b is a member of a"),
            ("GRANT a TO c", "INVALID: c is a member of a"),
            ("GRANT c TO a", "INVALID: c is a member of a"),
            ("GRANT a TO a", "INVALID: a is a member of a"),
            ("GRANT nope TO a", "INVALID: nope doesn't exist"),
            ("GRANT a TO nope", "INVALID: nope doesn't exist"),
            (
                "LIST ROLES OF c",
                "role|super|login|options|datacenters / a|false|false|{}|ALL / b|false|false|{}|ALL / c|false|false|{}|ALL",
            ),
            (
                "LIST ROLES OF c NORECURSIVE",
                "role|super|login|options|datacenters / b|false|false|{}|ALL / c|false|false|{}|ALL",
            ),
            (
                "SELECT * FROM system_auth.role_members WHERE role = 'b'",
                "role|member / b|c",
            ),
            ("REVOKE a FROM c", "INVALID: c is not a member of a"),
            ("DROP ROLE b", "void"),
            (
                "SELECT member_of FROM system_auth.roles WHERE role = 'c'",
                "member_of / null",
            ),
            ("SELECT * FROM system_auth.role_members", "role|member"),
            ("GRANT a TO c", "void"),
            ("REVOKE a FROM c", "void"),
            ("REVOKE a FROM c", "INVALID: c is not a member of a"),
        ],
    );
}

#[test]
fn a_superuser_by_a_granted_role_may_do_everything() {
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE root WITH SUPERUSER = true", "void"),
            ("CREATE ROLE p", "void"),
            ("@p", ""),
            (
                "SELECT * FROM kv",
                "UNAUTHORIZED: User p has no SELECT permission on <table k.kv> or any of its parents",
            ),
            ("@cassandra", ""),
            ("GRANT root TO p", "void"),
            ("@p", ""),
            ("SELECT * FROM kv", "k|v"),
            ("CREATE ROLE q WITH SUPERUSER = true", "void"),
        ],
    );
}

#[test]
fn a_role_without_rights_is_told_what_it_lacks() {
    let mut node = guarded();
    expect(
        &mut node,
        &[
            ("CREATE ROLE p WITH LOGIN = true", "void"),
            ("CREATE ROLE su WITH SUPERUSER = true", "void"),
        ],
    );
    node.user = Some("p");
    const PRIVILEGES: &str =
        "User p does not have sufficient privileges to perform the requested operation";
    for (cql, message) in [
        ("CREATE ROLE x", PRIVILEGES),
        ("CREATE ROLE IF NOT EXISTS p", PRIVILEGES),
        ("ALTER ROLE su WITH PASSWORD = 'q'", PRIVILEGES),
        ("ALTER ROLE nope WITH LOGIN = true", PRIVILEGES),
        (
            "ALTER ROLE p WITH LOGIN = false",
            "You aren't allowed to alter LOGIN",
        ),
        (
            "ALTER ROLE p WITH SUPERUSER = true",
            "You aren't allowed to alter your own superuser status or that of a role granted to you",
        ),
        (
            "ALTER ROLE su WITH SUPERUSER = false",
            "Only superusers are allowed to alter superuser status",
        ),
        ("DROP ROLE p", PRIVILEGES),
        ("DROP ROLE IF EXISTS nope", PRIVILEGES),
        ("GRANT su TO p", PRIVILEGES),
        ("GRANT nope TO p", PRIVILEGES),
        ("ADD IDENTITY 'a' TO ROLE 'p'", PRIVILEGES),
        ("DROP IDENTITY 'a'", PRIVILEGES),
        (
            "GRANT SELECT ON k.nope TO p",
            "User p has no AUTHORIZE permission on <table k.nope> or any of its parents",
        ),
        (
            "LIST ROLES OF cassandra",
            "You are not authorized to view roles granted to cassandra ",
        ),
        (
            "LIST ALL PERMISSIONS",
            "You are not authorized to view everyone's permissions",
        ),
        (
            "LIST ALL PERMISSIONS OF su",
            "You are not authorized to view su's permissions",
        ),
    ] {
        assert_eq!(node.run(cql), format!("UNAUTHORIZED: {message}"), "{cql}");
    }
    expect(
        &mut node,
        &[
            ("ALTER ROLE p WITH PASSWORD = 'p'", "void"),
            (
                "LIST ROLES",
                "role|super|login|options|datacenters / p|false|true|{}|ALL",
            ),
            ("LIST ALL PERMISSIONS OF p", "void"),
            ("USE k", "use k"),
            (
                "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = 'k'",
                "keyspace_name / k",
            ),
            ("SELECT key FROM system.local", "key / local"),
            (
                "CREATE TABLE system.t (k int PRIMARY KEY)",
                "UNAUTHORIZED: system keyspace is not user-modifiable.",
            ),
            (
                "DROP TABLE system_auth.roles",
                "UNAUTHORIZED: Cannot DROP <table system_auth.roles>",
            ),
        ],
    );
}

#[test]
fn who_may_create_roles_may_not_create_superusers() {
    expect(
        &mut guarded(),
        &[
            ("CREATE ROLE boss", "void"),
            ("CREATE ROLE sub", "void"),
            ("GRANT CREATE ON ALL ROLES TO boss", "void"),
            ("GRANT ALTER ON ROLE sub TO boss", "void"),
            ("@boss", ""),
            ("CREATE ROLE made", "void"),
            (
                "CREATE ROLE made2 WITH SUPERUSER = true",
                "UNAUTHORIZED: Only superusers can create a role with superuser status",
            ),
            ("ALTER ROLE sub WITH LOGIN = true", "void"),
            (
                "ADD IDENTITY 'a' TO ROLE 'cassandra'",
                "UNAUTHORIZED: Only superusers can add identities to roles with superuser status",
            ),
            ("ADD IDENTITY 'a' TO ROLE 'sub'", "void"),
            (
                "ADD IDENTITY 'a' TO ROLE 'sub'",
                "INVALID: a already exists",
            ),
            ("GRANT made TO sub", "void"),
            (
                "DROP ROLE sub",
                "UNAUTHORIZED: User boss does not have sufficient privileges to perform the requested operation",
            ),
            ("DROP ROLE made", "void"),
            ("@cassandra", ""),
            (
                "ADD IDENTITY 'b' TO ROLE 'nope'",
                "INVALID: Can not add identity for non-existent role 'nope'",
            ),
            (
                "DROP IDENTITY 'nope'",
                "INVALID: identity 'nope' doesn't exist",
            ),
            ("DROP ROLE sub", "void"),
            (
                "SELECT * FROM system_auth.identity_to_role",
                "identity|role",
            ),
        ],
    );
}
