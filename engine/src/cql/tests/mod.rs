//! What the grammar accepts, what tree it makes, and how it refuses.

mod errors;
mod robustness;
mod schema;
mod statements;
mod terms;

use super::ast::{Select, Statement};
use super::{Error, Parsed, parse};

fn statement(text: &str) -> Statement {
    match parse(text) {
        Ok(Parsed { statement, .. }) => statement,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn select(text: &str) -> Select {
    match statement(text) {
        Statement::Select(select) => *select,
        other => panic!("{text}: {other:?}"),
    }
}

fn syntax_error(text: &str) -> String {
    match parse(text) {
        Err(Error::Syntax(message)) => message,
        other => panic!("{text}: {other:?}"),
    }
}
