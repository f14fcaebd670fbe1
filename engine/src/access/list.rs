//! `LIST ROLES`, `LIST USERS` and `LIST PERMISSIONS`.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use helenus_core::message::Rows;
use helenus_core::types::{CqlType, Value};
use helenus_core::{ColumnSpec, ErrorResponse, Response, ResultMetadata};

use super::change::{AccessUpdate, Caller, resolve};
use super::permission::{Permission, PermissionSet};
use super::resource::Resource;
use super::roles::Roles;
use crate::cql::ast::{Name, ResourceName};

type Outcome = Result<AccessUpdate, ErrorResponse>;

impl Roles {
    pub(super) fn list_roles(
        &self,
        of: Option<&Name>,
        recursive: bool,
        by: &Caller<'_>,
    ) -> Outcome {
        let names = self.visible(of, recursive, by)?;
        let mut rows = Table::new(
            "roles",
            &[
                ("role", CqlType::Text),
                ("super", CqlType::Boolean),
                ("login", CqlType::Boolean),
                (
                    "options",
                    CqlType::Map(Arc::new((CqlType::Text, CqlType::Text))),
                ),
                ("datacenters", CqlType::Text),
            ],
        );
        for name in &names {
            if let Some(role) = self.role(name) {
                rows.push([
                    text(name),
                    Value::Boolean(role.is_superuser),
                    Value::Boolean(role.can_login),
                    Value::Map(Vec::new()),
                    text("ALL"),
                ]);
            }
        }
        Ok(rows.answer())
    }

    pub(super) fn list_users(&self, by: &Caller<'_>) -> Outcome {
        let names = self.visible(None, true, by)?;
        let mut rows = Table::new(
            "users",
            &[
                ("name", CqlType::Text),
                ("super", CqlType::Boolean),
                ("datacenters", CqlType::Text),
            ],
        );
        for name in &names {
            if self.role(name).is_some_and(|role| role.can_login) {
                let is_superuser = Value::Boolean(self.is_superuser(name));
                rows.push([text(name), is_superuser, text("ALL")]);
            }
        }
        Ok(rows.answer())
    }

    /// The roles that the caller is shown: all, or those of one role; its own if it may see no others.
    fn visible(
        &self,
        of: Option<&Name>,
        recursive: bool,
        by: &Caller<'_>,
    ) -> Result<BTreeSet<Arc<str>>, ErrorResponse> {
        let may_see = |resource: &Resource| by.rights.permits(Permission::Describe, resource);
        let Some(of) = of else {
            return Ok(match may_see(&Resource::AllRoles) {
                true => self.roles.keys().cloned().collect(),
                false => self.roles_of(by.rights.name(), recursive),
            });
        };
        if self.role(of).is_none() {
            return Err(ErrorResponse::invalid(format!("<role {of}> doesn't exist")));
        }
        if !by.rights.has_role(of) && !may_see(&Resource::Role(of.clone())) {
            return Err(ErrorResponse::unauthorized(format!(
                "You are not authorized to view roles granted to {of} "
            )));
        }
        Ok(self.roles_of(of, recursive))
    }

    fn roles_of(&self, name: &Arc<str>, recursive: bool) -> BTreeSet<Arc<str>> {
        if recursive {
            return self.all_of(name);
        }
        let direct = self.role(name).into_iter().flat_map(|role| &role.member_of);
        direct.chain([name]).cloned().collect()
    }

    pub(super) fn list_permissions(
        &self,
        permissions: PermissionSet,
        on: Option<&ResourceName>,
        of: Option<&Name>,
        recursive: bool,
        by: &Caller<'_>,
    ) -> Outcome {
        let resource = on.map(|on| resolve(on, by)).transpose()?;
        if let Some(resource) = &resource
            && !self.exists(resource, by.schema)
        {
            return Err(ErrorResponse::invalid(format!("{resource} doesn't exist")));
        }
        if let Some(of) = of
            && self.role(of).is_none()
        {
            return Err(ErrorResponse::invalid(format!("<role {of}> doesn't exist")));
        }
        let may_see = |of: &Name| {
            by.rights.has_role(of)
                || by
                    .rights
                    .permits(Permission::Describe, &Resource::Role(of.clone()))
        };
        if !by.rights.is_superuser() && !of.is_some_and(may_see) {
            let of = of.map_or("everyone", |of| &**of);
            return Err(ErrorResponse::unauthorized(format!(
                "You are not authorized to view {of}'s permissions"
            )));
        }
        let wanted: Option<Vec<Resource>> = resource.map(|resource| match recursive {
            true => resource.chain().collect(),
            false => vec![resource],
        });
        let roles = match of {
            Some(of) => self.all_of(of),
            None => self.grants.keys().cloned().collect(),
        };
        let mut rows = Table::new(
            "permissions",
            &[
                ("role", CqlType::Text),
                ("username", CqlType::Text),
                ("resource", CqlType::Text),
                ("permission", CqlType::Text),
            ],
        );
        for role in &roles {
            let grants = self.grants.get(role).into_iter().flatten();
            let mut grants: Vec<_> = grants
                .filter(|(resource, _)| {
                    wanted
                        .as_ref()
                        .is_none_or(|wanted| wanted.contains(resource))
                })
                .collect();
            grants.sort_by_cached_key(|(resource, _)| resource.name());
            for (resource, granted) in grants {
                for permission in granted.and(permissions).iter() {
                    let resource = text(&resource.to_string());
                    rows.push([text(role), text(role), resource, text(permission.name())]);
                }
            }
        }
        // Cassandra answers nothing at all when there is nothing to list.
        Ok(match rows.count {
            0 => AccessUpdate::answer(Response::Void),
            _ => rows.answer(),
        })
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Rows of a table that doesn't exist.
struct Table {
    columns: Vec<ColumnSpec<'static>>,
    count: u32,
    content: BytesMut,
}

impl Table {
    fn new(name: &'static str, columns: &[(&'static str, CqlType)]) -> Self {
        let columns = columns.iter().map(|(column, ty)| ColumnSpec {
            keyspace: "system_auth".into(),
            table: name.into(),
            name: (*column).into(),
            ty: ty.clone(),
        });
        Self {
            columns: columns.collect(),
            count: 0,
            content: BytesMut::new(),
        }
    }

    fn push<const N: usize>(&mut self, values: [Value; N]) {
        let mut cell = Vec::new();
        for (column, value) in self.columns.iter().zip(&values) {
            cell.clear();
            // Each value is one of its column's type.
            let encoded = value.encode(&column.ty, &mut cell);
            debug_assert!(encoded.is_ok());
            self.content
                .put_u32(u32::try_from(cell.len()).unwrap_or(u32::MAX));
            self.content.put_slice(&cell);
        }
        self.count += 1;
    }

    fn answer(self) -> AccessUpdate {
        AccessUpdate::answer(Response::Rows(Rows {
            metadata: Arc::new(ResultMetadata::new(self.columns)),
            paging_state: None,
            skip_metadata: false,
            metadata_changed: false,
            row_count: self.count,
            content: self.content.freeze(),
        }))
    }
}
