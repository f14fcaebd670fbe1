//! Scenarios whose cost is counted, in instructions by callgrind and in allocations by an allocator that
//! counts. Neither is moved by noise, so that a limit on them can be held.

pub mod client;
pub mod core;
pub mod engine;

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
    pub instructions: u64,
    /// The most allocations.
    pub allocations: u64,
}

/// Every scenario.
pub const SCENARIOS: &[Entry] = &[
    Entry {
        name: "core v4",
        make: || Box::new(core::Pipeline::new(4, core::Columns::Skipped)),
        instructions: 1200,
        allocations: 0,
    },
    Entry {
        name: "core v5",
        make: || Box::new(core::Pipeline::new(5, core::Columns::Skipped)),
        instructions: 1200,
        allocations: 0,
    },
    Entry {
        name: "core v4, columns described",
        make: || Box::new(core::Pipeline::new(4, core::Columns::Described)),
        instructions: 1200,
        allocations: 0,
    },
    Entry {
        name: "core v5, columns described",
        make: || Box::new(core::Pipeline::new(5, core::Columns::Described)),
        instructions: 1200,
        allocations: 0,
    },
    Entry {
        name: "engine read v4",
        make: || Box::new(engine::Embedded::new(4, engine::Statement::Read)),
        instructions: 8000,
        allocations: 4,
    },
    Entry {
        name: "engine read v5",
        make: || Box::new(engine::Embedded::new(5, engine::Statement::Read)),
        instructions: 8000,
        allocations: 4,
    },
    Entry {
        name: "engine write v4",
        make: || Box::new(engine::Embedded::new(4, engine::Statement::Write)),
        instructions: 12_000,
        allocations: 16,
    },
    Entry {
        name: "engine write v5",
        make: || Box::new(engine::Embedded::new(5, engine::Statement::Write)),
        instructions: 12_000,
        allocations: 16,
    },
];

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
