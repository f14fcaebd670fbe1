//! An embedded CQL engine: grammar, schema, plans and mutation based storage, without I/O.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests may read clocks"
    )
)]

pub mod access;
mod consistency;
pub mod context;
pub mod cql;
pub mod describe;
pub mod execution;
mod functions;
pub mod guardrails;
mod java;
mod json;
pub mod literal;
pub mod readers;
pub mod replica;
pub mod schema;
pub mod statement;
pub mod storage;
pub mod system;
mod term;
pub mod types;

pub use context::Context;
pub use functions::{NativeAggregate, NativeError, NativeFunction, NativeSignature};
pub use guardrails::Guardrails;
