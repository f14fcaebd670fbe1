//! Instructions, by callgrind, and allocations, by an allocator that counts. Noise moves neither.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::allocations;
use crate::contender::{Entry, Scenario, helenus_codec_bench_counted};

/// What a turn costs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Instructions.
    pub instructions: f64,
    /// How often memory was asked for.
    pub allocations: f64,
}

/// What callgrind looks at: each contender of each scenario, one after the other, behind turns that fill buffers and
/// caches. Says how many turns are counted of each: fewer of what takes long.
pub fn run(scenarios: &[Scenario]) {
    for scenario in scenarios {
        for entry in (scenario.entries)() {
            if let Entry::Works(mut work) = entry {
                // The first turn is long for being translated.
                work.run(1);
                let start = Instant::now();
                work.run(1);
                let turns = if start.elapsed() < LONG { 16 } else { 1 };
                helenus_codec_bench_counted(&mut work, turns);
                println!("{turns}");
            }
        }
    }
}

/// A turn that is long, under callgrind.
const LONG: Duration = Duration::from_millis(5);

fn allocations_of(entry: Entry) -> Option<f64> {
    let Entry::Works(mut work) = entry else {
        return None;
    };
    work.run(2);
    let count = allocations::during(|| {
        work.run(2);
    });
    Some(count as f64 / 2.0)
}

/// The cost of each contender of each scenario, by running this program once more under valgrind, with `arguments`
/// that make it call [`run`].
///
/// # Errors
///
/// When valgrind doesn't run, or reports something else than was asked for.
pub fn of(scenarios: &[Scenario], arguments: &[&str]) -> Result<Vec<[Option<Cost>; 4]>, String> {
    let directory = std::env::temp_dir().join(format!("codec-bench-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let counts = counts(&directory, arguments);
    let _ = fs::remove_dir_all(&directory);
    let mut counts = counts?.into_iter();
    let costs = scenarios
        .iter()
        .map(|scenario| {
            (scenario.entries)().map(|entry| {
                let allocations = allocations_of(entry)?;
                Some(Cost {
                    instructions: counts.next()?,
                    allocations,
                })
            })
        })
        .collect();
    Ok(costs)
}

/// The instructions of a turn, for each call of the counted function, in order.
fn counts(directory: &Path, arguments: &[&str]) -> Result<Vec<f64>, String> {
    let out = directory.join("out");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg("--toggle-collect=helenus_codec_bench_counted")
        .arg("--dump-after=helenus_codec_bench_counted")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let turns = String::from_utf8_lossy(&output.stdout);
    let mut counts = Vec::new();
    for (number, turns) in turns.lines().enumerate() {
        let part = directory.join(format!("out.{}", number + 1));
        let part = fs::read_to_string(&part).map_err(|error| error.to_string())?;
        let total = part.lines().find_map(|line| {
            line.strip_prefix("totals: ")
                .or_else(|| line.strip_prefix("summary: "))?
                .trim()
                .parse::<f64>()
                .ok()
        });
        let turns = turns.parse::<f64>().map_err(|error| error.to_string())?;
        counts.push(total.ok_or("callgrind reports no total")? / turns);
    }
    Ok(counts)
}
