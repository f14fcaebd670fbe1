//! The syntax tree of CQL statements, as the grammar gives it: names and literals are not resolved yet.
//! Answers to Cassandra 5.0's `Parser.g`, restricted to the statements this engine runs.

use std::sync::Arc;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Statement {
    /// `SELECT`
    Select(Box<Select>),
    /// `INSERT`
    Insert(Box<Insert>),
    /// `UPDATE`
    Update(Box<Update>),
    /// `DELETE`
    Delete(Box<Delete>),
    /// `BEGIN … APPLY BATCH`
    Batch(Box<Batch>),
    /// `USE keyspace`
    Use(Name),
    /// `TRUNCATE [TABLE] table`
    Truncate(TableName),
    /// `CREATE`, `ALTER`, `DROP` of a keyspace, table or type.
    Ddl(Box<Ddl>),
    /// `DESCRIBE …`, which cqlsh sends to the server.
    Describe(Describe),
    /// A statement this engine parses and refuses at run time, with the words it is named by.
    Unsupported(&'static str),
}

/// An identifier: folded to lower case unless it was quoted, without its quotes.
pub type Name = Arc<str>;

/// A table or type, with the keyspace if the text had one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The keyspace before the dot.
    pub keyspace: Option<Name>,
    /// The name itself.
    pub name: Name,
}

/// A term: anything that can stand for a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// `null`
    Null,
    /// A literal whose type the column decides.
    Literal(Literal),
    /// `?`, or `:name` with its name; with the place of the marker in the statement, from 0.
    Marker {
        /// The place among all markers of the statement, from 0.
        index: usize,
        /// The name of `:name`.
        name: Option<Name>,
    },
    /// `[a, b]`: a list or a vector.
    List(Vec<Term>),
    /// `{a, b}`; `{}` is an empty set or map (or user type).
    Set(Vec<Term>),
    /// `{a: b, c: d}`
    Map(Vec<(Term, Term)>),
    /// `{field: value}` where every key is a bare identifier.
    UserType(Vec<(Name, Term)>),
    /// `(a, b)`
    Tuple(Vec<Term>),
    /// `function(arguments)`
    Function(FunctionCall),
    /// `(type) term`
    Hint(TypeName, Box<Term>),
    /// `a + b` and the like.
    Arithmetic(Box<Term>, Operator, Box<Term>),
    /// `-term`
    Negation(Box<Term>),
}

/// A literal as written; the text is kept so that its exact value decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `'text'` or `$$text$$`, unescaped.
    String(Arc<str>),
    /// Digits, perhaps with a sign.
    Integer(Arc<str>),
    /// A number with a fraction or an exponent, or `NaN`, `Infinity` and their negatives.
    Float(Arc<str>),
    /// `true` or `false`
    Boolean(bool),
    /// A UUID without quotes.
    Uuid(Arc<str>),
    /// Hexadecimal digits after `0x`.
    Blob(Arc<str>),
    /// `1h30m`, `P1Y`, …
    Duration(Arc<str>),
}

/// An arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

/// A call of a function on terms.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// The keyspace before the dot.
    pub keyspace: Option<Name>,
    /// The function's name.
    pub name: Name,
    /// The arguments.
    pub arguments: Vec<Term>,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// A native type by its lower-case name.
    Native(Name),
    /// `list<…>`
    List(Box<TypeName>),
    /// `set<…>`
    Set(Box<TypeName>),
    /// `map<…, …>`
    Map(Box<TypeName>, Box<TypeName>),
    /// `tuple<…>`
    Tuple(Vec<TypeName>),
    /// `vector<…, n>`
    Vector(Box<TypeName>, u32),
    /// `frozen<…>`
    Frozen(Box<TypeName>),
    /// A user-defined type.
    User(TableName),
    /// `'class.name'`
    Custom(Name),
}

