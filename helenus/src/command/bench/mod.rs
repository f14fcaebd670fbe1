//! `helenus bench`: loads CQL servers and says what that took; and serves canned replies, to know what a server costs at
//! the very least.

mod alarm;
mod arguments;
mod compare;
mod error;
mod interrupt;
mod load;
mod null;
mod process;
mod report;
mod run;
mod schedule;
mod statistics;
mod tables;
mod tally;
mod worker;
mod workload;

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::time::Duration;

use helenus_client::ClientTls;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(super) use arguments::Bench;
use compare::Contestant;
pub(super) use error::BenchError;
use interrupt::Interrupt;
use report::Table;
use run::{Cell, Outcome, run};
use tables::Tables;
use workload::Workload;

/// A server to load.
#[derive(Debug)]
struct Target {
    name: String,
    server: SocketAddr,
    pid: Option<u32>,
}

/// Runs the subcommand; whether no request was answered with an error that wasn't asked for.
pub(super) fn bench(flags: &Bench) -> Result<bool, BenchError> {
    if let Some(address) = flags.null_server {
        null::serve(address, flags.event_loop, flags.workers()).map_err(BenchError::Serve)?;
        return Ok(true);
    }
    if flags.compare {
        let contestants = compare::start(flags)?;
        let targets: Vec<Target> = contestants.iter().map(Contestant::target).collect();
        return load(&targets, flags);
    }
    let targets: Vec<Target> = flags
        .target
        .into_iter()
        .map(|server| Target {
            name: server.to_string(),
            server,
            pid: flags.pid.or_else(|| process::listener(server)),
        })
        .collect();
    load(&targets, flags)
}

/// Runs every combination of workload, connections and depth on all targets in turns. What was made for it is dropped
/// in the end, whatever ends it.
fn load(targets: &[Target], flags: &Bench) -> Result<bool, BenchError> {
    let tls = flags.tls.load().map_err(BenchError::Tls)?;
    let interrupt = Interrupt::listen().map_err(BenchError::System)?;
    let mut tables = Vec::new();
    let outcome = targets
        .iter()
        .try_for_each(|target| {
            let made = Tables::make(target.server, flags, tls.as_ref(), &interrupt)?;
            tables.push(made);
            Ok(())
        })
        .and_then(|()| run_all(targets, &tables, flags, tls.as_ref(), &interrupt));
    for made in tables {
        made.drop(flags.keep);
    }
    outcome
}

fn run_all(
    targets: &[Target],
    tables: &[Tables],
    flags: &Bench,
    tls: Option<&ClientTls>,
    interrupt: &Interrupt,
) -> Result<bool, BenchError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let loads = loads(flags);
    let (is_single, mut table) = (targets.len() * loads.len() == 1, Table::default());
    let mut is_good = true;
    for (workload, connections, depth) in loads {
        for (target, tables) in targets.iter().zip(tables) {
            let cell = Cell {
                name: &target.name,
                server: target.server,
                pid: target.pid,
                workload,
                connections,
                depth,
            };
            let outcome = watched(&cell, flags, tables, tls, interrupt)?;
            is_good &= workload == Workload::Error || outcome.tally.errors.is_empty();
            match (flags.json, is_single) {
                (true, _) => report::json(&mut out, &cell, flags, &outcome)?,
                (false, true) => report::text(&mut out, &cell, flags, &outcome)?,
                (false, false) => table.line(&mut out, &cell, &outcome)?,
            }
            out.flush()?;
        }
    }
    Ok(is_good)
}

/// The combinations of what the flags list.
fn loads(flags: &Bench) -> Vec<(Workload, u32, u16)> {
    let mut loads = Vec::new();
    for &workload in &flags.workload {
        for &connections in &flags.connections {
            for &depth in &flags.depth {
                // A connection that is only opened has nothing in flight.
                let depth = if workload == Workload::Connect {
                    1
                } else {
                    depth
                };
                let load = (workload, connections, depth);
                if !loads.contains(&load) {
                    loads.push(load);
                }
            }
        }
    }
    loads
}

/// Runs a cell, with a progress bar on a terminal.
fn watched(
    cell: &Cell<'_>,
    flags: &Bench,
    tables: &Tables,
    tls: Option<&ClientTls>,
    interrupt: &Interrupt,
) -> Result<Outcome, BenchError> {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(millis(flags.seconds)), target);
    if let Ok(style) = ProgressStyle::with_template("{prefix}  {wide_bar}  {msg}  {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(format!(
        "{} on {} {}×{}",
        cell.workload, cell.name, cell.connections, cell.depth
    ));
    bar.set_message("warming up");
    let mut watch = |done, rate| {
        bar.set_position(millis(done));
        bar.set_message(format!("{rate:.0}/s"));
    };
    let tables = &tables.statements;
    let outcome = run(cell, flags, tables, tls, interrupt, &mut watch);
    bar.finish_and_clear();
    outcome
}
