use super::*;

const A: ColumnId = ColumnId(1);

fn value(timestamp: i64, value: &'static [u8]) -> Cell {
    let value = Some(Bytes::from_static(value));
    Cell {
        timestamp,
        ttl: 0,
        expires_at: NO_EXPIRY,
        value,
    }
}

fn expiring(timestamp: i64, expires_at: i64, value: &'static [u8]) -> Cell {
    let value = Some(Bytes::from_static(value));
    Cell {
        timestamp,
        ttl: 10,
        expires_at,
        value,
    }
}

fn tombstone(timestamp: i64, local_seconds: i64) -> Cell {
    Cell {
        timestamp,
        ttl: 0,
        expires_at: local_seconds,
        value: None,
    }
}

fn row(cell: Cell) -> Row {
    Row {
        columns: vec![(A, ColumnData::Simple(cell))],
        ..Row::default()
    }
}

fn merged(a: &Row, b: &Row) -> Row {
    let mut row = a.clone();
    row.merge(b, CellKind::Regular);
    row
}

/// Whichever comes first, `winner` stands.
fn assert_stands(winner: Cell, loser: Cell) {
    let (winner, loser) = (row(winner), row(loser));
    assert_eq!(merged(&winner, &loser), winner);
    assert_eq!(merged(&loser, &winner), winner);
}

#[test]
fn the_newer_cell_stands() {
    assert_stands(value(2, b"a"), value(1, b"b"));
    assert_stands(value(2, b"a"), tombstone(1, 5));
    assert_stands(tombstone(2, 5), value(1, b"b"));
}

#[test]
fn of_equal_timestamps_the_tombstone_stands() {
    assert_stands(tombstone(1, 5), value(1, b"b"));
    assert_stands(tombstone(1, 5), expiring(1, 100, b"b"));
    assert_stands(tombstone(1, 6), tombstone(1, 5));
}

#[test]
fn of_equal_timestamps_the_cell_that_expires_stands_and_the_later_of_two() {
    assert_stands(expiring(1, 5, b"a"), value(1, b"b"));
    assert_stands(expiring(1, 6, b"a"), expiring(1, 5, b"b"));
}

#[test]
fn of_equal_timestamps_the_greater_value_stands() {
    assert_stands(value(1, b"b"), value(1, b"a"));
    assert_stands(value(1, b"ab"), value(1, b"a"));
    assert_stands(expiring(1, 5, b"b"), expiring(1, 5, b"a"));
}

#[test]
fn a_row_deletion_takes_what_is_as_old_as_itself() {
    let deletion = Some(DeletionTime {
        timestamp: 5,
        local_seconds: 0,
    });
    let deleted = Row {
        deletion,
        ..Row::default()
    };
    for timestamp in [4, 5] {
        assert_eq!(merged(&row(value(timestamp, b"a")), &deleted), deleted);
        assert_eq!(merged(&deleted, &row(value(timestamp, b"a"))), deleted);
    }
    let kept = Row {
        deletion,
        ..row(value(6, b"a"))
    };
    assert_eq!(merged(&row(value(6, b"a")), &deleted), kept);
    assert_eq!(merged(&deleted, &row(value(6, b"a"))), kept);
}

#[test]
fn the_newer_liveness_stands_and_of_equals_the_one_that_expires_last() {
    let liveness = |timestamp, expires_at| Row {
        liveness: Some(Liveness {
            timestamp,
            ttl: 1,
            expires_at,
        }),
        ..Row::default()
    };
    for (winner, loser) in [
        (liveness(2, 5), liveness(1, NO_EXPIRY)),
        (liveness(1, 5), liveness(1, NO_EXPIRY)),
        (liveness(1, 6), liveness(1, 5)),
    ] {
        assert_eq!(merged(&winner, &loser), winner);
        assert_eq!(merged(&loser, &winner), winner);
    }
}

#[test]
fn counters_add_up_and_wrap() {
    let counter = |timestamp, sum: i64| {
        let value = Some(Bytes::copy_from_slice(&sum.to_be_bytes()));
        row(Cell {
            timestamp,
            ttl: 0,
            expires_at: NO_EXPIRY,
            value,
        })
    };
    let mut sum = counter(1, i64::MAX);
    sum.merge(&counter(3, 2), CellKind::Counter);
    assert_eq!(sum, counter(3, i64::MIN + 1));
}
