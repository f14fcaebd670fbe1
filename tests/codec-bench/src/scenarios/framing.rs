//! Envelopes off a stream of bytes, however it is cut.

use std::hint::black_box;

use bytes::Bytes;
use cassandra_protocol::frame::frame_decoder::{
    FrameDecoder, LegacyFrameDecoder, UncompressedFrameDecoder,
};
use scylla_cql::frame::protocol_features::ProtocolFeatures;

use super::kept;
use crate::contender::{Entry, Scenario};
use crate::data::{self, Columns};
use crate::{cassandra, floor, ours, scylla};

/// A read of everything at once.
const WHOLE: usize = usize::MAX;
/// The payload of a TCP segment over Ethernet.
const PACKET: usize = 1460;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "v5, 840 envelopes of 156 B, one read",
        entries: || segmented(envelopes(), WHOLE),
    },
    Scenario {
        name: "v5, 760 KB, one read",
        entries: || segmented(large(5), WHOLE),
    },
    Scenario {
        name: "v5, 760 KB, 1460-byte reads",
        entries: || segmented(large(5), PACKET),
    },
    Scenario {
        name: "v5, 15 KB, byte by byte",
        entries: || segmented(small(5), 1),
    },
    Scenario {
        name: "760 KB, one read",
        entries: || bare(large(4), WHOLE),
    },
    Scenario {
        name: "760 KB, 1460-byte reads",
        entries: || bare(large(4), PACKET),
    },
    Scenario {
        name: "15 KB, one read",
        entries: || bare(small(4), WHOLE),
    },
    Scenario {
        name: "15 KB, byte by byte",
        entries: || bare(small(4), 1),
    },
    Scenario {
        name: "760 KB, one read, decoded",
        entries: || decoded(large(4), WHOLE),
    },
    Scenario {
        name: "760 KB, 1460-byte reads, decoded",
        entries: || decoded(large(4), PACKET),
    },
    Scenario {
        name: "cut at byte 7",
        entries: cut_in_header,
    },
    Scenario {
        name: "cut in a column name",
        entries: cut_in_name,
    },
];

/// 840 responses of 156 bytes: a v5 segment all but full.
fn envelopes() -> Vec<u8> {
    data::envelope(0x85, 8, &[7; 147]).repeat(840)
}

/// 5000 rows, of 760 KB.
fn large(version: u8) -> Vec<u8> {
    let body = data::wide_body(&data::wide(5000), Columns::Described);
    data::envelope(0x80 | version, 8, &body)
}

/// 100 rows, of 15 KB.
fn small(version: u8) -> Vec<u8> {
    let body = data::wide_body(&data::wide(100), Columns::Described);
    data::envelope(0x80 | version, 8, &body)
}

fn segmented(envelopes: Vec<u8>, piece: usize) -> [Entry; 4] {
    let bytes = &**kept(data::segmented(&envelopes));
    let (mut floor, mut ours) = (
        floor::framing::Segments::default(),
        ours::framing::Reading::segmented(),
    );
    [
        Entry::new(move || sum(|each| floor.each(black_box(bytes), piece, each))),
        Entry::new(move || sum(|each| ours.read(black_box(bytes), piece, each))),
        Entry::Lacks,
        cassandra(UncompressedFrameDecoder::default(), bytes, piece),
    ]
}

fn bare(envelope: Vec<u8>, piece: usize) -> [Entry; 4] {
    let bytes = &**kept(envelope);
    let (mut floor, mut ours) = (
        floor::framing::Bare::default(),
        ours::framing::Reading::bare(),
    );
    [
        Entry::new(move || {
            sum(|each| {
                floor.each(black_box(bytes), piece, each);
                Some(())
            })
        }),
        Entry::new(move || sum(|each| ours.read(black_box(bytes), piece, each))),
        Entry::new(move || {
            let body = scylla::framing::body(black_box(bytes), piece).ok()?;
            Some(body.len() as u64)
        }),
        cassandra(LegacyFrameDecoder::default(), bytes, piece),
    ]
}

fn cassandra(
    mut decoder: impl FrameDecoder + 'static,
    bytes: &'static [u8],
    piece: usize,
) -> Entry {
    let mut data = Vec::new();
    Entry::new(move || {
        sum(|each| cassandra::framing::read(&mut decoder, &mut data, black_box(bytes), piece, each))
    })
}

/// The length of all bodies that `read` hands over.
#[inline(always)]
fn sum(read: impl FnOnce(&mut dyn FnMut(&[u8])) -> Option<()>) -> Option<u64> {
    let mut sum = 0;
    read(&mut |body| sum += body.len() as u64)?;
    Some(sum)
}

fn decoded(envelope: Vec<u8>, piece: usize) -> [Entry; 4] {
    let bytes = &**kept(envelope);
    let (mut floor, mut ours) = (
        floor::framing::Bare::default(),
        ours::framing::Reading::bare(),
    );
    let (mut decoder, mut data) = (LegacyFrameDecoder::default(), Vec::new());
    let features = ProtocolFeatures::default();
    [
        Entry::new(move || {
            let mut found = None;
            floor.each(black_box(bytes), piece, |body| {
                found = floor::rows::raw(body);
            });
            found
        }),
        Entry::new(move || {
            let mut found = None;
            ours.read(black_box(bytes), piece, |body| {
                found = ours::rows::raw(body);
            })?;
            found
        }),
        Entry::new(move || {
            let body = scylla::framing::body(black_box(bytes), piece).ok()?;
            scylla::rows::raw(&body, &features)
        }),
        Entry::new(move || {
            let mut found = None;
            cassandra::framing::read(&mut decoder, &mut data, black_box(bytes), piece, |body| {
                found = cassandra::rows::raw(body);
            })?;
            found
        }),
    ]
}

fn cut_in_header() -> [Entry; 4] {
    let bytes = &kept(small(4))[..7];
    let mut floor = floor::framing::Bare::default();
    floor.read(bytes);
    let mut ours = ours::framing::Reading::bare();
    let empty = ours.read(bytes, WHOLE, |_| {});
    assert_eq!(empty, Some(()));
    [
        Entry::new(move || Some(black_box(&mut floor).body().is_none().into())),
        Entry::new(move || Some(black_box(&mut ours).is_incomplete().into())),
        Entry::new(move || {
            Some(
                scylla::framing::body(black_box(bytes), WHOLE)
                    .is_err()
                    .into(),
            )
        }),
        Entry::new(move || Some(cassandra::framing::is_incomplete(black_box(bytes)).into())),
    ]
}

fn cut_in_name() -> [Entry; 4] {
    let whole = data::narrow_body(Columns::Described);
    // Within the name of the second column.
    let at = whole.windows(6).position(|window| window == b"\0\x04name");
    let cut = at.expect("it is there") + 4;
    let body = kept(Bytes::from(whole[..cut].to_vec()));
    let features = ProtocolFeatures::default();
    [
        Entry::new(move || Some(floor::rows::raw(black_box(body)).is_none().into())),
        Entry::new(move || Some(ours::rows::raw(black_box(body)).is_none().into())),
        Entry::new(move || {
            Some(
                scylla::rows::raw(black_box(body), &features)
                    .is_none()
                    .into(),
            )
        }),
        Entry::daring(move || Some(cassandra::rows::raw(black_box(body)).is_none().into())),
    ]
}
