//! Scenarios whose cost is counted, in instructions by callgrind and in allocations by an allocator that
//! counts. Neither is moved by noise, so that a limit on them can be held.

pub mod ablation;
pub mod callgrind;
pub mod calls;
pub mod client;
pub mod client_calls;
pub mod coordinator;
pub mod core;
pub mod engine;
pub mod parts;
pub mod readers;
mod scenarios;

pub use scenarios::SCENARIOS;

/// Something that handles requests, over and over.
pub trait Scenario {
    /// Handles a batch of requests; how many.
    fn turn(&mut self) -> u64;
}

/// A scenario, and what a request of it may cost.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// How it is made.
    pub make: fn() -> Box<dyn Scenario>,
    /// The most instructions.
    pub instructions: Limit,
    /// The most allocations.
    pub allocations: Limit,
}

/// What something may cost at most.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// So much.
    Count(u64),
    /// So many times what the scenario of this name costs in the same run.
    Times(f64, &'static str),
}

/// The scenario of this name.
#[must_use]
pub fn scenario(name: &str) -> Option<Box<dyn Scenario>> {
    let entry = SCENARIOS.iter().find(|entry| entry.name == name)?;
    Some((entry.make)())
}

/// Handles at least so many requests; how many it were.
pub fn run(scenario: &mut dyn Scenario, requests: u64) -> u64 {
    let mut done = 0;
    while done < requests {
        done += scenario.turn();
    }
    done
}
