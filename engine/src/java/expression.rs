//! The checked tree that is interpreted: every conversion explicit, every variable a place.

use super::methods::Method;
use super::operators::{Binary, Comparison, Shift};
use super::types::Primitive;
use super::value::Value;

/// An expression.
#[derive(Debug)]
pub(super) enum Expression {
    Constant(Constant),
    /// A local variable.
    Local(usize),
    /// `variable = value`
    Assign(usize, Box<Expression>),
    /// `variable++`: the old value, the variable set to the new one.
    Postfix(usize, Box<Expression>),
    /// A primitive of another type.
    Convert(Primitive, Box<Expression>),
    /// What a box holds: an exception if there is none.
    Unbox(Box<Expression>),
    Negate(Box<Expression>),
    Complement(Box<Expression>),
    Not(Box<Expression>),
    Binary(Binary, Box<(Expression, Expression)>),
    Shift(Shift, Box<(Expression, Expression)>),
    Compare(Comparison, Box<(Expression, Expression)>),
    /// Whether a reference is null.
    IsNull(Box<Expression>),
    /// `a && b`
    Both(Box<(Expression, Expression)>),
    /// `a || b`
    Either(Box<(Expression, Expression)>),
    /// `condition ? a : b`
    Choice(Box<(Expression, Expression, Expression)>),
    /// `a + b` where one is a string.
    Concat(Box<(Expression, Expression)>),
    Call(Method, Vec<Expression>),
}

/// A constant, which a program keeps and threads share.
#[derive(Debug, Clone)]
pub(super) enum Constant {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(std::sync::Arc<[u16]>),
}

impl Constant {
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Byte(value) => Value::Byte(*value),
            Self::Short(value) => Value::Short(*value),
            Self::Char(value) => Value::Char(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Long(value) => Value::Long(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Double(value) => Value::Double(*value),
            Self::String(units) => Value::String(units[..].into()),
        }
    }
}

impl From<&Value> for Constant {
    /// Null for what is no constant of Java.
    fn from(value: &Value) -> Self {
        match value {
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Byte(value) => Self::Byte(*value),
            Value::Short(value) => Self::Short(*value),
            Value::Char(value) => Self::Char(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Long(value) => Self::Long(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Double(value) => Self::Double(*value),
            Value::String(units) => Self::String(units[..].into()),
            _ => Self::Null,
        }
    }
}

/// A statement.
#[derive(Debug)]
pub(super) enum Statement {
    /// An expression for what it does.
    Do(Expression),
    Block(Vec<Statement>),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    Loop(Box<Loop>),
    /// `for (variable : collection)`
    Each(usize, Expression, Box<Statement>),
    Break,
    Continue,
    Return(Expression),
    /// An exception's class, and its message if it has one.
    Throw(&'static str, Option<Expression>),
}

/// `while`, `do` and `for`.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) condition: Option<Expression>,
    /// The body comes before the first look at the condition.
    pub(super) body_first: bool,
    pub(super) body: Statement,
    pub(super) update: Vec<Expression>,
}
