//! [`ServerConfig`]: what a server offers and demands, shared by its connections.

use std::time::Duration;

use bytes::{BufMut, BytesMut};

use super::limits::Limits;
use crate::codes::ProtocolVersion;
use crate::compression::Compression;
use crate::wire::WireWrite;

/// What a server offers and demands. Made once and shared by its connections in an `Arc`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The compressions offered, in the order SUPPORTED lists them: all that this build can do, by default.
    pub compressions: Vec<Compression>,
    /// The CQL version SUPPORTED names. `3.4.7` by default, that of Cassandra 5.0.
    pub cql_version: String,
    /// Further entries of SUPPORTED.
    pub supported: Vec<(String, Vec<String>)>,
    /// The class name AUTHENTICATE gives; `None`, the default, for a server that lets everybody in.
    pub authenticator: Option<String>,
    /// What a peer may make a connection hold.
    pub limits: Limits,
    /// How long a connection may take until it is ready. 30 seconds by default.
    pub handshake_timeout: Option<Duration>,
    /// The oldest version that is spoken; a client that begins with an older one is told so, in v5. v3 by
    /// default.
    pub oldest_version: ProtocolVersion,
    /// How long a connection with nothing in flight may be silent, before it is ready too. Forever by default.
    pub idle_timeout: Option<Duration>,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            compressions: Compression::SUPPORTED.to_vec(),
            cql_version: "3.4.7".to_owned(),
            supported: Vec::new(),
            authenticator: None,
            limits: Limits::default(),
            handshake_timeout: Some(Duration::from_secs(30)),
            oldest_version: ProtocolVersion::V3,
            idle_timeout: None,
        }
    }
}

/// The versions SUPPORTED lists, in Cassandra's words.
const PROTOCOL_VERSIONS: [&str; 4] = ["3/v3", "4/v4", "5/v5", "6/v6-beta"];

impl ServerConfig {
    /// Writes the body of SUPPORTED.
    pub(crate) fn write_supported(&self, out: &mut BytesMut) {
        let entries = 3 + self.supported.len();
        out.put_u16(u16::try_from(entries).unwrap_or(u16::MAX));
        out.put_string("PROTOCOL_VERSIONS");
        out.put_string_list(&PROTOCOL_VERSIONS);
        out.put_string("COMPRESSION");
        out.put_u16(u16::try_from(self.compressions.len()).unwrap_or(u16::MAX));
        for compression in &self.compressions {
            out.put_string(compression.name());
        }
        out.put_string("CQL_VERSION");
        out.put_string_list(&[&self.cql_version]);
        for (key, values) in self.supported.iter().take(usize::from(u16::MAX) - 3) {
            out.put_string(key);
            out.put_string_list(values);
        }
    }

    /// The compression of this name, if it is offered.
    pub(crate) fn compression(&self, name: &str) -> Option<Compression> {
        Compression::from_name(name).filter(|found| self.compressions.contains(found))
    }
}
