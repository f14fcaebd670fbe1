//! RESULT with rows, from its body to cells or values, and from values to an envelope.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use scylla_cql::frame::protocol_features::ProtocolFeatures;

use super::kept;
use crate::contender::{Entry, Scenario};
use crate::data::{self, Columns, NARROW, WIDE};
use crate::{cassandra, floor, ours, scylla};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "ROWS 1×3 raw",
        entries: || raw(data::narrow_body(Columns::Described)),
    },
    Scenario {
        name: "ROWS 100×10 raw",
        entries: || raw(data::wide_body(&data::wide(100), Columns::Described)),
    },
    Scenario {
        name: "ROWS 5000×10 raw",
        entries: || raw(data::wide_body(&data::wide(5000), Columns::Described)),
    },
    Scenario {
        name: "ROWS 1×3 typed",
        entries: || narrow(Columns::Described),
    },
    Scenario {
        name: "ROWS 1×3 typed, cached",
        entries: || narrow(Columns::Skipped),
    },
    Scenario {
        name: "ROWS 100×10 typed",
        entries: || wide(100, Columns::Described),
    },
    Scenario {
        name: "ROWS 100×10 typed, cached",
        entries: || wide(100, Columns::Skipped),
    },
    Scenario {
        name: "ROWS 5000×10 typed",
        entries: || wide(5000, Columns::Described),
    },
    Scenario {
        name: "ROWS 5000×10 typed, cached",
        entries: || wide(5000, Columns::Skipped),
    },
    Scenario {
        name: "ROWS encode 100×10",
        entries: || encode(100),
    },
    Scenario {
        name: "ROWS encode 5000×10",
        entries: || encode(5000),
    },
];

fn raw(body: Vec<u8>) -> [Entry; 4] {
    let body = kept(Bytes::from(body));
    let features = ProtocolFeatures::default();
    [
        Entry::new(move || floor::rows::raw(black_box(body))),
        Entry::new(move || ours::rows::raw(black_box(body))),
        Entry::new(move || scylla::rows::raw(black_box(body), &features)),
        Entry::new(move || cassandra::rows::raw(black_box(body))),
    ]
}

fn narrow(columns: Columns) -> [Entry; 4] {
    let body = kept(Bytes::from(data::narrow_body(columns)));
    let described = Bytes::from(data::narrow_body(Columns::Described));
    let features = ProtocolFeatures::default();
    let cached = columns == Columns::Skipped;
    let scylla = scylla::rows::metadata(&described).filter(|_| cached);
    let ours = cached.then(|| ours::rows::metadata(&NARROW));
    [
        Entry::new(move || floor::rows::narrow(black_box(body))),
        Entry::new(move || ours::rows::narrow(black_box(body), ours.as_ref())),
        Entry::new(move || scylla::rows::narrow(black_box(body), scylla.as_ref(), &features)),
        described_only(columns, move || cassandra::rows::narrow(black_box(body))),
    ]
}

fn wide(rows: usize, columns: Columns) -> [Entry; 4] {
    let rows = data::wide(rows);
    let body = kept(Bytes::from(data::wide_body(&rows, columns)));
    let described = Bytes::from(data::wide_body(&rows, Columns::Described));
    let features = ProtocolFeatures::default();
    let cached = columns == Columns::Skipped;
    let scylla = scylla::rows::metadata(&described).filter(|_| cached);
    let ours = cached.then(|| ours::rows::metadata(&WIDE));
    [
        Entry::new(move || floor::rows::wide(black_box(body))),
        Entry::new(move || ours::rows::wide(black_box(body), ours.as_ref())),
        Entry::new(move || scylla::rows::wide(black_box(body), scylla.as_ref(), &features)),
        described_only(columns, move || cassandra::rows::wide(black_box(body))),
    ]
}

/// The work of a contender that keeps no metadata.
fn described_only(columns: Columns, once: impl FnMut() -> Option<u64> + 'static) -> Entry {
    match columns {
        Columns::Described => Entry::new(once),
        Columns::Skipped => Entry::Lacks,
    }
}

fn encode(rows: usize) -> [Entry; 4] {
    let rows = kept(data::wide(rows));
    let header = data::rows_header(&WIDE, Columns::Described, rows.len());
    let (mut vec, mut buffer) = (Vec::new(), BytesMut::new());
    let (columns, specs) = (ours::rows::metadata(&WIDE), cassandra::rows::metadata());
    [
        Entry::new(move || {
            floor::rows::encode(&header, black_box(rows), &mut vec);
            Some(sum(&vec))
        }),
        Entry::new(move || {
            ours::rows::encode(&columns, black_box(rows), &mut buffer)?;
            Some(sum(&buffer))
        }),
        Entry::Lacks,
        Entry::new(move || Some(sum(&cassandra::rows::encode(&specs, black_box(rows))?))),
    ]
}

/// What tells two encodings apart, at no cost: their length, and some bytes of them.
fn sum(bytes: &[u8]) -> u64 {
    let probe = |at: usize| u64::from(*black_box(bytes).get(at).unwrap_or(&0));
    bytes.len() as u64 + (probe(bytes.len() / 2) << 32) + (probe(bytes.len() - 1) << 40)
}