/// `SELECT`
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// What is selected; empty for `*`.
    pub selectors: Vec<Selector>,
    /// `DISTINCT`
    pub distinct: bool,
    /// `JSON`: parsed, refused at planning.
    pub json: bool,
    /// The table.
    pub from: TableName,
    /// `WHERE`
    pub restrictions: Vec<Relation>,
    /// `GROUP BY` columns: parsed, refused at planning.
    pub group_by: Vec<Name>,
    /// `ORDER BY`
    pub order_by: Vec<OrderBy>,
    /// `PER PARTITION LIMIT`
    pub per_partition_limit: Option<Term>,
    /// `LIMIT`
    pub limit: Option<Term>,
    /// `ALLOW FILTERING`
    pub allow_filtering: bool,
}

/// One `ORDER BY` entry.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderBy {
    /// The column.
    pub column: Name,
    /// `ANN OF term`: parsed, refused at planning.
    pub ann_of: Option<Term>,
    /// `DESC`
    pub descending: bool,
}

/// A selected expression with its alias.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// What is computed.
    pub expression: Selectable,
    /// `AS alias`
    pub alias: Option<Name>,
}

/// An expression of a `SELECT` clause.
#[derive(Debug, Clone, PartialEq)]
pub enum Selectable {
    /// A column.
    Column(Name),
    /// A term that names no column: a literal, marker or hint.
    Term(Term),
    /// `count(*)` or `count(1)`, with the text of the argument list.
    CountAll,
    /// `writetime(…)`
    WriteTime(Box<Selectable>),
    /// `maxwritetime(…)`
    MaxWriteTime(Box<Selectable>),
    /// `ttl(…)`
    Ttl(Box<Selectable>),
    /// `cast(x AS type)`
    Cast(Box<Selectable>, TypeName),
    /// `function(…)`
    Function {
        /// The keyspace before the dot.
        keyspace: Option<Name>,
        /// The function's name.
        name: Name,
        /// The arguments.
        arguments: Vec<Selectable>,
    },
    /// `x.field`
    Field(Box<Selectable>, Name),
    /// `x[key]`
    Element(Box<Selectable>, Term),
    /// `x[from..to]`
    Slice(Box<Selectable>, Option<Term>, Option<Term>),
    /// `a + b`
    Arithmetic(Box<Selectable>, Operator, Box<Selectable>),
    /// `-a`
    Negation(Box<Selectable>),
    /// `(a, b)`: a tuple; with one element, a parenthesis.
    Tuple(Vec<Selectable>),
    /// `[a, b]`
    List(Vec<Selectable>),
    /// `{a, b}`
    Set(Vec<Selectable>),
    /// `{a: b}`
    Map(Vec<(Selectable, Selectable)>),
    /// `(type) x`
    Hint(TypeName, Box<Selectable>),
}

/// A relation of a `WHERE` clause.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// `column op term`
    Column(Name, Comparison, Term),
    /// `column IN (…)` or `column IN ?`, and `NOT IN`.
    In {
        /// The column.
        column: Name,
        /// The values.
        values: InValues,
        /// `NOT IN`
        negated: bool,
    },
    /// `column[key] op term`
    Element(Name, Term, Comparison, Term),
    /// `(a, b) op term`, the term a tuple or marker.
    Columns(Vec<Name>, Comparison, Term),
    /// `(a, b) IN (…)` or `IN ?`
    ColumnsIn(Vec<Name>, InValues),
    /// `token(a, b) op term`
    Token(Vec<Name>, Comparison, Term),
    /// `column CONTAINS term`
    Contains(Name, Term),
    /// `column CONTAINS KEY term`
    ContainsKey(Name, Term),
    /// `column LIKE term`
    Like(Name, Term),
    /// `column IS NOT NULL`
    IsNotNull(Name),
    /// `column BETWEEN a AND b`
    Between(Name, Term, Term),
}

/// What stands behind `IN`.
#[derive(Debug, Clone, PartialEq)]
pub enum InValues {
    /// `(a, b)`
    List(Vec<Term>),
    /// `?`: a marker for the whole list.
    Marker(Term),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// `USING TIMESTAMP … AND TTL …`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Using {
    /// `TIMESTAMP`, microseconds.
    pub timestamp: Option<Term>,
    /// `TTL`, seconds.
    pub ttl: Option<Term>,
}

/// `INSERT`
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The table.
    pub table: TableName,
    /// Columns and values, or JSON.
    pub source: InsertSource,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `USING`
    pub using: Using,
}

