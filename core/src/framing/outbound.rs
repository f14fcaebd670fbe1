//! The writing half of a connection: one contiguous stream of envelopes, sealed into segments when it is
//! sent.
//!
//! A v5 segment is opened by leaving room for its header, and sealed (cut, compressed, given its checksums)
//! only when the caller asks for bytes to send, or when it is full, so that many answers share one.

use bytes::{Buf, BufMut, BytesMut};

use super::{Framing, Stamp};
use crate::codes::{ErrorCode, Opcode};
use crate::compression::{Compression, Compressor};
use crate::crc::crc32;
use crate::envelope::{Direction, Flags, Header, StreamId};
use crate::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader};
use crate::wire::WireWrite;

/// An emptied buffer above this is given back.
const KEEP: usize = 32 << 10;

/// Room for a short answer.
const ROOM: usize = 256;

/// Below this many bytes, compressing isn't worth its while.
const MIN_COMPRESSED: usize = 128;

/// The place of the header of an envelope being written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    start: usize,
    header: usize,
}

impl Mark {
    /// Where the envelope's body begins.
    pub(crate) const fn body(self) -> usize {
        self.start + self.header
    }
}

#[derive(Debug)]
pub(crate) struct Outbound {
    buffer: BytesMut,
    /// Bytes at the front that may be sent.
    sealed: usize,
    framing: Framing,
    /// Which way the envelopes go.
    direction: Direction,
    compressor: Option<Box<Compressor>>,
    /// The stream position of the buffer's first byte.
    base: u64,
    /// The most bytes that stood in the buffer since it was last empty.
    peak: usize,
    /// The longest body: what the length of an envelope, which is signed, can say.
    longest: usize,
}

impl Outbound {
    pub(crate) fn new(direction: Direction) -> Outbound {
        Outbound {
            buffer: BytesMut::new(),
            sealed: 0,
            framing: Framing::Bare(None),
            direction,
            compressor: None,
            base: 0,
            peak: 0,
            longest: i32::MAX as usize,
        }
    }

    /// From the next envelope on, envelopes travel like this.
    pub(crate) fn switch(&mut self, framing: Framing) {
        self.seal();
        self.framing = framing;
    }

    /// Bytes written and not yet sent.
    #[inline]
    pub(crate) fn unsent(&self) -> usize {
        self.buffer.len()
    }

    /// The stream position behind the last byte that may be sent.
    #[inline]
    pub(crate) fn sealed_position(&self) -> u64 {
        self.base + self.sealed as u64
    }

