//! [`Extras`]: what a response may carry in front of its message: a tracing id, warnings and a custom
//! payload, in this order. Answers to native protocol v5, section 2.2.

use bytes::{Bytes, BytesMut};
use uuid::Uuid;

use crate::codes::ProtocolVersion;
use crate::envelope::Flags;
use crate::wire::{DecodeError, Reader, WireWrite};

/// What a response carries in front of its message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extras {
    /// The id under which the request was traced.
    pub tracing_id: Option<Uuid>,
    /// Warnings for the client; v3 can't carry them.
    pub warnings: Vec<String>,
    /// A custom payload; v3 can't carry it.
    pub payload: Option<Vec<(String, Option<Bytes>)>>,
}

impl Extras {
    /// Whether there is nothing to carry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tracing_id.is_none() && self.warnings.is_empty() && self.payload.is_none()
    }

    /// The envelope flags that announce what [`encode`](Self::encode) writes.
    #[must_use]
    pub fn flags(&self, version: ProtocolVersion) -> Flags {
        let mut flags = Flags::NONE;
        if self.tracing_id.is_some() {
            flags = flags.with(Flags::TRACING);
        }
        if version >= ProtocolVersion::V4 {
            if !self.warnings.is_empty() {
                flags = flags.with(Flags::WARNING);
            }
            if self.payload.is_some() {
                flags = flags.with(Flags::CUSTOM_PAYLOAD);
            }
        }
        flags
    }

    /// Writes tracing id, warnings and payload, as far as the version can carry them; the envelope flags
    /// that announce them.
    pub fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) -> Flags {
        let flags = self.flags(version);
        if let Some(id) = &self.tracing_id {
            out.put_uuid(id);
        }
        if flags.contains(Flags::WARNING) {
            out.put_string_list(&self.warnings);
        }
        if let Some(payload) = self
            .payload
            .as_ref()
            .filter(|_| version >= ProtocolVersion::V4)
        {
            out.put_bytes_map(payload);
        }
        flags
    }

    /// Reads what the flags of a response announce.
    ///
    /// Memory: at most 16 bytes for each byte read.
    ///
    /// # Errors
    /// As [`Reader::string`] and [`Reader::bytes`].
    pub fn decode(flags: Flags, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut extras = Self::default();
        if flags.contains(Flags::TRACING) {
            extras.tracing_id = Some(reader.uuid()?);
        }
        if flags.contains(Flags::WARNING) {
            extras.warnings = reader.string_list()?.iter().map(str::to_owned).collect();
        }
        if flags.contains(Flags::CUSTOM_PAYLOAD) {
            let entries = reader.bytes_map()?;
            let owned = |(key, value): (&str, Option<&[u8]>)| {
                (key.to_owned(), value.map(Bytes::copy_from_slice))
            };
            extras.payload = Some(entries.iter().map(owned).collect());
        }
        Ok(extras)
    }
}
