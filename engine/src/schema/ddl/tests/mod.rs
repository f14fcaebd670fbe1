//! Schema changes held against what Apache Cassandra 5.0.4 answers to the same statements.

mod alter_table;
mod create_table;
mod functions;
mod indexes;
mod keyspaces;
mod options;
mod strategies;
mod updates;
mod user_types;
mod views;

use super::testing::World;
