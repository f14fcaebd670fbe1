//! Scenarios whose cost is counted, in instructions by callgrind and in allocations by an allocator that
//! counts. Neither is moved by noise, so that a limit on them can be held.

pub mod allocations;
pub mod core;

/// Something that handles requests, over and over.
pub trait Scenario {
    /// Handles a batch of requests; how many.
    fn turn(&mut self) -> u64;
}

/// A scenario's name, and how it is made.
pub type Entry = (&'static str, fn() -> Box<dyn Scenario>);

/// Every scenario.
pub const SCENARIOS: &[Entry] = &[
    ("core v4", || {
        Box::new(core::Pipeline::new(4, core::Columns::Skipped))
    }),
    ("core v5", || {
        Box::new(core::Pipeline::new(5, core::Columns::Skipped))
    }),
    ("core v4, columns described", || {
        Box::new(core::Pipeline::new(4, core::Columns::Described))
    }),
    ("core v5, columns described", || {
        Box::new(core::Pipeline::new(5, core::Columns::Described))
    }),
];

/// The scenario of this name.
#[must_use]
pub fn scenario(name: &str) -> Option<Box<dyn Scenario>> {
    let (_, make) = SCENARIOS.iter().find(|(found, _)| *found == name)?;
    Some(make())
}

/// Handles at least so many requests; how many it were.
pub fn run(scenario: &mut dyn Scenario, requests: u64) -> u64 {
    let mut done = 0;
    while done < requests {
        done += scenario.turn();
    }
    done
}
