//! The metadata of results and of bound variables. Answers to native protocol v5, sections 4.2.5.2
//! and 4.2.5.4.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::view::ColumnsView;
use crate::codes::ProtocolVersion;
use crate::types::{CqlType, write_type};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

pub(super) const GLOBAL_TABLES_SPEC: i32 = 0x0001;
pub(super) const HAS_MORE_PAGES: i32 = 0x0002;
pub(super) const NO_METADATA: i32 = 0x0004;
pub(super) const METADATA_CHANGED: i32 = 0x0008;

/// A column of a result, or a bound variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnSpec {
    /// The keyspace of its table.
    pub keyspace: Arc<str>,
    /// Its table.
    pub table: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: CqlType,
}

/// The columns of a result or the variables of a statement, and their id.
///
/// The description of the columns is encoded when the metadata is made, once for the versions that
/// describe its types alike, so that a response costs a copy of it.
#[derive(Debug, Clone)]
pub struct ResultMetadata {
    columns: Vec<ColumnSpec>,
    // More than `columns` has, where the server left the metadata out.
    column_count: u32,
    id: Option<Bytes>,
    global: bool,
    // For v3, v4 and v5; none in metadata that was received.
    encoded: Option<[Bytes; 3]>,
}

impl ResultMetadata {
    /// The metadata of these columns. At most `i32::MAX` of them; more are dropped.
    #[must_use]
    pub fn new(mut columns: Vec<ColumnSpec>) -> Self {
        columns.truncate(i32::MAX as usize);
        let global = columns.split_first().is_some_and(|(first, rest)| {
            rest.iter()
                .all(|c| c.keyspace == first.keyspace && c.table == first.table)
        });
        let alike_since = oldest(columns.iter().map(|column| &column.ty));
        let encode = |version| {
            let mut out = BytesMut::new();
            encode_columns(&columns, global, version, &mut out);
            out.freeze()
        };
        let v5 = encode(ProtocolVersion::V5);
        let older = |version| {
            if version >= alike_since {
                v5.clone()
            } else {
                encode(version)
            }
        };
        let (v3, v4) = (older(ProtocolVersion::V3), older(ProtocolVersion::V4));
        let column_count = columns.len() as u32;
        Self {
            columns,
            column_count,
            id: None,
            global,
            encoded: Some([v3, v4, v5]),
        }
    }

    /// The same metadata with an id, by which v5 clients tell whether theirs is stale.
    #[must_use]
    pub fn with_id(mut self, id: Bytes) -> Self {
        self.id = Some(id);
        self
    }

    /// The columns in order; none if the server left them out.
    #[inline]
    #[must_use]
    pub fn columns(&self) -> &[ColumnSpec] {
        &self.columns
    }

    /// How many columns a row has.
    #[inline]
    #[must_use]
    pub const fn column_count(&self) -> usize {
        self.column_count as usize
    }

    /// The metadata's id.
    #[inline]
    #[must_use]
    pub const fn id(&self) -> Option<&Bytes> {
        self.id.as_ref()
    }

    /// Whether the columns are described here.
    #[inline]
    pub(crate) fn is_described(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The flag that says that all columns are of one table.
    #[inline]
    pub(super) fn global_flag(&self) -> i32 {
        if self.global { GLOBAL_TABLES_SPEC } else { 0 }
    }

    pub(super) fn put_columns(&self, version: ProtocolVersion, out: &mut BytesMut) {
        match (&self.encoded, version) {
            (Some([v3, _, _]), ProtocolVersion::V3) => out.put_slice(v3),
            (Some([_, v4, _]), ProtocolVersion::V4) => out.put_slice(v4),
            (Some([_, _, v5]), ProtocolVersion::V5) => out.put_slice(v5),
            (None, version) => encode_columns(&self.columns, self.global, version, out),
        }
    }

    /// The metadata of these columns. Names of tables are shared between neighbours.
    pub(super) fn from_view(
        view: &ColumnsView<'_>,
        id: Option<Bytes>,
    ) -> Result<Self, DecodeError> {
        let mut columns: Vec<ColumnSpec> = Vec::with_capacity(view.room());
        let mut previous: Option<(&str, &str)> = None;
        for column in view.iter()? {
            let column = column?;
            let (keyspace, table) = match columns.last() {
                Some(last) if is_same(previous, column.keyspace, column.table) => {
                    (last.keyspace.clone(), last.table.clone())
                }
                _ => (column.keyspace.into(), column.table.into()),
            };
            previous = Some((column.keyspace, column.table));
            columns.push(ColumnSpec {
                keyspace,
                table,
                name: column.name.into(),
                ty: column.ty,
            });
        }
        Ok(Self {
            // A table that is named for no column isn't written either. Where columns were left out the flag is kept.
            global: view.are_of_one_table()
                && (!columns.is_empty() || !view.are_described() && !view.is_empty()),
            columns,
            column_count: view.len() as u32,
            id,
            encoded: None,
        })
    }
}

/// Whether a column is of the same table as the one before. Where all are of one table its names needn't be compared.
#[inline]
fn is_same(previous: Option<(&str, &str)>, keyspace: &str, table: &str) -> bool {
    previous.is_some_and(|(k, t)| {
        std::ptr::eq(k, keyspace) && std::ptr::eq(t, table) || k == keyspace && t == table
    })
}

impl PartialEq for ResultMetadata {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns
            && self.column_count == other.column_count
            && self.id == other.id
    }
}

fn encode_columns(
    columns: &[ColumnSpec],
    global: bool,
    version: ProtocolVersion,
    out: &mut BytesMut,
) {
    if let (true, Some(first)) = (global, columns.first()) {
        out.put_string(&first.keyspace);
        out.put_string(&first.table);
    }
    for column in columns {
        if !global {
            out.put_string(&column.keyspace);
            out.put_string(&column.table);
        }
        out.put_string(&column.name);
        write_type(out, &column.ty, version);
    }
}

/// The oldest version that describes the type just as v5 does.
pub(super) fn described_alike_since(ty: &CqlType) -> ProtocolVersion {
    match ty.strip_frozen() {
        CqlType::Duration => ProtocolVersion::V5,
        CqlType::Date | CqlType::Time | CqlType::SmallInt | CqlType::TinyInt => ProtocolVersion::V4,
        CqlType::List(element) | CqlType::Set(element) => described_alike_since(element),
        CqlType::Map(entry) => described_alike_since(&entry.0).max(described_alike_since(&entry.1)),
        CqlType::Udt(udt) => oldest(udt.fields.iter().map(|(_, ty)| ty)),
        CqlType::Tuple(elements) => oldest(elements.iter()),
        _ => ProtocolVersion::V3,
    }
}

fn oldest<'a>(types: impl Iterator<Item = &'a CqlType>) -> ProtocolVersion {
    types
        .map(described_alike_since)
        .fold(ProtocolVersion::V3, Ord::max)
}

/// A count that isn't negative.
#[inline]
pub(super) fn read_count(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let position = reader.position();
    let count = reader.int()?;
    u32::try_from(count)
        .map_err(|_| reader.error_at(DecodeErrorKind::InvalidCount(count), position))
}
