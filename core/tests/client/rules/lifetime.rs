//! How a connection ages and ends.

use std::time::Duration;

use helenus_core::connection::{CallError, Owner, Retry, SendRefused};
use helenus_core::error::Misuse;
use helenus_core::testing::Cuts;
use helenus_core::transition::State;
use helenus_core::{CallOptions, ClientError, ErrorCode, Opcode, Progress};

use crate::client::{Client, Told, answered, config, connected};
use crate::peer::{error, supported, void};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_slow_handshake_ends() {
    let mut client = Client::new(config(4));
    let at = client.connection.poll_timeout().unwrap();
    assert_eq!(at, client.clock.now() + 10 * SECOND);
    client.wait(9 * SECOND);
    assert_eq!(client.told(), []);
    client.wait(SECOND);
    assert_eq!(client.told(), [Told::Closed(ClientError::HandshakeTimeout)]);
    assert_eq!(client.connection.poll_timeout(), None);
    assert!(client.connection.is_finished());
}

#[test]
fn a_silent_server_is_asked_and_then_given_up() {
    let mut client = connected(config(4));
    let call = client
        .try_query(&CallOptions::default().with_timeout(Duration::MAX))
        .unwrap();
    client.sent();
    assert_eq!(
        client.connection.poll_timeout(),
        Some(client.clock.now() + 30 * SECOND)
    );
    client.wait(30 * SECOND);
    assert_eq!(client.asked(), [(Opcode::OPTIONS, 0)]);
    assert_eq!(client.connection.stats().heartbeats, 1);
    assert_eq!(
        client.connection.poll_timeout(),
        Some(client.clock.now() + 10 * SECOND)
    );
    client.wait(10 * SECOND);
    let reason = ClientError::Unresponsive;
    let lost = CallError::Lost {
        sent: true,
        reason: reason.clone(),
    };
    assert_eq!(
        (lost.may_retry(), lost.owner()),
        (Retry::IfIdempotent, Owner::Unknown)
    );
    assert_eq!(
        client.told(),
        [Told::Failed(call, lost), Told::Closed(reason)]
    );
}

#[test]
fn a_heartbeat_that_is_answered_is_nobodys_business() {
    let mut client = connected(config(4));
    for _ in 0..3 {
        client.wait(30 * SECOND);
        assert_eq!(client.asked(), [(Opcode::OPTIONS, 0)]);
        client.wait(9 * SECOND);
        client.receive(&supported(4, &[]), Cuts::BYTES);
        assert_eq!(client.told(), []);
    }
    client.receive(&supported(4, &[]), Cuts::Whole);
    assert!(
        matches!(client.told()[..], [Told::Closed(ClientError::Peer(_))]),
        "nobody asked"
    );
}

#[test]
fn any_byte_is_a_sign_of_life() {
    let mut client = connected(config(4));
    client.query();
    let answer = void(4, 1);
    for byte in &answer[..answer.len() - 1] {
        client.wait(11 * SECOND);
        client.receive(&[*byte], Cuts::Whole);
    }
    assert_eq!(client.connection.stats().heartbeats, 0);
    client.wait(30 * SECOND);
    // Other bytes than the answer: the server is alive, and silent for an interval first.
    client.receive(&answer[answer.len() - 1..], Cuts::Whole);
    client.wait(29 * SECOND);
    client.told();
    client.wait(SECOND);
    assert_eq!(client.told(), [Told::Closed(ClientError::Unresponsive)]);
}

#[test]
fn a_busy_connection_needs_no_heartbeat_and_an_idle_one_no_call() {
    let mut client = connected(config(4));
    for _ in 0..10 {
        let call = client.query();
        client.wait(11 * SECOND);
        client.receive(&void(4, 1), Cuts::Whole);
        assert_eq!(client.told(), [answered(call)]);
    }
    assert_eq!(client.connection.stats().heartbeats, 0);
    let mut config = config(4);
    config.heartbeat_interval = None;
    let client = connected(config);
    assert_eq!(client.connection.poll_timeout(), None);
}

