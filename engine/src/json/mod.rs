//! JSON: rows and values as documents, and documents as values. Answers to Cassandra's `Json` and to the
//! `toJSONString` and `fromJSONObject` of its types.

mod parse;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use parse::parse;
pub(crate) use read::{Fault, columns, no_document, value};
pub(crate) use write::{column_key, write};

/// How much of a document a message repeats.
const QUOTED: usize = 1024;

/// The beginning of a text, as much of it as a message repeats.
pub(crate) fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(QUOTED)).unwrap_or(text)
}
