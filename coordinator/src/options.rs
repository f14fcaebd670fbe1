//! What reads have in common.

use std::time::Instant;

#[cfg(doc)]
use crate::machine::Action;

/// What a read does about replicas that are found to be behind: a table's `read_repair`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadRepair {
    /// `BLOCKING`: they are sent what they lack, and the answer waits until as many have it as the level needs. So a
    /// later read at a quorum never gives older data.
    Blocking,
    /// `NONE`: they are left as they are.
    None,
}

/// What reads have in common.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// When the client gets an answer, whatever it is.
    pub deadline: Instant,
    /// What is done about replicas that are behind.
    pub repair: ReadRepair,
    /// Whether [`Action::Trace`] tells the steps.
    pub traced: bool,
}
