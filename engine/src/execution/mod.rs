//! Executing planned statements as a state machine that leaves all reading and writing to its driver.

mod action;

pub use action::{Action, Completed, Outcome};
