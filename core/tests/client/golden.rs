//! Golden responses, recorded from other implementations, through a client's connection: each decodes,
//! cut at every length it is waited for, and a body that ends early fails its request alone.

use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{Direction, Opcode, Response};

use crate::client::{Client, Told, config, connected};
use crate::peer::{response, segment};
use crate::vectors::{Golden, envelopes};

/// The messages of the handshake come before there is a request that they could answer.
fn is_answer(golden: &Golden) -> bool {
    golden.header.opcode != Opcode::AUTHENTICATE
}

/// The envelope on this stream, with so much of its body, as it travels in its version.
fn framed(golden: &Golden, stream: i16, body: &[u8]) -> Vec<u8> {
    let header = golden.header;
    let envelope = response(header.version, header.flags.0, stream, header.opcode, body);
    match header.version {
        5 => segment(SegmentFormat::Plain, true, &envelope),
        _ => envelope,
    }
}

/// The stream on which a message is awaited: a request's, or that of events.
fn awaited(client: &mut Client, golden: &Golden) -> i16 {
    match golden.header.opcode {
        Opcode::EVENT => -1,
        _ => client.query().stream().0,
    }
}

fn clients() -> [Client; 3] {
    [3, 4, 5].map(|version| {
        let mut config = config(version);
        config.limits.max_unsent = usize::MAX;
        connected(config)
    })
}

#[test]
fn every_golden_response_cut_anywhere_is_waited_for_and_decodes() {
    let mut clients = clients();
    let goldens = envelopes(Direction::Response);
    let mut decoded = 0;
    for golden in goldens.iter().filter(|golden| is_answer(golden)) {
        let client = &mut clients[usize::from(golden.header.version) - 3];
        let length = framed(golden, 1, &golden.body).len();
        for cut in 0..length {
            let stream = awaited(client, golden);
            let bytes = framed(golden, stream, &golden.body);
            client.receive(&bytes[..cut], Cuts::Whole);
            assert_eq!(client.told(), [], "{} cut at {cut}", golden.id);
            client.receive(&bytes[cut..], Cuts::Whole);
            match &client.told()[..] {
                [Told::Answer(_, Ok((response, _)))] => {
                    assert_eq!(response.opcode(), golden.header.opcode, "{}", golden.id);
                }
                [Told::Server(Some(_))] => assert_eq!(stream, -1),
                other => panic!("{} cut at {cut}: {other:?}", golden.id),
            }
            client.sent();
        }
        decoded += 1;
    }
    assert!(decoded > 900, "{decoded}");
}

#[test]
fn a_body_that_ends_early_fails_its_request_alone() {
    let mut clients = clients();
    for golden in envelopes(Direction::Response)
        .iter()
        .filter(|golden| is_answer(golden))
    {
        let client = &mut clients[usize::from(golden.header.version) - 3];
        for length in 0..golden.body.len() {
            let stream = awaited(client, golden);
            client.receive(&framed(golden, stream, &golden.body[..length]), Cuts::Whole);
            match &client.told()[..] {
                [Told::Answer(_, Err(_)) | Told::Server(None)] => {}
                // Rows are read lazily.
                [Told::Answer(_, Ok((Response::Rows(rows), _)))] => {
                    let whole = rows.iter().filter(Result::is_ok).count();
                    assert!(
                        whole < rows.row_count as usize,
                        "{} of {length} bytes",
                        golden.id
                    );
                }
                other => panic!("{} of {length} bytes: {other:?}", golden.id),
            }
            assert!(client.connection.is_ready() && client.connection.in_flight() == 0);
            client.sent();
        }
    }
}