    /// The stream position of the first byte that is still here.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.base
    }

    /// Makes room for a short answer at once, which a new connection's first would take five steps to.
    pub(crate) fn make_room(&mut self) {
        self.buffer.reserve(ROOM);
    }

    /// Begins an envelope; its body is then written to [`Outbound::buffer`].
    #[inline]
    pub(crate) fn begin(
        &mut self,
        stamp: Stamp,
        stream: StreamId,
        opcode: Opcode,
        flags: Flags,
    ) -> Mark {
        // v1 and v2 have streams of one byte.
        let header = Header::SIZE - usize::from(stamp.version < 3);
        if let Framing::Segments(format) = self.framing
            && self.buffer.len() == self.sealed
        {
            let room = [0; 8];
            self.buffer
                .extend_from_slice(room.get(..format.header_len()).unwrap_or(&room));
        }
        let start = self.buffer.len();
        let bytes = Header {
            version: stamp.version,
            direction: self.direction,
            flags: flags.with(stamp.flags),
            stream,
            opcode,
            length: 0,
        }
        .encode();
        if header == Header::SIZE {
            self.buffer.extend_from_slice(&bytes);
        } else {
            let [version, flags, _, stream, rest @ ..] = bytes;
            self.buffer.extend_from_slice(&[version, flags, stream]);
            self.buffer.extend_from_slice(&rest);
        }
        Mark { start, header }
    }

    /// Where bodies are written.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Sets flags in the header of an envelope being written.
    pub(crate) fn set_flags(&mut self, mark: Mark, flags: Flags) {
        if let Some(byte) = self.buffer.get_mut(mark.start + 1) {
            *byte |= flags.0;
        }
    }

    /// Takes an unfinished envelope off again.
    pub(crate) fn abandon(&mut self, mark: Mark) {
        self.buffer.truncate(mark.start);
    }

    /// Whether the body of an envelope being written is longer than its header can say.
    #[inline]
    pub(crate) fn is_too_long(&self, mark: Mark) -> bool {
        self.buffer.len().saturating_sub(mark.body()) > self.longest
    }

    /// Ends an envelope: everything behind its header is its body. A response that is too long becomes an
    /// ERROR; a request that is must be abandoned instead.
    #[inline]
    pub(crate) fn finish(&mut self, mark: Mark) {
        if self.is_too_long(mark) {
            self.refuse_body(mark);
        }
        match self.framing {
            Framing::Bare(None) => {
                self.set_length(mark);
                self.sealed = self.buffer.len();
            }
            Framing::Bare(Some(compression)) => {
                self.compress_body(mark, compression);
                self.set_length(mark);
                self.sealed = self.buffer.len();
            }
            Framing::Segments(format) => {
                self.set_length(mark);
                if self.buffer.len() - self.sealed > format.header_len() + MAX_PAYLOAD {
                    self.overflow(mark, format);
                }
            }
        }
    }

    /// Puts an ERROR in the place of an answer whose length no header can say.
    #[cold]
    fn refuse_body(&mut self, mark: Mark) {
        self.buffer.truncate(mark.body());
        let end = mark.body();
        if let Some(byte) = self.buffer.get_mut(mark.start + 1) {
            *byte &= Flags::USE_BETA.0;
        }
        if let Some(opcode) = self.buffer.get_mut(end - 5) {
            *opcode = Opcode::ERROR.0;
        }
        self.buffer.put_u32(ErrorCode::SERVER_ERROR.0);
        self.buffer
            .put_string("The response is longer than an envelope can be; ask for smaller pages");
    }

    #[inline]
    fn set_length(&mut self, mark: Mark) {
        let length = self.buffer.len().saturating_sub(mark.body());
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        let end = mark.body();
        if let Some(field) = self.buffer.get_mut(end - 4..end) {
            field.copy_from_slice(&length);
        }
    }

    fn compress_body(&mut self, mark: Mark, compression: Compression) {
        let body = self.buffer.get(mark.body()..).unwrap_or_default();
        if body.len() < MIN_COMPRESSED || mark.header != Header::SIZE {
            return;
        }
        let compressor = self.compressor.get_or_insert_default();
        if let Some(block) = compressor.body(compression, body) {
            self.buffer.truncate(mark.body());
            self.buffer.extend_from_slice(block);
            self.set_flags(mark, Flags::COMPRESSION);
        }
    }

    /// The open segment has become too long: the last envelope goes into segments of its own.
    #[cold]
    fn overflow(&mut self, mark: Mark, format: SegmentFormat) {
        // A copy, since a split would share the allocation, and make later writes move all of it.
        let envelope = self.buffer.get(mark.start..).unwrap_or_default().to_vec();
        self.buffer.truncate(mark.start);
        self.seal();
        if envelope.len() <= MAX_PAYLOAD {
            self.open(&envelope, format);
            return;
        }
        self.buffer.reserve(envelope.len() + envelope.len() / 1024);
        for part in envelope.chunks(MAX_PAYLOAD) {
            self.open(part, format);
            self.seal_open(format, false);
        }
    }

    fn open(&mut self, payload: &[u8], format: SegmentFormat) {
        self.buffer.put_bytes(0, format.header_len());
        self.buffer.extend_from_slice(payload);
    }

    /// Makes everything written so far ready to be sent.
    #[inline]
    pub(crate) fn seal(&mut self) {
        if let Framing::Segments(format) = self.framing {
            if self.buffer.len() > self.sealed + format.header_len() {
                self.seal_open(format, true);
            } else {
                // An abandoned envelope may leave the room for a header behind; it is no segment.
                self.buffer.truncate(self.sealed);
            }
        }
    }

    fn seal_open(&mut self, format: SegmentFormat, self_contained: bool) {
        let start = self.sealed + format.header_len();
        let payload = self.buffer.get(start..).unwrap_or_default();
        let length = payload.len();
        let mut header = SegmentHeader {
            payload: length as u32,
            uncompressed: 0,
            self_contained,
        };
        let crc = match format {
            SegmentFormat::Lz4 if length >= MIN_COMPRESSED => {
                let compressor = self.compressor.get_or_insert_default();
                match compressor.segment(payload) {
                    Some(block) => {
                        header.payload = block.len() as u32;
                        header.uncompressed = length as u32;
                        self.buffer.truncate(start);
                        self.buffer.extend_from_slice(block);
                        crc32(block)
                    }
                    None => crc32(payload),
                }
            }
            _ => crc32(payload),
        };
        self.buffer.extend_from_slice(&crc.to_le_bytes());
        let bytes = header.encode(format);
        let length = format.header_len();
        if let (Some(room), Some(bytes)) = (
            self.buffer.get_mut(self.sealed..self.sealed + length),
            bytes.get(..length),
        ) {
            room.copy_from_slice(bytes);
        }
        self.sealed = self.buffer.len();
    }

    /// The bytes that may be sent; call [`Outbound::seal`] first.
    #[inline]
    pub(crate) fn sendable(&self) -> &[u8] {
        self.buffer.get(..self.sealed).unwrap_or_default()
    }

    /// Says that the first `sent` bytes were sent.
    #[inline]
    pub(crate) fn advance(&mut self, sent: usize) {
        let sent = sent.min(self.sealed);
        self.peak = self.peak.max(self.buffer.len());
        self.buffer.advance(sent);
        self.sealed -= sent;
        self.base += sent as u64;
        if self.buffer.is_empty() {
            self.relax();
        }
    }

    /// Swaps everything sealed for the caller's buffer, which is emptied.
    pub(crate) fn take(&mut self, spare: &mut BytesMut) {
        spare.clear();
        std::mem::swap(&mut self.buffer, spare);
        self.base += self.sealed as u64;
        self.sealed = 0;
    }

    /// Gives back what a burst needed.
    #[inline]
    fn relax(&mut self) {
        if self.peak > KEEP {
            self.buffer = BytesMut::new();
            if let Some(compressor) = &mut self.compressor {
                compressor.shrink(KEEP);
            }
        }
        self.peak = 0;
    }
}

#[cfg(test)]
mod tests;
