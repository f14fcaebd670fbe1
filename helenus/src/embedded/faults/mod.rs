//! Faults on purpose: which of them a request meets, at the cost of one look at a flag while there are none.

mod error;
mod fault;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use helenus_core::message::ErrorResponse;
use helenus_engine::execution::{Execution, Work};

pub use error::FaultError;
pub use fault::{Fault, FaultOperation, InvalidFault};

/// The faults in force.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Whether there are any.
    armed: AtomicBool,
    rules: RwLock<Vec<Rule>>,
}

#[derive(Debug)]
struct Rule {
    fault: Fault,
    /// How many requests may still meet it.
    left: AtomicU32,
}

/// What a request meets.
#[derive(Debug, PartialEq)]
pub(super) struct Strike {
    /// How long it waits.
    pub(super) delay: Duration,
    /// What it is answered.
    pub(super) error: Option<ErrorResponse>,
    /// Whether it is carried out all the same.
    pub(super) applied: bool,
}

impl Faults {
    /// Replaces them.
    pub(super) fn set(&self, faults: Vec<Fault>) {
        let rule = |fault: Fault| Rule {
            left: AtomicU32::new(fault.times.unwrap_or(u32::MAX)),
            fault,
        };
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        self.armed.store(!faults.is_empty(), Ordering::Relaxed);
        *rules = faults.into_iter().map(rule).collect();
    }

    /// The first fault that an execution meets, if it meets any. `node` is the address of the node that fails.
    /// Whether there are any.
    pub(super) fn are_set(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    pub(super) fn strike(
        &self,
        execution: &Execution,
        node: impl FnOnce() -> IpAddr,
    ) -> Option<Strike> {
        if !self.are_set() {
            return None;
        }
        self.meet(&execution.work()?, node)
    }

    fn meet(&self, work: &Work<'_>, node: impl FnOnce() -> IpAddr) -> Option<Strike> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let rule = rules
            .iter()
            .find(|rule| rule.fault.meets(work) && rule.take())?;
        let error = rule.fault.error;
        Some(Strike {
            delay: rule.fault.delay,
            error: error.map(|error| error.answer(work, node())),
            applied: rule.fault.applied,
        })
    }
}

impl Rule {
    /// Counts a request that meets it; false if it is over.
    fn take(&self) -> bool {
        self.fault.times.is_none()
            || self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(1)
                })
                .is_ok()
    }
}
