//! The metadata of results and of bound variables. Answers to native protocol v5, sections 4.2.5.2
//! and 4.2.5.4.

use bytes::{BufMut, Bytes, BytesMut};

use super::column::{ColumnSpec, Name};
use super::columns::ColumnsView;
use crate::codes::ProtocolVersion;
use crate::types::{CqlType, write_type};
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

pub(super) const GLOBAL_TABLES_SPEC: i32 = 0x0001;
pub(super) const HAS_MORE_PAGES: i32 = 0x0002;
pub(super) const NO_METADATA: i32 = 0x0004;
pub(super) const METADATA_CHANGED: i32 = 0x0008;

/// The columns of a result or the variables of a statement, and their id.
///
/// The description of the columns is encoded when the metadata is made, once for the versions that
/// describe its types alike, so that a response costs a copy of it.
#[derive(Debug, Clone)]
pub struct ResultMetadata {
    columns: Vec<ColumnSpec<'static>>,
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
    pub fn new(mut columns: Vec<ColumnSpec<'static>>) -> Self {
        columns.truncate(i32::MAX as usize);
        let global = columns.split_first().is_some_and(|(first, rest)| {
            rest.iter()
                .all(|c| c.keyspace == first.keyspace && c.table == first.table)
        });
        let alike_since = described_alike_since(columns.iter().map(|column| &column.ty));
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
    pub fn columns(&self) -> &[ColumnSpec<'static>] {
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
        let mut last: Option<(Name<'static>, Name<'static>)> = None;
        let own = |column: ColumnSpec<'_>| {
            let (keyspace, table) = match last.take() {
                Some((keyspace, table)) if keyspace == column.keyspace && table == column.table => {
                    (keyspace, table)
                }
                _ => (column.keyspace.into_owned(), column.table.into_owned()),
            };
            last = Some((keyspace.clone(), table.clone()));
            ColumnSpec {
                keyspace,
                table,
                name: column.name.into_owned(),
                ty: column.ty,
            }
        };
        let columns: Vec<_> = view.to_vec()?.into_iter().map(own).collect();
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

impl PartialEq for ResultMetadata {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns
            && self.column_count == other.column_count
            && self.id == other.id
    }
}

fn encode_columns(
    columns: &[ColumnSpec<'_>],
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

/// The oldest version that describes all these types just as v5 does.
pub(super) fn described_alike_since<'a>(
    types: impl Iterator<Item = &'a CqlType>,
) -> ProtocolVersion {
    types
        .map(one_described_alike_since)
        .fold(ProtocolVersion::V3, Ord::max)
}

fn one_described_alike_since(ty: &CqlType) -> ProtocolVersion {
    match ty.strip_frozen() {
        CqlType::Duration => ProtocolVersion::V5,
        CqlType::Date | CqlType::Time | CqlType::SmallInt | CqlType::TinyInt => ProtocolVersion::V4,
        CqlType::List(element) | CqlType::Set(element) => one_described_alike_since(element),
        CqlType::Map(entry) => described_alike_since([&entry.0, &entry.1].into_iter()),
        CqlType::Udt(udt) => described_alike_since(udt.fields.iter().map(|(_, ty)| ty)),
        CqlType::Tuple(elements) => described_alike_since(elements.iter()),
        _ => ProtocolVersion::V3,
    }
}

/// A count that isn't negative.
#[inline]
pub(super) fn read_count(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let position = reader.position();
    let count = reader.int()?;
    u32::try_from(count)
        .map_err(|_| reader.error_at(DecodeErrorKind::InvalidCount(count), position))
}
