//! `SELECT` with its selectors and relations.

use super::{Name, Operator, TableName, Term, TypeName};

/// `SELECT`
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// What is selected; empty for `*`.
    pub selectors: Vec<Selector>,
    /// `DISTINCT`
    pub distinct: bool,
    /// `JSON`: each row as one text.
    pub json: bool,
    /// The table.
    pub from: TableName,
    /// `WHERE`
    pub restrictions: Vec<Relation>,
    /// `GROUP BY`: parsed, refused at planning.
    pub group_by: Vec<Selectable>,
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
    /// `count(*)`
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
    /// `column IN (…)` or `column IN ?`
    In(Name, InValues),
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
    /// `expr(index, term)`: parsed, refused at planning.
    Expression(Name, Term),
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
