//! `DESCRIBE`: the schema as rows of CQL text, answered by the server as from Cassandra 4.0 on.
//! Answers to `DescribeStatement` of Cassandra 5.0, byte for byte.

mod cluster;
mod create;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use helenus_core::message::{ColumnSpec, ErrorResponse, ResultMetadata, Rows};
use helenus_core::types::{CqlType, quoted};

use crate::cql::ast::{Describe, DescribeTarget, TableName};
use crate::schema::{self, Index, Keyspace, Schema, Table};

/// Answers a `DESCRIBE` with all its rows; there is no paging.
///
/// # Errors
/// Invalid if the keyspace, table or whatever is described doesn't exist, or if no keyspace is named and the session
/// has none.
pub fn describe(
    schema: &Schema,
    describe: &Describe,
    session_keyspace: Option<&str>,
) -> Result<Rows, ErrorResponse> {
    let description = Description {
        schema,
        session_keyspace,
        internals: describe.internals,
    };
    use DescribeTarget::*;
    let elements = match &describe.target {
        Cluster => return Ok(cluster::describe(schema, session_keyspace)),
        Keyspaces => return Ok(rows(&description.keyspaces(), Detail::Names)),
        Tables => return Ok(rows(&description.tables(), Detail::Names)),
        Types => return Ok(rows(&description.types(), Detail::Names)),
        Functions => return Ok(rows(&description.all(functions), Detail::Names)),
        Aggregates => return Ok(rows(&description.all(aggregates), Detail::Names)),
        Schema { full } => description.whole(*full),
        Keyspace { only, name } => description.keyspace(name.as_deref(), *only)?,
        Table(name) => description.table(name)?,
        Type(name) => vec![description.user_type(name)?],
        Anything(name) => description.anything(name)?,
        Function(name) => description.overloads(name, functions, "User defined function")?,
        Aggregate(name) => description.overloads(name, aggregates, "User defined aggregate")?,
        Index(name) => vec![description.index(name)?],
        View(name) => vec![description.view(name)?],
    };
    Ok(rows(&elements, Detail::Statements))
}

/// One row: where something is, what it is and its name, and the statement that makes it.
struct Element {
    keyspace: String,
    kind: &'static str,
    name: String,
    statement: String,
}

/// Whether rows end with a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Names,
    Statements,
}

fn rows(elements: &[Element], detail: Detail) -> Rows {
    let names = ["keyspace_name", "type", "name", "create_statement"];
    let count = if detail == Detail::Names { 3 } else { 4 };
    let columns = names.iter().take(count);
    let columns = columns.map(|name| column(name, CqlType::Text)).collect();
    let mut content = BytesMut::new();
    for element in elements {
        let cells = [
            element.keyspace.as_str(),
            element.kind,
            &element.name,
            &element.statement,
        ];
        for cell in cells.iter().take(count) {
            put_cell(&mut content, cell.as_bytes());
        }
    }
    answer(columns, elements.len(), content)
}

/// A column of an answer.
fn column(name: &'static str, ty: CqlType) -> ColumnSpec<'static> {
    ColumnSpec {
        keyspace: "system".into(),
        table: "describe".into(),
        name: name.into(),
        ty,
    }
}

/// A cell's length and bytes.
fn put_cell(content: &mut BytesMut, cell: &[u8]) {
    content.put_u32(u32::try_from(cell.len()).unwrap_or(u32::MAX));
    content.put_slice(cell);
}

fn answer(columns: Vec<ColumnSpec<'static>>, row_count: usize, content: BytesMut) -> Rows {
    Rows {
        metadata: Arc::new(ResultMetadata::new(columns)),
        paging_state: None,
        skip_metadata: false,
        metadata_changed: false,
        row_count: u32::try_from(row_count).unwrap_or(u32::MAX),
        content: content.freeze(),
    }
}

/// Whether a keyspace is the server's own: left out of `DESCRIBE SCHEMA`.
fn is_system(keyspace: &Keyspace) -> bool {
    let name = &*keyspace.name;
    keyspace.is_virtual
        || keyspace.is_local_system()
        || ["system_auth", "system_distributed", "system_traces"].contains(&name)
}

/// What a statement is answered from.
struct Description<'a> {
    schema: &'a Schema,
    session_keyspace: Option<&'a str>,
    internals: bool,
}

