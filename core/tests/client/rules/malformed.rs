//! Bytes that are no good envelopes: what fails one request, and what ends the connection. Whatever it is, the
//! memory used follows the bytes received.

mod compression;

use helenus_allocations::peak_of;
use helenus_core::connection::{CallError, Owner, Retry};
use helenus_core::error::{ErrorKind, PeerMisbehaved};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ClientError, Opcode};

use crate::client::{Client, Told, answered, config, connected, limited};
use crate::peer::{response, segment, void};

/// Receives bytes, and holds the memory that takes to them.
fn receive(client: &mut Client, bytes: &[u8], cuts: Cuts) {
    // The buffer is the caller's, and no part of what the connection may use.
    client.input.reserve(bytes.len());
    let peak = peak_of(|| client.receive(bytes, cuts));
    let bound = 3 * bytes.len() as u64 + (64 << 10);
    assert!(peak <= bound, "{peak} bytes live, {bound} allowed");
}

/// What a client with a request in flight makes of these bytes: the request fails, and then this.
fn ending(version: u8, bytes: &[u8]) -> ClientError {
    let [whole, single] = [Cuts::Whole, Cuts::BYTES].map(|cuts| {
        let mut client = connected(config(version));
        let call = client.query();
        receive(&mut client, bytes, cuts);
        let told = client.told();
        match &told[..] {
            [
                Told::Failed(failed, CallError::Lost { reason, .. }),
                Told::Closed(error),
            ] => {
                assert_eq!((*failed, reason), (call, error));
                let ClientError::Peer(misbehaved) = error else {
                    panic!("the server's fault, not {error:?}");
                };
                let faults = client.connection.stats().faults;
                assert_eq!(faults.iter().collect::<Vec<_>>(), [(misbehaved.kind(), 1)]);
                error.clone()
            }
            other => panic!("unexpected {other:?}"),
        }
    });
    assert_eq!(whole, single);
    whole
}

#[test]
fn broken_framing_ends_the_connection() {
    let plain = |whole, payload: &[u8]| segment(SegmentFormat::Plain, whole, payload);
    let mut bad_header = plain(true, &void(5, 1));
    bad_header[1] ^= 1;
    let mut bad_payload = plain(true, &void(5, 1));
    bad_payload[8] ^= 1;
    let negative = vec![0x84, 0, 0, 1, 8, 0xFF, 0xFF, 0xFF, 0xFE];
    let cases = [
        (4, vec![0x04], PeerMisbehaved::RequestBit(4)),
        (
            4,
            response(4, 0, 1, Opcode::QUERY, &[]),
            PeerMisbehaved::WrongDirection(Opcode::QUERY),
        ),
        (
            4,
            response(5, 0, 1, Opcode::RESULT, &[]),
            PeerMisbehaved::VersionChanged { got: 5, agreed: 4 },
        ),
        (
            4,
            response(2, 0, 1, Opcode::RESULT, &[]),
            PeerMisbehaved::VersionChanged { got: 2, agreed: 4 },
        ),
        (4, negative, PeerMisbehaved::NegativeLength(-2)),
        (
            4,
            response(4, 0, 1, Opcode::AUTHENTICATE, &[]),
            PeerMisbehaved::Unexpected(Opcode::AUTHENTICATE),
        ),
        (
            4,
            response(4, 0, 1, Opcode::EVENT, &[]),
            PeerMisbehaved::Unexpected(Opcode::EVENT),
        ),
        (5, plain(true, &void(5, 1)[..7]), PeerMisbehaved::CutSegment),
        (
            5,
            plain(true, &void(5, 1)[..12]),
            PeerMisbehaved::CutSegment,
        ),
        (
            5,
            [plain(false, &void(5, 1)[..12]), plain(true, &void(5, 1))].concat(),
            PeerMisbehaved::InterruptedMessage,
        ),
    ];
    for (version, bytes, expected) in cases {
        assert_eq!(ending(version, &bytes), ClientError::Peer(expected));
    }
    let header = ending(5, &bad_header);
    assert!(matches!(
        header,
        ClientError::Peer(PeerMisbehaved::SegmentHeader(_))
    ));
    let payload = ending(5, &bad_payload);
    assert!(matches!(
        payload,
        ClientError::Peer(PeerMisbehaved::SegmentPayload(_))
    ));
    assert_eq!(payload.owner(), Owner::Peer);
}

#[test]
fn unframed_answers_after_the_switch_are_no_segments() {
    let error = ending(5, &void(5, 1));
    assert!(matches!(
        error,
        ClientError::Peer(PeerMisbehaved::SegmentHeader(_))
    ));
}

#[test]
fn empty_segments_are_taken_and_mean_nothing() {
    let mut client = connected(config(5));
    let call = client.query();
    let plain = |whole, payload: &[u8]| segment(SegmentFormat::Plain, whole, payload);
    let bytes = [plain(true, &[]), plain(true, &void(5, 1)), plain(true, &[])].concat();
    receive(&mut client, &bytes, Cuts::BYTES);
    assert_eq!(client.told(), [answered(call)]);
}

#[test]
fn an_answer_above_the_limit_is_discarded_and_fails_alone() {
    for version in [4, 5] {
        let mut client = connected(limited(version, |limits| limits.max_envelope = 1000));
        let (big, small) = (client.query(), client.query());
        let long = response(version, 0, 1, Opcode::RESULT, &[7; 1001]);
        let bytes = match version {
            5 => [
                segment(SegmentFormat::Plain, false, &long[..100]),
                segment(SegmentFormat::Plain, false, &long[100..]),
                segment(SegmentFormat::Plain, true, &void(5, 2)),
            ]
            .concat(),
            _ => [long, void(version, 2)].concat(),
        };
        receive(&mut client, &bytes, Cuts::Every(7));
        let length = if version == 5 { 1001 } else { 1010 };
        let error = CallError::TooLong {
            length,
            limit: 1000,
        };
        assert_eq!(
            (error.may_retry(), error.owner()),
            (Retry::Never, Owner::Caller)
        );
        assert_eq!(client.told(), [Told::Failed(big, error), answered(small)]);
        let faults = client.connection.stats().faults;
        assert_eq!(faults.iter().collect::<Vec<_>>(), [(ErrorKind::TooLong, 1)]);
    }
}
