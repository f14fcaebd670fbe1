//! What is encoded comes back, and nothing else does.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::arbitrary::*;
use super::support::*;
use crate::readers::{Position, ReadCommand};
use crate::replica::{DataBuilder, EncodingError, ReadData};
use crate::schema::{ColumnId, TableId};
use crate::storage::{ClusteringBound, ColumnData, Mutation, Row};

fn mutation_bytes(mutation: &Mutation) -> Bytes {
    let mut out = BytesMut::new();
    mutation.encode(&mut out);
    out.freeze()
}

fn command_bytes(command: &ReadCommand) -> Bytes {
    let mut out = BytesMut::new();
    command.encode(&mut out);
    out.freeze()
}

/// No proper part of good bytes decodes, nor do they with more behind.
fn assert_needs_all<T>(bytes: &Bytes, decode: impl Fn(&Bytes) -> Result<T, EncodingError>) {
    assert!(decode(bytes).is_ok());
    for len in 0..bytes.len() {
        assert!(decode(&bytes.slice(..len)).is_err(), "{len} of {bytes:?}");
    }
    let more = [bytes, &[0][..]].concat();
    assert!(decode(&more.into()).is_err(), "{bytes:?} and more");
}

proptest! {
    // Each case is cut at every length.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mutations_come_back(mutations in any_mutations()) {
        for mutation in mutations {
            let bytes = mutation_bytes(&mutation);
            let decoded = Mutation::decode(schema(), &bytes).unwrap();
            prop_assert_eq!(format!("{mutation:?}"), format!("{decoded:?}"));
            assert_needs_all(&bytes, |bytes| Mutation::decode(schema(), bytes));
        }
    }

    #[test]
    fn commands_come_back(command in any_command(), limit in any_limit(), bound in 0_u8..3) {
        let bound = [ClusteringBound::Start, ClusteringBound::After(Bytes::from_static(b"x")), ClusteringBound::End]
            [usize::from(bound)].clone();
        for resume in [None, Some(Position::new(key(1), bound))] {
            let command = ReadCommand { limit, resume, ..command.clone() };
            let bytes = command_bytes(&command);
            let decoded = ReadCommand::decode(schema(), &bytes).unwrap();
            prop_assert_eq!(format!("{command:?}"), format!("{decoded:?}"));
            assert_needs_all(&bytes, |bytes| ReadCommand::decode(schema(), bytes));
        }
    }

    #[test]
    fn answers_come_back_with_their_digests(
        mutations in any_mutations(),
        command in any_command(),
        limit in any_limit(),
        budget in 1_usize..6,
    ) {
        let mut shard = shard();
        mutations.iter().for_each(|mutation| shard.apply(mutation, 0));
        let command = ReadCommand { limit, ..command };
        let answer = data(&shard, &command);
        let bytes = encoded(&answer);
        let decoded = ReadData::decode(&command, &bytes).unwrap();
        prop_assert_eq!(encoded(&decoded), bytes.clone());
        prop_assert_eq!(decoded.rows(), answer.rows());
        prop_assert_eq!(decoded.end(), answer.end());
        assert_needs_all(&bytes, |bytes| ReadData::decode(&command, bytes));
        for budget in [budget, usize::MAX] {
            let told = fill(&shard, &command, budget, DataBuilder::encoded(&command));
            prop_assert_eq!(&told, &bytes);
            let digest = fill(&shard, &command, budget, DataBuilder::digest(&command));
            prop_assert_eq!(digest, answer.digest());
            prop_assert_eq!(digest, decoded.digest());
        }
    }

    #[test]
    fn a_digest_is_of_what_there_is_however_it_came_about(
        mutations in any_mutations().prop_shuffle(),
        seed: u64,
        command in any_command(),
        limit in any_limit(),
    ) {
        let command = ReadCommand { limit, ..command };
        let mut one = shard();
        mutations.iter().for_each(|mutation| one.apply(mutation, 0));
        let mut other = shard();
        let mut reversed = mutations.clone();
        reversed.reverse();
        for (index, mutation) in reversed.iter().enumerate() {
            other.apply(mutation, 0);
            match seed >> (index % 32 * 2) & 3 {
                0 => other.freeze(table().id),
                1 => other.compact(table().id),
                _ => {}
            }
            other.maintain(0, 3);
        }
        prop_assert_eq!(encoded(&data(&one, &command)), encoded(&data(&other, &command)));
    }
}

