//! EXECUTE and QUERY in v4: from values to an envelope, and from its body to slices.

use std::hint::black_box;

use bytes::BytesMut;
use cassandra_protocol::types::CBytesShort;
use scylla_cql::frame::protocol_features::ProtocolFeatures;

use super::kept;
use crate::contender::{Entry, Scenario};
use crate::data::{self, PAGE_SIZE, QUERY, STATEMENT, VALUES};
use crate::{cassandra, floor, ours, scylla};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "EXECUTE encode",
        entries: encode_execute,
    },
    Scenario {
        name: "EXECUTE decode",
        entries: decode_execute,
    },
    Scenario {
        name: "QUERY encode",
        entries: encode_query,
    },
    Scenario {
        name: "QUERY decode",
        entries: decode_query,
    },
];

/// The length of an envelope that is looked at.
fn length(bytes: &[u8]) -> u64 {
    black_box(bytes).len() as u64
}

fn encode_execute() -> [Entry; 4] {
    let (mut buffer, mut ours) = ([0; 256], ours::requests::Encoder::default());
    let (variables, id) = (
        scylla::requests::variables(),
        CBytesShort::new(STATEMENT.to_vec()),
    );
    [
        Entry::new(move || {
            let end = floor::requests::encode_execute(
                &STATEMENT,
                black_box(VALUES),
                black_box(PAGE_SIZE),
                &mut buffer,
            )?;
            Some(length(&buffer[..end]))
        }),
        Entry::new(move || {
            Some(length(ours.execute(
                &STATEMENT,
                black_box(VALUES),
                black_box(PAGE_SIZE),
            )?))
        }),
        Entry::new(move || {
            let request = scylla::requests::encode_execute(
                &STATEMENT,
                &variables,
                black_box(VALUES),
                black_box(PAGE_SIZE),
            )?;
            Some(length(request.get_data()))
        }),
        Entry::new(move || {
            let request =
                cassandra::requests::encode_execute(&id, black_box(VALUES), black_box(PAGE_SIZE))?;
            Some(length(&request))
        }),
    ]
}

fn decode_execute() -> [Entry; 4] {
    let body = &kept(data::execute())[9..];
    let features = ProtocolFeatures::default();
    [
        Entry::new(move || floor::requests::decode_execute(black_box(body))),
        Entry::new(move || ours::requests::decode_execute(black_box(body))),
        Entry::new(move || scylla::requests::decode_execute(black_box(body), &features)),
        Entry::new(move || cassandra::requests::decode_execute(black_box(body))),
    ]
}

fn encode_query() -> [Entry; 4] {
    let (mut slice, mut buffer) = ([0; 256], BytesMut::new());
    [
        Entry::new(move || {
            let end = floor::requests::encode_query(black_box(QUERY), &mut slice)?;
            Some(length(&slice[..end]))
        }),
        Entry::new(move || {
            ours::requests::encode_query(black_box(QUERY), &mut buffer);
            Some(length(&buffer))
        }),
        Entry::new(move || {
            let request = scylla::requests::encode_query(black_box(QUERY))?;
            Some(length(request.get_data()))
        }),
        Entry::new(move || {
            Some(length(&cassandra::requests::encode_query(black_box(
                QUERY,
            ))?))
        }),
    ]
}

fn decode_query() -> [Entry; 4] {
    let body = &kept(data::query())[9..];
    let features = ProtocolFeatures::default();
    [
        Entry::new(move || floor::requests::decode_query(black_box(body))),
        Entry::new(move || ours::requests::decode_query(black_box(body))),
        Entry::new(move || scylla::requests::decode_query(black_box(body), &features)),
        Entry::new(move || cassandra::requests::decode_query(black_box(body))),
    ]
}
