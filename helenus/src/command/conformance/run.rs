//! Plays many probes: one after the other where they share the server's state, at once where they only wait.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::differences::{Deliberate, Differences};
use super::play::{Mismatch, Played, Traffic, play};
use super::probe::Probe;
use super::setup::SideConnection;
use crate::command::socket::Endpoint;

/// How many waiting probes run at once.
const AT_ONCE: usize = 32;

/// What a run needs to know.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// The server of each profile.
    pub(super) servers: BTreeMap<String, Endpoint>,
    /// How long a reply may take.
    pub(super) patience: Duration,
    /// When no further probe is begun.
    pub(super) deadline: Instant,
    /// What excuses a mismatch.
    pub(super) differences: &'a Differences,
}

/// What a probe found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server answers as Cassandra.
    AsCassandra,
    /// The server answers as Cassandra, which departs from the specification or contradicts itself here.
    SharesQuirk,
    /// The server answers better, as the table says.
    Deliberate,
    /// The server answers otherwise.
    Differs,
    /// The time was over.
    NotPlayed,
}

/// A probe and how it came out.
#[derive(Debug)]
pub(super) struct Finding<'a> {
    pub(super) probe: &'a Probe,
    pub(super) verdict: Verdict,
    /// The row of the table that excuses it.
    pub(super) deliberate: Option<&'a Deliberate>,
    pub(super) mismatch: Option<Mismatch>,
    pub(super) traffic: Vec<(String, Traffic)>,
    pub(super) took: Duration,
}

impl<'a> Finding<'a> {
    fn new(probe: &'a Probe, deliberate: Option<&'a Deliberate>, played: Played) -> Self {
        let Played {
            mismatch,
            excused,
            traffic,
            took,
        } = played;
        let verdict = match (&mismatch, &excused) {
            (Some(_), _) => Verdict::Differs,
            (None, Some(_)) => Verdict::Deliberate,
            (None, None) if probe.quirk.is_some() => Verdict::SharesQuirk,
            (None, None) => Verdict::AsCassandra,
        };
        let deliberate = deliberate.filter(|_| verdict == Verdict::Deliberate);
        Self {
            probe,
            verdict,
            deliberate,
            mismatch: mismatch.or(excused),
            traffic,
            took,
        }
    }

    fn not_played(probe: &'a Probe) -> Self {
        Self {
            probe,
            verdict: Verdict::NotPlayed,
            deliberate: None,
            mismatch: None,
            traffic: Vec::new(),
            took: Duration::ZERO,
        }
    }
}

/// Plays the probes; `tell` is called with each finding as it is made. Findings come back in the probes' order.
pub(super) fn run<'a>(
    plan: &Plan<'a>,
    probes: &[&'a Probe],
    tell: &(dyn Fn(&Finding<'_>) + Sync),
) -> Vec<Finding<'a>> {
    let numbered = probes.iter().copied().enumerate();
    let (beside, in_turn): (Vec<_>, Vec<_>) =
        numbered.partition(|(_, probe)| probe.runs_beside_others());
    let mut findings = Lane::default().play(plan, in_turn.into_iter(), tell);
    // Afterwards, so that a server under the load of many connections disturbs no probe that changes something.
    findings.extend(at_once(plan, &beside, tell));
    findings.sort_by_key(|(index, _)| *index);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

type Numbered<'a> = (usize, &'a Probe);

fn at_once<'a>(
    plan: &Plan<'a>,
    probes: &[Numbered<'a>],
    tell: &(dyn Fn(&Finding<'_>) + Sync),
) -> Vec<(usize, Finding<'a>)> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || probes.get(next.fetch_add(1, Ordering::Relaxed)).copied();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(probes.len()) {
            scope.spawn(|| {
                let findings = Lane::default().play(plan, std::iter::from_fn(take), tell);
                if let Ok(mut found) = found.lock() {
                    found.extend(findings);
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}

/// Probes that are played one after the other.
#[derive(Default)]
struct Lane {
    sides: BTreeMap<SocketAddr, SideConnection>,
}

impl Lane {
    fn play<'a>(
        mut self,
        plan: &Plan<'a>,
        probes: impl Iterator<Item = Numbered<'a>>,
        tell: &(dyn Fn(&Finding<'_>) + Sync),
    ) -> Vec<(usize, Finding<'a>)> {
        let mut findings = Vec::new();
        for (index, probe) in probes {
            let finding = self.play_one(plan, probe);
            tell(&finding);
            findings.push((index, finding));
        }
        findings
    }

    fn play_one<'a>(&mut self, plan: &Plan<'a>, probe: &'a Probe) -> Finding<'a> {
        let server = plan.servers.get(&probe.profile);
        let Some(server) = server.filter(|_| Instant::now() < plan.deadline) else {
            return Finding::not_played(probe);
        };
        let side = self
            .sides
            .entry(server.address)
            .or_insert_with(|| SideConnection::new(server.clone()));
        let deliberate = plan.differences.of(&probe.id);
        let played = play(probe, server, side, plan.patience, deliberate);
        Finding::new(probe, deliberate, played)
    }
}