/// What an `INSERT` takes its values from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `(columns) VALUES (terms)`; the counts may differ, which planning refuses.
    Values(Vec<Name>, Vec<Term>),
    /// `JSON term`, refused at planning.
    Json(Term),
}

/// `UPDATE`
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The table.
    pub table: TableName,
    /// `USING`
    pub using: Using,
    /// `SET`
    pub assignments: Vec<Assignment>,
    /// `WHERE`
    pub restrictions: Vec<Relation>,
    /// `IF`
    pub condition: Conditions,
}

/// One entry of `SET`.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    /// `c = term`
    Set(Name, Term),
    /// `c = c + term`, `c += term`
    Add(Name, Term),
    /// `c = term + c`
    Prepend(Name, Term),
    /// `c = c - term`, `c -= term`
    Subtract(Name, Term),
    /// `c[key] = term`
    SetElement(Name, Term, Term),
    /// `c.field = term`
    SetField(Name, Name, Term),
}

/// The `IF` of a statement.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Conditions {
    /// No `IF`.
    #[default]
    None,
    /// `IF EXISTS`
    Exists,
    /// `IF a AND b`
    If(Vec<Condition>),
}

/// One condition of an `IF`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is compared.
    pub subject: ConditionSubject,
    /// How, and with what.
    pub test: ConditionTest,
}

/// The left side of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionSubject {
    /// `column`
    Column(Name),
    /// `column[key]`
    Element(Name, Term),
    /// `column.field`
    Field(Name, Name),
}

/// The operator and right side of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionTest {
    /// `op term`
    Compare(Comparison, Term),
    /// `IN (…)`
    In(InValues),
    /// `CONTAINS term`
    Contains(Term),
    /// `CONTAINS KEY term`
    ContainsKey(Term),
}

/// `DELETE`
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// What is deleted; empty for whole rows.
    pub targets: Vec<DeleteTarget>,
    /// The table.
    pub table: TableName,
    /// `USING TIMESTAMP`
    pub using: Using,
    /// `WHERE`
    pub restrictions: Vec<Relation>,
    /// `IF`
    pub condition: Conditions,
}

/// One entry of a `DELETE` list.
#[derive(Debug, Clone, PartialEq)]
pub enum DeleteTarget {
    /// `column`
    Column(Name),
    /// `column[key]`
    Element(Name, Term),
    /// `column.field`
    Field(Name, Name),
}

/// The kind of a `BEGIN … BATCH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchKind {
    /// `BEGIN BATCH`
    Logged,
    /// `BEGIN UNLOGGED BATCH`
    Unlogged,
    /// `BEGIN COUNTER BATCH`
    Counter,
}

/// `BEGIN … APPLY BATCH`
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The kind.
    pub kind: BatchKind,
    /// `USING TIMESTAMP`
    pub using: Using,
    /// `INSERT`, `UPDATE` and `DELETE` statements.
    pub statements: Vec<Statement>,
}

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

/// `DESCRIBE …`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    /// What is described.
    pub target: DescribeTarget,
    /// `WITH INTERNALS`
    pub internals: bool,
}

/// What a `DESCRIBE` is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribeTarget {
    /// `CLUSTER`
    Cluster,
    /// `[FULL] SCHEMA`
    Schema {
        /// `FULL`
        full: bool,
    },
    /// `KEYSPACES`
    Keyspaces,
    /// `[ONLY] KEYSPACE [name]`
    Keyspace {
        /// `ONLY`
        only: bool,
        /// The keyspace; that of the session when missing.
        name: Option<Name>,
    },
    /// `TABLES`
    Tables,
    /// `TABLE name`
    Table(TableName),
    /// `TYPES`
    Types,
    /// `TYPE name`
    Type(TableName),
    /// `FUNCTIONS`
    Functions,
    /// `FUNCTION name`
    Function(TableName),
    /// `AGGREGATES`
    Aggregates,
    /// `AGGREGATE name`
    Aggregate(TableName),
    /// `INDEX name`
    Index(TableName),
    /// `MATERIALIZED VIEW name`
    View(TableName),
    /// `DESCRIBE name`: a keyspace, table or whatever has it.
    Anything(TableName),
}
