//! What was found out, for people: each probe that differs, with its bytes, and the table of deliberate differences.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::differences::Differences;
use super::play::{Mismatch, Traffic};
use super::probe::Probe;
use super::run::{Finding, Verdict};
use crate::command::hex;

/// Bytes of a write that are shown.
const SHOWN: usize = 96;

/// How many probes came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) struct Tally {
    pub(super) as_cassandra: usize,
    pub(super) shares_quirk: usize,
    pub(super) deliberate: usize,
    pub(super) differs: usize,
    /// The time was over.
    pub(super) not_played: usize,
    /// Unstable ones, and those of a profile without a server.
    pub(super) left_out: usize,
}

impl Tally {
    pub(super) fn new(findings: &[Finding<'_>], left_out: usize) -> Self {
        let count = |verdict| {
            findings
                .iter()
                .filter(|finding| finding.verdict == verdict)
                .count()
        };
        Self {
            as_cassandra: count(Verdict::AsCassandra),
            shares_quirk: count(Verdict::SharesQuirk),
            deliberate: count(Verdict::Deliberate),
            differs: count(Verdict::Differs),
            not_played: count(Verdict::NotPlayed),
            left_out,
        }
    }

    /// Whether nothing differs but deliberately.
    pub(super) const fn is_conformant(&self) -> bool {
        self.differs == 0 && self.not_played == 0
    }
}

/// The probes by name, with what they are about.
pub(super) fn list(out: &mut impl Write, probes: &[&Probe]) -> io::Result<()> {
    for probe in probes {
        let mut marks = String::new();
        if probe.profile != "plain" {
            marks = format!(" [{}]", probe.profile);
        }
        if let Some(why) = &probe.unstable {
            marks.push_str(&format!(" [unstable: {why}]"));
        }
        if let Some(quirk) = &probe.quirk {
            marks.push_str(&format!(" [quirk: {quirk}]"));
        }
        writeln!(
            out,
            "{:<13} {}: {}{marks}",
            probe.group, probe.id, probe.about
        )?;
    }
    Ok(())
}

/// Everything that was found out.
pub(super) fn report(
    out: &mut impl Write,
    findings: &[Finding<'_>],
    tally: &Tally,
    differences: &Differences,
    verbose: bool,
) -> io::Result<()> {
    for finding in findings {
        match finding.verdict {
            Verdict::Differs => differs(out, finding)?,
            Verdict::NotPlayed => {
                writeln!(out, "not played  {}: the time was over", finding.probe.id)?
            }
            Verdict::AsCassandra if verbose => {
                writeln!(
                    out,
                    "as Cassandra  {} ({} ms)",
                    finding.probe.id,
                    finding.took.as_millis()
                )?;
            }
            Verdict::SharesQuirk if verbose => {
                let quirk = finding.probe.quirk.as_deref().unwrap_or_default();
                writeln!(out, "as Cassandra, which {quirk}  {}", finding.probe.id)?;
            }
            Verdict::Deliberate if verbose => {
                let why = finding.deliberate.map_or("", |row| row.why.as_str());
                writeln!(out, "differs, deliberately  {}: {why}", finding.probe.id)?;
            }
            _ => {}
        }
    }
    deliberate(out, findings, differences)?;
    summary(out, findings, tally)
}

fn differs(out: &mut impl Write, finding: &Finding<'_>) -> io::Result<()> {
    let probe = finding.probe;
    writeln!(out, "differs  {}: {}", probe.id, probe.about)?;
    if let Some(quirk) = &probe.quirk {
        writeln!(
            out,
            "  of Cassandra, which doesn't do as the specification says: {quirk}"
        )?;
    }
    for (connection, traffic) in &finding.traffic {
        match traffic {
            Traffic::Sent(bytes) => writeln!(out, "  {connection} → {}", hex::brief(bytes, SHOWN))?,
            Traffic::Received(reply) => {
                let framing = reply.framing.name();
                writeln!(
                    out,
                    "  {connection} ← {} ({}, {framing})",
                    hex::brief(&reply.bytes, SHOWN),
                    reply.name()
                )?;
            }
        }
    }
    if let Some(mismatch) = &finding.mismatch {
        explain(out, mismatch)?;
    }
    writeln!(out)
}

fn explain(out: &mut impl Write, mismatch: &Mismatch) -> io::Result<()> {
    writeln!(
        out,
        "  step {}: expected {}, got {}",
        mismatch.step, mismatch.expected, mismatch.got
    )?;
    let Some((reply, differences)) = mismatch.reply.as_deref() else {
        return Ok(());
    };
    for difference in differences {
        let super::compare::Difference {
            field,
            expected,
            got,
            ..
        } = difference;
        writeln!(out, "    {field}: expected {expected}, got {got}")?;
    }
    // The first difference is the one that counts: what follows often follows from it.
    let mut places = differences
        .iter()
        .filter_map(|difference| difference.bytes.clone());
    for line in hex::dump(&reply.bytes, 0, places.next()).lines() {
        writeln!(out, "      {line}")?;
    }
    if let Some(why) = &reply.broken {
        writeln!(out, "    the reply doesn't decode: {why}")?;
    }
    Ok(())
}

/// The rows of the table that were met, with the number of their probes.
fn deliberate(
    out: &mut impl Write,
    findings: &[Finding<'_>],
    differences: &Differences,
) -> io::Result<()> {
    let excused = |row: &super::differences::Deliberate| {
        let met =
            |finding: &&Finding<'_>| finding.deliberate.is_some_and(|met| std::ptr::eq(met, row));
        findings.iter().filter(met).count()
    };
    let rows: Vec<_> = differences
        .rows()
        .iter()
        .map(|row| (row, excused(row)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "Deliberate differences, where Cassandra's answer is a defect:"
    )?;
    for (row, count) in rows {
        writeln!(out, "  {count:>4}  {}", row.when)?;
        writeln!(out, "        Cassandra: {}", row.cassandra)?;
        writeln!(out, "        here: {}", row.here)?;
        writeln!(out, "        because {}", row.why)?;
    }
    writeln!(out)
}

fn summary(out: &mut impl Write, findings: &[Finding<'_>], tally: &Tally) -> io::Result<()> {
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for finding in findings {
        let (good, all) = groups.entry(&finding.probe.group).or_default();
        *all += 1;
        *good += usize::from(!matches!(
            finding.verdict,
            Verdict::Differs | Verdict::NotPlayed
        ));
    }
    for (group, (good, all)) in groups {
        writeln!(out, "{group:<14} {good:>5} of {all}")?;
    }
    let Tally {
        as_cassandra,
        shares_quirk,
        deliberate,
        differs,
        not_played,
        left_out,
    } = tally;
    write!(out, "{} as Cassandra 5.0.4", as_cassandra + shares_quirk)?;
    if *shares_quirk > 0 {
        write!(
            out,
            " ({shares_quirk} of them in what looks like its defects)"
        )?;
    }
    write!(out, ", {deliberate} differ deliberately, {differs} differ")?;
    if *not_played > 0 {
        write!(out, ", {not_played} not played")?;
    }
    if *left_out > 0 {
        write!(
            out,
            "; {left_out} left out (their outcome isn't fixed, or they need --profile)"
        )?;
    }
    writeln!(out)
}
