//! Whatever a server sends, and whatever the caller does in between: nothing panics or loops, and every call
//! comes to one end.

use helenus_core::testing::Cuts;
use helenus_core::{ClientConfig, Direction, Opcode, ProtocolVersion};

use crate::input::Input;
use crate::peer::Client;
use crate::wire;

fn config(setting: u8, version: ProtocolVersion, input: &mut Input<'_>) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.versions = vec![version];
    config.compressions = input.compression().into_iter().collect();
    if setting & 2 != 0 {
        config.limits.max_envelope = 200;
        config.limits.max_in_flight = 3;
        config.limits.max_orphans = 2;
        config.limits.max_unsent = 100;
    }
    config
}

/// What a server sends: a handshake that succeeds, and what is left of the input behind it; or that alone.
fn bytes(setting: u8, config: &ClientConfig, input: Input<'_>) -> Vec<u8> {
    if setting & 4 != 0 {
        return input.rest().to_vec();
    }
    let version = config.versions[0];
    let compression = config.compressions.first().copied();
    let response =
        |opcode, body: &[u8]| wire::envelope(version, Direction::Response, 0, opcode, body);
    // [string multimap]: all compressions, and nothing else.
    let supported = b"\0\x01\0\x0bCOMPRESSION\0\x02\0\x03lz4\0\x06snappy";
    let mut bytes = Vec::new();
    if compression.is_some() {
        bytes.extend(response(Opcode::SUPPORTED, supported));
    }
    bytes.extend(response(Opcode::READY, b""));
    let agreed = compression.filter(|compression| {
        version < ProtocolVersion::V5 || *compression == helenus_core::compression::Compression::Lz4
    });
    bytes.extend(wire::after_handshake(input, version, agreed));
    bytes
}

/// A server's bytes, with the caller's doings between them.
pub(super) fn client(data: &[u8]) {
    let mut input = Input::new(data);
    let (setting, version) = (input.byte(), input.version());
    let config = config(setting, version, &mut input);
    let cuts = input.cuts();
    let steps = input.take(usize::from(setting >> 4));
    let bytes = bytes(setting, &config, input);
    let mut client = Client::new(config);
    let piece = bytes.len() / (steps.len() + 1) + 1;
    let mut steps = steps.iter();
    for piece in bytes.chunks(piece) {
        client.receive(piece, cuts, 4);
        if let Some(step) = steps.next() {
            client.disturb(*step);
        }
    }
    client.finish();
    wire::read(&client.output);
}

/// A server's bytes whole and cut: the same events.
pub(super) fn chunking(data: &[u8]) {
    let mut input = Input::new(data);
    let (setting, version) = (input.byte() & !2, input.version());
    let config = config(setting, version, &mut input);
    let cuts = input.cuts();
    let bytes = bytes(setting, &config, input);
    let outcome = |cuts| {
        let mut client = Client::new(config.clone());
        client.receive(&bytes, cuts, 4);
        client.finish();
        client.seen
    };
    let whole = outcome(Cuts::Whole);
    assert_eq!(outcome(cuts), whole);
    assert_eq!(outcome(Cuts::BYTES), whole);
}
