//! Single rules, with exact values.

use std::ops::ControlFlow;

use bytes::Bytes;

use super::support::*;
use crate::readers::{Fragment, PartitionRange, ReadCommand, ReadProgress, Slices};
use crate::storage::{ClusteringBound, ColumnData, Row, Shard, ShardOptions, TableSize};

fn shard() -> Shard {
    Shard::new(ShardOptions::default())
}

#[test]
fn a_scan_over_tombstones_yields() {
    let table = table(false);
    let mut shard = shard();
    for i in 0..100 {
        shard.apply(&write(&table, 1, &[i], row(&[(0, tombstone(1, 0))])), 0);
    }
    let command = command(&table);
    let mut nothing = |_: Fragment<'_>| -> ControlFlow<()> { unreachable!("nothing is alive") };
    let ReadProgress::Yielded(position) = shard.read(&command, 60, &mut nothing) else {
        panic!("all 100 were read at once");
    };
    assert_eq!(
        position.bound,
        ClusteringBound::After(Bytes::from_static(&[59]))
    );
    let rest = ReadCommand {
        resume: Some(position),
        ..command
    };
    assert_eq!(shard.read(&rest, 60, &mut nothing), ReadProgress::Finished);
}

#[test]
fn what_expires_is_alive_until_its_second() {
    let table = table(false);
    let mut shard = shard();
    shard.apply(
        &write(&table, 1, &[1], row(&[(0, expiring(1, 10, 110, b"x"))])),
        100,
    );
    let at = |now_seconds| ReadCommand {
        now_seconds,
        ..command(&table)
    };
    assert_eq!(rows(&shard, &at(109)), [(vec![1], vec![b"x".to_vec()])]);
    assert_eq!(rows(&shard, &at(110)), []);
}

#[test]
fn an_expired_value_does_not_give_way_to_an_older_one() {
    let table = table(false);
    let mut shard = shard();
    shard.apply(&write(&table, 1, &[1], row(&[(0, cell(1, b"old"))])), 0);
    shard.freeze(table.id);
    shard.apply(
        &write(&table, 1, &[1], row(&[(0, expiring(2, 10, 110, b"new"))])),
        0,
    );
    assert_eq!(
        rows(
            &shard,
            &ReadCommand {
                now_seconds: 200,
                ..command(&table)
            }
        ),
        []
    );
}

#[test]
fn tombstones_are_forgotten_after_the_grace_period_when_nothing_older_remains() {
    let table = table(false);
    let mut shard = shard();
    let delete = write(
        &table,
        1,
        &[1],
        Row {
            deletion: Some(deletion(5)),
            ..Row::default()
        },
    );
    shard.apply(&delete, 0);
    shard.compact(table.id);
    while shard.maintain(10, 100) {}
    assert_eq!(shard.size(table.id).partitions, 1);
    // An older write in the memtable still needs the tombstone.
    shard.compact(table.id);
    shard.apply(&write(&table, 1, &[1], row(&[(0, cell(4, b"x"))])), 11);
    while shard.maintain(11, 100) {}
    assert_eq!(rows(&shard, &command(&table)), []);
    shard.compact(table.id);
    while shard.maintain(11, 100) {}
    assert_eq!(shard.size(table.id), TableSize::default());
}

#[test]
fn memtables_freeze_and_runs_stay_few() {
    let table = table(false);
    let mut shard = Shard::new(ShardOptions {
        flush_bytes: 20_000,
    });
    for i in 0..20_000_u32 {
        let sort = i.wrapping_mul(2_654_435_761).to_be_bytes();
        let row = row(&[(0, cell(1, b"value"))]);
        shard.apply(&write(&table, (i % 7) as u8, &sort, row), 0);
    }
    assert_eq!(rows(&shard, &command(&table)).len(), 20_000);
    // Each run has all seven partitions.
    assert!(
        shard.size(table.id).partitions <= 7 * 16,
        "{:?}",
        shard.size(table.id)
    );
    while shard.maintain(0, 1000) {}
    assert!(
        shard.size(table.id).partitions <= 7 * 13,
        "{:?}",
        shard.size(table.id)
    );
    assert_eq!(rows(&shard, &command(&table)).len(), 20_000);
    drop(shard.remove_table(table.id));
    assert_eq!(shard.size(table.id), TableSize::default());
    assert_eq!(rows(&shard, &command(&table)), []);
}

#[test]
fn overwriting_takes_no_more_room() {
    let table = table(false);
    let mut shard = shard();
    let write = write(&table, 1, &[1], row(&[(0, cell(1, b"value"))]));
    shard.apply(&write, 0);
    let size = shard.size(table.id);
    for _ in 0..100 {
        shard.apply(&write, 0);
    }
    assert_eq!(shard.size(table.id), size);
    assert_eq!(size.partitions, 1);
    assert!((200..1000).contains(&size.bytes), "{size:?}");
}

#[test]
fn a_growing_collection_keeps_its_elements_in_order() {
    let table = table(false);
    let mut shard = shard();
    for key in (0..200).rev() {
        let data = ColumnData::Complex {
            deletion: None,
            cells: vec![(path(key), cell(1, b"x"))],
        };
        let row = Row {
            columns: vec![(COMPLEX, data)],
            ..Row::default()
        };
        shard.apply(&write(&table, 1, &[1], row), 0);
    }
    let seen = read(&shard, &command(&table));
    let Some(Seen::Row { cells, .. }) = seen.get(1) else {
        panic!("{seen:?}")
    };
    assert!(cells.iter().map(|(_, path, _)| path[0]).eq(0..200));
}

#[test]
fn a_point_read_finds_its_row_among_many() {
    let table = table(false);
    let mut shard = shard();
    for key in 0..50 {
        for sort in 0..200 {
            shard.apply(
                &write(&table, key, &[sort], row(&[(0, cell(1, &[key, sort]))])),
                0,
            );
        }
    }
    let sort = Bytes::from_static(&[77]);
    let slice = (
        ClusteringBound::Before(sort.clone()),
        ClusteringBound::After(sort),
    );
    let command = ReadCommand {
        range: PartitionRange::Key(partition(33)),
        slices: Slices::Ranges([slice].into()),
        ..command(&table)
    };
    assert_eq!(rows(&shard, &command), [(vec![77], vec![vec![33, 77]])]);
    let missing = ReadCommand {
        range: PartitionRange::Key(partition(99)),
        ..command
    };
    assert_eq!(read(&shard, &missing), []);
}
