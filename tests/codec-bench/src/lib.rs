//! The codec of helenus, measured against `scylla-cql`, `cassandra-protocol` and a floor written by hand, in one
//! binary. The README says how to run it and what each scenario is.

pub mod allocations;
pub mod cassandra;
pub mod contender;
pub mod cost;
pub mod data;
pub mod floor;
pub mod ours;
pub mod report;
pub mod scenarios;
pub mod scylla;
pub mod targets;
pub mod time;
