//! Envelopes off a stream of bytes, bare and in segments.

use bytes::BytesMut;
use helenus_core::framing::EnvelopeReader;
use helenus_core::segment::SegmentFormat;
use helenus_core::{Direction, ProtocolVersion};

/// A reader, and the buffer that a socket is read into.
pub struct Reading {
    reader: EnvelopeReader,
    input: BytesMut,
}

impl Reading {
    /// Of bare responses in v4.
    #[must_use]
    pub fn bare() -> Self {
        Self {
            reader: EnvelopeReader::new(Direction::Response, ProtocolVersion::V4, 16 << 20),
            input: BytesMut::new(),
        }
    }

    /// Of responses in v5's segments.
    #[must_use]
    pub fn segmented() -> Self {
        let mut reader = EnvelopeReader::new(Direction::Response, ProtocolVersion::V5, 16 << 20);
        reader.segmented(SegmentFormat::Plain);
        Self {
            reader,
            input: BytesMut::new(),
        }
    }

    /// The bodies that come with these bytes, received `piece` of them at a time.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], piece: usize, mut each: impl FnMut(&[u8])) -> Option<()> {
        for piece in bytes.chunks(piece) {
            self.input.extend_from_slice(piece);
            while let Some(envelope) = self.reader.next(&mut self.input).ok()? {
                each(envelope.body());
            }
        }
        Some(())
    }

    /// Whether what was received is less than an envelope.
    #[inline]
    pub fn is_incomplete(&mut self) -> bool {
        matches!(self.reader.next(&mut self.input), Ok(None))
    }
}
