//! Statements on roles, permissions and identities: checked, and turned into changes of `system_auth` or an answer.

use std::sync::Arc;

use helenus_core::types::CqlType;
use helenus_core::{ErrorResponse, Response};

use super::permission::{Permission, PermissionSet};
use super::resource::Resource;
use super::rights::{Rights, is_system};
use super::roles::{Role, Roles};
use super::writer::Writer;
use crate::cql::ast::{Access, Name, ResourceName, RoleOptions};
use crate::schema::{Schema, resolve_type, type_names};
use crate::storage::Mutation;

/// Who executes a statement, and where.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// What it may do.
    pub rights: &'a Rights,
    /// The schema.
    pub schema: &'a Schema,
    /// The keyspace that names without one belong to.
    pub keyspace: Option<&'a str>,
    /// Microseconds from 1970.
    pub timestamp: i64,
    /// The hash of the statement's [`password`](Access::password), if it has one.
    pub password_hash: Option<&'a str>,
    /// Whether a text is the hash of a password.
    pub is_hash: fn(&str) -> bool,
}

/// What a statement comes to.
#[derive(Debug)]
pub struct AccessUpdate {
    /// Changes of `system_auth`, to be applied before the answer is given.
    pub mutations: Vec<Mutation>,
    /// The answer.
    pub response: Response,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

impl AccessUpdate {
    pub(super) fn answer(response: Response) -> Self {
        Self {
            mutations: Vec::new(),
            response,
            warnings: Vec::new(),
        }
    }

    fn change(writer: Writer<'_>) -> Self {
        Self {
            mutations: writer.mutations,
            ..Self::answer(Response::Void)
        }
    }

