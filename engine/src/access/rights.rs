//! [`Rights`]: what one role may do, with everything that it was granted put together.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use helenus_core::ErrorResponse;

use super::permission::{Permission, PermissionSet};
use super::resource::Resource;
use crate::schema::{is_local_system, is_replicated_system};

/// What a role may do.
#[derive(Debug, Clone)]
pub struct Rights {
    name: Arc<str>,
    is_superuser: bool,
    /// The role and those it was granted.
    roles: BTreeSet<Arc<str>>,
    permissions: HashMap<Resource, PermissionSet>,
}

/// Tables that everybody may read, since clients and tools do: keyspace and name; no name for all of a keyspace.
const READABLE: [(&str, Option<&str>); 9] = [
    ("system", Some("local")),
    ("system", Some("peers")),
    ("system", Some("peers_v2")),
    ("system", Some("size_estimates")),
    ("system", Some("table_estimates")),
    ("system_schema", None),
    ("system_traces", Some("events")),
    ("system_traces", Some("sessions")),
    ("system_virtual_schema", None),
];

impl Rights {
    pub(super) fn new(
        name: &str,
        is_superuser: bool,
        roles: BTreeSet<Arc<str>>,
        permissions: HashMap<Resource, PermissionSet>,
    ) -> Self {
        Self {
            name: name.into(),
            is_superuser,
            roles,
            permissions,
        }
    }

    /// The role's name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it may do everything.
    pub fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// Whether it is that role or was granted it.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role)
    }

    /// Whether it has a permission on a resource, or on something that it lies in.
    ///
    /// What is granted on all keyspaces lets nobody write to the server's own: who may write to `system_auth` may become
    /// anybody.
    pub fn permits(&self, permission: Permission, resource: &Resource) -> bool {
        if self.is_superuser {
            return resource.applicable().contains(permission);
        }
        if permission == Permission::Select && is_readable(resource) {
            return true;
        }
        let is_guarded =
            permission != Permission::Select && resource.keyspace().is_some_and(is_system);
        resource.chain().any(|resource| {
            !(is_guarded && resource == Resource::AllKeyspaces)
                && self
                    .permissions
                    .get(&resource)
                    .is_some_and(|granted| granted.contains(permission))
        })
    }

    /// Refuses what the role has no permission for.
    ///
    /// # Errors
    /// UNAUTHORIZED, in Cassandra's words.
    pub fn check(&self, permission: Permission, resource: &Resource) -> Result<(), ErrorResponse> {
        if self.permits(permission, resource) {
            return Ok(());
        }
        Err(ErrorResponse::unauthorized(format!(
            "User {} has no {permission} permission on {resource} or any of its parents",
            self.name
        )))
    }

    /// The same for what is done to roles, where less is told.
    pub(super) fn check_role(
        &self,
        permission: Permission,
        resource: &Resource,
    ) -> Result<(), ErrorResponse> {
        if self.permits(permission, resource) {
            return Ok(());
        }
        Err(ErrorResponse::unauthorized(format!(
            "User {} does not have sufficient privileges to perform the requested operation",
            self.name
        )))
    }
}

/// Whether a keyspace is the server's own.
pub(super) fn is_system(keyspace: &Arc<str>) -> bool {
    keyspace.starts_with("system") && (is_local_system(keyspace) || is_replicated_system(keyspace))
}

fn is_readable(resource: &Resource) -> bool {
    let Resource::Table(keyspace, table) = resource else {
        return false;
    };
    keyspace.starts_with("system")
        && READABLE
            .iter()
            .any(|(of, name)| *of == &**keyspace && name.is_none_or(|name| name == &**table))
}
