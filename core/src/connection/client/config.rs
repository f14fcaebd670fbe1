//! [`ClientConfig`]: what a client asks of its servers and allows them, shared by its connections.

use std::time::Duration;

use crate::codes::ProtocolVersion;
use crate::compression::Compression;

/// What a client asks for and allows. Made once and shared by its connections in an `Arc`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The versions to speak, the preferred one first: v5, v4, v3 by default. A connection tries one;
    /// [`ClientError::step_down`](super::ClientError::step_down) says which to connect with next.
    pub versions: Vec<ProtocolVersion>,
    /// Whether to ask with OPTIONS what the server supports before STARTUP, which costs a round trip. True
    /// by default. Otherwise the first compression is demanded unseen.
    pub ask_options: bool,
    /// The compressions to use, the preferred one first; what the server or the version lacks is passed
    /// over. None by default.
    pub compressions: Vec<Compression>,
    /// The `CQL_VERSION` of STARTUP. `3.0.0` by default, which every server takes.
    pub cql_version: String,
    /// The `DRIVER_NAME` of STARTUP.
    pub driver_name: String,
    /// The `DRIVER_VERSION` of STARTUP.
    pub driver_version: String,
    /// Further options of STARTUP.
    pub startup_options: Vec<(String, String)>,
    /// What a connection may hold.
    pub limits: ClientLimits,
    /// How long a connection may take until it is ready. 10 seconds by default.
    pub handshake_timeout: Option<Duration>,
    /// How long a request waits for its answer, unless its [`CallOptions`](super::CallOptions) say
    /// otherwise. 12 seconds by default, more than Cassandra's own timeouts.
    pub request_timeout: Option<Duration>,
    /// After so long without a byte from the server, it is asked for a sign of life with OPTIONS. 30 seconds
    /// by default; `None` for never.
    pub heartbeat_interval: Option<Duration>,
    /// How long that sign may take: a server that stays silent is given up. 10 seconds by default.
    pub heartbeat_timeout: Duration,
}

/// What a client's connection may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientLimits {
    /// The longest answer in bytes: with its header before v5, the body alone in v5; decompressed. A longer
    /// one is discarded as it arrives, and its request fails. 256 MiB by default, as much as Cassandra sends.
    pub max_envelope: usize,
    /// The same before the connection is ready, when a longer answer ends it; never more than
    /// [`ClientLimits::max_envelope`]. 256 KiB by default.
    pub max_envelope_before_ready: usize,
    /// Requests waiting for their answers, those included that were given up but not answered: from one to
    /// 32,767. 2,048 by default.
    pub max_in_flight: usize,
    /// Requests given up (timed out or cancelled) whose late reply didn't come: with more of them, the
    /// connection is closed. 256 by default.
    pub max_orphans: usize,
    /// Bytes of output not sent, from which on further requests are refused; one may go over it. 1 MiB by
    /// default.
    pub max_unsent: usize,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            versions: vec![
                ProtocolVersion::V5,
                ProtocolVersion::V4,
                ProtocolVersion::V3,
            ],
            ask_options: true,
            compressions: Vec::new(),
            cql_version: "3.0.0".to_owned(),
            driver_name: "helenus".to_owned(),
            driver_version: env!("CARGO_PKG_VERSION").to_owned(),
            startup_options: Vec::new(),
            limits: ClientLimits::default(),
            handshake_timeout: Some(Duration::from_secs(10)),
            request_timeout: Some(Duration::from_secs(12)),
            heartbeat_interval: Some(Duration::from_secs(30)),
            heartbeat_timeout: Duration::from_secs(10),
        }
    }
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            max_envelope: 256 << 20,
            max_envelope_before_ready: 256 << 10,
            max_in_flight: 2048,
            max_orphans: 256,
            max_unsent: 1 << 20,
        }
    }
}

impl ClientConfig {
    /// The version a first connection tries.
    pub(crate) fn preferred_version(&self) -> ProtocolVersion {
        self.versions
            .first()
            .copied()
            .unwrap_or(ProtocolVersion::LATEST)
    }

    /// The compression to demand of a server that supports these; of any if `None`.
    pub(super) fn choose(
        &self,
        version: ProtocolVersion,
        supported: Option<&[String]>,
    ) -> Option<Compression> {
        let is_usable = |wanted: &Compression| {
            Compression::SUPPORTED.contains(wanted)
                && (version < ProtocolVersion::V5 || *wanted == Compression::Lz4)
                && supported.is_none_or(|names| {
                    names
                        .iter()
                        .any(|name| name.eq_ignore_ascii_case(wanted.name()))
                })
        };
        self.compressions.iter().copied().find(is_usable)
    }
}
