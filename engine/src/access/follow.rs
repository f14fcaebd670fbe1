//! What a schema change means for permissions: who creates something may do everything with it, and what is gone is
//! nobody's.

use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};

use super::resource::Resource;
use super::roles::Roles;
use super::writer::Writer;
use crate::schema::{Schema, SchemaUpdate, type_names};
use crate::storage::Mutation;

impl Roles {
    /// The changes of `system_auth` that follow from a schema change by the role `creator`.
    pub fn follow(&self, update: &SchemaUpdate, creator: &str, timestamp: i64) -> Vec<Mutation> {
        let mut writer = Writer::new(&update.schema, timestamp);
        let Some(SchemaChange { change, target }) = &update.change else {
            return Vec::new();
        };
        match *change {
            ChangeType::Created => {
                for resource in created(&update.schema, target) {
                    let granted = self.granted(creator, &resource);
                    writer.grant(creator, &resource, granted.with(resource.applicable()));
                }
            }
            ChangeType::Dropped => {
                for (role, grants) in &self.grants {
                    for resource in grants.keys().filter(|resource| is_in(resource, target)) {
                        writer.grant(role, resource, super::PermissionSet::NONE);
                    }
                }
            }
            _ => {}
        }
        writer.mutations
    }
}

fn created(schema: &Schema, target: &SchemaTarget) -> Vec<Resource> {
    match target {
        SchemaTarget::Keyspace { keyspace } => vec![
            Resource::Keyspace(keyspace.clone()),
            Resource::FunctionsOf(keyspace.clone()),
        ],
        // A view is its table's.
        SchemaTarget::Table { keyspace, name } => schema
            .table(keyspace, name)
            .map(|table| Resource::Table(table.keyspace.clone(), table.name.clone()))
            .into_iter()
            .collect(),
        SchemaTarget::Function {
            keyspace,
            name,
            arguments,
        }
        | SchemaTarget::Aggregate {
            keyspace,
            name,
            arguments,
        } => {
            let Some(within) = schema.keyspaces.get(keyspace) else {
                return Vec::new();
            };
            let key = (name.clone(), arguments.clone());
            let function = within
                .functions
                .get(&key)
                .map(|found| &found.argument_types);
            let aggregate = || {
                within
                    .aggregates
                    .get(&key)
                    .map(|found| &found.argument_types)
            };
            let types = function.or_else(aggregate);
            types
                .map(|types| {
                    Resource::Function(keyspace.clone(), name.clone(), types.clone().into())
                })
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a resource is what was dropped, or lay in it.
fn is_in(resource: &Resource, target: &SchemaTarget) -> bool {
    match (target, resource) {
        (SchemaTarget::Keyspace { keyspace }, Resource::FunctionsOf(of))
        | (SchemaTarget::Keyspace { keyspace }, Resource::Function(of, ..)) => of == keyspace,
        (SchemaTarget::Keyspace { keyspace }, _) => resource.keyspace() == Some(keyspace),
        (SchemaTarget::Table { keyspace, name }, Resource::Table(of, table)) => {
            of == keyspace && table == name
        }
        (
            SchemaTarget::Function {
                keyspace,
                name,
                arguments,
            }
            | SchemaTarget::Aggregate {
                keyspace,
                name,
                arguments,
            },
            Resource::Function(of, function, types),
        ) => of == keyspace && function == name && type_names(types) == *arguments,
        _ => false,
    }
}
