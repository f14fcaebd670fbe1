//! How the schema changed, in a RESULT and in an EVENT.
//! Answers to native protocol v5, sections 4.2.5.5 and 4.2.6.

use std::sync::Arc;

use bytes::{BufMut, BytesMut};

use super::event::{put_change, read_change};
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// What was done to a part of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeType {
    /// It was created.
    Created,
    /// It was altered.
    Updated,
    /// It was dropped.
    Dropped,
}

impl ChangeType {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Created, "CREATED"),
        (Self::Updated, "UPDATED"),
        (Self::Dropped, "DROPPED"),
    ];
}

/// A part of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaTarget {
    /// A keyspace.
    Keyspace {
        /// Its name.
        keyspace: Arc<str>,
    },
    /// A table or a materialized view.
    Table {
        /// Its keyspace.
        keyspace: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// A user-defined type.
    Type {
        /// Its keyspace.
        keyspace: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// A user-defined function.
    Function {
        /// Its keyspace.
        keyspace: Arc<str>,
        /// Its name.
        name: Arc<str>,
        /// The CQL types of its arguments.
        arguments: Vec<String>,
    },
    /// A user-defined aggregate.
    Aggregate {
        /// Its keyspace.
        keyspace: Arc<str>,
        /// Its name.
        name: Arc<str>,
        /// The CQL types of its arguments.
        arguments: Vec<String>,
    },
}

impl SchemaTarget {
    /// Whether the version has a name for it; v3 has none for functions and aggregates.
    pub(crate) const fn is_known_to(&self, version: ProtocolVersion) -> bool {
        !matches!(
            (self, version),
            (
                Self::Function { .. } | Self::Aggregate { .. },
                ProtocolVersion::V3
            )
        )
    }
}

/// A change of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaChange {
    /// What was done.
    pub change: ChangeType,
    /// To what.
    pub target: SchemaTarget,
}

impl SchemaChange {
    pub(crate) fn decode(
        reader: &mut Reader<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let change = read_change(reader, &ChangeType::ALL)?;
        let position = reader.position();
        let target = reader.string()?;
        let keyspace = reader.string()?.into();
        let target = match target {
            "KEYSPACE" => SchemaTarget::Keyspace { keyspace },
            "TABLE" => SchemaTarget::Table {
                keyspace,
                name: reader.string()?.into(),
            },
            "TYPE" => SchemaTarget::Type {
                keyspace,
                name: reader.string()?.into(),
            },
            "FUNCTION" if version >= ProtocolVersion::V4 => SchemaTarget::Function {
                keyspace,
                name: reader.string()?.into(),
                arguments: reader.string_list()?.iter().map(str::to_owned).collect(),
            },
            "AGGREGATE" if version >= ProtocolVersion::V4 => SchemaTarget::Aggregate {
                keyspace,
                name: reader.string()?.into(),
                arguments: reader.string_list()?.iter().map(str::to_owned).collect(),
            },
            _ => return Err(reader.error_at(DecodeErrorKind::UnknownSchemaTarget, position)),
        };
        Ok(Self { change, target })
    }

    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match &self.target {
            // v3 has no functions: they change their keyspace. Apache Cassandra writes an empty string
            // behind it, and so do we.
            SchemaTarget::Function { keyspace, .. } | SchemaTarget::Aggregate { keyspace, .. }
                if version < ProtocolVersion::V4 =>
            {
                put_change(&ChangeType::Updated, &ChangeType::ALL, out);
                out.put_string("KEYSPACE");
                out.put_string(keyspace);
                out.put_u16(0);
                return;
            }
            _ => put_change(&self.change, &ChangeType::ALL, out),
        }
        match &self.target {
            SchemaTarget::Keyspace { keyspace } => {
                out.put_string("KEYSPACE");
                out.put_string(keyspace);
            }
            SchemaTarget::Table { keyspace, name } => {
                out.put_string("TABLE");
                out.put_string(keyspace);
                out.put_string(name);
            }
            SchemaTarget::Type { keyspace, name } => {
                out.put_string("TYPE");
                out.put_string(keyspace);
                out.put_string(name);
            }
            SchemaTarget::Function {
                keyspace,
                name,
                arguments,
            } => {
                out.put_string("FUNCTION");
                out.put_string(keyspace);
                out.put_string(name);
                out.put_string_list(arguments);
            }
            SchemaTarget::Aggregate {
                keyspace,
                name,
                arguments,
            } => {
                out.put_string("AGGREGATE");
                out.put_string(keyspace);
                out.put_string(name);
                out.put_string_list(arguments);
            }
        }
    }
}
