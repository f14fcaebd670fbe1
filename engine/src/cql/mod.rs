//! The CQL grammar: text in, [`ast`] out, after Cassandra 5.0's `Parser.g` and `Lexer.g`.
//!
//! A lexer makes tokens of the text; nom parsers over those make the tree. Rules decide by looking ahead, as
//! Cassandra's generated parser does, so that errors name the same token at the same position.

pub mod ast;

mod access;
mod assignments;
mod calls;
mod collections;
mod ddl;
mod describe;
mod error;
mod functions;
mod indexes;
mod input;
mod keywords;
mod lexer;
mod modify;
mod names;
mod numbers;
mod properties;
mod relations;
mod select;
mod selection;
mod statement;
mod tables;
mod terms;
mod token;
mod types;
mod unsupported;
mod views;

#[cfg(test)]
mod tests;

use std::cell::Cell;

use ast::Statement;
use error::{Fault, Scene};
use helenus_core::ErrorResponse;
use input::{Input, Source};

/// A statement with what it needs to be bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// How many bind markers it has; each knows its own index.
    pub markers: usize,
}

/// Why a text is no statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text doesn't follow the grammar; the message has Cassandra's words and, mostly, the line and column.
    #[error("{0}")]
    Syntax(String),
    /// The text follows the grammar, but the grammar's actions already see that it is invalid.
    #[error("{0}")]
    Invalid(String),
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        match error {
            Error::Syntax(message) => Self::syntax(message),
            Error::Invalid(message) => Self::invalid(message),
        }
    }
}

/// Parses one statement, with or without a semicolon behind it.
///
/// Takes time linear in the text's length, and a bounded amount of stack: terms, selectors and types nest up to 128
/// levels deep, and chain up to 128 arithmetic operators.
///
/// # Errors
/// [`Error::Syntax`] for what Cassandra answers SYNTAX_ERROR to, [`Error::Invalid`] for what it answers INVALID to.
pub fn parse(text: &str) -> Result<Parsed, Error> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::Syntax(String::from("The text is too long")));
    }
    let lexed = lexer::tokenize(text);
    let source = Source {
        text,
        tokens: &lexed.tokens,
        furthest: Cell::new(lexed.tokens.len()),
    };
    let fault = match statement::query(Input::new(&source)) {
        Ok((input, statement)) => {
            return Ok(Parsed {
                statement,
                markers: input.markers as usize,
            });
        }
        Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => fault,
        // The parsers are complete ones: they never ask for more.
        Err(nom::Err::Incomplete(_)) => Fault::Syntax(String::from("incomplete statement")),
    };
    if source.furthest.get() <= 1
        && let Some(fault) = &lexed.fault
    {
        return Err(Error::Syntax(error::lexical(text, fault)));
    }
    if let Fault::Invalid(message) = fault {
        return Err(Error::Invalid(message));
    }
    let scene = Scene {
        text,
        tokens: &lexed.tokens,
        furthest: lexed.tokens.len() - source.furthest.get().min(lexed.tokens.len()),
    };
    Err(Error::Syntax(scene.describe(fault)))
}
