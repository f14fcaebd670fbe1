//! Clients that speak CQL to a port of TLS: how they are known, and what they are told.

use bytes::{BufMut, BytesMut};
use helenus_core::message::ErrorResponse;
use helenus_core::{Direction, Flags, Header, Opcode, ProtocolVersion, StreamId};

/// The first byte of whoever speaks TLS: a record of the handshake.
pub(crate) const TLS_HANDSHAKE: u8 = 0x16;

/// The newest version that a first byte of CQL is expected to say.
const NEWEST: u8 = 0x0F;

/// The ERROR for a client whose first bytes begin a request of CQL, in its own version if we speak it. None if
/// they don't.
pub(crate) fn refusal(bytes: &[u8]) -> Option<BytesMut> {
    let version = *bytes
        .first()
        .filter(|version| (1..=NEWEST).contains(*version))?;
    let version = ProtocolVersion::from_u8(version).unwrap_or(ProtocolVersion::V4);
    let stream = match bytes {
        [_, _, high, low, ..] => StreamId(i16::from_be_bytes([*high, *low])),
        _ => StreamId::default(),
    };
    let mut body = BytesMut::new();
    ErrorResponse::protocol_error("This port speaks TLS; connect with TLS")
        .encode(version, &mut body);
    let header = Header {
        version: version.as_u8(),
        direction: Direction::Response,
        flags: Flags::NONE,
        stream,
        opcode: Opcode::ERROR,
        length: u32::try_from(body.len()).unwrap_or_default(),
    };
    let mut refusal = BytesMut::with_capacity(Header::SIZE + body.len());
    refusal.put_slice(&header.encode());
    refusal.put_slice(&body);
    Some(refusal)
}