impl<'a> Description<'a> {
    /// All keyspaces, by name whatever the case.
    fn sorted_keyspaces(&self) -> Vec<&'a Arc<Keyspace>> {
        let mut keyspaces: Vec<_> = self.schema.keyspaces.values().collect();
        keyspaces.sort_by_cached_key(|keyspace| keyspace.name.to_lowercase());
        keyspaces
    }

    /// The keyspaces a listing is about: that of the session, or all.
    fn listed(&self) -> Vec<&'a Arc<Keyspace>> {
        match self.session_keyspace {
            Some(name) => self.schema.keyspaces.get(name).into_iter().collect(),
            None => self.sorted_keyspaces(),
        }
    }

    fn keyspaces(&self) -> Vec<Element> {
        let keyspaces = self.sorted_keyspaces();
        keyspaces
            .iter()
            .map(|keyspace| self.keyspace_element(keyspace))
            .collect()
    }

    fn tables(&self) -> Vec<Element> {
        let keyspaces = self.listed();
        let tables = keyspaces
            .iter()
            .flat_map(|keyspace| sorted_tables(keyspace));
        tables.map(|table| self.table_element(table)).collect()
    }

    fn types(&self) -> Vec<Element> {
        let types = self.listed().into_iter().flat_map(|keyspace| {
            let mut types: Vec<_> = keyspace.types.values().collect();
            types.sort_by_cached_key(|ty| ty.name.to_lowercase());
            types
        });
        types.map(|ty| type_element(ty)).collect()
    }

    fn whole(&self, full: bool) -> Vec<Element> {
        let keyspaces = self.sorted_keyspaces().into_iter();
        let wanted = keyspaces.filter(|keyspace| full || !is_system(keyspace));
        wanted.flat_map(|keyspace| self.content(keyspace)).collect()
    }

    /// A keyspace with its types, each behind those it is made of, its functions and its tables.
    fn content(&self, keyspace: &Keyspace) -> Vec<Element> {
        let mut elements = vec![self.keyspace_element(keyspace)];
        elements.extend(
            create::types_in_order(keyspace)
                .iter()
                .map(|ty| type_element(ty)),
        );
        elements.extend(functions(keyspace, None));
        elements.extend(aggregates(keyspace, None));
        let tables = sorted_tables(keyspace).into_iter();
        elements.extend(tables.flat_map(|table| self.table_elements(table)));
        elements
    }

    /// The functions or aggregates of the keyspaces that a listing is about.
    fn all(&self, of: fn(&Keyspace, Option<&str>) -> Vec<Element>) -> Vec<Element> {
        let keyspaces = self.listed().into_iter();
        keyspaces.flat_map(|keyspace| of(keyspace, None)).collect()
    }

    /// All functions or aggregates of a name.
    fn overloads(
        &self,
        name: &TableName,
        of: fn(&Keyspace, Option<&str>) -> Vec<Element>,
        what: &str,
    ) -> Result<Vec<Element>, ErrorResponse> {
        let keyspace = self.named_keyspace(name.keyspace.as_deref())?;
        let found = of(keyspace, Some(&name.name));
        match found.is_empty() {
            true => Err(self.missing(name, what)),
            false => Ok(found),
        }
    }

    fn keyspace(&self, name: Option<&str>, only: bool) -> Result<Vec<Element>, ErrorResponse> {
        let keyspace = self.named_keyspace(name)?;
        Ok(match only {
            true => vec![self.keyspace_element(keyspace)],
            false => self.content(keyspace),
        })
    }

    /// The keyspace of that name, or of the session.
    fn named_keyspace(&self, name: Option<&str>) -> Result<&'a Arc<Keyspace>, ErrorResponse> {
        let Some(name) = name.or(self.session_keyspace) else {
            let message = "No keyspace specified and no current keyspace";
            return Err(ErrorResponse::invalid(message));
        };
        let keyspace = self.schema.keyspaces.get(name);
        keyspace.ok_or_else(|| not_found(name, "in keyspaces"))
    }

    fn table(&self, name: &TableName) -> Result<Vec<Element>, ErrorResponse> {
        let keyspace = self.named_keyspace(name.keyspace.as_deref())?;
        match keyspace.tables.get(&name.name) {
            Some(table) => Ok(self.table_elements(table)),
            None => Err(ErrorResponse::invalid(format!(
                "Table '{}' not found in keyspace '{}'",
                name.name, keyspace.name
            ))),
        }
    }

    fn index(&self, name: &TableName) -> Result<Element, ErrorResponse> {
        let keyspace = self.named_keyspace(name.keyspace.as_deref())?;
        match keyspace.index(&name.name) {
            Some((table, index)) => Ok(index_element(table, index)),
            None => Err(self.missing(name, "Table for existing index")),
        }
    }

    fn view(&self, name: &TableName) -> Result<Element, ErrorResponse> {
        let keyspace = self.named_keyspace(name.keyspace.as_deref())?;
        match keyspace.views.get(&name.name) {
            Some(view) => Ok(self.view_element(view)),
            None => Err(self.missing(name, "Materialized view")),
        }
    }

    fn user_type(&self, name: &TableName) -> Result<Element, ErrorResponse> {
        let keyspace = self.named_keyspace(name.keyspace.as_deref())?;
        match keyspace.types.get(&name.name) {
            Some(ty) => Ok(type_element(ty)),
            None => Err(self.missing(name, "User defined type")),
        }
    }

    /// The error for something that a keyspace doesn't have, or for the keyspace if that is missing.
    fn missing(&self, name: &TableName, what: &str) -> ErrorResponse {
        match self.named_keyspace(name.keyspace.as_deref()) {
            Ok(keyspace) => ErrorResponse::invalid(format!(
                "{what} '{}' not found in '{}'",
                name.name, keyspace.name
            )),
            Err(error) => error,
        }
    }

    /// A keyspace of that name, or else a table, a view or an index.
    fn anything(&self, name: &TableName) -> Result<Vec<Element>, ErrorResponse> {
        let keyspace = match name.keyspace.as_deref() {
            Some(keyspace) => self.named_keyspace(Some(keyspace))?,
            None => {
                if let Some(keyspace) = self.schema.keyspaces.get(&name.name) {
                    return Ok(self.content(keyspace));
                }
                match self.session_keyspace {
                    Some(keyspace) => self.named_keyspace(Some(keyspace))?,
                    None => return Err(not_found(&name.name, "in keyspaces")),
                }
            }
        };
        match keyspace.tables.get(&name.name) {
            Some(table) => Ok(self.table_elements(table)),
            None => {
                if let Some(view) = keyspace.views.get(&name.name) {
                    return Ok(vec![self.view_element(view)]);
                }
                if let Some((table, index)) = keyspace.index(&name.name) {
                    return Ok(vec![index_element(table, index)]);
                }
                let place = format!("in keyspace '{}'", keyspace.name);
                Err(not_found(&name.name, &place))
            }
        }
    }

    fn keyspace_element(&self, keyspace: &Keyspace) -> Element {
        let name = quoted(&keyspace.name).into_owned();
        Element {
            keyspace: name.clone(),
            kind: "keyspace",
            name,
            statement: create::keyspace(keyspace),
        }
    }

    /// A table with what depends on it.
    fn table_elements(&self, table: &Table) -> Vec<Element> {
        let mut indexes: Vec<_> = table.indexes.iter().collect();
        indexes.sort_by_cached_key(|index| index.name.to_lowercase());
        let indexes = indexes.iter().map(|index| index_element(table, index));
        let views = self.schema.keyspaces.get(&table.keyspace).into_iter();
        let mut views: Vec<_> = views
            .flat_map(|keyspace| keyspace.views_of(&table.name))
            .collect();
        views.sort_by_cached_key(|view| view.table.name.to_lowercase());
        let views = views.iter().map(|view| self.view_element(view));
        std::iter::once(self.table_element(table))
            .chain(indexes)
            .chain(views)
            .collect()
    }

    fn view_element(&self, view: &schema::View) -> Element {
        Element {
            keyspace: quoted(&view.table.keyspace).into_owned(),
            kind: "materialized_view",
            name: quoted(&view.table.name).into_owned(),
            statement: create::view(view, self.internals),
        }
    }

    fn table_element(&self, table: &Table) -> Element {
        let is_virtual = self
            .schema
            .keyspaces
            .get(&table.keyspace)
            .is_some_and(|keyspace| keyspace.is_virtual);
        Element {
            keyspace: quoted(&table.keyspace).into_owned(),
            kind: "table",
            name: quoted(&table.name).into_owned(),
            statement: create::table(table, is_virtual, self.internals),
        }
    }
}

