//! STARTUP. Answers to native protocol v5, section 4.1.1.

use bytes::{BufMut, BytesMut};

use crate::wire::{DecodeError, Reader, StringMap};

/// STARTUP: opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Startup<'a> {
    /// The options: `CQL_VERSION`, `COMPRESSION`, `DRIVER_NAME`, …
    pub options: StringMap<'a>,
}

impl<'a> Startup<'a> {
    /// The version of CQL that the client speaks; mandatory.
    pub const CQL_VERSION: &'static str = "CQL_VERSION";
    /// The compression that the client wants.
    pub const COMPRESSION: &'static str = "COMPRESSION";
    /// Whether the client wants OVERLOADED rather than to be held back.
    pub const THROW_ON_OVERLOAD: &'static str = "THROW_ON_OVERLOAD";
    /// The driver's name.
    pub const DRIVER_NAME: &'static str = "DRIVER_NAME";
    /// The driver's version.
    pub const DRIVER_VERSION: &'static str = "DRIVER_VERSION";

    /// The option of this name, upper or lower case; of several, the last one.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'a str> {
        let named = self
            .options
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value).last()
    }

    pub(crate) fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            options: reader.string_map()?,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_u16(self.options.len() as u16);
        out.put_slice(self.options.as_bytes());
    }
}
