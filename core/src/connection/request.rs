//! [`Request`]: an envelope as it arrived, its body borrowed and undecoded.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

use super::handshake::TokenRange;
use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::{Flags, Header, StreamId};
use crate::error::{Error, PeerMisbehaved};
use crate::framing::Dialect;
use crate::framing::lent::Lent;
use crate::message::RequestBody;
use crate::wire::{BytesMap, Reader};

/// A request. Its body lies in the caller's buffer, or in the connection's if it was compressed or came in
/// several segments; dropping the request consumes it there.
///
/// Derefs to the body.
pub struct Request<'a>(Lent<'a>);

impl<'a> Request<'a> {
    #[inline]
    pub(crate) const fn new(lent: Lent<'a>) -> Request<'a> {
        Request(lent)
    }

    /// The header as it arrived; its length is that of the body on the wire.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &Header {
        self.0.header()
    }

    /// The protocol version.
    #[inline]
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.0.version()
    }

    pub(crate) const fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    /// The opcode.
    #[inline]
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.header().opcode
    }

    /// The stream.
    #[inline]
    #[must_use]
    pub const fn stream(&self) -> StreamId {
        self.header().stream
    }

    /// Whether the client asks for tracing.
    #[inline]
    #[must_use]
    pub const fn is_traced(&self) -> bool {
        self.header().flags.contains(Flags::TRACING)
    }

    /// Whether the body begins with a custom payload.
    #[inline]
    #[must_use]
    pub const fn has_payload(&self) -> bool {
        self.header().flags.contains(Flags::CUSTOM_PAYLOAD)
    }

    /// The body, decompressed; a custom payload, if there is one, stands at its front.
    #[inline]
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
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
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }

    /// Leaves the request where it lies.
    pub(crate) fn keep(self) {
        self.0.keep();
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
            .field("header", self.header())
            .field("body", &self.0.len())
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
