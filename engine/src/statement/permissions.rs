//! What a statement needs permission for, in Cassandra's order: the `authorize` of its statements.

use std::sync::Arc;

use helenus_core::ErrorResponse;

use super::{Condition, Modify, Plan, Statement};
use crate::access::{Permission, Resource, Rights};
use crate::cql::ast::{CreateAggregate, Ddl, DropFunction, Existing, TableName, TypeName};
use crate::schema::{
    Keyspace, Schema, Table, is_unalterable, keyspace_of, resolve_type, type_names,
};

use Permission::{Alter, Create, Drop, Execute, Modify as Write, Select};

/// Is told each permission and its resource.
type Visit<'v> = &'v mut dyn FnMut(Permission, Resource) -> Result<(), ErrorResponse>;
type Visited = Result<(), ErrorResponse>;

fn table_resource(table: &Table) -> Resource {
    Resource::Table(table.keyspace.clone(), table.name.clone())
}

impl Statement {
    /// Refuses what `rights` don't allow. `session_keyspace` is the one of `USE`. Statements on roles aren't refused
    /// here: what they need depends on the roles that there are.
    ///
    /// # Errors
    /// UNAUTHORIZED, in Cassandra's words.
    pub fn authorize(
        &self,
        schema: &Schema,
        session_keyspace: Option<&str>,
        rights: &Rights,
    ) -> Result<(), ErrorResponse> {
        if rights.is_superuser() {
            return Ok(());
        }
        self.visit(schema, session_keyspace, &mut |permission, resource| {
            rights.check(permission, &resource)
        })
    }

    /// What [`authorize`](Self::authorize) asks for, in that order.
    pub fn permissions(
        &self,
        schema: &Schema,
        session_keyspace: Option<&str>,
    ) -> Vec<(Permission, Resource)> {
        let mut all = Vec::new();
        let visited = self.visit(schema, session_keyspace, &mut |permission, resource| {
            all.push((permission, resource));
            Ok(())
        });
        debug_assert!(visited.is_ok());
        all
    }

    fn visit(&self, schema: &Schema, session: Option<&str>, visit: Visit<'_>) -> Visited {
        match self.plan() {
            Plan::Select(select) => {
                let table = select
                    .view
                    .as_ref()
                    .map_or(&select.table, |view| &view.base);
                visit(Select, table_resource(table))?;
            }
            Plan::Modify(modify) => visit_modification(modify, schema, visit)?,
            Plan::Batch(batch) => {
                for modify in &batch.statements {
                    visit_modification(modify, schema, visit)?;
                }
            }
            Plan::Truncate(table) => visit(Write, table_resource(table))?,
            Plan::Ddl(ddl) => visit_ddl(ddl, schema, self.keyspace.as_deref().or(session), visit)?,
            Plan::Use(_) | Plan::Describe(_) | Plan::Access(_) => {}
        }
        for function in &self.executes {
            visit(Execute, function.clone())?;
        }
        Ok(())
    }
}

fn visit_modification(modify: &Modify, schema: &Schema, visit: Visit<'_>) -> Visited {
    let table = &modify.table;
    visit(Write, table_resource(table))?;
    // What a condition finds out is as good as read.
    if !matches!(modify.condition, Condition::None) {
        visit(Select, table_resource(table))?;
    }
    let keyspace = schema.keyspaces.get(&table.keyspace);
    for view in keyspace.into_iter().flat_map(|of| of.views_of(&table.name)) {
        visit(Select, table_resource(table))?;
        visit(Write, table_resource(&view.table))?;
    }
    Ok(())
}

