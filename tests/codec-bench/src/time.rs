//! Time: the contenders of a scenario take turns, so that what disturbs one of them disturbs all.

use std::time::{Duration, Instant};

use crate::contender::{Entry, Scenario, Work};

/// How long a sample takes at least.
const SAMPLE: Duration = Duration::from_micros(200);
/// How many samples each contender gives a round.
const SAMPLES: usize = 10;
/// How often all contenders are made anew, in another order and elsewhere in memory: where a buffer of 760 KB happens to
/// lie decides whether bytes are copied to it in 20 or in 70 µs, whoever copies them.
const ROUNDS: usize = 12;
/// How much memory lies between the buffers of two contenders in the second round, in bytes; more in later ones.
const GAP: usize = 20_200;

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
}

impl Runner {
    fn new(mut work: Work) -> Self {
        let mut times = 1;
        while sample(&mut work, times) < SAMPLE {
            times *= 2;
        }
        Self { work, times }
    }

    fn sample(&mut self) -> f64 {
        sample(&mut self.work, self.times).as_nanos() as f64 / self.times as f64
    }
}

fn sample(work: &mut Work, times: u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work.run(times));
    start.elapsed()
}

fn summary(mut samples: Vec<f64>) -> Option<Time> {
    samples.sort_by(f64::total_cmp);
    Some(Time {
        min: *samples.first()?,
        median: *samples.get(samples.len() / 2)?,
    })
}

/// The time of each contender; `None` of those who can't.
#[must_use]
pub fn of(scenario: &Scenario) -> [Option<Time>; 4] {
    let mut samples = [const { Vec::new() }; 4];
    for round in 0..ROUNDS {
        let mut entries = (scenario.entries)().map(Some);
        let mut runners = Vec::new();
        for turn in 0..entries.len() {
            let who = (round + turn) % entries.len();
            if let Some(Entry::Works(work)) = entries[who].take() {
                std::mem::forget(std::hint::black_box(vec![1_u8; round * GAP]));
                runners.push((who, Runner::new(work)));
            }
        }
        for _ in 0..SAMPLES {
            for (who, runner) in &mut runners {
                samples[*who].push(runner.sample());
            }
        }
    }
    samples.map(summary)
}
