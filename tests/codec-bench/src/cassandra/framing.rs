//! Envelopes off a stream of bytes, bare and in segments.

use cassandra_protocol::compression::Compression;
use cassandra_protocol::frame::frame_decoder::FrameDecoder;
use cassandra_protocol::frame::{Envelope, ParseEnvelopeError};

/// The envelopes that a decoder finds, fed with `piece` bytes at a time.
pub fn read(
    decoder: &mut impl FrameDecoder,
    data: &mut Vec<u8>,
    bytes: &[u8],
    piece: usize,
    mut each: impl FnMut(&[u8]),
) -> Option<()> {
    for piece in bytes.chunks(piece) {
        data.extend_from_slice(piece);
        for envelope in decoder.consume(data, Compression::None).ok()? {
            each(&envelope.body);
        }
    }
    Some(())
}

/// Whether these bytes are less than an envelope.
pub fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(
        Envelope::from_buffer(bytes, Compression::None),
        Err(ParseEnvelopeError::NotEnoughBytes)
    )
}
