//! `helenus-simulation`: runs seeds, on all cores, and says which broke a rule.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Parser;
use helenus_simulation::{Bug, Faults, Report, simulate};
use serde_json::json;

/// Runs clusters on a virtual clock, one a seed, with faults; the same ones for the same seed.
#[derive(Debug, Parser)]
#[command(name = "helenus-simulation", version)]
struct Arguments {
    /// Which seeds, the last one left out.
    #[arg(long, default_value = "0..1000", value_parser = seeds)]
    seeds: Range<u64>,
    /// This seed alone.
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Print everything that happens.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Put a bug between machines and cluster, and stop at the first seed that shows it.
    #[arg(long)]
    bug: Option<Bug>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("{text} isn't of the form 0..1000");
    let (first, end) = text.split_once("..").ok_or_else(wrong)?;
    let first = first.parse().map_err(|_| wrong())?;
    let end = end.parse().map_err(|_| wrong())?;
    Ok(first..end)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seeds = match arguments.seed {
        Some(seed) => seed..seed + 1,
        None => arguments.seeds.clone(),
    };
    let begun = Instant::now();
    let summary = run(&seeds, arguments.bug, arguments.trace);
    let seconds = begun.elapsed().as_secs_f64();
    for report in &summary.broken {
        report_broken(report);
    }
    if arguments.json {
        println!("{}", summary.to_json(seconds));
    } else {
        summary.print(seconds);
    }
    // With a bug, a run is good if it shows.
    let is_good = summary.broken.is_empty() != arguments.bug.is_some();
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn report_broken(report: &Report) {
    for violation in &report.violations {
        eprintln!("seed {}: {violation}", report.seed);
    }
    eprintln!(
        "seed {}: run it again with --seed {} --trace",
        report.seed, report.seed
    );
}

/// Runs seeds on as many threads as there are cores.
fn run(seeds: &Range<u64>, bug: Option<Bug>, keep_trace: bool) -> Summary {
    let next = AtomicU64::new(seeds.start);
    // With a bug, no seed behind this one is run.
    let end = AtomicU64::new(seeds.end);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut summary = Summary::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end.load(Ordering::Relaxed) {
                return summary;
            }
            let mut report = simulate(seed, bug, keep_trace);
            if let Some(trace) = report.trace.take() {
                print!("{trace}");
            }
            if bug.is_some() && !report.violations.is_empty() {
                end.fetch_min(seed, Ordering::Relaxed);
            }
            summary.add(report);
        }
    };
    let mut summary = Summary::default();
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in running {
            match thread.join() {
                Ok(part) => summary.merge(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    summary.broken.sort_by_key(|report| report.seed);
    summary
}

/// What came of many seeds.
#[derive(Debug, Default)]
struct Summary {
    seeds: u64,
    messages: u64,
    faults: Faults,
    requests: BTreeMap<&'static str, (u64, u64)>,
    broken: Vec<Report>,
}

impl Summary {
    fn add(&mut self, report: Report) {
        self.seeds += 1;
        self.messages += report.messages;
        self.faults += report.faults;
        self.count(&report.requests);
        if !report.violations.is_empty() {
            self.broken.push(report);
        }
    }

    fn merge(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.messages += other.messages;
        self.faults += other.faults;
        self.count(&other.requests);
        self.broken.extend(other.broken);
    }

    fn count(&mut self, requests: &BTreeMap<&'static str, (u64, u64)>) {
        for (kind, (asked, done)) in requests {
            let sums = self.requests.entry(kind).or_default();
            sums.0 += asked;
            sums.1 += done;
        }
    }

    fn to_json(&self, seconds: f64) -> serde_json::Value {
        let requests = self.requests.iter().map(|(kind, (asked, done))| {
            ((*kind).to_owned(), json!({ "asked": asked, "done": done }))
        });
        let faults = self.faults.named();
        let faults = faults
            .iter()
            .map(|(name, count)| ((*name).to_owned(), json!(count)));
        let broken = self.broken.iter().map(|report| {
            let violations = report.violations.iter().map(ToString::to_string);
            json!({ "seed": report.seed, "violations": violations.collect::<Vec<_>>() })
        });
        json!({
            "seeds": self.seeds,
            "seconds": seconds,
            "messages": self.messages,
            "requests": requests.collect::<serde_json::Map<_, _>>(),
            "faults": faults.collect::<serde_json::Map<_, _>>(),
            "faults_total": self.faults.total(),
            "broken": broken.collect::<Vec<_>>(),
        })
    }

    fn print(&self, seconds: f64) {
        println!(
            "{} seeds in {seconds:.1} s, {} messages",
            self.seeds, self.messages
        );
        for (kind, (asked, done)) in &self.requests {
            println!("  {kind}: {asked} asked, {done} done");
        }
        println!("{} faults injected", self.faults.total());
        for (name, count) in self.faults.named() {
            println!("  {name}: {count}");
        }
        println!("{} seeds broke a rule", self.broken.len());
    }
}
