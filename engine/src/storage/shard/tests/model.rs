//! A shard against a model that keeps every mutation and works out each cell by looking at all of them.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;

use super::arbitrary::{Step, any_case};
use super::support::*;
use crate::readers::{PartitionRange, ReadCommand, Slices};
use crate::schema::ColumnId;
use crate::storage::{
    Cell, ClusteringBound, ColumnData, DeletionTime, Mutation, Row, Shard, ShardOptions, Token,
};

/// The rank of a cell among those of its place: the greatest stands.
fn rank(cell: &Cell) -> (i64, bool, bool, i64, Option<Bytes>) {
    let stays = cell.expires_at == i64::MAX;
    (
        cell.timestamp,
        !stays,
        cell.value.is_none(),
        cell.expires_at,
        cell.value.clone(),
    )
}

fn lies_in((start, end): (&ClusteringBound, &ClusteringBound), sort: &[u8]) -> bool {
    start.cmp_row(sort).is_lt() && end.cmp_row(sort).is_gt()
}

/// What is alive of one row, from all versions of it and the deletion around it.
fn live(versions: &[&Row], around: Option<DeletionTime>, now: i64) -> Option<(bool, Cells)> {
    let deletes = |deletion: Option<DeletionTime>, at| deletion.is_some_and(|d| at <= d.timestamp);
    let deleted = versions
        .iter()
        .filter_map(|row| row.deletion)
        .max()
        .max(around);
    let is_inserted = versions
        .iter()
        .filter_map(|row| row.liveness)
        .filter(|liveness| !deletes(deleted, liveness.timestamp))
        .max_by_key(|liveness| (liveness.timestamp, liveness.ttl > 0, liveness.expires_at))
        .is_some_and(|liveness| now < liveness.expires_at);
    let mut shadows: BTreeMap<ColumnId, Option<DeletionTime>> = BTreeMap::new();
    let mut places: BTreeMap<(ColumnId, Vec<u8>), Vec<&Cell>> = BTreeMap::new();
    for (id, data) in versions.iter().flat_map(|row| &row.columns) {
        match data {
            ColumnData::Simple(cell) => places.entry((*id, Vec::new())).or_default().push(cell),
            ColumnData::Complex { deletion, cells } => {
                let shadow = shadows.entry(*id).or_default();
                *shadow = (*shadow).max(*deletion);
                for (path, cell) in cells {
                    places
                        .entry((*id, path.sort.to_vec()))
                        .or_default()
                        .push(cell);
                }
            }
        }
    }
    let cells = places.into_iter().filter_map(|((id, path), cells)| {
        let shadow = shadows.get(&id).copied().flatten().max(deleted);
        let standing = cells
            .into_iter()
            .filter(|cell| !deletes(shadow, cell.timestamp));
        let cell = standing.max_by_key(|cell| rank(cell))?;
        let value = cell.value.as_ref().filter(|_| now < cell.expires_at)?;
        Some((id, path, value.to_vec()))
    });
    let cells: Cells = cells.collect();
    (is_inserted || !cells.is_empty()).then_some((is_inserted, cells))
}

/// What is alive of a partition, from all its mutations.
fn live_partition(ours: &[&Mutation], command: &ReadCommand) -> Vec<Seen> {
    let now = command.now_seconds;
    let deleted = ours
        .iter()
        .filter_map(|mutation| mutation.partition_deletion)
        .max();
    let statics: Vec<_> = ours
        .iter()
        .filter_map(|mutation| mutation.static_row.as_ref())
        .collect();
    let mut versions: BTreeMap<&[u8], Vec<&Row>> = BTreeMap::new();
    for (place, row) in ours.iter().flat_map(|mutation| &mutation.rows) {
        versions.entry(&place.sort).or_default().push(row);
    }
    let mut rows = Vec::new();
    for (sort, versions) in versions {
        let is_read = match &command.slices {
            Slices::All => true,
            Slices::Ranges(ranges) => ranges
                .iter()
                .any(|(start, end)| lies_in((start, end), sort)),
        };
        let around = ours
            .iter()
            .flat_map(|mutation| &mutation.range_tombstones)
            .filter(|tombstone| lies_in((&tombstone.start, &tombstone.end), sort))
            .map(|tombstone| tombstone.deletion)
            .max();
        if is_read && let Some((is_inserted, cells)) = live(&versions, deleted.max(around), now) {
            rows.push(Seen::Row {
                sort: sort.to_vec(),
                is_inserted,
                cells,
            });
        }
    }
    if command.reversed {
        rows.reverse();
    }
    let static_row = live(&statics, deleted, now).map(|(_, cells)| Seen::Static(cells));
    static_row.into_iter().chain(rows).collect()
}

fn expected(mutations: &[Mutation], command: &ReadCommand) -> Vec<Seen> {
    let in_range = |token: Token| match &command.range {
        PartitionRange::Key(key) => key.token == token,
        PartitionRange::Tokens { start, end } => !start.is_after(token) && end.is_after(token),
    };
    let keys: BTreeSet<_> = mutations.iter().map(|mutation| &mutation.key).collect();
    let mut seen = Vec::new();
    for key in keys.into_iter().filter(|key| in_range(key.token)) {
        let ours: Vec<_> = mutations
            .iter()
            .filter(|mutation| mutation.key == *key)
            .collect();
        let inside = live_partition(&ours, command);
        if !inside.is_empty() {
            seen.push(Seen::Start(key.clone()));
            seen.extend(inside);
            seen.push(Seen::End);
        }
    }
    seen
}

