//! Whatever a client sends and whatever the caller does in between: nothing panics, loops or stays open, and
//! what goes back can be read.

use helenus_core::connection::ServerConfig;

use crate::input::Input;
use crate::rig::{Habit, Server};
use crate::wire;

/// A handshake that succeeds, or none, and then the client's bytes, with the caller's doings between them.
pub(super) fn server(data: &[u8]) {
    let mut input = Input::new(data);
    let (setting, version, compression) = (input.byte(), input.version(), input.compression());
    let mut config = ServerConfig::default();
    config.authenticator = (setting & 1 != 0).then(|| "PasswordAuthenticator".to_owned());
    if setting & 2 != 0 {
        config.limits.max_envelope = 200;
        config.limits.max_envelope_before_login = 100;
        config.limits.max_requests = 3;
        config.limits.max_request_bytes = 300;
        config.limits.max_unsent = 100;
    }
    let mut server = Server::new(config, Habit::Erratic);
    let cuts = input.cuts();
    let steps = input.take(usize::from(setting >> 4));
    let bytes = if setting & 4 == 0 {
        server.receive(&wire::startup(version, compression), cuts);
        wire::after_handshake(input, version, compression)
    } else {
        input.rest().to_vec()
    };
    let piece = bytes.len() / (steps.len() + 1) + 1;
    let mut steps = steps.iter();
    for piece in bytes.chunks(piece) {
        server.receive(piece, cuts);
        if let Some(step) = steps.next() {
            server.disturb(*step);
        }
    }
    server.finish();
    wire::read(&server.output);
}

/// What a client sends whose input this is, its handshake included.
pub(crate) fn client_bytes(data: &[u8]) -> Vec<u8> {
    let mut input = Input::new(data);
    let (setting, version, compression) = (input.byte(), input.version(), input.compression());
    let _cuts = input.cuts();
    let _steps = input.take(usize::from(setting >> 4));
    if setting & 4 != 0 {
        return input.rest().to_vec();
    }
    let mut bytes = wire::startup(version, compression);
    bytes.extend(wire::after_handshake(input, version, compression));
    bytes
}

/// The same bytes whole, one at a time and cut otherwise: the same requests, answers and errors.
pub(super) fn chunking(data: &[u8]) {
    let mut input = Input::new(data);
    let (setting, version, compression) = (input.byte(), input.version(), input.compression());
    let cuts = input.cuts();
    let bytes = if setting & 1 == 0 {
        let mut bytes = wire::startup(version, compression);
        bytes.extend(wire::after_handshake(input, version, compression));
        bytes
    } else {
        input.rest().to_vec()
    };
    let outcome = |cuts| {
        let mut server = Server::new(ServerConfig::default(), Habit::Prompt);
        server.receive(&bytes, cuts);
        let closed = server.closed.clone();
        server.finish();
        (server.requests, wire::read(&server.output), closed)
    };
    let whole = outcome(helenus_core::testing::Cuts::Whole);
    assert_eq!(outcome(cuts), whole);
    assert_eq!(outcome(helenus_core::testing::Cuts::BYTES), whole);
}
