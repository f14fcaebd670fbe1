//! Changes of the tables of `system_auth`.

use std::sync::Arc;

use helenus_core::types::Value;

use super::permission::PermissionSet;
use super::resource::Resource;
use super::roles::Role;
use crate::schema::{Schema, Table};
use crate::storage::Mutation;
use crate::system::writer::PartitionWriter;

/// Collects mutations, all with one timestamp.
pub(super) struct Writer<'a> {
    schema: &'a Schema,
    timestamp: i64,
    pub(super) mutations: Vec<Mutation>,
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

impl<'a> Writer<'a> {
    pub(super) fn new(schema: &'a Schema, timestamp: i64) -> Self {
        Self {
            schema,
            timestamp,
            mutations: Vec::new(),
        }
    }

    /// Writes to a partition of a table.
    fn write(
        &mut self,
        table: &str,
        key: &[(&str, Value)],
        write: impl FnOnce(&mut PartitionWriter),
    ) {
        if let Some(table) = self.schema.table("system_auth", table) {
            let table: &Arc<Table> = table;
            let mut partition = PartitionWriter::new(table, self.timestamp, key);
            write(&mut partition);
            self.mutations.push(partition.finish());
        }
    }

    fn remove(&mut self, table: &str, key: &[(&str, Value)]) {
        self.write(table, key, PartitionWriter::delete_partition);
    }

    /// A role as it is from now on.
    pub(super) fn role(&mut self, name: &str, role: &Role) {
        let key = ("role", text(name));
        let mut row = vec![
            key.clone(),
            ("can_login", Value::Boolean(role.can_login)),
            ("is_superuser", Value::Boolean(role.is_superuser)),
        ];
        row.extend(
            role.salted_hash
                .iter()
                .map(|hash| ("salted_hash", text(hash))),
        );
        if !role.member_of.is_empty() {
            let roles = role.member_of.iter().map(|role| text(role)).collect();
            row.push(("member_of", Value::Set(roles)));
        }
        self.write("roles", &[key], |partition| partition.replace(&row));
    }

    /// A new role can connect from everywhere.
    pub(super) fn no_cidr_limits(&mut self, name: &str) {
        let row = [
            ("role", text(name)),
            ("cidr_groups", Value::Set(Vec::new())),
        ];
        self.write("cidr_permissions", &row, |partition| partition.insert(&row));
    }

    /// A role that is gone, but for what others have of it.
    pub(super) fn no_role(&mut self, name: &str) {
        for table in [
            "roles",
            "cidr_permissions",
            "network_permissions",
            "role_permissions",
            "role_members",
        ] {
            self.remove(table, &[("role", text(name))]);
        }
    }

    /// Whether a role was granted to a member.
    pub(super) fn member(&mut self, role: &str, member: &str, is_member: bool) {
        let row = [("role", text(role)), ("member", text(member))];
        self.write("role_members", &row, |partition| match is_member {
            true => partition.insert(&row),
            false => partition.delete(&row),
        });
    }

    /// All that a role has on a resource from now on.
    pub(super) fn grant(&mut self, role: &str, resource: &Resource, granted: PermissionSet) {
        let (role, resource) = (("role", text(role)), ("resource", text(&resource.name())));
        let key = [role.clone(), resource.clone()];
        let names = granted.iter().map(|permission| text(permission.name()));
        let names = ("permissions", Value::Set(names.collect()));
        let row = [role.clone(), resource.clone(), names];
        self.write("role_permissions", &key, |partition| {
            match granted.is_empty() {
                true => partition.delete(&key),
                false => partition.replace(&row),
            }
        });
        self.indexed(&key, !granted.is_empty());
    }

    /// Whether the index has a role at a resource.
    fn indexed(&mut self, key: &[(&str, Value)], is_granted: bool) {
        self.write(
            "resource_role_permissons_index",
            key,
            |partition| match is_granted {
                true => partition.insert(key),
                false => partition.delete(key),
            },
        );
    }

    /// Nothing is left of what a role had on a resource but `role_permissions`, which goes as a whole.
    pub(super) fn not_indexed(&mut self, role: &str, resource: &Resource) {
        let key = [("role", text(role)), ("resource", text(&resource.name()))];
        self.indexed(&key, false);
    }

    /// Whose a certificate is.
    pub(super) fn identity(&mut self, identity: &str, role: Option<&str>) {
        let key = ("identity", text(identity));
        match role {
            Some(role) => {
                let row = [key.clone(), ("role", text(role))];
                self.write("identity_to_role", &[key], |partition| {
                    partition.insert(&row);
                });
            }
            None => self.remove("identity_to_role", &[key]),
        }
    }
}
