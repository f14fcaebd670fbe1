//! `cassandra-protocol`, as `cdrs-tokio` uses it.

pub mod framing;
pub mod requests;
pub mod rows;
