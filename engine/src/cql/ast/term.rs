//! Terms, literals and the types written beside them.

use std::sync::Arc;

use super::{Name, TableName};

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
    /// `cast(term AS type)`
    Cast(Box<Term>, TypeName),
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
    /// `vector<…, n>`; a dimension below 1 is refused when the type is resolved.
    Vector(Box<TypeName>, i32),
    /// `frozen<…>`
    Frozen(Box<TypeName>),
    /// A user-defined type.
    User(TableName),
    /// `'class.name'`
    Custom(Name),
}
