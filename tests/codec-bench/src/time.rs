//! Time: the contenders of a scenario take turns, so that what disturbs one of them disturbs all.

use std::time::{Duration, Instant};

use crate::contender::{Entry, Scenario, Work};

/// How long a sample takes at least.
const SAMPLE: Duration = Duration::from_micros(200);
/// How many samples each contender gives.
const SAMPLES: usize = 100;

/// Nanoseconds a turn.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// The fastest sample.
    pub min: f64,
    /// The sample in the middle.
    pub median: f64,
}

struct Runner {
    work: Work,
    times: u64,
    samples: Vec<f64>,
}

impl Runner {
    fn new(mut work: Work) -> Self {
        let mut times = 1;
        while sample(&mut work, times) < SAMPLE {
            times *= 2;
        }
        Self {
            work,
            times,
            samples: Vec::with_capacity(SAMPLES),
        }
    }

    fn sample(&mut self) {
        let elapsed = sample(&mut self.work, self.times);
        self.samples
            .push(elapsed.as_nanos() as f64 / self.times as f64);
    }

    fn time(mut self) -> Time {
        self.samples.sort_by(f64::total_cmp);
        Time {
            min: self.samples[0],
            median: self.samples[SAMPLES / 2],
        }
    }
}

fn sample(work: &mut Work, times: u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work.run(times));
    start.elapsed()
}

/// The time of each contender; `None` of those who can't.
#[must_use]
pub fn of(scenario: &Scenario) -> [Option<Time>; 4] {
    let mut runners = (scenario.entries)().map(|entry| match entry {
        Entry::Works(work) => Some(Runner::new(work)),
        Entry::Lacks | Entry::Panics => None,
    });
    for _ in 0..SAMPLES {
        runners.iter_mut().flatten().for_each(Runner::sample);
    }
    runners.map(|runner| runner.map(Runner::time))
}