#[test]
fn of_a_table_or_column_that_is_not_known_nothing_is_read() {
    let row = |id| Row {
        columns: vec![(ColumnId(id), ColumnData::Simple(cell(1, b"x")))],
        ..Row::default()
    };
    let mut foreign = (**table()).clone();
    foreign.id = TableId::from_u128(7);
    let bytes = mutation_bytes(&mutation(&foreign.into(), 1));
    assert_eq!(
        Mutation::decode(schema(), &bytes).unwrap_err(),
        EncodingError::UnknownTable(TableId::from_u128(7))
    );
    let next = table().next_column_id;
    let bytes = mutation_bytes(&write(1, &[1, 1], row(next)));
    assert_eq!(
        Mutation::decode(schema(), &bytes).unwrap_err(),
        EncodingError::UnknownColumn(ColumnId(next))
    );
}

#[test]
fn of_a_column_that_was_dropped_nothing_is_kept() {
    let dropped = (0..table().next_column_id)
        .map(ColumnId)
        .find(|id| table().column_with_id(*id).is_none())
        .expect("one was dropped");
    let row = Row {
        columns: vec![(dropped, ColumnData::Simple(cell(1, b"x")))],
        ..Row::default()
    };
    let write = write(1, &[1, 1], row);
    let decoded = Mutation::decode(schema(), &mutation_bytes(&write)).unwrap();
    assert!(decoded.rows[0].1.is_empty());
    let mut with = shard();
    with.apply(&write, 0);
    let command = command(table());
    assert_eq!(digest(&with, &command), digest(&shard(), &command));
}

#[test]
fn the_encoding_is_this() {
    let row = Row {
        columns: vec![(column(table(), "a"), ColumnData::Simple(cell(5, b"xy")))],
        ..Row::default()
    };
    let mut shard = shard();
    shard.apply(&write(1, &[2, 3], row), 0);
    let id = u8::try_from(column(table(), "a").0).unwrap();
    #[rustfmt::skip]
    let expected = [
        // The version; a partition, its key, no flags.
        1, 1, 1, 1, 0,
        // A row, its clustering values, no flags.
        2, 10, 0, 0, 0, 1, 2, 0, 0, 0, 1, 3, 0,
        // One column with a value: its timestamp and value.
        1, id, 1, 0, 0, 0, 0, 0, 0, 0, 5, 2, b'x', b'y',
        // The end of the partition, and of the answer.
        5, 0,
    ];
    assert_eq!(encoded(&data(&shard, &command(table()))), &expected[..]);
}

#[test]
fn an_unknown_version_is_named() {
    let command = command(table());
    let error = ReadData::decode(&command, &Bytes::from_static(&[2, 0])).unwrap_err();
    assert_eq!(error, EncodingError::Version(2));
    assert_eq!(
        error.to_string(),
        "version 2 of the encoding of replicas' messages isn't known"
    );
}

#[test]
fn an_answer_out_of_order_is_refused() {
    let command = command(table());
    let row = |c| {
        vec![
            2, 10, 0, 0, 0, 1, c, 0, 0, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0,
        ]
    };
    let partition = |key| vec![1, 1, key, 0];
    let answer = |pieces: &[Vec<u8>]| {
        let bytes = [vec![1], pieces.concat()].concat();
        ReadData::decode(&command, &bytes.into()).map(drop)
    };
    let (end, all) = (vec![5], vec![0]);
    let good = [partition(1), row(1), row(2), end.clone(), all.clone()];
    assert_eq!(answer(&good), Ok(()));
    let rows = [partition(1), row(2), row(1), end.clone(), all.clone()];
    assert!(
        answer(&rows)
            .unwrap_err()
            .to_string()
            .starts_with("rows out of order")
    );
    let twice = [
        partition(1),
        end.clone(),
        partition(1),
        end.clone(),
        all.clone(),
    ];
    assert!(
        answer(&twice)
            .unwrap_err()
            .to_string()
            .starts_with("partitions out of order")
    );
    let open = [partition(1), row(1), all.clone()];
    assert!(
        answer(&open)
            .unwrap_err()
            .to_string()
            .starts_with("no such piece")
    );
    let outside = [row(1), all];
    assert!(
        answer(&outside)
            .unwrap_err()
            .to_string()
            .starts_with("no such piece")
    );
}