    fn nothing() -> Self {
        Self::answer(Response::Void)
    }
}

type Outcome = Result<AccessUpdate, ErrorResponse>;

fn invalid<T>(message: String) -> Result<T, ErrorResponse> {
    Err(ErrorResponse::invalid(message))
}

fn refused<T>(message: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, ErrorResponse> {
    Err(ErrorResponse::unauthorized(message))
}

impl Roles {
    /// Carries out a statement.
    ///
    /// # Errors
    /// With Cassandra's codes and texts: UNAUTHORIZED for what the caller may not do, invalid for what can't be done.
    pub fn apply(&self, statement: &Access, by: &Caller<'_>) -> Outcome {
        match statement {
            Access::CreateRole {
                name,
                if_not_exists,
                options,
            } => self.create_role(name, *if_not_exists, options, by),
            Access::AlterRole {
                name,
                if_exists,
                options,
            } => self.alter_role(name, *if_exists, options, by),
            Access::DropRole { name, if_exists } => self.drop_role(name, *if_exists, by),
            Access::GrantRole { role, to } => self.grant_role(role, to, by),
            Access::RevokeRole { role, from } => self.revoke_role(role, from, by),
            Access::Grant {
                permissions,
                on,
                to,
            } => self.grant(*permissions, on, to, by),
            Access::Revoke {
                permissions,
                on,
                from,
            } => self.revoke(*permissions, on, from, by),
            Access::ListRoles { of, recursive } => self.list_roles(of.as_ref(), *recursive, by),
            Access::ListUsers => self.list_users(by),
            Access::ListPermissions {
                permissions,
                on,
                of,
                recursive,
            } => self.list_permissions(*permissions, on.as_ref(), of.as_ref(), *recursive, by),
            Access::AddIdentity {
                identity,
                if_not_exists,
                role,
            } => self.add_identity_of(identity, *if_not_exists, role, by),
            Access::DropIdentity {
                identity,
                if_exists,
            } => self.drop_identity(identity, *if_exists, by),
        }
    }

    fn create_role(
        &self,
        name: &Name,
        if_not_exists: bool,
        options: &RoleOptions,
        by: &Caller<'_>,
    ) -> Outcome {
        by.rights
            .check_role(Permission::Create, &Resource::AllRoles)?;
        if options.superuser == Some(true) && !by.rights.is_superuser() {
            return refused("Only superusers can create a role with superuser status");
        }
        check_options(options, by)?;
        if name.is_empty() {
            return invalid("Role name can't be an empty string".to_owned());
        }
        if self.role(name).is_some() {
            return match if_not_exists {
                true => Ok(AccessUpdate::nothing()),
                false => invalid(format!("{name} already exists")),
            };
        }
        let mut role = Role::default();
        set(&mut role, options, by);
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.role(name, &role);
        writer.no_cidr_limits(name);
        let resource = Resource::Role(name.clone());
        writer.grant(by.rights.name(), &resource, resource.applicable());
        Ok(AccessUpdate::change(writer))
    }

    fn alter_role(
        &self,
        name: &Name,
        if_exists: bool,
        options: &RoleOptions,
        by: &Caller<'_>,
    ) -> Outcome {
        check_alteration(name, options, by)?;
        check_options(options, by)?;
        if *options == RoleOptions::default() {
            return invalid("ALTER [ROLE|USER] can't be empty".to_owned());
        }
        let Some(role) = self.role(name) else {
            return match if_exists {
                true => Ok(AccessUpdate::nothing()),
                false => invalid(format!("Role {name} doesn't exist")),
            };
        };
        let mut role = role.clone();
        set(&mut role, options, by);
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.role(name, &role);
        Ok(AccessUpdate::change(writer))
    }

    fn drop_role(&self, name: &Name, if_exists: bool, by: &Caller<'_>) -> Outcome {
        let resource = Resource::Role(name.clone());
        by.rights.check_role(Permission::Drop, &resource)?;
        if self.is_superuser(name) && !by.rights.is_superuser() {
            return refused("Only superusers can drop a role with superuser status");
        }
        let Some(role) = self.role(name) else {
            return match if_exists {
                true => Ok(AccessUpdate::nothing()),
                false => invalid(format!("{name} doesn't exist")),
            };
        };
        if name == by.rights.name() {
            return invalid("Cannot DROP primary role for current login".to_owned());
        }
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.no_role(name);
        for granted in self.grants.get(name).into_iter().flat_map(|all| all.keys()) {
            writer.not_indexed(name, granted);
        }
        for (other, grants) in &self.grants {
            if other != name && grants.contains_key(&resource) {
                writer.grant(other, &resource, PermissionSet::NONE);
            }
        }
        for (member, had) in self.members(name) {
            let mut had = had.clone();
            had.member_of.remove(name);
            writer.role(member, &had);
        }
        for granted in &role.member_of {
            writer.member(granted, name, false);
        }
        for (identity, _) in self.identities.iter().filter(|(_, role)| *role == name) {
            writer.identity(identity, None);
        }
        Ok(AccessUpdate::change(writer))
    }

    /// Checks that both exist and that the caller may grant the first.
    fn both(&self, role: &Name, other: &Name, by: &Caller<'_>) -> Result<Role, ErrorResponse> {
        let resource = Resource::Role(role.clone());
        by.rights.check_role(Permission::Authorize, &resource)?;
        if self.role(role).is_none() {
            return invalid(format!("{role} doesn't exist"));
        }
        match self.role(other) {
            Some(role) => Ok(role.clone()),
            None => invalid(format!("{other} doesn't exist")),
        }
    }

    fn grant_role(&self, role: &Name, to: &Name, by: &Caller<'_>) -> Outcome {
        let mut member = self.both(role, to, by)?;
        for (member, role) in [(to, role), (role, to)] {
            if self.all_of(member).contains(role) {
                return invalid(format!("{member} is a member of {role}"));
            }
        }
        member.member_of.insert(role.clone());
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.role(to, &member);
        writer.member(role, to, true);
        Ok(AccessUpdate::change(writer))
    }

    fn revoke_role(&self, role: &Name, from: &Name, by: &Caller<'_>) -> Outcome {
        let mut member = self.both(role, from, by)?;
        if !member.member_of.remove(role) {
            return invalid(format!("{from} is not a member of {role}"));
        }
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.role(from, &member);
        writer.member(role, from, false);
        Ok(AccessUpdate::change(writer))
    }

    /// The resource of a grant, once the caller was found to have what it gives away.
    fn grantable(
        &self,
        permissions: PermissionSet,
        on: &ResourceName,
        role: &Name,
        by: &Caller<'_>,
    ) -> Result<Resource, ErrorResponse> {
        let resource = resolve(on, by)?;
        by.rights.check(Permission::Authorize, &resource)?;
        for permission in permissions.iter() {
            by.rights.check(permission, &resource)?;
        }
        if self.role(role).is_none() {
            return invalid(format!("Role {role} doesn't exist"));
        }
        if !self.exists(&resource, by.schema) {
            return invalid(format!("Resource {resource} doesn't exist"));
        }
        Ok(resource)
    }

    fn grant(
        &self,
        permissions: PermissionSet,
        on: &ResourceName,
        to: &Name,
        by: &Caller<'_>,
    ) -> Outcome {
        let resource = self.grantable(permissions, on, to, by)?;
        if resource.keyspace().is_some_and(is_system) && !permissions.without(READING).is_empty() {
            return refused(
                "Granting permissions on system keyspaces is strictly limited, this operation is not permitted",
            );
        }
        let had = self.granted(to, &resource);
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.grant(to, &resource, had.with(permissions));
        let mut update = AccessUpdate::change(writer);
        let double = had.and(permissions);
        if !double.is_empty() {
            update.warnings.push(format!(
                "Role '{to}' was already granted {} on {resource}",
                double.names()
            ));
        }
        Ok(update)
    }

    fn revoke(
        &self,
        permissions: PermissionSet,
        on: &ResourceName,
        from: &Name,
        by: &Caller<'_>,
    ) -> Outcome {
        let resource = self.grantable(permissions, on, from, by)?;
        let had = self.granted(from, &resource);
        let mut writer = Writer::new(by.schema, by.timestamp);
        if !had.is_empty() {
            writer.grant(from, &resource, had.without(permissions));
        }
        let mut update = AccessUpdate::change(writer);
        let missing = permissions.without(had);
        if !missing.is_empty() {
            update.warnings.push(format!(
                "Role '{from}' was not granted {} on {resource}",
                missing.names()
            ));
        }
        Ok(update)
    }

    fn add_identity_of(
        &self,
        identity: &Name,
        if_not_exists: bool,
        role: &Name,
        by: &Caller<'_>,
    ) -> Outcome {
        by.rights
            .check_role(Permission::Create, &Resource::AllRoles)?;
        if self.role(role).is_none() {
            return invalid(format!(
                "Can not add identity for non-existent role '{role}'"
            ));
        }
        if self.role_of(identity).is_some() {
            return match if_not_exists {
                true => Ok(AccessUpdate::nothing()),
                false => invalid(format!("{identity} already exists")),
            };
        }
        if self.is_superuser(role) && !by.rights.is_superuser() {
            return refused("Only superusers can add identities to roles with superuser status");
        }
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.identity(identity, Some(role));
        Ok(AccessUpdate::change(writer))
    }

    fn drop_identity(&self, identity: &Name, if_exists: bool, by: &Caller<'_>) -> Outcome {
        by.rights
            .check_role(Permission::Drop, &Resource::AllRoles)?;
        if self.role_of(identity).is_none() {
            return match if_exists {
                true => Ok(AccessUpdate::nothing()),
                false => invalid(format!("identity '{identity}' doesn't exist")),
            };
        }
        let mut writer = Writer::new(by.schema, by.timestamp);
        writer.identity(identity, None);
        Ok(AccessUpdate::change(writer))
    }

    /// Whether there is such a thing.
    pub(super) fn exists(&self, resource: &Resource, schema: &Schema) -> bool {
        let keyspace = |name: &Arc<str>| schema.keyspaces.get(name);
        match resource {
            Resource::AllKeyspaces
            | Resource::AllFunctions
            | Resource::AllRoles
            | Resource::AllMbeans => true,
            Resource::Keyspace(name) | Resource::AllTables(name) | Resource::FunctionsOf(name) => {
                keyspace(name).is_some()
            }
            Resource::Table(of, name) => {
                keyspace(of).is_some_and(|keyspace| keyspace.table_or_view(name).is_some())
            }
            Resource::Function(of, name, arguments) => keyspace(of).is_some_and(|keyspace| {
                let key = (name.clone(), type_names(arguments));
                keyspace.functions.contains_key(&key) || keyspace.aggregates.contains_key(&key)
            }),
            Resource::Role(name) => self.role(name).is_some(),
            Resource::Mbean(name) => MBEAN_DOMAINS.iter().any(|domain| name.starts_with(domain)),
        }
    }
}

/// What may be granted on the server's own keyspaces.
const READING: PermissionSet = PermissionSet::of(&[
    Permission::Select,
    Permission::SelectMasked,
    Permission::Unmask,
]);

/// The domains in which a Cassandra has MBeans.
const MBEAN_DOMAINS: [&str; 3] = ["org.apache.cassandra.", "java.lang:", "java.nio:"];

/// The role manager that answers, as messages name it.
const ROLE_MANAGER: &str = "org.apache.cassandra.auth.CassandraRoleManager";

fn check_alteration(
    name: &Name,
    options: &RoleOptions,
    by: &Caller<'_>,
) -> Result<(), ErrorResponse> {
    let is_super = by.rights.is_superuser();
    if options.superuser.is_some() {
        if by.rights.has_role(name) {
            return refused(
                "You aren't allowed to alter your own superuser status or that of a role granted to you",
            );
        }
        if !is_super {
            return refused("Only superusers are allowed to alter superuser status");
        }
    }
    if is_super {
        return Ok(());
    }
    if options.datacenters.is_some() || options.cidrs.is_some() {
        return refused("Only superusers are allowed to alter access permissions.");
    }
    if name != by.rights.name() {
        return by
            .rights
            .check_role(Permission::Alter, &Resource::Role(name.clone()));
    }
    // Of itself, a role may change its password alone.
    for (is_set, option) in [
        (options.login.is_some(), "LOGIN"),
        (options.custom, "OPTIONS"),
    ] {
        if is_set {
            return refused(format!("You aren't allowed to alter {option}"));
        }
    }
    Ok(())
}

fn check_options(options: &RoleOptions, by: &Caller<'_>) -> Result<(), ErrorResponse> {
    if options.custom {
        return invalid(format!("{ROLE_MANAGER} doesn't support OPTIONS"));
    }
    if let Some(hash) = &options.hashed_password
        && !(by.is_hash)(hash)
    {
        return invalid("Invalid hashed password value. Please use jBcrypt.".to_owned());
    }
    let unknown = |names: &Option<Vec<Arc<str>>>, known: &dyn Fn(&Arc<str>) -> bool| {
        let names = names.iter().flatten().filter(|name| !known(name));
        let names: Vec<&str> = names.map(|name| &**name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let is_known = |name: &Arc<str>| by.schema.datacenters.contains_key(name);
    if let Some(names) = unknown(&options.datacenters, &is_known) {
        return invalid(format!(
            "Invalid value(s) for DATACENTERS '[{names}]',All values must be valid datacenters"
        ));
    }
    if let Some(names) = unknown(&options.cidrs, &|_| false) {
        return invalid(format!(
            "Invalid CIDR group(s): [{names}]. Available CIDR Groups are: []"
        ));
    }
    Ok(())
}

/// Sets what the options name.
fn set(role: &mut Role, options: &RoleOptions, by: &Caller<'_>) {
    role.can_login = options.login.unwrap_or(role.can_login);
    role.is_superuser = options.superuser.unwrap_or(role.is_superuser);
    let hash = options.hashed_password.as_deref().or(by.password_hash);
    if let Some(hash) = hash {
        role.salted_hash = Some(hash.into());
    }
}

/// The resource of a name.
pub(super) fn resolve(on: &ResourceName, by: &Caller<'_>) -> Result<Resource, ErrorResponse> {
    let keyspace = |written: &Option<Name>| {
        let known = written.clone().or_else(|| by.keyspace.map(Arc::from));
        known.ok_or_else(|| {
            ErrorResponse::invalid(
                "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
            )
        })
    };
    Ok(match on {
        ResourceName::Table(table) => {
            Resource::Table(keyspace(&table.keyspace)?, table.name.clone())
        }
        ResourceName::Function(function, types) => {
            let of = keyspace(&function.keyspace)?;
            if &*of == "system" {
                return invalid(
                    "Altering permissions on builtin functions is not supported".to_owned(),
                );
            }
            let Some(within) = by.schema.keyspaces.get(&of) else {
                return invalid(format!("Keyspace '{of}' doesn't exist"));
            };
            let types: Result<Vec<CqlType>, _> = types
                .iter()
                .map(|ty| resolve_type(ty, within).map(|ty| ty.strip_frozen().clone()))
                .collect();
            Resource::Function(of, function.name.clone(), types?.into())
        }
        other => other.unresolved(),
    })
}