/// Joins pages that each end with a row: takes away the starts and static rows that a page repeats, and ends a
/// partition of which a page found nothing left.
fn joined(pages: Vec<Vec<Seen>>) -> Vec<Seen> {
    let mut joined: Vec<Seen> = Vec::new();
    let mut open = None;
    for page in pages {
        let mut fragments = page.into_iter().peekable();
        if open.is_some() && fragments.peek() == open.as_ref() {
            fragments.next();
            if let Some(repeated @ Seen::Static(_)) = fragments.peek() {
                assert!(joined.contains(repeated));
                fragments.next();
            }
            assert!(matches!(fragments.peek(), Some(Seen::Row { .. })));
        } else if open.take().is_some() {
            joined.push(Seen::End);
        }
        for fragment in fragments {
            match &fragment {
                Seen::Start(_) => open = Some(fragment.clone()),
                Seen::End => open = None,
                _ => {}
            }
            joined.push(fragment);
        }
    }
    joined
}

fn run(steps: &[Step]) -> (Shard, Vec<Mutation>) {
    let table = table(false).id;
    let mut shard = Shard::new(ShardOptions { flush_bytes: 4096 });
    let mut mutations = Vec::new();
    for step in steps {
        match step {
            Step::Apply(mutation) => {
                shard.apply(mutation, 0);
                mutations.push(mutation.clone());
            }
            Step::Freeze => shard.freeze(table),
            Step::Compact => shard.compact(table),
            Step::Maintain(budget) => {
                shard.maintain(0, *budget);
            }
        }
    }
    (shard, mutations)
}

/// Two pages, of which the first ends with fragment `stop`.
fn stopped_once(shard: &Shard, command: &ReadCommand, stop: usize) -> Vec<Vec<Seen>> {
    let count = std::cell::Cell::new(0);
    read_paged(shard, command, usize::MAX, |_| {
        count.set(count.get() + 1);
        count.get() == stop + 1
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn reads_deliver_what_the_mutations_add_up_to((steps, commands) in any_case()) {
        let (shard, mutations) = run(&steps);
        for command in &commands {
            prop_assert_eq!(read(&shard, command), expected(&mutations, command));
        }
    }

    #[test]
    fn a_read_that_yields_goes_on_as_if_it_had_not(
        (steps, commands) in any_case(),
        budget in 0_usize..4,
    ) {
        let (shard, _) = run(&steps);
        for command in &commands {
            let yielding = read_paged(&shard, command, budget, |_| false).concat();
            prop_assert_eq!(yielding, read(&shard, command));
        }
    }

    #[test]
    fn a_read_that_is_stopped_misses_and_repeats_no_row(
        (steps, commands) in any_case(),
        budget in 1_usize..20,
    ) {
        let (shard, _) = run(&steps);
        for command in &commands {
            let whole = read(&shard, command);
            let by_row =
                read_paged(&shard, command, budget, |seen| matches!(seen, Seen::Row { .. }));
            prop_assert_eq!(joined(by_row), whole.clone());
            let by_partition = read_paged(&shard, command, budget, |seen| *seen == Seen::End);
            prop_assert_eq!(by_partition.concat(), whole);
        }
    }

    #[test]
    fn a_read_may_be_stopped_at_any_fragment((steps, commands) in any_case()) {
        let (shard, _) = run(&steps);
        for command in &commands {
            let whole = read(&shard, command);
            for (stop, fragment) in whole.iter().enumerate() {
                let pages = stopped_once(&shard, command, stop);
                prop_assert_eq!(&pages[0], &whole[..=stop]);
                match fragment {
                    Seen::End => prop_assert_eq!(&pages[1], &whole[stop + 1..]),
                    Seen::Row { .. } => prop_assert_eq!(joined(pages), whole.clone()),
                    // Nothing of the partition's rows was delivered: it begins anew.
                    Seen::Start(_) => prop_assert_eq!(&pages[1], &whole[stop..]),
                    Seen::Static(_) => prop_assert_eq!(&pages[1], &whole[stop - 1..]),
                }
            }
        }
    }

    #[test]
    fn merging_all_runs_and_forgetting_the_dead_changes_no_read((steps, commands) in any_case()) {
        let (mut shard, mutations) = run(&steps);
        let table = table(false).id;
        shard.compact(table);
        for round in 0.. {
            prop_assert!(round < 10_000, "the merge gets nowhere");
            if !shard.maintain(1000, 5) {
                break;
            }
        }
        for command in &commands {
            let command = ReadCommand { now_seconds: 1000, ..command.clone() };
            prop_assert_eq!(read(&shard, &command), expected(&mutations, &command));
        }
        prop_assert!(shard.size(table).partitions <= 3);
    }
}
