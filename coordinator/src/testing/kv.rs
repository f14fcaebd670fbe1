//! A store of numbers: partitions by their tokens, rows in order, each with the time at which it was written or deleted.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::{Model, Reconciled};
use crate::node::NodeId;
use crate::ring::TokenRange;

/// The model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kv;

/// A partition's token, and a row in it.
pub(crate) type Place = (i64, u32);

/// When a row was written, and what it holds; nothing if it was deleted.
pub(crate) type Cell = (i64, Option<u32>);

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) range: TokenRange,
    /// Only what follows this.
    pub(crate) after: Option<Place>,
    /// No more live rows than this.
    pub(crate) rows: u32,
}

/// Rows of one partition.
pub(crate) type Rows = Vec<(Place, Cell)>;

/// What a replica has of what is read, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rows: Rows,
    /// Whether there may be more, which the limit cut off.
    pub(crate) cut: bool,
}

impl Found {
    fn live(&self) -> u32 {
        self.rows
            .iter()
            .filter(|(_, (_, value))| value.is_some())
            .count() as u32
    }
}

/// One replica's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Store(pub(crate) BTreeMap<Place, Cell>);

impl Store {
    pub(crate) fn write(&mut self, place: Place, cell: Cell) {
        let known = self.0.entry(place).or_insert(cell);
        *known = cell.max(*known);
    }

    pub(crate) fn read(&self, scan: &Scan) -> Found {
        let mut found = Found::default();
        let mut live = 0;
        for (place, cell) in &self.0 {
            let wanted = (scan.range.first.0..=scan.range.last.0).contains(&place.0);
            if !wanted || scan.after.is_some_and(|after| *place <= after) {
                continue;
            }
            found.rows.push((*place, *cell));
            live += u32::from(cell.1.is_some());
            if live == scan.rows {
                found.cut = true;
                break;
            }
        }
        found
    }
}

impl Model for Kv {
    type Command = Scan;
    type Mutation = Rows;
    type Partition = i64;
    type Data = Found;
    type Digest = u64;

    fn digest(data: &Found) -> u64 {
        let mut hasher = DefaultHasher::new();
        data.rows.hash(&mut hasher);
        hasher.finish()
    }

    fn reconcile(scan: &Scan, answers: &[(NodeId, Found)]) -> Reconciled<Kv> {
        let mut merged = Store::default();
        for (_, found) in answers {
            found
                .rows
                .iter()
                .for_each(|(place, cell)| merged.write(*place, *cell));
        }
        // What is beyond the end of an answer that was cut may be newer there.
        let ends = answers.iter().filter(|(_, found)| found.cut);
        let ends = ends.filter_map(|(_, found)| Some(found.rows.last()?.0));
        let end = ends.min();
        if let Some(end) = end {
            merged.0.retain(|place, _| *place <= end);
        }
        let data = merged.read(scan);
        let mut reconciled: Reconciled<Kv> = Reconciled {
            data,
            repairs: Vec::new(),
            short: Vec::new(),
        };
        if !reconciled.data.cut && end.is_some() {
            let short = answers.iter().filter(|(_, found)| {
                found.cut && found.rows.last().map(|(place, _)| *place) == end
            });
            let further = Scan {
                after: end,
                rows: scan.rows - reconciled.data.live(),
                ..scan.clone()
            };
            reconciled.short = short.map(|(node, _)| (*node, further.clone())).collect();
            return reconciled;
        }
        for (node, found) in answers {
            let known: BTreeMap<Place, Cell> = found.rows.iter().copied().collect();
            let mut partitions: BTreeMap<i64, Rows> = BTreeMap::new();
            for (place, cell) in &reconciled.data.rows {
                if known.get(place) != Some(cell) {
                    partitions.entry(place.0).or_default().push((*place, *cell));
                }
            }
            let lacking = partitions.into_values().map(|rows| (*node, rows));
            reconciled.repairs.extend(lacking);
        }
        reconciled
    }

    fn narrow(scan: &Scan, range: TokenRange, rows: u32) -> Scan {
        Scan {
            range: scan.range.intersection(range).unwrap_or(range),
            rows: rows.min(scan.rows),
            ..scan.clone()
        }
    }

    fn rows(data: &Found) -> u32 {
        data.live()
    }

    fn is_cut(data: &Found) -> bool {
        data.cut
    }

    fn append(data: &mut Found, next: Found) {
        data.rows.extend(next.rows);
        data.cut = next.cut;
    }
}
