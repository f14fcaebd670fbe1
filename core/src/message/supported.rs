//! SUPPORTED. Answers to native protocol v5, section 4.2.4.

use bytes::BytesMut;

use crate::wire::{DecodeError, Reader, WireWrite};

/// SUPPORTED: what the server supports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Supported {
    /// Each option with the values a client may choose from: `CQL_VERSION`, `COMPRESSION`,
    /// `PROTOCOL_VERSIONS`, …
    pub options: Vec<(String, Vec<String>)>,
}

impl Supported {
    /// The values of this option; empty if it isn't there.
    #[must_use]
    pub fn get(&self, option: &str) -> &[String] {
        self.options
            .iter()
            .find(|(name, _)| name == option)
            .map_or(&[], |(_, values)| values)
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let options = reader.string_multimap()?;
        let owned =
            |values: crate::wire::StringList<'_>| values.iter().map(str::to_owned).collect();
        Ok(Self {
            options: options
                .iter()
                .map(|(name, values)| (name.to_owned(), owned(values)))
                .collect(),
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_string_multimap(&self.options);
    }
}
