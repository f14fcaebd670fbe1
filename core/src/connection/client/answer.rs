//! [`Answer`] and [`Notice`]: responses as they arrived, their bodies borrowed and undecoded.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::{Flags, Header};
use crate::error::Error;
use crate::framing::lent::Lent;
use crate::message::{Extras, Response, ResultMetadata, RowsView, ServerEvent};
use crate::wire::{DecodeError, Reader};

/// The answer to a request. Its body lies in the caller's buffer, or in the connection's if it was
/// compressed or came in several segments; dropping the answer consumes it there.
///
/// Derefs to the body.
pub struct Answer<'a> {
    lent: Lent<'a>,
    /// The metadata given with the request.
    metadata: Option<Arc<ResultMetadata>>,
}

impl<'a> Answer<'a> {
    #[inline]
    pub(super) const fn new(lent: Lent<'a>, metadata: Option<Arc<ResultMetadata>>) -> Answer<'a> {
        Answer { lent, metadata }
    }

    /// The header as it arrived; its length is that of the body on the wire.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &Header {
        self.lent.header()
    }

    /// The protocol version.
    #[inline]
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.lent.version()
    }

    /// The opcode; one that no response of the protocol has is possible.
    #[inline]
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.header().opcode
    }

    /// The body, decompressed; tracing id, warnings and custom payload, if the flags announce them, stand
    /// at its front.
    #[inline]
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.lent.body()
    }

    /// The metadata that was given with the request, if any was.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Arc<ResultMetadata>> {
        self.metadata.as_ref()
    }

    /// The tracing id, the warnings and the custom payload.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]; it concerns this answer alone.
    pub fn extras(&self) -> Result<Extras, DecodeError> {
        Extras::decode(self.header().flags, &mut Reader::new(self.body()))
    }

    /// Decodes the answer. Rows that came without their description get the metadata that was given with
    /// the request; rows whose description changed say so in
    /// [`metadata_changed`](crate::message::Rows::metadata_changed), and bring the new
    /// one with its id.
    ///
    /// The body is copied up to 4 KiB, and above that taken out of the buffer it lies in; rows share it.
    /// [`Answer::rows`] copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the body doesn't decode, or if rows don't fit the metadata that was given for them. It
    /// concerns this answer alone: the connection goes on.
    pub fn parse(self) -> Result<(Response, Extras), Error> {
        let Answer { lent, metadata } = self;
        let Header { flags, opcode, .. } = *lent.header();
        let version = lent.version();
        let body = lent.into_bytes();
        let mut reader = Reader::new(&body);
        let extras = Extras::decode(flags, &mut reader)?;
        let at = reader.position();
        let response = Response::decode_with(opcode, version, &body, at, metadata.as_ref())?;
        Ok((response, extras))
    }

    /// The rows of the answer, borrowed: nothing is copied or allocated. `None` if it is something else. Rows that
    /// came without their description are described by [`Answer::metadata`].
    ///
    /// # Errors
    ///
    /// [`DecodeError`]; it concerns this answer alone.
    #[inline]
    pub fn rows(&self) -> Result<Option<RowsView<'_>>, DecodeError> {
        if self.opcode() != Opcode::RESULT {
            return Ok(None);
        }
        let at = message_at(self.header().flags, self.body())?.position();
        RowsView::decode(self.version(), self.body(), at)
    }

    /// The body to keep. Above 4 KiB it is not copied, but taken out of the buffer it lies in, which stays
    /// alive with it.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.lent.into_bytes()
    }
}

/// Where the message begins in a body with these flags.
pub(super) fn message_at(flags: Flags, body: &[u8]) -> Result<Reader<'_>, DecodeError> {
    let mut reader = Reader::new(body);
    if flags.contains(Flags::TRACING) {
        reader.uuid()?;
    }
    if flags.contains(Flags::WARNING) {
        reader.string_list()?;
    }
    if flags.contains(Flags::CUSTOM_PAYLOAD) {
        reader.bytes_map()?;
    }
    Ok(reader)
}

impl Deref for Answer<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.body()
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("header", self.header())
            .field("body", &self.lent.len())
            .finish_non_exhaustive()
    }
}

/// An EVENT that the server pushed; dropping it consumes it. Derefs to the body.
pub struct Notice<'a>(Lent<'a>);

impl<'a> Notice<'a> {
    pub(super) const fn new(lent: Lent<'a>) -> Notice<'a> {
        Notice(lent)
    }

    /// The header as it arrived.
    #[must_use]
    pub const fn header(&self) -> &Header {
        self.0.header()
    }

    /// The protocol version.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.0.version()
    }

    /// The body, decompressed.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
    }

    /// Decodes the event.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], for one of a kind that isn't known too: pass over it, the connection goes on.
    pub fn parse(&self) -> Result<ServerEvent, DecodeError> {
        let mut reader = message_at(self.header().flags, self.body())?;
        ServerEvent::decode(&mut reader, self.version())
    }

    /// The body to keep; see [`Answer::into_bytes`].
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

impl Deref for Notice<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.body()
    }
}

impl fmt::Debug for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notice")
            .field("header", self.header())
            .field("body", &self.0.len())
            .finish()
    }
}
