//! What planning carries from clause to clause.

use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use crate::cql::ast;
use crate::schema::{Column, Keyspace, Schema, Table, resolve_type};
use crate::term::{Markers, Receiver};

/// What a statement is planned against, and the bind variables found so far.
pub(crate) struct Planner<'a> {
    /// The schema, for functions of other keyspaces.
    pub(crate) schema: &'a Schema,
    /// The keyspace whose types the statement may name.
    pub(crate) keyspace: &'a Keyspace,
    /// The table the statement is about.
    pub(crate) table: &'a Arc<Table>,
    /// The bind variables.
    pub(crate) markers: &'a mut Markers,
}

impl Planner<'_> {
    /// The type that a type name stands for.
    pub(crate) fn resolve_type(&self, name: &ast::TypeName) -> Result<CqlType, ErrorResponse> {
        resolve_type(name, self.keyspace)
    }

    /// The column of that name, or Cassandra's error.
    pub(crate) fn column(&self, name: &str) -> Result<&Column, ErrorResponse> {
        column(self.table, name)
    }

    /// What a term of a `SELECT` clause or a function's argument is bound to.
    pub(crate) fn selection_receiver(&self, name: String, ty: CqlType) -> Receiver {
        Receiver::named(self.table, &name, ty)
    }
}

/// The column of that name, or Cassandra's error.
pub(crate) fn column<'t>(table: &'t Table, name: &str) -> Result<&'t Column, ErrorResponse> {
    table.column(name).ok_or_else(|| {
        ErrorResponse::invalid(format!(
            "Undefined column name {} in table {}.{}",
            quoted(name),
            quoted(&table.keyspace),
            quoted(&table.name)
        ))
    })
}

/// A name as CQL text would write it.
pub(crate) fn quoted(name: &str) -> std::borrow::Cow<'_, str> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain {
        name.into()
    } else {
        format!("\"{}\"", name.replace('"', "\"\"")).into()
    }
}

/// The keyspace and the table or view that a name means in a session.
pub(crate) fn find_table<'s>(
    schema: &'s Schema,
    session_keyspace: Option<&str>,
    name: &ast::TableName,
) -> Result<(&'s Keyspace, &'s Arc<Table>), ErrorResponse> {
    let keyspace_name = name.keyspace.as_deref().or(session_keyspace).ok_or_else(|| {
        ErrorResponse::invalid(
            "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
        )
    })?;
    let keyspace = schema.keyspaces.get(keyspace_name).ok_or_else(|| {
        ErrorResponse::invalid(format!("keyspace {keyspace_name} does not exist"))
    })?;
    let table = keyspace
        .table_or_view(&name.name)
        .ok_or_else(|| ErrorResponse::invalid(format!("table {} does not exist", name.name)))?;
    Ok((keyspace, table))
}
