//! [`EnvelopeReader`]: envelopes off a stream of bytes, without a connection around it.

use std::fmt;
use std::ops::Deref;

use bytes::{Bytes, BytesMut};

use super::inbound::Inbound;
use super::lent::Lent;
use super::{Dialect, Framing, Rules, Step};
use crate::codes::ProtocolVersion;
use crate::compression::Compression;
use crate::envelope::{Direction, Header};
use crate::error::{PeerMisbehaved, Scope};
use crate::segment::SegmentFormat;
use crate::transition::Role;

/// Takes the envelopes of one direction off a stream of bytes: for captures, proxies and tools, whose
/// handshake is somebody else's. A connection has one inside.
///
/// ```
/// use bytes::BytesMut;
/// use helenus_core::framing::EnvelopeReader;
/// use helenus_core::{Direction, Opcode, ProtocolVersion};
///
/// let mut reader = EnvelopeReader::new(Direction::Response, ProtocolVersion::V4, 16 << 20);
/// let mut input = BytesMut::new();
/// // READY, and the beginning of something else.
/// input.extend_from_slice(&[0x84, 0, 0, 1, 2, 0, 0, 0, 0, 0x84, 0]);
/// let envelope = reader.next(&mut input)?.expect("it is whole");
/// assert_eq!((envelope.header().opcode, envelope.body()), (Opcode::READY, &[][..]));
/// drop(envelope);
/// assert!(reader.next(&mut input)?.is_none());
/// # Ok::<(), helenus_core::error::PeerMisbehaved>(())
/// ```
#[derive(Debug)]
pub struct EnvelopeReader {
    inbound: Inbound,
    rules: Rules,
    broken: Option<PeerMisbehaved>,
}

impl EnvelopeReader {
    /// A reader of bare, uncompressed envelopes of this version and direction, whose length is at most
    /// `limit` bytes: with their header before v5, without it in v5.
    #[must_use]
    pub fn new(direction: Direction, version: ProtocolVersion, limit: usize) -> EnvelopeReader {
        EnvelopeReader {
            inbound: Inbound::new(),
            rules: Rules {
                role: match direction {
                    Direction::Request => Role::Server,
                    Direction::Response => Role::Client,
                },
                agreed: Some(Dialect {
                    version,
                    beta: false,
                }),
                limit,
                room: usize::MAX,
                oldest: ProtocolVersion::V3,
                ready: true,
            },
            broken: None,
        }
    }

    /// From the next byte on, bodies whose flag says so are compressed like this.
    pub fn compressed(&mut self, compression: Compression) {
        self.inbound.switch(Framing::Bare(Some(compression)));
    }

    /// From the next byte on, envelopes come in segments.
    pub fn segmented(&mut self, format: SegmentFormat) {
        self.inbound.switch(Framing::Segments(format));
    }

    /// Takes the next envelope off `input`; `None` if it isn't there as a whole.
    ///
    /// Always hand in the same buffer, to whose end new bytes are appended. What was done with an
    /// incomplete envelope is kept, so that calling after every byte costs little. The envelope is consumed
    /// when it is dropped; its bytes leave `input` with the next call, or one after that if more envelopes
    /// lie ready.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes. If it concerns one envelope, that is consumed, and reading goes on
    /// behind it; if it isn't known where the next one begins, the same error comes again and again.
    #[inline(always)]
    pub fn next<'a>(
        &'a mut self,
        input: &'a mut BytesMut,
    ) -> Result<Option<LentEnvelope<'a>>, PeerMisbehaved> {
        if self.inbound.lacks(input.len()) {
            return Ok(None);
        }
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        match self.inbound.poll(input, &self.rules) {
            Step::Frame(frame) => Ok(Some(LentEnvelope(Lent::new(
                &frame,
                &mut self.inbound,
                input,
            )))),
            Step::NeedInput => Ok(None),
            Step::Fault(fault) => {
                if fault.scope == Scope::Fatal {
                    self.broken = Some(fault.error.clone());
                }
                Err(fault.error)
            }
        }
    }

    /// Gives back the room that long messages were put together in. It is kept as long as such come, which
    /// who has a clock may know to be over.
    pub fn shrink(&mut self) {
        self.inbound.give_room_back();
    }

    /// How many bytes to make room for before the next read.
    #[must_use]
    pub fn read_hint(&self) -> usize {
        self.inbound.read_hint()
    }
}

/// An envelope where it lies: in the caller's buffer, or in the reader's if it was compressed or came in
/// several segments. Dropping it consumes it. Derefs to the body.
pub struct LentEnvelope<'a>(Lent<'a>);

impl LentEnvelope<'_> {
    /// The header as it arrived; its length is that of the body on the wire.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &Header {
        self.0.header()
    }

    /// The body, decompressed.
    #[inline]
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
    }

    /// The body to keep. Above 4 KiB it is not copied, but taken out of the buffer it lies in, which stays
    /// alive with it.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

impl Deref for LentEnvelope<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.body()
    }
}

impl fmt::Debug for LentEnvelope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentEnvelope")
            .field("header", self.header())
            .field("body", &self.body().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Opcode;
    use crate::crc::crc32;
    use crate::segment::SegmentHeader;

    const READY: [u8; 9] = [0x85, 0, 0, 1, 2, 0, 0, 0, 0];
    const VOID: [u8; 13] = [0x85, 0, 0, 2, 8, 0, 0, 0, 4, 0, 0, 0, 1];

    fn reader() -> EnvelopeReader {
        EnvelopeReader::new(Direction::Response, ProtocolVersion::V5, 1 << 20)
    }

    fn segment(payload: &[u8]) -> Vec<u8> {
        let header = SegmentHeader {
            payload: payload.len() as u32,
            uncompressed: 0,
            self_contained: true,
        };
        let mut out = header.encode(SegmentFormat::Plain)[..6].to_vec();
        out.extend_from_slice(payload);
        out.extend_from_slice(&crc32(payload).to_le_bytes());
        out
    }

    /// The opcodes and bodies of what comes, in pieces of this length.
    fn read(reader: &mut EnvelopeReader, bytes: &[u8], piece: usize) -> Vec<(Opcode, Vec<u8>)> {
        let mut input = BytesMut::new();
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            input.extend_from_slice(piece);
            while let Some(envelope) = reader.next(&mut input).unwrap() {
                found.push((envelope.header().opcode, envelope.to_vec()));
            }
        }
        assert!(input.is_empty());
        found
    }

    #[test]
    fn however_bytes_are_cut_the_same_envelopes_come() {
        let bare = [&READY[..], &VOID].concat();
        let wanted = [(Opcode::READY, vec![]), (Opcode::RESULT, vec![0, 0, 0, 1])];
        for piece in 1..=bare.len() {
            assert_eq!(read(&mut reader(), &bare, piece), wanted);
        }
        let segments = [segment(&bare), segment(&VOID)].concat();
        for piece in 1..=segments.len() {
            let mut reader = reader();
            reader.segmented(SegmentFormat::Plain);
            let found = read(&mut reader, &segments, piece);
            assert_eq!(found[..2], wanted);
            assert_eq!(found[2..], wanted[1..]);
        }
    }

    #[test]
    fn behind_a_damaged_segment_nothing_is_read() {
        let mut damaged = segment(&READY);
        damaged[7] ^= 1;
        let mut reader = reader();
        reader.segmented(SegmentFormat::Plain);
        let mut input = BytesMut::from(&[damaged, segment(&READY)].concat()[..]);
        for _ in 0..2 {
            assert!(matches!(
                reader.next(&mut input),
                Err(PeerMisbehaved::SegmentPayload(_))
            ));
        }
    }
}