fn sorted_tables(keyspace: &Keyspace) -> Vec<&Arc<Table>> {
    let mut tables: Vec<_> = keyspace.tables.values().collect();
    tables.sort_by_cached_key(|table| table.name.to_lowercase());
    tables
}

fn index_element(table: &Table, index: &Index) -> Element {
    Element {
        keyspace: quoted(&table.keyspace).into_owned(),
        kind: "index",
        name: quoted(&index.name).into_owned(),
        statement: create::index(table, index),
    }
}

fn type_element(ty: &helenus_core::types::UserType) -> Element {
    Element {
        keyspace: quoted(&ty.keyspace).into_owned(),
        kind: "type",
        name: quoted(&ty.name).into_owned(),
        statement: create::user_type(ty),
    }
}

/// A keyspace's functions, perhaps only those of a name, in order whatever the case.
fn functions(keyspace: &Keyspace, name: Option<&str>) -> Vec<Element> {
    let of_name = |own: &str| name.is_none_or(|name| name == own);
    let functions = keyspace
        .functions
        .values()
        .filter(|function| of_name(&function.name));
    sorted(functions.map(|function| Element {
        keyspace: quoted(&function.keyspace).into_owned(),
        kind: "function",
        name: create::signature(&function.name, &function.argument_types),
        statement: create::function(function),
    }))
}

/// A keyspace's aggregates, perhaps only those of a name, in order whatever the case.
fn aggregates(keyspace: &Keyspace, name: Option<&str>) -> Vec<Element> {
    let of_name = |own: &str| name.is_none_or(|name| name == own);
    let aggregates = keyspace
        .aggregates
        .values()
        .filter(|aggregate| of_name(&aggregate.name));
    sorted(aggregates.map(|aggregate| Element {
        keyspace: quoted(&aggregate.keyspace).into_owned(),
        kind: "aggregate",
        name: create::signature(&aggregate.name, &aggregate.argument_types),
        statement: create::aggregate(aggregate),
    }))
}

fn sorted(elements: impl Iterator<Item = Element>) -> Vec<Element> {
    let mut elements: Vec<_> = elements.collect();
    elements.sort_by_cached_key(|element| element.name.trim_start_matches('"').to_lowercase());
    elements
}

fn not_found(name: &str, place: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!("'{name}' not found {place}"))
}
