//! `helenus conformance`: plays the probes that Apache Cassandra 5.0.4 answered against any CQL server, and says with
//! the bytes what it answers otherwise.

mod arguments;
mod compare;
mod connection;
mod corpus;
mod differences;
mod json;
mod play;
mod probe;
mod record;
mod render;
mod reply;
mod report;
mod run;
mod setup;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use thiserror::Error;

pub(super) use arguments::Conformance;
use corpus::Selection;
use differences::Differences;
use probe::Probe;
use report::Tally;
use run::{Finding, Plan, Verdict};

use super::socket::Endpoint;

/// Why nothing was found out.
#[derive(Debug, Error)]
pub(super) enum ConformanceError {
    /// The file of probes can't be read, or that of the record not written.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The probes that the command carries are damaged.
    #[error("the probes of the command don't unpack: {0}")]
    Packed(#[source] io::Error),
    /// A line is no probe.
    #[error("line {0} is no probe: {1}")]
    Probe(usize, #[source] serde_json::Error),
    /// The table of deliberate differences is no table.
    #[error("the table of deliberate differences: {0}")]
    Table(#[source] serde_json::Error),
    /// The flags leave no probe.
    #[error("no probe is asked for; `helenus conformance --list` shows them")]
    Nothing,
    /// A file for TLS is of no use.
    #[error("{0}")]
    Tls(#[from] helenus_tls::LoadError),
    /// No CQL server answers.
    #[error("{0}: {1}")]
    NoServer(std::net::SocketAddr, String),
    /// The report can't be written.
    #[error("the report can't be written: {0}")]
    Output(#[from] io::Error),
}

/// Runs the subcommand; whether nothing differs but deliberately.
pub(super) fn conformance(flags: &Conformance) -> Result<bool, ConformanceError> {
    let text = corpus::text(flags.probes.as_deref()).map_err(|error| match &flags.probes {
        Some(file) => ConformanceError::File {
            file: file.clone(),
            reason: error,
        },
        None => ConformanceError::Packed(error),
    })?;
    let mut all = corpus::parse(&text)?;
    if flags.record.is_some() {
        all.iter_mut().for_each(Probe::take_any_reply);
    }
    let selection = Selection {
        groups: flags.groups.clone(),
        version: flags.version,
        only: flags.only.clone(),
        without_quirks: flags.no_quirks,
    };
    let chosen: Vec<&Probe> = all
        .iter()
        .filter(|probe| selection.includes(probe))
        .collect();
    if chosen.is_empty() {
        return Err(ConformanceError::Nothing);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let Some(server) = flags.server.filter(|_| !flags.list) else {
        report::list(&mut out, &chosen)?;
        out.flush()?;
        return Ok(true);
    };
    let patience = Duration::from_secs(flags.timeout);
    let tls = flags.tls.load()?;
    let endpoint = |address| Endpoint {
        address,
        tls: tls.clone(),
    };
    setup::greet(&endpoint(server), patience)
        .map_err(|why| ConformanceError::NoServer(server, why))?;

    let differences = Differences::load().map_err(ConformanceError::Table)?;
    let profiles = flags.profiles.iter();
    let mut servers: BTreeMap<_, _> = profiles
        .map(|(name, server)| (name.clone(), endpoint(*server)))
        .collect();
    servers.insert("plain".to_owned(), endpoint(server));
    let plan = Plan {
        servers,
        patience,
        deadline: Instant::now() + Duration::from_secs(flags.limit),
        differences: &differences,
    };
    let can_play =
        |probe: &&&Probe| probe.unstable.is_none() && plan.servers.contains_key(&probe.profile);
    let played: Vec<&Probe> = chosen.iter().filter(can_play).copied().collect();
    let findings = play(&plan, &played);
    if let Some(file) = &flags.record {
        let written = record::record(&text, &findings).and_then(|text| std::fs::write(file, text));
        written.map_err(|reason| ConformanceError::File {
            file: file.clone(),
            reason,
        })?;
    }
    let tally = Tally::new(&findings, chosen.len() - played.len());
    if flags.json {
        json::report(&mut out, &findings, &tally)?;
    } else {
        report::report(&mut out, &findings, &tally, &differences, flags.verbose)?;
    }
    out.flush()?;
    Ok(tally.is_conformant())
}

/// Plays with a progress bar on a terminal.
fn play<'a>(plan: &Plan<'a>, probes: &[&'a Probe]) -> Vec<Finding<'a>> {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(probes.len() as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}  {msg}  {elapsed}") {
        bar.set_style(style);
    }
    let differing = std::sync::atomic::AtomicUsize::new(0);
    let findings = run::run(plan, probes, &|finding| {
        if finding.verdict == Verdict::Differs {
            let count = 1 + differing.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            bar.set_message(format!("{count} differ"));
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    findings
}