/// What can't be done for other reasons needs no permission: that is told when it is executed.
fn visit_ddl(ddl: &Ddl, schema: &Schema, session: Option<&str>, visit: Visit<'_>) -> Visited {
    let Ok(name) = keyspace_of(ddl, session) else {
        return Ok(());
    };
    if is_unalterable(ddl, name) {
        return Ok(());
    }
    let keyspace = || Resource::Keyspace(name.into());
    let tables = || Resource::AllTables(name.into());
    let table = |table: &TableName| Resource::Table(name.into(), table.name.clone());
    let known = schema.keyspaces.get(name);
    match ddl {
        Ddl::CreateKeyspace { .. } => visit(Create, Resource::AllKeyspaces),
        Ddl::AlterKeyspace { .. } => visit(Alter, keyspace()),
        Ddl::DropKeyspace { .. } => visit(Drop, keyspace()),
        Ddl::CreateTable(_) | Ddl::CreateType { .. } => visit(Create, tables()),
        Ddl::AlterType { .. } => visit(Alter, tables()),
        Ddl::DropType { .. } => visit(Drop, tables()),
        Ddl::AlterTable { table: name, .. } => visit(Alter, table(name)),
        Ddl::DropTable { table: name, .. } => visit(Drop, table(name)),
        Ddl::CreateIndex(create) => visit(Alter, table(&create.table)),
        Ddl::DropIndex { name: index, .. } => {
            let indexed = known.and_then(|known| known.index(&index.name));
            indexed.map_or(Ok(()), |(table, _)| visit(Alter, table_resource(table)))
        }
        Ddl::CreateView(create) => visit(Alter, table(&create.base)),
        Ddl::AlterView { name: view, .. } | Ddl::DropView { name: view, .. } => {
            let view = known.and_then(|known| known.views.get(&view.name));
            view.map_or(Ok(()), |view| {
                visit(Alter, Resource::Table(name.into(), view.base.clone()))
            })
        }
        Ddl::CreateFunction(create) => {
            let types = create.arguments.iter().map(|(_, ty)| ty);
            let function = function(known, &create.name.name, types);
            visit_creation(name, known, create.existing, function, visit)
        }
        Ddl::CreateAggregate(create) => {
            let function = function(known, &create.name.name, &create.arguments);
            visit_creation(name, known, create.existing, function, visit)?;
            visit_parts(create, known, visit)
        }
        Ddl::DropFunction(dropped) => {
            let named = |known: &Keyspace| {
                let named = known.functions_named(&dropped.name.name);
                named.map(|found| found.argument_types.clone()).collect()
            };
            visit_drop(known, dropped, named, visit)
        }
        Ddl::DropAggregate(dropped) => {
            let named = |known: &Keyspace| {
                let named = known.aggregates_named(&dropped.name.name);
                named.map(|found| found.argument_types.clone()).collect()
            };
            visit_drop(known, dropped, named, visit)
        }
    }
}

/// The function of that name and those types, if they can be resolved.
fn function<'t>(
    keyspace: Option<&Arc<Keyspace>>,
    name: &Arc<str>,
    types: impl IntoIterator<Item = &'t TypeName>,
) -> Option<Resource> {
    let keyspace = keyspace?;
    let types: Option<Vec<_>> = types
        .into_iter()
        .map(|ty| Some(resolve_type(ty, keyspace).ok()?.strip_frozen().clone()))
        .collect();
    Some(Resource::Function(
        keyspace.name.clone(),
        name.clone(),
        types?.into(),
    ))
}

fn visit_creation(
    name: &str,
    keyspace: Option<&Arc<Keyspace>>,
    existing: Existing,
    function: Option<Resource>,
    visit: Visit<'_>,
) -> Visited {
    let exists = |resource: &Resource| match (keyspace, resource) {
        (Some(keyspace), Resource::Function(_, name, types)) => {
            let key = (name.clone(), type_names(types));
            keyspace.functions.contains_key(&key) || keyspace.aggregates.contains_key(&key)
        }
        _ => false,
    };
    match function.filter(|function| existing.or_replace && exists(function)) {
        Some(function) => visit(Alter, function),
        None => visit(Create, Resource::FunctionsOf(name.into())),
    }
}

/// The functions that an aggregate goes through.
fn visit_parts(
    create: &CreateAggregate,
    keyspace: Option<&Arc<Keyspace>>,
    visit: Visit<'_>,
) -> Visited {
    let state = std::iter::once(&create.state_type);
    let step = state.clone().chain(&create.arguments);
    let parts = [
        function(keyspace, &create.state_function, step),
        create
            .final_function
            .as_ref()
            .and_then(|name| function(keyspace, name, state)),
    ];
    parts
        .into_iter()
        .flatten()
        .try_for_each(|part| visit(Execute, part))
}

fn visit_drop(
    keyspace: Option<&Arc<Keyspace>>,
    dropped: &DropFunction,
    named: impl Fn(&Keyspace) -> Vec<Vec<helenus_core::CqlType>>,
    visit: Visit<'_>,
) -> Visited {
    let Some(keyspace) = keyspace else {
        return Ok(());
    };
    let all = named(keyspace);
    let wanted = match &dropped.arguments {
        Some(types) => function(Some(keyspace), &dropped.name.name, types),
        None => None,
    };
    let resources = all.into_iter().map(|types| {
        Resource::Function(
            keyspace.name.clone(),
            dropped.name.name.clone(),
            types.into(),
        )
    });
    match &dropped.arguments {
        Some(_) => {
            let found = resources
                .into_iter()
                .find(|found| Some(found) == wanted.as_ref());
            found.map_or(Ok(()), |found| visit(Drop, found))
        }
        // Which one is meant isn't clear if there are several: that is told when it is executed.
        None => {
            let mut resources = resources;
            match (resources.next(), resources.next()) {
                (Some(only), None) => visit(Drop, only),
                _ => Ok(()),
            }
        }
    }
}
