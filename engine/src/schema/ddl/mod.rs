//! Schema changes: a statement and a snapshot give the next snapshot, what to tell clients of it, and the change of
//! the `system_schema` tables. Answers to Cassandra 5.0's `AlterSchemaStatement` and its subclasses.

mod access;
mod aggregate;
mod alter_table;
mod build_table;
mod create_table;
mod events;
mod function;
mod index;
mod keyspace;
mod renew;
mod succeed;
mod user_type;
mod view;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use access::is_unalterable;
pub(crate) use build_table::build_table;

use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse, SchemaChange, SchemaTarget};

use super::{Keyspace, Schema, TableId};
use crate::Context;
use crate::cql::ast::{Ddl, TableName};
use crate::storage::Mutation;

/// What a schema change comes to.
#[derive(Debug, Clone)]
pub struct SchemaUpdate {
    /// The schema from now on; the same `Arc` if nothing changed.
    pub schema: Arc<Schema>,
    /// What the statement is answered with; `None` if nothing changed.
    pub change: Option<SchemaChange>,
    /// What clients that registered for schema changes are to be told, in order: `change`, and what followed from it
    /// (tables of an altered type; what was in a dropped keyspace).
    pub events: Vec<SchemaChange>,
    /// Changes of the system tables: `system_schema` and `system.local`.
    pub mutations: Vec<Mutation>,
    /// Tables that are gone, whose data may go.
    pub dropped: Vec<TableId>,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

/// What one statement does to its keyspace.
struct Alteration {
    /// The keyspace as it shall be; `None` drops it.
    keyspace: Option<Keyspace>,
    change: SchemaChange,
}

impl Alteration {
    fn table(keyspace: Keyspace, change: ChangeType, name: &Arc<str>) -> Self {
        let target = SchemaTarget::Table {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
        };
        Self {
            keyspace: Some(keyspace),
            change: SchemaChange { change, target },
        }
    }

    fn user_type(keyspace: Keyspace, change: ChangeType, name: &Arc<str>) -> Self {
        let target = SchemaTarget::Type {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
        };
        Self {
            keyspace: Some(keyspace),
            change: SchemaChange { change, target },
        }
    }
}

/// A change, or `None` where `IF [NOT] EXISTS` or equal content leaves all as it is.
type Outcome = Result<Option<Alteration>, ErrorResponse>;

impl Schema {
    /// Carries out a schema change; `session_keyspace` is the one of `USE`, for names without one.
    ///
    /// The new schema has to replace this one at once, and `mutations` to be applied with it; statements planned on
    /// this one are to be planned again if they touch what changed.
    ///
    /// # Errors
    /// With Cassandra's codes and texts: invalid, syntax and configuration errors for what the statement asks,
    /// unauthorized for system keyspaces, already exists.
    pub fn apply(
        self: &Arc<Self>,
        ddl: &Ddl,
        session_keyspace: Option<&str>,
        context: &Context,
    ) -> Result<SchemaUpdate, ErrorResponse> {
        let mut warnings = Vec::new();
        let name = keyspace_of(ddl, session_keyspace)?;
        if let Ddl::CreateTable(statement) = ddl {
            create_table::check_form(statement)?;
        }
        access::check(ddl, name)?;
        let alteration = match ddl {
            Ddl::CreateKeyspace {
                name,
                if_not_exists,
                properties,
            } => self.create_keyspace(name, *if_not_exists, properties, &mut warnings),
            Ddl::AlterKeyspace {
                name,
                if_exists,
                properties,
            } => self.alter_keyspace(name, *if_exists, properties, &mut warnings),
            Ddl::DropKeyspace { name, if_exists } => self.drop_keyspace(name, *if_exists),
            Ddl::CreateTable(statement) => self.create_table(name, statement, context),
            Ddl::AlterTable {
                table,
                if_exists,
                change,
            } => self.alter_table(name, &table.name, *if_exists, change, context),
            Ddl::DropTable { table, if_exists } => self.drop_table(name, &table.name, *if_exists),
            Ddl::CreateView(statement) => {
                let base = statement.base.keyspace.as_deref().or(session_keyspace);
                let base = base.unwrap_or(name);
                self.create_view(name, base, statement, context, &mut warnings)
            }
            Ddl::AlterView {
                name: view,
                if_exists,
                properties,
            } => self.alter_view(name, &view.name, *if_exists, properties),
            Ddl::DropView {
                name: view,
                if_exists,
            } => self.drop_view(name, &view.name, *if_exists),
            Ddl::CreateIndex(statement) => self.create_index(name, statement, &mut warnings),
            Ddl::DropIndex {
                name: index,
                if_exists,
            } => self.drop_index(name, &index.name, *if_exists),
            Ddl::CreateType {
                name: ty,
                if_not_exists,
                fields,
            } => self.create_type(name, &ty.name, *if_not_exists, fields),
            Ddl::AlterType {
                name: ty,
                if_exists,
                change,
            } => self.alter_type(name, &ty.name, *if_exists, change),
            Ddl::DropType {
                name: ty,
                if_exists,
            } => self.drop_type(name, &ty.name, *if_exists),
            Ddl::CreateFunction(create) => self.create_function(name, create),
            Ddl::DropFunction(dropped) => self.drop_function(name, dropped),
            Ddl::CreateAggregate(create) => self.create_aggregate(name, create, context),
            Ddl::DropAggregate(dropped) => self.drop_aggregate(name, dropped),
        }?;
        Ok(match alteration {
            None => SchemaUpdate {
                schema: Arc::clone(self),
                change: None,
                events: Vec::new(),
                mutations: Vec::new(),
                dropped: Vec::new(),
                warnings,
            },
            Some(alteration) => self.replace(name, alteration, warnings, context),
        })
    }

