//! What a client's connection allocates: nothing for a request in the long run, and never more than what it
//! received justifies.

use bytes::Buf;
use helenus_allocations::{count, peak_of};
use helenus_core::compression::Compression;
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{CallOptions, ClientEvent, ClientNext, Flags, Opcode};

use crate::client::{Client, SELECT, config, connected};
use crate::peer::{response, segment, void};

/// Sixteen requests, sent, answered in reverse and looked at.
fn round(client: &mut Client, answers: &[u8]) {
    let now = client.clock.now();
    for _ in 0..16 {
        client
            .connection
            .send(now, &SELECT, &CallOptions::default())
            .unwrap();
    }
    while let Some(mut transmit) = client.connection.poll_transmit() {
        transmit.advance(transmit.remaining());
    }
    client.input.extend_from_slice(answers);
    let mut answered = 0;
    while let ClientNext::Event(event) = client.connection.next(now, &mut client.input) {
        assert!(matches!(event, ClientEvent::Answer(_, answer) if answer.body().len() == 4));
        answered += 1;
    }
    assert_eq!(answered, 16);
}

#[test]
fn a_request_and_its_answer_allocate_nothing_in_the_long_run() {
    for version in [3, 4, 5] {
        let mut client = connected(config(version));
        let answers: Vec<u8> = (1..=16)
            .rev()
            .flat_map(|stream| void(version, stream))
            .collect();
        let answers = match version {
            5 => segment(SegmentFormat::Plain, true, &answers),
            _ => answers,
        };
        round(&mut client, &answers);
        let before = count();
        for _ in 0..1000 {
            round(&mut client, &answers);
        }
        assert_eq!(count() - before, 0, "v{version}");
    }
}

#[test]
fn a_promise_takes_no_memory() {
    let mut compressing = config(4);
    compressing.compressions = vec![Compression::Lz4];
    let flag = Flags::COMPRESSION.0;
    let cases = [
        // 256 MiB announced, a few bytes come.
        (
            config(4),
            [&[0x84, 0, 0, 1, 8, 0x0F, 0xFF, 0xFF, 0xFF][..], &[7; 100]].concat(),
        ),
        (
            config(4),
            response(4, 0, 1, Opcode::RESULT, &rows(&[0x7F, 0xFF, 0xFF, 0xFF], 1)),
        ),
        (
            config(4),
            response(4, 0, 1, Opcode::RESULT, &rows(&[0, 0, 0, 0], i32::MAX)),
        ),
        (config(4), response(4, 0, 1, Opcode::SUPPORTED, &[0xFF; 40])),
        (config(4), response(4, 8, 1, Opcode::RESULT, &[0xFF; 40])),
        (config(4), response(4, 4, 1, Opcode::RESULT, &[0xFF; 40])),
        (
            compressing,
            response(
                4,
                flag,
                1,
                Opcode::RESULT,
                &[0x0F, 0xFF, 0xFF, 0xFF, 1, 2, 3],
            ),
        ),
        (
            config(5),
            segment(
                SegmentFormat::Plain,
                false,
                &[0x85, 0, 0, 1, 8, 0x0F, 0xFF, 0xFF, 0xFF, 1],
            ),
        ),
    ];
    for (config, bytes) in cases {
        let mut client = connected(config);
        client.query();
        let peak = peak_of(|| client.receive(&bytes, Cuts::BYTES));
        let bound = 3 * bytes.len() + (64 << 10);
        assert!(peak <= bound as u64, "{peak} > {bound} for {bytes:02x?}");
    }
}

/// The front of rows without description: so many columns, and so many rows.
fn rows(columns: &[u8; 4], count: i32) -> Vec<u8> {
    [
        &[0, 0, 0, 2, 0, 0, 0, 4][..],
        columns,
        &count.to_be_bytes(),
        &[0; 30],
    ]
    .concat()
}
