//! Statements on roles, users, permissions and identities.

use std::sync::Arc;

use super::{Name, TableName, TypeName};
use crate::access::{PermissionSet, Resource};

/// A statement on roles, permissions or identities.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Access {
    /// `CREATE ROLE`, `CREATE USER`
    CreateRole {
        /// The role.
        name: Name,
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// `WITH`
        options: RoleOptions,
    },
    /// `ALTER ROLE`, `ALTER USER`
    AlterRole {
        /// The role.
        name: Name,
        /// `IF EXISTS`
        if_exists: bool,
        /// `WITH`
        options: RoleOptions,
    },
    /// `DROP ROLE`, `DROP USER`
    DropRole {
        /// The role.
        name: Name,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `GRANT role TO role`
    GrantRole {
        /// What is granted.
        role: Name,
        /// Who gets it.
        to: Name,
    },
    /// `REVOKE role FROM role`
    RevokeRole {
        /// What is revoked.
        role: Name,
        /// Who had it.
        from: Name,
    },
    /// `GRANT permissions ON resource TO role`
    Grant {
        /// What is granted; the resource can have it.
        permissions: PermissionSet,
        /// On what.
        on: ResourceName,
        /// Who gets it.
        to: Name,
    },
    /// `REVOKE permissions ON resource FROM role`
    Revoke {
        /// What is revoked; the resource can have it.
        permissions: PermissionSet,
        /// On what.
        on: ResourceName,
        /// Who had it.
        from: Name,
    },
    /// `LIST ROLES`
    ListRoles {
        /// `OF`
        of: Option<Name>,
        /// Not `NORECURSIVE`
        recursive: bool,
    },
    /// `LIST USERS`
    ListUsers,
    /// `LIST permissions`
    ListPermissions {
        /// Which permissions.
        permissions: PermissionSet,
        /// `ON`
        on: Option<ResourceName>,
        /// `OF`
        of: Option<Name>,
        /// Not `NORECURSIVE`
        recursive: bool,
    },
    /// `ADD IDENTITY`
    AddIdentity {
        /// What a certificate says.
        identity: Name,
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// Who that is.
        role: Name,
    },
    /// `DROP IDENTITY`
    DropIdentity {
        /// What a certificate says.
        identity: Name,
        /// `IF EXISTS`
        if_exists: bool,
    },
}

impl Access {
    /// The password that the statement sets, as it was written: what is kept of it is its hash.
    pub fn password(&self) -> Option<&str> {
        match self {
            Self::CreateRole { options, .. } | Self::AlterRole { options, .. } => {
                options.password.as_deref()
            }
            _ => None,
        }
    }
}

/// `WITH option AND option` of a role.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoleOptions {
    /// `PASSWORD`
    pub password: Option<Arc<str>>,
    /// `HASHED PASSWORD`
    pub hashed_password: Option<Arc<str>>,
    /// `SUPERUSER`
    pub superuser: Option<bool>,
    /// `LOGIN`
    pub login: Option<bool>,
    /// Whether there are `OPTIONS`, which no role manager of Cassandra's own has.
    pub custom: bool,
    /// `ACCESS TO DATACENTERS`; none for all.
    pub datacenters: Option<Vec<Arc<str>>>,
    /// `ACCESS FROM CIDRS`; none for all.
    pub cidrs: Option<Vec<Arc<str>>>,
}

/// A resource as it is written, which needs a keyspace and a schema to be one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceName {
    /// `ALL KEYSPACES`
    AllKeyspaces,
    /// `KEYSPACE k`
    Keyspace(Name),
    /// `ALL TABLES IN KEYSPACE k`
    AllTables(Name),
    /// `[TABLE] t`
    Table(TableName),
    /// `ALL FUNCTIONS`
    AllFunctions,
    /// `ALL FUNCTIONS IN KEYSPACE k`
    FunctionsOf(Name),
    /// `FUNCTION f(int)`
    Function(TableName, Vec<TypeName>),
    /// `ALL ROLES`
    AllRoles,
    /// `ROLE r`
    Role(Name),
    /// `ALL MBEANS`
    AllMbeans,
    /// `MBEAN 'name'`, `MBEANS 'pattern'`
    Mbean(Arc<str>),
}

impl ResourceName {
    /// What kind of resource it is, its names as far as they are written.
    pub(crate) fn unresolved(&self) -> Resource {
        let none = || Arc::from("");
        match self {
            Self::AllKeyspaces => Resource::AllKeyspaces,
            Self::Keyspace(name) => Resource::Keyspace(name.clone()),
            Self::AllTables(keyspace) => Resource::AllTables(keyspace.clone()),
            Self::Table(table) => Resource::Table(
                table.keyspace.clone().unwrap_or_else(none),
                table.name.clone(),
            ),
            Self::AllFunctions => Resource::AllFunctions,
            Self::FunctionsOf(keyspace) => Resource::FunctionsOf(keyspace.clone()),
            Self::Function(function, _) => Resource::Function(
                function.keyspace.clone().unwrap_or_else(none),
                function.name.clone(),
                Arc::default(),
            ),
            Self::AllRoles => Resource::AllRoles,
            Self::Role(name) => Resource::Role(name.clone()),
            Self::AllMbeans => Resource::AllMbeans,
            Self::Mbean(name) => Resource::Mbean(name.clone()),
        }
    }
}
