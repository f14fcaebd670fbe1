//! An embedded CQL engine: grammar, schema, plans and mutation based storage, without I/O.

pub mod context;
pub mod cql;
pub mod execution;
pub mod literal;
pub mod readers;
pub mod schema;
pub mod storage;
pub mod system;
pub mod types;

pub use context::Context;
