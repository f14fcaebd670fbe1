//! `helenus-bench [NAME]`: instructions and allocations a request, of every scenario or those whose name
//! begins so.
//!
//! Instructions are those of a run of 2N requests less those of one of N, by callgrind, divided by N: what
//! happens once counts for nothing. Allocations are counted in the same way. It fails if a scenario costs
//! more than it may.

use std::process::{Command, ExitCode};

use helenus_allocations as allocations;
use helenus_bench::{SCENARIOS, run, scenario};

/// Requests of the shorter run, and of the run that fills caches and buffers before allocations are counted.
const REQUESTS: u64 = 3200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", name, requests] => handle(name, requests),
        [] => table(""),
        [prefix] => table(prefix),
        _ => Err("usage: helenus-bench [NAME]".to_owned()),
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
        "{:<30} {:>12} {:>6} {:>12} {:>6}",
        "a request of", "instructions", "limit", "allocations", "limit"
    );
    let mut over = Vec::new();
    for entry in SCENARIOS
        .iter()
        .filter(|entry| entry.name.starts_with(prefix))
    {
        let name = entry.name;
        let twice = instructions(name, 2 * REQUESTS)?;
        let more = twice.saturating_sub(instructions(name, REQUESTS)?);
        let instructions = more as f64 / REQUESTS as f64;
        let allocations = allocations_of(name)?;
        println!(
            "{name:<30} {instructions:>12.0} {:>6} {allocations:>12.2} {:>6}",
            entry.instructions, entry.allocations
        );
        if instructions > entry.instructions as f64 || allocations > entry.allocations as f64 {
            over.push(name);
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("over the limit: {}", over.join("; ")))
}

fn allocations_of(name: &str) -> Result<f64, String> {
    let mut scenario = scenario(name).ok_or_else(|| format!("no scenario {name:?}"))?;
    run(&mut *scenario, REQUESTS);
    let before = allocations::count();
    let done = run(&mut *scenario, REQUESTS);
    Ok((allocations::count() - before) as f64 / done as f64)
}

/// The instructions of a whole run of this program.
fn instructions(name: &str, requests: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", name, &requests.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report
        .lines()
        .find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    collected.ok_or_else(|| format!("callgrind reports nothing:\n{report}"))
}
