//! What was measured, as text for people and as JSON lines for programs.

use std::io::{self, Write};
use std::time::Duration;

use helenus_core::ErrorCode;
use serde_json::{Value, json};

use super::arguments::Bench;
use super::run::{Cell, Outcome};

/// The name of the server that the others are compared with.
pub(super) const FLOOR: &str = "null";

/// The percentiles of reports, with their names in JSON.
const PERCENTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
];

/// Writes a run as one JSON object.
pub(super) fn json(
    out: &mut impl Write,
    cell: &Cell<'_>,
    flags: &Bench,
    outcome: &Outcome,
) -> io::Result<()> {
    writeln!(out, "{}", object(cell, flags, outcome))
}

fn object(cell: &Cell<'_>, flags: &Bench, outcome: &Outcome) -> Value {
    let tally = &outcome.tally;
    let mut latency = json!({
        "mean": tally.latency.mean() / 1e3,
        "max": tally.latency.max() as f64 / 1e3,
    });
    for (name, quantile) in PERCENTILES {
        latency[name] = json!(tally.micros(quantile));
    }
    let errors: serde_json::Map<String, Value> = tally
        .errors
        .iter()
        .map(|(code, count)| (ErrorCode(*code).to_string(), json!(count)))
        .collect();
    json!({
        "server": cell.name,
        "address": cell.server.to_string(),
        "workload": cell.workload.name(),
        "connections": cell.connections,
        "depth": cell.depth,
        "protocol": flags.version().as_u8(),
        "compression": flags.compression().map(|compression| compression.name()),
        "rate": flags.rate,
        "seconds": outcome.measured.as_secs_f64(),
        "answered": tally.answered,
        "unanswered": tally.unanswered,
        "errors": errors,
        "throughput": outcome.throughput,
        "latency_us": latency,
        "server_cpu_us": outcome.server_cpu,
        "client_cpu_us": outcome.client_cpu,
    })
}

/// Writes a run at length.
pub(super) fn text(
    out: &mut impl Write,
    cell: &Cell<'_>,
    flags: &Bench,
    outcome: &Outcome,
) -> io::Result<()> {
    let (tally, rate) = (&outcome.tally, &outcome.throughput);
    write!(
        out,
        "{} on {}: {} connections, depth {}, protocol v{}",
        cell.workload,
        cell.name,
        cell.connections,
        cell.depth,
        flags.version().as_u8()
    )?;
    if let Some(compression) = flags.compression() {
        write!(out, " with {}", compression.name())?;
    }
    if let Some(rate) = flags.rate {
        write!(out, ", {rate} starts a second")?;
    }
    let seconds = outcome.measured.as_secs_f64();
    writeln!(out, ", {seconds:.0} s")?;
    writeln!(out)?;
    writeln!(
        out,
        "throughput  {:.0}/s mean, {:.0} standard deviation, {:.0} median, {:.0} MAD, {:.0} min, {:.0} max \
         of {} intervals",
        rate.mean,
        rate.standard_deviation,
        rate.median,
        rate.mad,
        rate.min,
        rate.max,
        rate.intervals
    )?;
    write!(out, "latency    ")?;
    for (name, quantile) in PERCENTILES {
        let name = name.replace('_', ".");
        write!(out, " {name} {}", duration(tally.micros(quantile)))?;
    }
    writeln!(out, " max {}", duration(tally.latency.max() as f64 / 1e3))?;
    if let Some(cpu) = outcome.server_cpu {
        writeln!(out, "server CPU  {} a request", duration(cpu))?;
    }
    if let Some(cpu) = outcome.client_cpu {
        writeln!(out, "client CPU  {} a request", duration(cpu))?;
    }
    if tally.unanswered > 0 {
        writeln!(
            out,
            "unanswered  {} requests that were due",
            tally.unanswered
        )?;
    }
    for (code, count) in &tally.errors {
        writeln!(out, "errors      {count} {}", ErrorCode(*code))?;
    }
    if let Some(example) = &tally.example {
        writeln!(out, "            {example}")?;
    }
    Ok(())
}

/// A table of runs, a line each; those of one load are compared with the null server's CPU time.
#[derive(Debug, Default)]
pub(super) struct Table {
    has_head: bool,
    /// The load of the last line, and what the null server took for it.
    load: Option<(String, Option<f64>)>,
}

impl Table {
    /// Writes the next run's line. The null server's comes first.
    pub(super) fn line(
        &mut self,
        out: &mut impl Write,
        cell: &Cell<'_>,
        outcome: &Outcome,
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_head, true) {
            writeln!(
                out,
                "{:8} {:>12}  {:24} {:>11} {:>9} {:>9} {:>9} {:>10} {:>6} {:>9}  errors",
                "workload",
                "conns×depth",
                "server",
                "ops/s",
                "p50",
                "p99",
                "p99.9",
                "CPU/op",
                "×null",
                "client"
            )?;
        }
        let load = format!("{}×{}", cell.connections, cell.depth);
        let key = format!("{} {load}", cell.workload);
        if self.load.as_ref().is_none_or(|(last, _)| *last != key) {
            let floor = outcome.server_cpu.filter(|_| cell.name == FLOOR);
            self.load = Some((key, floor));
        }
        let floor = self.load.as_ref().and_then(|(_, floor)| *floor);
        let times = outcome.server_cpu.zip(floor);
        let times = times.map_or(String::new(), |(cpu, floor)| format!("{:.2}", cpu / floor));
        let cpu = |cpu: Option<f64>| cpu.map_or(String::new(), duration);
        let errors: u64 = outcome.tally.errors.values().sum();
        writeln!(
            out,
            "{:8} {load:>12}  {:24} {:>11.0} {:>9} {:>9} {:>9} {:>10} {times:>6} {:>9}  {errors}",
            cell.workload,
            cell.name,
            outcome.throughput.mean,
            duration(outcome.tally.micros(0.5)),
            duration(outcome.tally.micros(0.99)),
            duration(outcome.tally.micros(0.999)),
            cpu(outcome.server_cpu),
            cpu(outcome.client_cpu),
        )?;
        out.flush()
    }
}

/// Microseconds, in the unit that suits them.
fn duration(micros: f64) -> String {
    let nanos = (micros * 1e3).clamp(0.0, 1e18) as u64;
    match Duration::from_nanos(nanos) {
        long if long >= Duration::from_secs(10) => format!("{:.1}s", long.as_secs_f64()),
        middle if middle >= Duration::from_millis(10) => format!("{:.1}ms", micros / 1e3),
        _ if micros >= 100.0 => format!("{micros:.0}µs"),
        _ => format!("{micros:.2}µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        let said = [0.391, 17.126, 1234.5, 23_456.0, 12_345_678.0].map(duration);
        assert_eq!(said, ["0.39µs", "17.13µs", "1234µs", "23.5ms", "12.3s"]);
    }
}
