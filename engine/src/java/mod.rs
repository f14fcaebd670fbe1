//! A small Java: the bodies of user functions, checked as a compiler checks them and then interpreted, without a JVM.
//!
//! A body may hold:
//!
//! - local variables of `boolean`, the numeric types and `char`, their boxes, `String`, `List`, `Set`, `Map`, `UDTValue`,
//!   `TupleValue` and the classes of other CQL types (`UUID`, `ByteBuffer`, …), which are handed on as they are;
//! - literals, the operators of Java with its promotions, boxing and unboxing, casts, `?:`, string concatenation;
//! - `if`, `while`, `do`, `for` over counters and over collections, `break`, `continue`, `return`, and `throw new` of the
//!   unchecked exceptions of `java.lang`;
//! - the methods that [`methods`] lists, `new ArrayList<Integer>()` and its like, and `udfContext.newReturnUDTValue()`.
//!
//! Everything else is refused when the function is created, with the place and the name of the construct. Types,
//! definite assignment and reachability follow the Java Language Specification, so that what is accepted here is
//! accepted by Apache Cassandra, and computes the same.
//!
//! Calls are bounded in [steps](Budget), to which allocation counts, and in stack: expressions and statements nest
//! [`MAX_DEPTH`] deep at most.

mod compile;
mod conversions;
mod convert;
mod eval;
mod expression;
mod flow;
mod lexer;
mod library;
mod literals;
mod methods;
mod operands;
mod operators;
mod statements;
mod types;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use compile::compile;
pub(crate) use eval::Budget;

use helenus_core::types::CqlType;

use expression::Statement;

/// How deep expressions and statements may nest.
const MAX_DEPTH: u16 = 64;

/// A checked body.
#[derive(Debug)]
pub(crate) struct Program {
    body: Vec<Statement>,
    /// How many local variables are alive at once, parameters among them.
    locals: usize,
    has_loops: bool,
    /// How many tokens the body has.
    size: usize,
}

/// The size of a body that is done soon, if it has no loops.
const SHORT: usize = 256;

impl Program {
    /// Whether a call may take so long that it shouldn't be made where others wait.
    pub(crate) fn may_take_long(&self) -> bool {
        self.has_loops || self.size > SHORT
    }
}

/// What a program is called with and gives, in CQL's types.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature<'a> {
    /// The types of the arguments.
    pub(crate) arguments: &'a [CqlType],
    /// The type of the result.
    pub(crate) returns: &'a CqlType,
}

/// Why a body is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}:{column} {message}")]
pub(crate) struct CompileError {
    /// The line, from 1.
    line: usize,
    /// The column, from 1, in characters.
    column: usize,
    message: String,
}

/// What is wrong, and where in the body.
#[derive(Debug)]
struct Fault {
    /// A byte offset.
    at: usize,
    message: String,
}

type Checked<T> = Result<T, Fault>;

fn fault<T>(at: usize, message: impl Into<String>) -> Checked<T> {
    Err(Fault {
        at,
        message: message.into(),
    })
}
