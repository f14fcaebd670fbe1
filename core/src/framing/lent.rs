//! [`Lent`]: an envelope where it lies, its body borrowed and undecoded.

use bytes::{Buf, Bytes, BytesMut};

use super::inbound::Inbound;
use super::{Dialect, Frame};
use crate::codes::ProtocolVersion;
use crate::envelope::Header;

/// A body up to this length is copied rather than kept in the buffer it was read into, which would keep
/// all of that buffer alive.
const COPIED: usize = 4 << 10;

/// An envelope whose body lies in the caller's buffer, or in the connection's if it was compressed or came
/// in several segments. Dropping it consumes it there.
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    header: Header,
    dialect: Dialect,
    buffer: &'a mut BytesMut,
    /// How many bytes at the front of the buffer are consumed.
    consumed: &'a mut usize,
    /// Where the body begins.
    start: usize,
    body: usize,
    /// How many will be consumed when this is dropped.
    end: usize,
}

impl<'a> Lent<'a> {
    /// The envelope of this frame, out of the buffer it lies in.
    #[inline(always)]
    pub(crate) fn new(
        frame: &Frame,
        inbound: &'a mut Inbound,
        input: &'a mut BytesMut,
    ) -> Lent<'a> {
        let (buffer, consumed) = inbound.buffer(frame.source, input);
        let start = *consumed + frame.before;
        Lent {
            header: frame.header,
            dialect: frame.dialect,
            buffer,
            consumed,
            start,
            body: frame.body,
            end: start + frame.body + frame.after,
        }
    }

    /// The header as it arrived.
    #[inline]
    pub(crate) const fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    #[inline]
    pub(crate) const fn version(&self) -> ProtocolVersion {
        self.dialect.version
    }

    /// The body, decompressed.
    #[inline]
    pub(crate) fn body(&self) -> &[u8] {
        self.buffer
            .get(self.start..self.start + self.body)
            .unwrap_or_default()
    }

    /// The body's length, decompressed.
    pub(crate) const fn len(&self) -> usize {
        self.body
    }

    /// The body to keep. Above 4 KiB it is not copied, but taken out of the buffer it lies in, which stays
    /// alive with it.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.body <= COPIED {
            return Bytes::copy_from_slice(self.body());
        }
        self.buffer.advance(self.start.min(self.buffer.len()));
        let body = self.buffer.split_to(self.body.min(self.buffer.len()));
        if self.buffer.is_empty() {
            // The emptied handle would pin the body's allocation.
            *self.buffer = BytesMut::new();
        }
        self.end -= self.start + self.body;
        (self.start, self.body) = (0, 0);
        body.freeze()
    }

    /// Leaves the envelope where it lies.
    pub(crate) fn keep(mut self) {
        self.end = *self.consumed;
    }
}

impl Drop for Lent<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.consumed = self.end;
    }
}
