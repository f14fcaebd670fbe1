//! The merge against one that looks at every source for every fragment.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::readers::tests::{Source, any_sources, command_of, each, shown};
use crate::readers::{OwnedFragment, RunReader};
use crate::storage::{ClusteringKey, Run};

/// What is left of each source.
type Sources = Vec<VecDeque<(DecoratedKey, OwnedFragment)>>;

fn place(fragment: &OwnedFragment) -> Place<'_> {
    Place::of(fragment.lend())
}

/// Merges one more version of a row into `merged`, under a deletion of its surroundings.
fn merge(
    merged: &mut Option<StoredRow>,
    row: StoredRow,
    shadow: Option<DeletionTime>,
    kind: CellKind,
) {
    let Some(merged) = merged else {
        *merged = Some(row);
        return;
    };
    let mut row = row;
    merged.shadow(shadow);
    row.shadow(shadow);
    merged.merge(row.row(), kind);
}

fn naive(mut sources: Sources, kind: CellKind, reversed: bool) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(key) = sources
        .iter()
        .filter_map(|source| Some(source.front()?.0.clone()))
        .min()
    {
        let mut joined: Vec<_> = sources
            .iter_mut()
            .filter(|source| source.front().is_some_and(|(other, _)| *other == key))
            .collect();
        partition(&mut joined, &key, kind, reversed, &mut out);
    }
    out
}

fn partition(
    joined: &mut [&mut VecDeque<(DecoratedKey, OwnedFragment)>],
    key: &DecoratedKey,
    kind: CellKind,
    reversed: bool,
    out: &mut Vec<String>,
) {
    let mut deletion = None;
    for source in joined.iter_mut() {
        match source.pop_front().unwrap().1 {
            OwnedFragment::PartitionStart(_, own) => deletion = deletion.max(own),
            other => panic!("{other:?}"),
        }
    }
    out.push(shown(key, MutationFragment::PartitionStart(deletion)));
    let mut active = vec![None; joined.len()];
    loop {
        let heads = joined
            .iter()
            .map(|source| place(&source.front().unwrap().1));
        let (first, least) = heads
            .enumerate()
            .min_by(|(_, a), (_, b)| a.order(*b, reversed))
            .unwrap();
        if let Place::Bound(_) = least {
            let (_, fragment) = joined[first].pop_front().unwrap();
            let OwnedFragment::TombstoneChange(bound, deletion) = fragment else {
                panic!("{fragment:?}");
            };
            active[first] = deletion;
            let merged = active.iter().copied().max().unwrap();
            out.push(shown(
                key,
                MutationFragment::TombstoneChange(&bound, merged),
            ));
            continue;
        }
        let ties: Vec<_> = joined
            .iter()
            .map(|source| {
                place(&source.front().unwrap().1)
                    .order(least, reversed)
                    .is_eq()
            })
            .collect();
        let same = joined.iter_mut().zip(ties).filter(|(_, ties)| *ties);
        let heads: Vec<_> = same
            .map(|(source, _)| source.pop_front().unwrap().1)
            .collect();
        let shadow = deletion.max(active.iter().copied().max().unwrap());
        let (mut place, mut merged) = (ClusteringKey::default(), None);
        let (mut is_static, mut is_end) = (false, false);
        let deletions = heads.iter().filter_map(|head| match head {
            OwnedFragment::Row(_, row) => row.row().deletion,
            _ => None,
        });
        if kind == CellKind::Counter && heads.len() > 1 {
            merged = deletions.max().map(|deletion| {
                StoredRow::new(Row {
                    deletion: Some(deletion),
                    ..Row::default()
                })
            });
        }
        for head in heads {
            match head {
                OwnedFragment::Row(key, row) => {
                    place = key;
                    merge(&mut merged, row, shadow, kind);
                }
                OwnedFragment::StaticRow(row) => {
                    is_static = true;
                    merge(&mut merged, row, deletion, kind);
                }
                OwnedFragment::PartitionEnd => is_end = true,
                other => panic!("{other:?}"),
            }
        }
        match merged {
            _ if is_end => {
                out.push(shown(key, MutationFragment::PartitionEnd));
                return;
            }
            Some(row) if is_static => out.push(shown(key, MutationFragment::StaticRow(&row))),
            Some(row) => out.push(shown(key, MutationFragment::Row(&place, &row))),
            None => panic!("nothing merged"),
        }
    }
}

fn owned(mut reader: impl MutationReader) -> VecDeque<(DecoratedKey, OwnedFragment)> {
    let mut fragments = VecDeque::new();
    while let Step::Fragment(key, fragment) = reader.next() {
        fragments.push_back((key.clone(), OwnedFragment::copied(key, fragment)));
    }
    fragments
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn it_yields_what_a_merge_that_looks_everywhere_yields(
        (sources, commands) in any_sources(),
        is_counter: bool,
    ) {
        let runs: Vec<Run> = sources.iter().map(Source::run).collect();
        for command in commands {
            let command = command_of(command, is_counter);
            let readers = || runs.iter().map(|run| RunReader::new(&command, run));
            let expected = naive(
                readers().map(owned).collect(),
                CellKind::of(is_counter),
                command.reversed,
            );
            prop_assert_eq!(each(&mut Combined::new(readers(), &command)), expected);
        }
    }
}
