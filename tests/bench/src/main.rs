//! `helenus-bench [NAME]`: instructions and allocations a request, of every scenario or those whose name
//! begins so. `helenus-bench ablation`: what errors as values cost. `helenus-bench parts`: a message in several
//! segments, read in one piece and where it lies. `helenus-bench readers [NAME]`: the engine's readers. It fails if something costs more than it may.

use std::collections::HashMap;
use std::process::ExitCode;

use helenus_allocations as allocations;
use helenus_bench::callgrind::per_request;
use helenus_bench::{Limit, SCENARIOS, ablation, parts, readers, run, scenario};

/// Requests of the shorter of two runs, and of the run that fills caches and buffers before allocations are
/// counted.
const REQUESTS: u64 = 3200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", name, requests] => handle(name, requests),
        ["ablation"] => ablation::table(),
        ["parts"] => parts::table(),
        ["part", message, way, times] => parts::read(message, way, times),
        ["readers"] => readers::table(""),
        ["readers", prefix] => readers::table(prefix),
        ["reader", name, way, times] => readers::read(name, way, times),
        [] => table(""),
        [prefix] => table(prefix),
        _ => Err("usage: helenus-bench [NAME | ablation | parts | readers [NAME]]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("helenus-bench: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What callgrind looks at.
fn handle(name: &str, requests: &str) -> Result<(), String> {
    let mut scenario = scenario(name).ok_or_else(|| format!("no scenario {name:?}"))?;
    let requests = requests
        .parse()
        .map_err(|error| format!("{requests}: {error}"))?;
    run(&mut *scenario, requests);
    Ok(())
}

fn table(prefix: &str) -> Result<(), String> {
    println!(
        "{:<40} {:>12} {:>6} {:>12} {:>6}",
        "a request of", "instructions", "limit", "allocations", "limit"
    );
    let mut costs = Costs::default();
    let mut over = Vec::new();
    for entry in SCENARIOS
        .iter()
        .filter(|entry| entry.name.starts_with(prefix))
    {
        let cost = costs.of(entry.name)?;
        let instructions = costs.limit(entry.instructions, |cost| cost.instructions)?;
        let allocations = costs.limit(entry.allocations, |cost| cost.allocations)?;
        println!(
            "{:<40} {:>12.0} {instructions:>6.0} {:>12.2} {allocations:>6.2}",
            entry.name, cost.instructions, cost.allocations
        );
        if cost.instructions > instructions || cost.allocations > allocations {
            over.push(entry.name);
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("over the limit: {}", over.join("; ")))
}

/// What a request of a scenario costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    instructions: f64,
    allocations: f64,
}

/// What was measured so far: limits may name other scenarios.
#[derive(Debug, Default)]
struct Costs(HashMap<&'static str, Cost>);

impl Costs {
    fn of(&mut self, name: &'static str) -> Result<Cost, String> {
        if let Some(cost) = self.0.get(name) {
            return Ok(*cost);
        }
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let cost = Cost {
            instructions: per_request(&program, &["run", name], REQUESTS)?,
            allocations: allocations_of(name)?,
        };
        self.0.insert(name, cost);
        Ok(cost)
    }

    fn limit(&mut self, limit: Limit, of: impl Fn(Cost) -> f64) -> Result<f64, String> {
        match limit {
            Limit::Count(count) => Ok(count as f64),
            Limit::Times(times, name) => Ok(times * of(self.of(name)?)),
        }
    }
}

fn allocations_of(name: &str) -> Result<f64, String> {
    let mut scenario = scenario(name).ok_or_else(|| format!("no scenario {name:?}"))?;
    run(&mut *scenario, REQUESTS);
    let before = allocations::count();
    let done = run(&mut *scenario, REQUESTS);
    Ok((allocations::count() - before) as f64 / done as f64)
}
