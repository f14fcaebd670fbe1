//! The engine's mutation readers on data sets with published times, consumed in three ways.
//!
//! `helenus-bench readers [NAME]` prints times, which take turns in one process so that what disturbs one disturbs
//! all, instructions, and allocations a row. What the columns mean, and figures, stand in the README beside this crate.

mod data;
mod ways;

use crate::callgrind;
use data::Data;
pub use data::{SETS, Set};
pub use ways::{Read, Way};

/// Samples of each way.
const ROUNDS: usize = 301;
/// Fragments that a sample consumes at least, so that reading the clock counts for little.
const FRAGMENTS: u64 = 2000;
/// How many times faster than boxed futures it shall be, and where a read is one row.
const OVER_BOXED: f64 = 1.2;
const OVER_BOXED_ONE_ROW: f64 = 3.0;
/// The allocations a fragment of a read that allocates once or twice in all.
const ONCE: f64 = 0.01;
/// What of an inlined `async fn`'s median counts as the same.
const SAME: f64 = 0.98;

/// Prints the table of the data sets whose names begin so.
///
/// # Errors
/// What falls short of its target, or that callgrind counted nothing.
pub fn table(prefix: &str) -> Result<(), String> {
    let sets = SETS.iter().filter(|set| set.name.starts_with(prefix));
    // Counting allocations costs the boxed futures time: all times come first.
    let timed: Vec<_> = sets.map(|set| (set, times(set))).collect();
    println!(
        "nanoseconds and instructions of {:<19} pausable / boxed / inlined",
        ""
    );
    println!(
        "{:<46} {:>10} {:>9} {:>9} {:>9} {:>5} {:>5} {:>9} {:>9} {:>9} {:>6}",
        "a read", "published", "time", "", "", "b/p", "i/p", "count", "", "", "allocs"
    );
    let mut missed = Vec::new();
    for (set, [pausable, boxed, inlined]) in timed {
        let [count, boxed_count, inlined_count] = counts(set)?;
        let read = allocations(set);
        let allocated = read.allocations as f64 / read.fragments as f64;
        let published = set
            .published
            .map_or("-".to_owned(), |time| time.to_string());
        let (over_boxed, over_inlined) = (boxed / pausable, inlined / pausable);
        println!(
            "{:<46} {published:>10} {pausable:>9.1} {boxed:>9.1} {inlined:>9.1} {over_boxed:>5.2} \
             {over_inlined:>5.2} {count:>9.0} {boxed_count:>9.0} {inlined_count:>9.0} {allocated:>6.3}",
            set.name
        );
        let least = match set.is_one_row {
            true => OVER_BOXED_ONE_ROW,
            false => OVER_BOXED,
        };
        let targets = [
            (over_boxed >= least, "boxed futures"),
            (over_inlined >= SAME, "inlined async"),
            (allocated < ONCE, "allocations"),
            (
                set.published.is_none_or(|published| pausable <= published),
                "the published time",
            ),
        ];
        let short = targets.into_iter().filter(|(is_met, _)| !is_met);
        missed.extend(short.map(|(_, target)| format!("{}: {target}", set.name)));
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(format!("missed: {}", missed.join("; ")))
}

/// What callgrind looks at: so many reads of a data set in one way.
///
/// # Errors
/// That there is no such data set or way.
pub fn read(name: &str, way: &str, times: &str) -> Result<(), String> {
    let set = SETS.iter().find(|set| set.name == name);
    let data = Data::of(set.ok_or_else(|| format!("no data set {name:?}"))?);
    let way = Way::named(way).ok_or_else(|| format!("no way {way:?}"))?;
    let times = times.parse().map_err(|error| format!("{times}: {error}"))?;
    data.read(way, times);
    Ok(())
}

/// The median times of a read, or of a fragment where that is what was published, in nanoseconds.
fn times(set: &Set) -> [f64; 3] {
    let data = Data::of(set);
    let fragments = data.read(Way::Pausable, 1).fragments;
    let reads = (FRAGMENTS / fragments).clamp(1, 64);
    let mut samples = [const { Vec::new() }; 3];
    for round in 0..ROUNDS {
        for turn in 0..3 {
            let way = (round + turn) % 3;
            let read = data.read(Way::ALL[way], reads);
            samples[way].push(read.time.as_secs_f64() * 1e9);
        }
    }
    let per = if set.per_fragment {
        reads * fragments
    } else {
        reads
    };
    samples.map(|mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        samples[ROUNDS / 2] / per as f64
    })
}

/// The instructions of a read, or of a fragment, each way.
fn counts(set: &Set) -> Result<[f64; 3], String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let fragments = Data::of(set).read(Way::Pausable, 1).fragments;
    let reads = (20_000 / fragments).clamp(2, 2000);
    let of = |way: Way| callgrind::per_request(&program, &["reader", set.name, way.name()], reads);
    let construction = if set.with_construction {
        0.0
    } else {
        of(Way::Unread)?
    };
    let per = if set.per_fragment {
        fragments as f64
    } else {
        1.0
    };
    let mut counts = [0.0; 3];
    for (count, way) in counts.iter_mut().zip(Way::ALL) {
        *count = (of(way)? - construction) / per;
    }
    Ok(counts)
}

/// A read by `consume_pausable`, and how often it asks for memory once its readers are there.
#[must_use]
pub fn allocations(set: &Set) -> Read {
    Data::of(set).count_allocations()
}
