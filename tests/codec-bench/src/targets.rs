//! What the codec is to reach, and what it misses.

use crate::contender::Contender::{self, Cassandra, Floor, Ours, Scylla};
use crate::report::Line;

/// How many times faster than a peer a scenario is to be; of the profile it is asked of, if of one alone.
struct Multiple {
    scenario: &'static str,
    peer: Contender,
    times: f64,
    profile: Option<&'static str>,
}

const fn multiple(
    scenario: &'static str,
    peer: Contender,
    times: f64,
    profile: Option<&'static str>,
) -> Multiple {
    Multiple {
        scenario,
        peer,
        times,
        profile,
    }
}

const DEFAULT: Option<&str> = Some("release");
const LTO: Option<&str> = Some("lto");

/// The first target that a scenario's name begins with counts.
const MULTIPLES: &[Multiple] = &[
    multiple("ROWS 1×3 typed, cached", Scylla, 12.0, DEFAULT),
    multiple("ROWS 1×3 raw", Scylla, 5.0, DEFAULT),
    multiple("ROWS 100×10", Scylla, 6.0, DEFAULT),
    multiple("ROWS 5000×10", Scylla, 6.0, DEFAULT),
    multiple("ROWS 1×3 raw", Scylla, 1.8, LTO),
    multiple("ROWS 100×10 raw", Scylla, 1.8, LTO),
    multiple("ROWS 5000×10 raw", Scylla, 1.8, LTO),
    multiple("ROWS 1×3 typed", Scylla, 2.5, LTO),
    multiple("ROWS 100×10 typed", Scylla, 2.5, LTO),
    multiple("ROWS 5000×10 typed", Scylla, 2.5, LTO),
    multiple("EXECUTE encode", Scylla, 12.0, DEFAULT),
    multiple("EXECUTE decode", Scylla, 6.0, DEFAULT),
    multiple("QUERY encode", Scylla, 10.0, DEFAULT),
    multiple("QUERY decode", Scylla, 2.5, DEFAULT),
    multiple("ROWS encode", Cassandra, 15.0, None),
    multiple("ROWS 1×3", Cassandra, 8.0, None),
    multiple("ROWS 100×10", Cassandra, 12.0, None),
    multiple("ROWS 5000×10", Cassandra, 18.0, None),
    multiple("EXECUTE decode", Cassandra, 15.0, None),
    multiple("v5, 840 envelopes", Cassandra, 80.0, None),
    multiple("760 KB, 1460-byte reads, decoded", Cassandra, 1.0, None),
    multiple("760 KB, 1460-byte reads", Cassandra, 200.0, None),
    multiple("15 KB, byte by byte", Cassandra, 25.0, None),
];

/// From here on the floor's time is what counts; below it is the harness's as well, and instructions tell more.
const LONG: f64 = 1000.0;

/// What these lines miss, in words.
#[must_use]
pub fn missed(profile: &str, lines: &[Line]) -> Vec<String> {
    let mut missed = Vec::new();
    for line in lines {
        against_floor(line, &mut missed);
        for peer in [Scylla, Cassandra] {
            against_peer(profile, line, peer, &mut missed);
        }
    }
    chunks(lines, &mut missed);
    missed
}

fn against_floor(line: &Line, missed: &mut Vec<String>) {
    let (Some(floor), Some(ours)) = (line.time(Floor), line.time(Ours)) else {
        return;
    };
    let times = ours / floor;
    if floor >= LONG {
        if times > 1.3 {
            missed.push(format!(
                "{}: {times:.2}× the floor's time (≤ 1.3×)",
                line.name
            ));
        }
        return;
    }
    let longer = ours - floor;
    if longer <= 10.0 {
        return;
    }
    match (line.instructions(Floor), line.instructions(Ours)) {
        (Some(floor), Some(ours)) if ours / floor <= 1.5 => {}
        (Some(floor), Some(ours)) => missed.push(format!(
            "{}: {longer:.0} ns more than the floor and {:.2}× its instructions (≤ 10 ns or ≤ 1.5×)",
            line.name,
            ours / floor
        )),
        _ => missed.push(format!(
            "{}: {longer:.0} ns more than the floor (≤ 10 ns, or ≤ 1.5× its instructions, which weren't counted)",
            line.name
        )),
    }
}

fn against_peer(profile: &str, line: &Line, peer: Contender, missed: &mut Vec<String>) {
    let (Some(ours), Some(theirs)) = (line.time(Ours), line.time(peer)) else {
        return;
    };
    let target = MULTIPLES
        .iter()
        .find(|target| {
            target.peer == peer
                && line.name.starts_with(target.scenario)
                && target.profile.is_none_or(|only| only == profile)
        })
        .map_or(1.0, |target| target.times);
    let times = theirs / ours;
    if times >= target {
        return;
    }
    let floor = line.time(Floor).map_or(0.0, |floor| theirs / floor);
    missed.push(format!(
        "{}: {times:.1}× as fast as {} (≥ {target}×); the floor is {floor:.1}×",
        line.name,
        peer.name(),
    ));
}

/// What cutting the bytes may cost.
fn chunks(lines: &[Line], missed: &mut Vec<String>) {
    let ours = |name: &str| {
        let line = lines.iter().find(|line| line.name == name);
        line.and_then(|line| line.time(Ours))
    };
    for (name, bytes) in [
        ("15 KB, byte by byte", 15_000.0),
        ("v5, 15 KB, byte by byte", 15_000.0),
    ] {
        if let Some(time) = ours(name)
            && time / bytes > 6.0
        {
            missed.push(format!("{name}: {:.1} ns a byte (≤ 6)", time / bytes));
        }
    }
    let cut = ours("760 KB, 1460-byte reads, decoded");
    if let (Some(cut), Some(whole)) = (cut, ours("760 KB, one read, decoded"))
        && cut / whole > 1.1
    {
        missed.push(format!(
            "760 KB, 1460-byte reads, decoded: {:.2}× of one read (≤ 1.1×)",
            cut / whole
        ));
    }
}
