//! Who is measured, and the shape of what is measured.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// The hand-written floor.
    Floor,
    /// `helenus-core`
    Ours,
    /// `scylla-cql`
    Scylla,
    /// `cassandra-protocol`
    Cassandra,
}

impl Contender {
    /// All, in the order of the table's columns.
    pub const ALL: [Self; 4] = [Self::Floor, Self::Ours, Self::Scylla, Self::Cassandra];

    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ours => "ours",
            Self::Scylla => "scylla-cql",
            Self::Cassandra => "cassandra-protocol",
        }
    }
}

/// What one contender does for a scenario.
pub enum Entry {
    /// This.
    Works(Work),
    /// It has nothing for it.
    Lacks,
    /// It panics.
    Panics,
}

impl Entry {
    /// The work of a contender that can do it. The number that it returns is what it found, and must be the same for
    /// all contenders; `None` if it failed.
    pub fn new(mut once: impl FnMut() -> Option<u64> + 'static) -> Self {
        Self::Works(Work(Box::new(move |times| {
            let mut found = None;
            for _ in 0..times {
                found = black_box(once());
            }
            found
        })))
    }

    /// As [`Entry::new`], for a contender that may panic over it.
    pub fn daring(mut once: impl FnMut() -> Option<u64> + 'static) -> Self {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let outcome = catch_unwind(AssertUnwindSafe(&mut once));
        std::panic::set_hook(hook);
        match outcome {
            Ok(_) => Self::new(once),
            Err(_) => Self::Panics,
        }
    }
}

/// Something to do many times. The loop is inside, so that calling it costs nothing.
pub struct Work(Box<dyn FnMut(u64) -> Option<u64>>);

impl Work {
    /// Does it so many times; what was found at last.
    pub fn run(&mut self, times: u64) -> Option<u64> {
        (self.0)(times)
    }
}

/// A line of the table.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What each contender does for it, in the order of [`Contender::ALL`].
    pub entries: fn() -> [Entry; 4],
}

/// As [`Work::run`]; callgrind counts what is done in here, by its name, and nothing else.
#[inline(never)]
#[unsafe(no_mangle)]
pub fn helenus_codec_bench_counted(work: &mut Work, times: u64) -> Option<u64> {
    work.run(times)
}
