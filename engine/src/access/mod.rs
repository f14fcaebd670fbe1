//! Roles, and what they may do: a snapshot of `system_auth` and what statements make of it. Answers to Cassandra 5.0's
//! `CassandraRoleManager` and `CassandraAuthorizer`.
//!
//! Whoever drives the engine reads the tables of `system_auth` into [`Roles`], asks each statement whether it is
//! [authorized](crate::statement::Statement::authorize) with the [`Rights`] of its user, and applies the mutations that
//! statements on roles come to.

mod change;
mod follow;
mod list;
mod permission;
mod resource;
mod rights;
mod roles;
mod writer;

pub use change::{AccessUpdate, Caller};
pub use permission::{Permission, PermissionSet};
pub use resource::Resource;
pub use rights::Rights;
pub use roles::{Role, Roles};

/// The superuser that a new node has, whose password is its name.
pub const SUPERUSER: &str = "cassandra";
