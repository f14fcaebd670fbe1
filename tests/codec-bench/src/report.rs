//! What was measured, as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::contender::Contender;
use crate::cost::Cost;
use crate::time::Time;

/// What was measured of a contender.
#[derive(Debug, Clone, Copy)]
pub enum Measured {
    /// It has nothing for this.
    Lacks,
    /// It panics over it.
    Panics,
    /// This.
    Figures(Time, Option<Cost>),
}

/// A line of the table.
pub struct Line {
    /// The scenario.
    pub name: &'static str,
    /// Each contender, in the order of [`Contender::ALL`].
    pub measured: [Measured; 4],
}

impl Line {
    fn of(&self, contender: Contender) -> Measured {
        self.measured[contender as usize]
    }

    /// The time of the fastest sample, in nanoseconds.
    #[must_use]
    pub fn time(&self, contender: Contender) -> Option<f64> {
        match self.of(contender) {
            Measured::Figures(time, _) => Some(time.min),
            Measured::Lacks | Measured::Panics => None,
        }
    }

    /// The instructions, if they were counted.
    #[must_use]
    pub fn instructions(&self, contender: Contender) -> Option<f64> {
        match self.of(contender) {
            Measured::Figures(_, cost) => Some(cost?.instructions),
            Measured::Lacks | Measured::Panics => None,
        }
    }

    /// How many times of `of` `contender` takes.
    fn ratio(&self, contender: Contender, of: Contender) -> String {
        match (self.time(contender), self.time(of)) {
            (Some(time), Some(of)) => format!("{:.2}×", time / of),
            _ => "–".to_owned(),
        }
    }
}

/// Nanoseconds in the unit that suits them.
fn shown(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 100.0 => format!("{ns:.1} ns"),
        ns if ns < 1000.0 => format!("{ns:.0} ns"),
        ns if ns < 1e5 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.0} µs", ns / 1e3),
    }
}

/// The table of times and the table of costs, in Markdown.
#[must_use]
pub fn table(lines: &[Line]) -> String {
    let mut out = String::from(
        "| scenario | floor | ours | scylla-cql | cassandra-protocol | ours / floor | scylla-cql / ours | cassandra-protocol / ours |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for line in lines {
        let _ = write!(out, "| {} |", line.name);
        for measured in line.measured {
            let _ = match measured {
                Measured::Lacks => write!(out, " – |"),
                Measured::Panics => write!(out, " panics |"),
                Measured::Figures(time, _) => {
                    write!(out, " {} ({}) |", shown(time.min), shown(time.median))
                }
            };
        }
        let _ = writeln!(
            out,
            " {} | {} | {} |",
            line.ratio(Contender::Ours, Contender::Floor),
            line.ratio(Contender::Scylla, Contender::Ours),
            line.ratio(Contender::Cassandra, Contender::Ours),
        );
    }
    if lines
        .iter()
        .any(|line| line.instructions(Contender::Floor).is_some())
    {
        out.push_str(
            "\n| instructions (allocations) | floor | ours | scylla-cql | cassandra-protocol |\n\
             |---|--:|--:|--:|--:|\n",
        );
        for line in lines {
            let _ = write!(out, "| {} |", line.name);
            for measured in line.measured {
                let _ = match measured {
                    Measured::Figures(_, Some(cost)) => {
                        write!(out, " {:.0} ({:.0}) |", cost.instructions, cost.allocations)
                    }
                    Measured::Panics => write!(out, " panics |"),
                    Measured::Lacks | Measured::Figures(_, None) => write!(out, " – |"),
                };
            }
            out.push('\n');
        }
    }
    out
}

/// The same as JSON: times in nanoseconds.
#[must_use]
pub fn json(profile: &str, lines: &[Line], missed: &[String]) -> Value {
    let scenarios: Vec<Value> = lines
        .iter()
        .map(|line| {
            let mut scenario = json!({ "name": line.name });
            for contender in Contender::ALL {
                scenario[contender.name()] = match line.of(contender) {
                    Measured::Lacks => Value::Null,
                    Measured::Panics => json!("panics"),
                    Measured::Figures(time, cost) => json!({
                        "min": time.min,
                        "median": time.median,
                        "instructions": cost.map(|cost| cost.instructions),
                        "allocations": cost.map(|cost| cost.allocations),
                    }),
                };
            }
            scenario
        })
        .collect();
    json!({ "profile": profile, "scenarios": scenarios, "missed": missed })
}
