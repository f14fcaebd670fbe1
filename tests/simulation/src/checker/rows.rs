//! Plain rows: what was acknowledged at a level is seen by later reads at every level that meets it; what such a read
//! saw, later ones see too; and nothing is seen that nobody wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use helenus_core::Consistency;

use super::Violation;
use crate::history::{Answer, Operation, Record};
use crate::levels::{Asked, Replicas};
use crate::model::{Cell, Change, Command, Data, Position, Row};
use crate::replica::Store;
use crate::workload::{BATCHED, PLAIN};

/// A cell that is known to be at enough replicas since a time.
struct Known {
    since: Duration,
    cell: Cell,
    asked: Asked,
    by: &'static str,
}

pub(super) fn check(history: &[Record], replicas: Replicas, end: &Store) -> Vec<Violation> {
    let known = known(history);
    let mut violations = Vec::new();
    for (record, command, data, asked) in reads(history) {
        for (at, known) in known.iter().filter(|(at, _)| asks(command, **at)) {
            if !data.covers(*at) {
                continue;
            }
            let seen = cell(data.row(*at));
            let missed = known.iter().find(|known| {
                known.since < record.asked
                    && replicas.meet(known.asked, asked)
                    && seen.is_none_or(|seen| seen < known.cell)
            });
            if let Some(missed) = missed {
                violations.push(Violation {
                    rule: missed.by,
                    seen: format!(
                        "{} row {} since {:?} is {}, but a read at {} from {:?} saw {}",
                        at.0,
                        at.1,
                        missed.since,
                        missed.cell,
                        asked.0,
                        record.asked,
                        seen.map_or("nothing".to_owned(), |seen| seen.to_string()),
                    ),
                });
            }
        }
    }
    violations.extend(from_nowhere(history));
    violations.extend(lost_for_good(&known, end));
    violations
}

/// Answered reads of plain rows.
fn reads(history: &[Record]) -> impl Iterator<Item = (&Record, &Command, &Data, Asked)> {
    history.iter().filter_map(|record| {
        let (Operation::Read(command, level) | Operation::Scan(command, level)) = &record.operation
        else {
            return None;
        };
        match record.done() {
            Some((_, Answer::Data(data))) => Some((record, command, data, (*level, record.centre))),
            _ => None,
        }
    })
}

fn known(history: &[Record]) -> BTreeMap<Position, Vec<Known>> {
    let mut known: BTreeMap<Position, Vec<Known>> = BTreeMap::new();
    for record in history {
        let Some((since, _)) = record.done() else {
            continue;
        };
        let (Operation::Write(_, level) | Operation::Batch(_, level)) = record.operation else {
            continue;
        };
        for (at, cell) in cells(record) {
            known.entry(at).or_default().push(Known {
                since,
                cell,
                asked: (level, record.centre),
                by: "an acknowledged write is seen by every later read that meets it",
            });
        }
    }
    for (record, _, data, asked) in reads(history) {
        let Some((since, _)) = record.done() else {
            continue;
        };
        for (at, row) in &data.rows {
            if let Some(cell) = cell(Some(row)) {
                known.entry(*at).or_default().push(Known {
                    since,
                    cell,
                    asked,
                    by: "what a read saw, every later read that meets it sees",
                });
            }
        }
    }
    known
}

/// The cells that a record wrote.
fn cells(record: &Record) -> impl Iterator<Item = (Position, Cell)> {
    record.operation.mutations().iter().flat_map(|mutation| {
        mutation.changes.iter().filter_map(|(clustering, change)| {
            let Change::Merge(row) = change else {
                return None;
            };
            Some(((mutation.key, *clustering), cell(Some(row))?))
        })
    })
}

fn cell(row: Option<&Row>) -> Option<Cell> {
    match row {
        Some(Row::Cell(cell)) => Some(*cell),
        _ => None,
    }
}

fn asks(command: &Command, at: Position) -> bool {
    command.from <= at && at.0 <= command.to
}

fn from_nowhere(history: &[Record]) -> Vec<Violation> {
    let could: BTreeSet<(Position, Cell)> = history
        .iter()
        .filter(|record| record.may_have_happened())
        .flat_map(cells)
        .collect();
    let plain = PLAIN.start..BATCHED.end;
    let seen = reads(history).flat_map(|(_, _, data, _)| &data.rows);
    seen.filter(|(at, _)| plain.contains(&at.0.0))
        .filter_map(|(at, row)| Some((*at, cell(Some(row))?)))
        .filter(|found| !could.contains(found))
        .map(|(at, cell)| Violation {
            rule: "no read sees what nobody wrote",
            seen: format!("{} row {} was seen as {cell}", at.0, at.1),
        })
        .collect()
}

/// In the end, even what a hint alone acknowledged is there.
fn lost_for_good(known: &BTreeMap<Position, Vec<Known>>, end: &Store) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, known) in known {
        let kept = cell(end.row(*at));
        let newest = known
            .iter()
            .filter(|known| known.asked.0 != Consistency::ANY);
        if let Some(newest) = newest.map(|known| known.cell).max()
            && kept.is_none_or(|kept| kept < newest)
        {
            violations.push(Violation {
                rule: "nothing acknowledged is lost",
                seen: format!("{} row {}: {newest} is nowhere in the end", at.0, at.1),
            });
        }
    }
    violations
}
