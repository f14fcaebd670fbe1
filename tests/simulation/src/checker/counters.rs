//! Counters: never less than what was acknowledged, never more than what was asked for.

use super::Violation;
use crate::history::{Answer, Operation, Record};
use crate::levels::Replicas;
use crate::model::{Change, Key, Row};
use crate::replica::Store;
use crate::workload::COUNTERS;

pub(super) fn check(history: &[Record], replicas: Replicas, end: &Store) -> Vec<Violation> {
    let mut violations = Vec::new();
    for record in history {
        let Operation::Read(command, level) = record.operation else {
            continue;
        };
        let key = command.to;
        let Some((answered, Answer::Data(data))) = record.done() else {
            continue;
        };
        if !COUNTERS.contains(&key.0) {
            continue;
        }
        let seen = sum(data.row((key, 0)));
        let least = total(history, key, |add, at| {
            add.done().is_some_and(|(done, _)| done < record.asked)
                && replicas.meet((at, add.centre), (level, record.centre))
        });
        let most = total(history, key, |add, _| {
            add.may_have_happened() && add.asked <= answered
        });
        violations.extend(outside(key, seen, least, most));
    }
    for key in COUNTERS.map(Key) {
        let least = total(history, key, |add, _| add.done().is_some());
        let most = total(history, key, |add, _| add.may_have_happened());
        violations.extend(outside(key, sum(end.row((key, 0))), least, most));
    }
    violations
}

fn outside(key: Key, seen: i64, least: i64, most: i64) -> Option<Violation> {
    let violation = || Violation {
        rule: "a counter is what was added to it",
        seen: format!("{key} is {seen}, not between {least} and {most}"),
    };
    (!(least..=most).contains(&seen)).then(violation)
}

fn sum(row: Option<&Row>) -> i64 {
    match row {
        Some(Row::Counter(shards)) => shards.values().map(|(_, sum)| sum).sum(),
        _ => 0,
    }
}

/// The sum of the additions that are counted. Only positive numbers are added.
fn total(
    history: &[Record],
    key: Key,
    counts: impl Fn(&Record, helenus_core::Consistency) -> bool,
) -> i64 {
    let deltas = history.iter().filter_map(|record| match &record.operation {
        Operation::Add(mutation, level) if mutation.key == key && counts(record, *level) => {
            Some(mutation.changes.iter().map(|(_, change)| match change {
                Change::Add(delta) => *delta,
                Change::Merge(_) => 0,
            }))
        }
        _ => None,
    });
    deltas.flatten().sum()
}
