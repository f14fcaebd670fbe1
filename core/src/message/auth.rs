//! AUTH_RESPONSE, and the bodies of AUTHENTICATE, AUTH_CHALLENGE and AUTH_SUCCESS.
//! Answers to native protocol v5, sections 4.1.2, 4.2.3, 4.2.7 and 4.2.8.

use bytes::{Bytes, BytesMut};

use crate::wire::{DecodeError, Reader, WireWrite};

/// AUTH_RESPONSE: the client's part of authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthResponse<'a> {
    /// The SASL token.
    pub token: Option<&'a [u8]>,
}

impl<'a> AuthResponse<'a> {
    pub(crate) fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            token: reader.bytes()?,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_bytes_field(self.token);
    }
}

/// AUTHENTICATE: the server wants authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticate {
    /// The class name of the authenticator, by which clients know what to answer.
    pub authenticator: String,
}

impl Authenticate {
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            authenticator: reader.string()?.to_owned(),
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_string(&self.authenticator);
    }
}

/// The token of AUTH_CHALLENGE or AUTH_SUCCESS, copied.
pub(super) fn decode_token(reader: &mut Reader<'_>) -> Result<Option<Bytes>, DecodeError> {
    Ok(reader.bytes()?.map(Bytes::copy_from_slice))
}
