//! The Cassandra native protocol (CQL v3, v4, v5) as a sans-IO state machine.

pub mod types;
