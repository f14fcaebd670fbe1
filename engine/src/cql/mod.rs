//! The CQL grammar: text in, [`ast`] out.

pub mod ast;