#[test]
fn closing_waits_for_what_is_in_flight() {
    let mut client = connected(config(4));
    let (first, second) = (client.query(), client.query());
    client.connection.close();
    assert_eq!(
        client.try_query(&CallOptions::default()),
        Err(SendRefused::Closed)
    );
    assert!(!SendRefused::Closed.is_temporary());
    assert_eq!(client.run(), Progress::NeedInput);
    client.receive(&void(4, 2), Cuts::Whole);
    assert!(client.connection.wants_read() && !client.connection.is_finished());
    client.receive(&void(4, 1), Cuts::Whole);
    assert_eq!(client.told(), [answered(second), answered(first)]);
    assert_eq!(client.run(), Progress::Finished);
    assert!(!client.connection.wants_read());
    assert!(!client.connection.is_finished(), "not sent");
    client.sent();
    assert!(client.connection.is_finished());
}

#[test]
fn the_end_of_input_fails_what_is_in_flight_after_what_was_received() {
    let mut client = connected(config(4));
    let (answer, call) = (client.query(), client.query());
    client.sent();
    client.input.extend_from_slice(&void(4, 1));
    client.input.extend_from_slice(&void(4, 2)[..12]);
    client.connection.handle_eof(client.clock.now());
    assert!(!client.connection.wants_read());
    assert_eq!(client.run(), Progress::Finished);
    let reason = ClientError::Ended;
    let lost = CallError::Lost {
        sent: true,
        reason: reason.clone(),
    };
    assert_eq!(
        client.told(),
        [
            answered(answer),
            Told::Failed(call, lost),
            Told::Closed(reason)
        ]
    );
    assert_eq!(client.run(), Progress::Finished);
    assert_eq!(client.told(), [], "once");
    assert!(client.connection.is_finished());
}

#[test]
fn an_error_on_stream_0_concerns_the_connection() {
    let mut client = connected(config(4));
    let call = client.query();
    client.receive(&error(4, 0, 0x0A, "what was that?"), Cuts::BYTES);
    let told = client.told();
    let Told::Closed(ClientError::Refused { state, error }) = &told[1] else {
        panic!("unexpected {told:?}");
    };
    assert_eq!(
        (*state, error.code),
        (State::Ready, ErrorCode::PROTOCOL_ERROR)
    );
    assert!(
        matches!(told[0], Told::Failed(failed, CallError::Lost { sent: false, .. }) if failed == call)
    );
}

#[test]
fn a_connection_that_is_over_stays_so() {
    let mut client = connected(config(4));
    let call = client.query();
    client.receive(b"no envelope", Cuts::Whole);
    client.told();
    client.receive(&void(4, 1), Cuts::Whole);
    assert_eq!(client.told(), []);
    assert_eq!(
        client.try_query(&CallOptions::default()),
        Err(SendRefused::Closed)
    );
    assert_eq!(client.connection.authenticate(None), Err(Misuse::Closed));
    assert!(!client.connection.cancel(call));
    client.wait(100 * SECOND);
    client.connection.handle_eof(client.clock.now());
    assert_eq!(client.run(), Progress::Finished);
    assert_eq!(client.told(), []);
}

#[test]
fn a_cancelled_request_does_not_fail_with_the_connection() {
    let mut client = connected(config(4));
    let (cancelled, kept) = (client.query(), client.query());
    client.input.extend_from_slice(b"no envelope");
    client.connection.cancel(cancelled);
    client.run();
    let told = client.told();
    assert_eq!(told.len(), 2);
    assert!(matches!(told[0], Told::Failed(call, _) if call == kept));
}

#[test]
fn a_regressing_clock_is_clamped() {
    let mut config = config(4);
    config.heartbeat_interval = None;
    let mut client = connected(config);
    let start = client.clock.now();
    client.clock.advance(20 * SECOND);
    client.run();
    client.connection.handle_timeout(start);
    client
        .connection
        .send(start, &crate::client::SELECT, &CallOptions::default())
        .unwrap();
    assert_eq!(client.connection.poll_timeout(), Some(start + 32 * SECOND));
}
