//! `INSERT`, `UPDATE`, `DELETE` and `BATCH`.

use super::{Comparison, InValues, Name, Relation, Statement, TableName, Term};

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
    /// `JSON term`, a string or marker.
    Json {
        /// The map from columns to values.
        document: Term,
        /// `DEFAULT UNSET`: columns that the document doesn't name stay as they are, rather than become null.
        default_unset: bool,
    },
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
