//! [`Lent`]: an envelope where it lies, its body borrowed and undecoded.

use bytes::{Buf, Bytes, BytesMut};

use super::inbound::Inbound;
use super::{Dialect, Frame, Source};
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
    before: usize,
    body: usize,
    after: usize,
}

impl<'a> Lent<'a> {
    /// The envelope of this frame, out of the buffer it lies in.
    #[inline(always)]
    pub(crate) fn new(
        frame: &Frame,
        inbound: &'a mut Inbound,
        input: &'a mut BytesMut,
    ) -> Lent<'a> {
        Lent {
            header: frame.header,
            dialect: frame.dialect,
            buffer: match frame.source {
                Source::Input => input,
                Source::Scratch => inbound.scratch(),
            },
            before: frame.before,
            body: frame.body,
            after: frame.after,
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
            .get(self.before..self.before + self.body)
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
        self.buffer.advance(self.before.min(self.buffer.len()));
        let body = self.buffer.split_to(self.body.min(self.buffer.len()));
        if self.buffer.is_empty() {
            // The emptied handle would pin the body's allocation.
            *self.buffer = BytesMut::new();
        }
        (self.before, self.body) = (0, 0);
        body.freeze()
    }

    /// Leaves the envelope where it lies.
    pub(crate) fn keep(mut self) {
        (self.before, self.body, self.after) = (0, 0, 0);
    }
}

impl Drop for Lent<'_> {
    #[inline]
    fn drop(&mut self) {
        let end = self.before + self.body + self.after;
        self.buffer.advance(end.min(self.buffer.len()));
    }
}
