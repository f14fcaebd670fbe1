//! [`Request`]: an envelope as it arrived, its body borrowed and undecoded.

use std::fmt;
use std::ops::Deref;

use bytes::{Buf, Bytes, BytesMut};

use super::handshake::TokenRange;
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::{Flags, Header, StreamId};
use crate::error::{Error, PeerMisbehaved};
use crate::framing::{Dialect, Frame};
use crate::message::RequestBody;
use crate::wire::{BytesMap, Reader};

/// A body up to this length is copied rather than kept in the buffer it was read into, which would keep
/// all of that buffer alive.
const COPIED: usize = 4 << 10;

/// A request. Its body lies in the caller's buffer, or in the connection's if it was compressed or came in
/// several segments; dropping the request consumes it there.
///
/// Derefs to the body.
pub struct Request<'a> {
    header: Header,
    dialect: Dialect,
    buffer: &'a mut BytesMut,
    before: usize,
    body: usize,
    after: usize,
}

impl<'a> Request<'a> {
    pub(crate) fn new(frame: &Frame, buffer: &'a mut BytesMut) -> Request<'a> {
        Request {
            header: frame.header,
            dialect: frame.dialect,
            buffer,
            before: frame.before,
            body: frame.body,
            after: frame.after,
        }
    }

    /// The header as it arrived; its length is that of the body on the wire.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The protocol version.
    #[inline]
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.dialect.version
    }

    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The opcode.
    #[inline]
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.header.opcode
    }

    /// The stream.
    #[inline]
    #[must_use]
    pub const fn stream(&self) -> StreamId {
        self.header.stream
    }

    /// Whether the client asks for tracing.
    #[inline]
    #[must_use]
    pub const fn is_traced(&self) -> bool {
        self.header.flags.contains(Flags::TRACING)
    }

    /// Whether the body begins with a custom payload.
    #[inline]
    #[must_use]
    pub const fn has_payload(&self) -> bool {
        self.header.flags.contains(Flags::CUSTOM_PAYLOAD)
    }

    /// The body, decompressed; a custom payload, if there is one, stands at its front.
    #[inline]
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.buffer
            .get(self.before..self.before + self.body)
            .unwrap_or_default()
    }

    /// The custom payload, undecoded; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if it is cut, [`PeerMisbehaved::PayloadBeforeV4`] in v3.
    pub fn custom_payload(&self) -> Result<Option<BytesMap<'_>>, Error> {
        if !self.has_payload() {
            return Ok(None);
        }
        if self.version() < ProtocolVersion::V4 {
            return Err(PeerMisbehaved::PayloadBeforeV4.into());
        }
        Ok(Some(Reader::new(self.body()).bytes_map()?))
    }

    /// A reader of the body, behind the custom payload if there is one.
    ///
    /// # Errors
    ///
    /// As [`Request::custom_payload`].
    #[inline]
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Error> {
        let mut reader = Reader::new(self.body());
        if self.has_payload() {
            if self.version() < ProtocolVersion::V4 {
                return Err(PeerMisbehaved::PayloadBeforeV4.into());
            }
            reader.bytes_map()?;
        }
        Ok(reader)
    }

    /// Decodes the body. Nothing is copied or allocated.
    ///
    /// # Errors
    ///
    /// [`Error`]; answer it with [`Responder::reject`](super::Responder::reject), the connection goes on.
    #[inline]
    pub fn parse(&self) -> Result<RequestBody<'_>, Error> {
        let mut reader = self.reader()?;
        Ok(RequestBody::decode(
            self.opcode(),
            self.version(),
            &mut reader,
        )?)
    }

    /// The body to keep. Above 4 KiB it is not copied, but taken out of the buffer it lies in, which stays
    /// alive with it.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
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

    /// Leaves the request where it lies.
    pub(crate) fn keep(mut self) {
        (self.before, self.body, self.after) = (0, 0, 0);
    }
}

impl Drop for Request<'_> {
    #[inline]
    fn drop(&mut self) {
        let end = self.before + self.body + self.after;
        self.buffer.advance(end.min(self.buffer.len()));
    }
}

impl Deref for Request<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.body()
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("header", &self.header)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// The token of an AUTH_RESPONSE.
#[derive(Debug)]
pub struct AuthToken<'a> {
    request: Request<'a>,
    /// Where the token stands in the body.
    token: TokenRange,
}

impl<'a> AuthToken<'a> {
    /// Of a request whose body holds a token at `token`.
    pub(crate) const fn new(request: Request<'a>, token: TokenRange) -> AuthToken<'a> {
        AuthToken { request, token }
    }

    /// The token; `None` if it is null.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        let (start, end) = self.token?;
        self.request.body().get(start..end)
    }

    /// The AUTH_RESPONSE as it arrived.
    #[must_use]
    pub const fn request(&self) -> &Request<'a> {
        &self.request
    }
}