    fn replace(
        &self,
        name: &str,
        alteration: Alteration,
        warnings: Vec<String>,
        context: &Context,
    ) -> SchemaUpdate {
        let Alteration { keyspace, change } = alteration;
        let old = self.keyspaces.get(name).map(|old| &**old);
        let mut keyspaces = self.keyspaces.clone();
        let new = keyspace.map(Arc::new);
        match &new {
            Some(new) => keyspaces.insert(Arc::clone(&new.name), Arc::clone(new)),
            None => keyspaces.remove(name),
        };
        let content = self.content.with(old, new.as_deref());
        let schema = Arc::new(Self {
            keyspaces,
            version: content.version(),
            datacenters: Arc::clone(&self.datacenters),
            nodes: self.nodes,
            node: Arc::clone(&self.node),
            natives: Arc::clone(&self.natives),
            content,
        });
        SchemaUpdate {
            change: Some(change),
            warnings,
            ..self.succeeded_by(schema, [(old, new.as_deref())], context)
        }
    }

    /// The keyspace of that name, to be changed.
    fn existing(&self, name: &str) -> Result<&Keyspace, ErrorResponse> {
        match self.keyspaces.get(name) {
            Some(keyspace) => Ok(keyspace),
            None => Err(ErrorResponse::invalid(format!(
                "Keyspace '{name}' doesn't exist"
            ))),
        }
    }
}

/// The keyspace a statement is about.
pub(crate) fn keyspace_of<'a>(
    ddl: &'a Ddl,
    session: Option<&'a str>,
) -> Result<&'a str, ErrorResponse> {
    let of = |name: &'a TableName| {
        name.keyspace.as_deref().or(session).ok_or_else(|| {
            ErrorResponse::invalid(
                "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
            )
        })
    };
    match ddl {
        Ddl::CreateKeyspace { name, .. }
        | Ddl::AlterKeyspace { name, .. }
        | Ddl::DropKeyspace { name, .. } => Ok(name),
        Ddl::CreateTable(statement) => of(&statement.table),
        Ddl::CreateIndex(statement) => of(&statement.table),
        Ddl::CreateView(statement) => of(&statement.name),
        Ddl::DropIndex { name, .. } | Ddl::AlterView { name, .. } | Ddl::DropView { name, .. } => {
            of(name)
        }
        Ddl::AlterTable { table, .. } | Ddl::DropTable { table, .. } => of(table),
        Ddl::CreateType { name, .. } | Ddl::AlterType { name, .. } | Ddl::DropType { name, .. } => {
            of(name)
        }
        Ddl::CreateFunction(create) => of(&create.name),
        Ddl::CreateAggregate(create) => of(&create.name),
        Ddl::DropFunction(dropped) | Ddl::DropAggregate(dropped) => of(&dropped.name),
    }
}
