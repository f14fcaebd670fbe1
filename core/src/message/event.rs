//! EVENT. Answers to native protocol v5, section 4.2.6.

use std::net::SocketAddr;

use bytes::BytesMut;

use super::schema_change::SchemaChange;
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// What a client may REGISTER for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// Nodes join, leave or move.
    TopologyChange,
    /// Nodes go up or down.
    StatusChange,
    /// The schema changes.
    SchemaChange,
    /// A trace is complete (from v4); Apache Cassandra has the name and sends nothing.
    TraceComplete,
}

impl EventType {
    /// The type's name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TopologyChange => "TOPOLOGY_CHANGE",
            Self::StatusChange => "STATUS_CHANGE",
            Self::SchemaChange => "SCHEMA_CHANGE",
            Self::TraceComplete => "TRACE_COMPLETE",
        }
    }

    /// The type of this name, upper or lower case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::TopologyChange,
            Self::StatusChange,
            Self::SchemaChange,
            Self::TraceComplete,
        ]
        .into_iter()
        .find(|event| event.name().eq_ignore_ascii_case(name))
    }

    /// The first version that knows the type.
    #[must_use]
    pub const fn since(self) -> ProtocolVersion {
        match self {
            Self::TraceComplete => ProtocolVersion::V4,
            Self::TopologyChange | Self::StatusChange | Self::SchemaChange => ProtocolVersion::V3,
        }
    }
}

/// How the cluster's topology changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TopologyChange {
    /// A node joined.
    NewNode,
    /// A node left.
    RemovedNode,
    /// A node took other tokens.
    MovedNode,
}

impl TopologyChange {
    const ALL: [(Self, &'static str); 3] = [
        (Self::NewNode, "NEW_NODE"),
        (Self::RemovedNode, "REMOVED_NODE"),
        (Self::MovedNode, "MOVED_NODE"),
    ];
}

/// How a node's status changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusChange {
    /// It takes requests.
    Up,
    /// It doesn't.
    Down,
}

impl StatusChange {
    const ALL: [(Self, &'static str); 2] = [(Self::Up, "UP"), (Self::Down, "DOWN")];
}

/// EVENT: something happened that the client registered for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The topology changed.
    TopologyChange {
        /// How.
        change: TopologyChange,
        /// The node, as clients reach it.
        address: SocketAddr,
    },
    /// A node's status changed.
    StatusChange {
        /// How.
        change: StatusChange,
        /// The node, as clients reach it.
        address: SocketAddr,
    },
    /// The schema changed.
    SchemaChange(SchemaChange),
}

impl ServerEvent {
    /// What a client registers for to get this event.
    #[must_use]
    pub const fn event_type(&self) -> EventType {
        match self {
            Self::TopologyChange { .. } => EventType::TopologyChange,
            Self::StatusChange { .. } => EventType::StatusChange,
            Self::SchemaChange(_) => EventType::SchemaChange,
        }
    }

    /// Reads the body of an EVENT.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnknownEventType`], [`DecodeErrorKind::UnknownChange`],
    /// [`DecodeErrorKind::UnknownSchemaTarget`] and the errors of [`Reader`].
    pub fn decode(reader: &mut Reader<'_>, version: ProtocolVersion) -> Result<Self, DecodeError> {
        let position = reader.position();
        match EventType::from_name(reader.string()?) {
            Some(EventType::TopologyChange) => Ok(Self::TopologyChange {
                change: read_change(reader, &TopologyChange::ALL)?,
                address: reader.inet()?,
            }),
            Some(EventType::StatusChange) => Ok(Self::StatusChange {
                change: read_change(reader, &StatusChange::ALL)?,
                address: reader.inet()?,
            }),
            Some(EventType::SchemaChange) => {
                Ok(Self::SchemaChange(SchemaChange::decode(reader, version)?))
            }
            Some(EventType::TraceComplete) | None => {
                Err(reader.error_at(DecodeErrorKind::UnknownEventType, position))
            }
        }
    }

    /// Writes the body of an EVENT.
    pub fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_string(self.event_type().name());
        match self {
            Self::TopologyChange { change, address } => {
                put_change(change, &TopologyChange::ALL, out);
                out.put_inet(*address);
            }
            Self::StatusChange { change, address } => {
                put_change(change, &StatusChange::ALL, out);
                out.put_inet(*address);
            }
            Self::SchemaChange(change) => change.encode(version, out),
        }
    }
}

/// Reads one of the named changes.
pub(super) fn read_change<T: Copy>(
    reader: &mut Reader<'_>,
    names: &[(T, &str)],
) -> Result<T, DecodeError> {
    let position = reader.position();
    let name = reader.string()?;
    match names.iter().find(|(_, known)| *known == name) {
        Some((change, _)) => Ok(*change),
        None => Err(reader.error_at(DecodeErrorKind::UnknownChange, position)),
    }
}

/// Writes the name of a change; every value has one.
pub(super) fn put_change<T: PartialEq>(change: &T, names: &[(T, &str)], out: &mut BytesMut) {
    let name = names.iter().find(|(known, _)| known == change);
    out.put_string(name.map_or("", |(_, name)| name));
}
