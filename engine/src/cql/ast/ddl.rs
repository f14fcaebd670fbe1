//! Statements that change the schema.

use std::sync::Arc;

use super::{CreateIndex, CreateView, Name, TableName, Term, TypeName};

/// A statement that changes the schema.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ddl {
    /// `CREATE KEYSPACE`
    CreateKeyspace {
        /// The keyspace.
        name: Name,
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// `WITH`
        properties: Properties,
    },
    /// `ALTER KEYSPACE`
    AlterKeyspace {
        /// The keyspace.
        name: Name,
        /// `IF EXISTS`
        if_exists: bool,
        /// `WITH`
        properties: Properties,
    },
    /// `DROP KEYSPACE`
    DropKeyspace {
        /// The keyspace.
        name: Name,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `CREATE TABLE`
    CreateTable(CreateTable),
    /// `ALTER TABLE`
    AlterTable {
        /// The table.
        table: TableName,
        /// `IF EXISTS`
        if_exists: bool,
        /// What changes.
        change: AlterTable,
    },
    /// `DROP TABLE`
    DropTable {
        /// The table.
        table: TableName,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `CREATE INDEX`
    CreateIndex(CreateIndex),
    /// `DROP INDEX`
    DropIndex {
        /// The index.
        name: TableName,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `CREATE MATERIALIZED VIEW`
    CreateView(CreateView),
    /// `ALTER MATERIALIZED VIEW`
    AlterView {
        /// The view.
        name: TableName,
        /// `IF EXISTS`
        if_exists: bool,
        /// `WITH`
        properties: Properties,
    },
    /// `DROP MATERIALIZED VIEW`
    DropView {
        /// The view.
        name: TableName,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `CREATE TYPE`
    CreateType {
        /// The type.
        name: TableName,
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The fields in order.
        fields: Vec<(Name, TypeName)>,
    },
    /// `ALTER TYPE`
    AlterType {
        /// The type.
        name: TableName,
        /// `IF EXISTS`
        if_exists: bool,
        /// What changes.
        change: AlterType,
    },
    /// `DROP TYPE`
    DropType {
        /// The type.
        name: TableName,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `CREATE FUNCTION`
    CreateFunction(Box<CreateFunction>),
    /// `DROP FUNCTION`
    DropFunction(DropFunction),
    /// `CREATE AGGREGATE`
    CreateAggregate(Box<CreateAggregate>),
    /// `DROP AGGREGATE`
    DropAggregate(DropFunction),
}

/// What a `CREATE` of a function or aggregate does where it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Existing {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
}

/// `CREATE FUNCTION`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateFunction {
    /// The function.
    pub name: TableName,
    /// `OR REPLACE`, `IF NOT EXISTS`
    pub existing: Existing,
    /// The names and types of its arguments.
    pub arguments: Vec<(Name, TypeName)>,
    /// `CALLED ON NULL INPUT` rather than `RETURNS NULL ON NULL INPUT`
    pub called_on_null: bool,
    /// `RETURNS`
    pub returns: TypeName,
    /// `LANGUAGE`, in lower case
    pub language: Name,
    /// `AS`
    pub body: Arc<str>,
}

/// `CREATE AGGREGATE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateAggregate {
    /// The aggregate.
    pub name: TableName,
    /// `OR REPLACE`, `IF NOT EXISTS`
    pub existing: Existing,
    /// The types of its arguments.
    pub arguments: Vec<TypeName>,
    /// `SFUNC`
    pub state_function: Name,
    /// `STYPE`
    pub state_type: TypeName,
    /// `FINALFUNC`
    pub final_function: Option<Name>,
    /// `INITCOND`
    pub initial: Option<Term>,
}

/// `DROP FUNCTION` and `DROP AGGREGATE`
#[derive(Debug, Clone, PartialEq)]
pub struct DropFunction {
    /// The function or aggregate.
    pub name: TableName,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The types of its arguments; `None` if only one has the name.
    pub arguments: Option<Vec<TypeName>>,
}

/// `CREATE TABLE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// The table.
    pub table: TableName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// Columns in the order written.
    pub columns: Vec<ColumnDefinition>,
    /// `PRIMARY KEY ((a, b), c)`: partition key, then clustering columns. `None` when only inline.
    pub primary_key: Option<(Vec<Name>, Vec<Name>)>,
    /// `WITH CLUSTERING ORDER BY (c DESC)`: column and whether it descends.
    pub clustering_order: Vec<(Name, bool)>,
    /// `WITH COMPACT STORAGE`, refused at run time.
    pub compact_storage: bool,
    /// The other `WITH` entries.
    pub properties: Properties,
}

/// A column of `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// The name.
    pub name: Name,
    /// The type.
    pub ty: TypeName,
    /// `STATIC`
    pub is_static: bool,
    /// `PRIMARY KEY` behind the column.
    pub is_primary_key: bool,
}

/// The change of an `ALTER TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterTable {
    /// `ADD [IF NOT EXISTS] (a int, b text STATIC)`
    Add {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The new columns.
        columns: Vec<ColumnDefinition>,
    },
    /// `DROP [IF EXISTS] (a, b) [USING TIMESTAMP n]`
    Drop {
        /// `IF EXISTS`
        if_exists: bool,
        /// The columns.
        columns: Vec<Name>,
        /// `USING TIMESTAMP`, microseconds.
        timestamp: Option<i64>,
    },
    /// `RENAME [IF EXISTS] a TO b AND c TO d`
    Rename {
        /// `IF EXISTS`
        if_exists: bool,
        /// Old and new names.
        columns: Vec<(Name, Name)>,
    },
    /// `ALTER column TYPE type`, which Cassandra refuses.
    Type(Name, TypeName),
    /// `WITH …`
    Properties(Properties),
}

/// The change of an `ALTER TYPE`.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterType {
    /// `ADD [IF NOT EXISTS] field type`
    Add {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The field.
        field: Name,
        /// Its type.
        ty: TypeName,
    },
    /// `RENAME [IF EXISTS] a TO b AND …`
    Rename {
        /// `IF EXISTS`
        if_exists: bool,
        /// Old and new names.
        fields: Vec<(Name, Name)>,
    },
    /// `ALTER field TYPE type`, which Cassandra refuses.
    Type(Name, TypeName),
}

/// `WITH a = b AND c = {…}` in the order written.
pub type Properties = Vec<(Name, Property)>;

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Property {
    /// A word, number, boolean or string, unquoted.
    Value(Arc<str>),
    /// `{'k': 'v'}`
    Map(Vec<(Arc<str>, Arc<str>)>),
}
