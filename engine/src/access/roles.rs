//! [`Roles`]: all that `system_auth` says, at one moment.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use helenus_core::types::Value;

use super::SUPERUSER;
use super::permission::{Permission, PermissionSet};
use super::resource::Resource;
use super::rights::Rights;
use super::writer::Writer;
use crate::schema::Schema;
use crate::storage::Mutation;
use crate::system::writer;

/// A role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    /// Whether it may log in.
    pub can_login: bool,
    /// Whether it may do everything.
    pub is_superuser: bool,
    /// The hash of its password, if it has one.
    pub salted_hash: Option<Arc<str>>,
    /// The roles that were granted to it.
    pub member_of: BTreeSet<Arc<str>>,
}

/// All roles, what they were granted, and whose certificates they are.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    pub(super) roles: BTreeMap<Arc<str>, Role>,
    /// By role.
    pub(super) grants: BTreeMap<Arc<str>, HashMap<Resource, PermissionSet>>,
    /// Roles by what certificates say.
    pub(super) identities: BTreeMap<Arc<str>, Arc<str>>,
}

impl Roles {
    /// The changes of `system_auth` that give a new node its [`SUPERUSER`], who has no password yet, but maybe a
    /// certificate that says `identity`.
    pub fn bootstrap(schema: &Schema, identity: Option<&str>, timestamp: i64) -> Vec<Mutation> {
        let mut writer = Writer::new(schema, timestamp);
        let superuser = Role {
            can_login: true,
            is_superuser: true,
            ..Role::default()
        };
        writer.role(SUPERUSER, &superuser);
        if let Some(identity) = identity {
            writer.identity(identity, Some(SUPERUSER));
        }
        writer.mutations
    }

    /// The change of `system_auth` that sets the hash of a role's password.
    pub fn set_hash(schema: &Schema, name: &str, hash: &str, timestamp: i64) -> Option<Mutation> {
        let table = schema.table("system_auth", "roles")?;
        let row = [
            ("role", Value::Text(name.to_owned())),
            ("salted_hash", Value::Text(hash.to_owned())),
        ];
        Some(writer::insert(table, timestamp, &row))
    }

    /// Adds a row of `roles`.
    pub fn add_role(&mut self, name: &str, role: Role) {
        self.roles.insert(name.into(), role);
    }

    /// Adds a row of `role_permissions`: the names of a resource and of permissions, of which unknown ones are left out.
    pub fn add_grant<'a>(
        &mut self,
        role: &str,
        resource: &str,
        permissions: impl IntoIterator<Item = &'a str>,
    ) {
        let permissions: PermissionSet = permissions
            .into_iter()
            .filter_map(Permission::from_name)
            .collect();
        if let Some(resource) = Resource::from_name(resource) {
            let grants = self.grants.entry(role.into()).or_default();
            grants.insert(resource, permissions);
        }
    }

    /// Adds a row of `identity_to_role`.
    pub fn add_identity(&mut self, identity: &str, role: &str) {
        self.identities.insert(identity.into(), role.into());
    }

    /// The role of that name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    /// The role whose certificates say `identity`.
    pub fn role_of(&self, identity: &str) -> Option<&Arc<str>> {
        self.identities.get(identity)
    }

    /// A role and those it was granted, and what those were granted: as far as they exist.
    pub fn all_of(&self, name: &str) -> BTreeSet<Arc<str>> {
        let mut found = BTreeSet::new();
        let mut left = vec![name];
        while let Some(name) = left.pop() {
            if let Some((name, role)) = self.roles.get_key_value(name)
                && found.insert(name.clone())
            {
                left.extend(role.member_of.iter().map(|name| &**name));
            }
        }
        found
    }

    /// Whether a role or one that it was granted is a superuser.
    pub fn is_superuser(&self, name: &str) -> bool {
        let is_superuser = |name: &Arc<str>| self.role(name).is_some_and(|role| role.is_superuser);
        self.all_of(name).iter().any(is_superuser)
    }

    /// What a role may do.
    pub fn rights(&self, name: &str) -> Rights {
        let roles = self.all_of(name);
        let mut permissions: HashMap<Resource, PermissionSet> = HashMap::new();
        for grants in roles.iter().filter_map(|role| self.grants.get(role)) {
            for (resource, granted) in grants {
                let all = permissions.entry(resource.clone()).or_default();
                *all = all.with(*granted);
            }
        }
        Rights::new(name, self.is_superuser(name), roles, permissions)
    }

    /// What a role itself was granted on a resource.
    pub(super) fn granted(&self, role: &str, resource: &Resource) -> PermissionSet {
        let grants = self.grants.get(role);
        let granted = grants.and_then(|grants| grants.get(resource));
        granted.copied().unwrap_or_default()
    }

    /// Those who were granted a role.
    pub(super) fn members<'a>(
        &'a self,
        role: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Role)> {
        let members = self.roles.iter();
        members.filter(move |(_, member)| member.member_of.contains(role))
    }
}
