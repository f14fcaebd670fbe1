//! Roles, permissions, and what they are needed for. The answers are those of Cassandra 5.0.4.

mod permissions;
mod roles;

use std::collections::BTreeSet;

use helenus_core::message::{QueryParams, Rows};
use helenus_core::rows::FromRow;
use helenus_core::{Consistency, ErrorResponse, Response};

use super::node::{Node, show};
use crate::access::{Caller, Role, Roles, SUPERUSER};
use crate::cql::ast::Access;
use crate::execution::{Completed, Outcome, not_logged_in};
use crate::statement::Statement;
use crate::storage::Mutation;

impl Node {
    pub(in crate::execution::tests) fn write(&mut self, mutations: &[Mutation]) {
        for mutation in mutations {
            self.shard.apply(mutation, self.clock / 1_000_000);
        }
    }

    /// What the tables of `system_auth` say.
    pub(in crate::execution::tests) fn roles(&mut self) -> Roles {
        let mut all = Roles::default();
        type RoleRow<'a> = (
            &'a str,
            bool,
            bool,
            Option<&'a str>,
            Option<BTreeSet<String>>,
        );
        let roles = self.select(
            "SELECT role, can_login, is_superuser, salted_hash, member_of FROM system_auth.roles",
        );
        each(
            &roles,
            |(name, can_login, is_superuser, hash, member_of): RoleRow<'_>| {
                let role = Role {
                    can_login,
                    is_superuser,
                    salted_hash: hash.map(Into::into),
                    member_of: member_of.into_iter().flatten().map(Into::into).collect(),
                };
                all.add_role(name, role);
            },
        );
        let grants =
            self.select("SELECT role, resource, permissions FROM system_auth.role_permissions");
        each(
            &grants,
            |(role, resource, names): (&str, &str, BTreeSet<String>)| {
                all.add_grant(role, resource, names.iter().map(String::as_str));
            },
        );
        let identities = self.select("SELECT identity, role FROM system_auth.identity_to_role");
        each(&identities, |(identity, role)| {
            all.add_identity(identity, role)
        });
        all
    }

    fn select(&mut self, cql: &str) -> Rows {
        let user = self.user.take();
        let statement = self.prepare(cql).unwrap();
        let completed = self.execute(&statement, &QueryParams::new(Consistency::ONE));
        self.user = user;
        match completed.response {
            Response::Rows(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    pub(in crate::execution::tests) fn authorize(
        &mut self,
        statement: &Statement,
    ) -> Result<(), ErrorResponse> {
        let Some(user) = self.user else {
            return Ok(());
        };
        let rights = self.roles().rights(user);
        statement.authorize(&self.schema, self.keyspace.as_deref(), &rights)
    }

    /// Carries out a statement on roles; a password is hashed by turning it around.
    pub(in crate::execution::tests) fn permit(
        &mut self,
        statement: &Access,
        keyspace: Option<&str>,
    ) -> Result<Outcome, ErrorResponse> {
        let Some(user) = self.user else {
            return Err(not_logged_in());
        };
        let roles = self.roles();
        let hash = statement
            .password()
            .map(|text| format!("${}", text.chars().rev().collect::<String>()));
        let by = Caller {
            rights: &roles.rights(user),
            schema: &self.schema.clone(),
            keyspace,
            timestamp: self.context().timestamp,
            password_hash: hash.as_deref(),
            is_hash: |text| text.starts_with('$'),
        };
        let update = roles.apply(statement, &by)?;
        self.write(&update.mutations);
        Ok(Outcome::Answered(Completed {
            response: update.response,
            warnings: update.warnings,
        }))
    }
}

fn each<'a, T: FromRow<'a>>(rows: &'a Rows, mut take: impl FnMut(T)) {
    for row in rows.typed::<T>().unwrap() {
        take(row.unwrap());
    }
}

/// A node with the keyspace `k` and its first superuser logged in.
fn guarded() -> Node {
    let mut node = super::node();
    let bootstrap = Roles::bootstrap(&node.schema, None, 1);
    node.write(&bootstrap);
    node.user = Some(SUPERUSER);
    node
}

/// Asserts what statements answer, with their warnings; `@name` has another role send what follows.
fn expect(node: &mut Node, steps: &[(&'static str, &str)]) {
    for (cql, answer) in steps {
        if let Some(name) = cql.strip_prefix('@') {
            node.user = Some(name);
            continue;
        }
        let statement = node.prepare(cql).map_err(|error| error.to_string());
        let shown = statement.and_then(|statement| {
            node.authorize(&statement)
                .map_err(|error| error.to_string())?;
            let completed = node.execute(&statement, &QueryParams::new(Consistency::ONE));
            Ok([vec![show(&completed)], completed.warnings]
                .concat()
                .join("; "))
        });
        let shown = shown.unwrap_or_else(|error| error);
        assert_eq!(shown, *answer, "{cql} by {:?}", node.user);
    }
}

#[test]
fn nobody_changes_roles_where_nobody_logs_in() {
    let mut node = guarded();
    node.user = None;
    for cql in [
        "CREATE ROLE r",
        "ALTER ROLE r WITH PASSWORD = 'x'",
        "DROP USER r",
        "GRANT a TO b",
        "REVOKE ALL ON ALL KEYSPACES FROM b",
        "LIST ROLES",
        "LIST USERS",
        "LIST ALL PERMISSIONS",
        "ADD IDENTITY 'a' TO ROLE 'b'",
        "DROP IDENTITY 'a'",
    ] {
        assert_eq!(
            node.run(cql),
            "UNAUTHORIZED: You have to be logged in and not anonymous to perform this request",
            "{cql}"
        );
    }
}
