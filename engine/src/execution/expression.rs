//! Evaluating expressions of a `SELECT` clause on a row.

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::row::{RowView, field_index};
use crate::functions::Environment;
use crate::statement::{Expression, Metadata, MetadataKind, MetadataPart, map_value};
use crate::storage::{Cell, CellPath, ColumnData};
use crate::term::{Bound, Elements, Fields, Pairs, assemble, begin_count, put_element};
use crate::types::compare;

/// What expressions are evaluated with besides the row.
#[derive(Debug)]
pub(crate) struct Evaluation<'a> {
    /// The values of the selection's terms.
    pub(crate) terms: &'a [Option<Bytes>],
    /// The results of the selection's aggregates.
    pub(crate) aggregates: &'a [Option<Bytes>],
    /// The results of the selection's native functions.
    pub(crate) natives: &'a [Option<Bytes>],
    /// What functions may know.
    pub(crate) environment: &'a Environment<'a>,
    /// Seconds from 1970, by which times to live are counted.
    pub(crate) now_seconds: i64,
}

impl Evaluation<'_> {
    /// The value of an expression; without a row, only aggregates and terms have one.
    pub(crate) fn value(
        &self,
        expression: &Expression,
        row: Option<&RowView<'_>>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        Ok(match expression {
            Expression::Column(column) => row.and_then(|row| row.bytes(column)),
            Expression::Term(index) => self.term(*index),
            Expression::Aggregate(index) => self.aggregates.get(*index).cloned().flatten(),
            Expression::Native { index, .. } => self.natives.get(*index).cloned().flatten(),
            Expression::Metadata(metadata) => row.and_then(|row| self.metadata(metadata, row)),
            Expression::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.value(argument, row)?);
                }
                function.call(&values, self.environment)?
            }
            Expression::Field(base, position) => self.value(base, row)?.and_then(|value| {
                let field = Fields::new(&value).nth(*position).flatten()?;
                Some(value.slice_ref(field))
            }),
            Expression::Element(base, ty, key) => match (self.value(base, row)?, self.term(*key)) {
                (Some(value), Some(key)) => {
                    element(ty, &value, &key).map(|found| value.slice_ref(found))
                }
                _ => None,
            },
            Expression::Slice(base, ty, from, to) => {
                let (from, to) = (
                    from.and_then(|at| self.term(at)),
                    to.and_then(|at| self.term(at)),
                );
                self.value(base, row)?
                    .map(|value| slice(ty, &value, from.as_deref(), to.as_deref()))
            }
            Expression::Build(ty, parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for part in parts {
                    values.push(self.value(part, row)?.map_or(Bound::Null, Bound::Bytes));
                }
                Some(assemble(ty, values)?)
            }
        })
    }

    fn term(&self, index: usize) -> Option<Bytes> {
        self.terms.get(index).cloned().flatten()
    }

    fn metadata(&self, metadata: &Metadata, row: &RowView<'_>) -> Option<Bytes> {
        let data = row.data(metadata.column.place)?;
        let cells = match data {
            ColumnData::Simple(cell) => return self.of_cell(metadata.kind, cell),
            ColumnData::Complex { cells, .. } => cells,
        };
        let ty = &metadata.column.ty;
        match metadata.part {
            MetadataPart::Element(key) => {
                let key = self.term(key)?;
                let key_type = match ty {
                    CqlType::Map(types) => &types.0,
                    CqlType::Set(element) => element,
                    _ => return None,
                };
                let cell = cells
                    .iter()
                    .find(|(path, _)| compare(key_type, &path.value, &key).is_eq());
                self.of_cell(metadata.kind, &cell?.1)
            }
            MetadataPart::Field(field) => {
                let cell = cells
                    .iter()
                    .find(|(path, _)| field_index(path) == Some(field));
                self.of_cell(metadata.kind, &cell?.1)
            }
            MetadataPart::Whole if metadata.kind == MetadataKind::MaxWriteTime => {
                let latest = cells.iter().map(|(_, cell)| cell.timestamp).max()?;
                Some(Bytes::copy_from_slice(&latest.to_be_bytes()))
            }
            MetadataPart::Whole => Some(self.of_cells(metadata.kind, ty, cells)),
        }
    }

    fn of_cell(&self, kind: MetadataKind, cell: &Cell) -> Option<Bytes> {
        cell.value.as_ref()?;
        match kind {
            MetadataKind::WriteTime | MetadataKind::MaxWriteTime => {
                Some(Bytes::copy_from_slice(&cell.timestamp.to_be_bytes()))
            }
            MetadataKind::Ttl if cell.ttl == 0 => None,
            MetadataKind::Ttl => {
                let left = i32::try_from(cell.expires_at.saturating_sub(self.now_seconds))
                    .unwrap_or(i32::MAX);
                (left >= 0).then(|| Bytes::copy_from_slice(&left.to_be_bytes()))
            }
        }
    }

    fn of_cells(&self, kind: MetadataKind, ty: &CqlType, cells: &[(CellPath, Cell)]) -> Bytes {
        let mut out = BytesMut::new();
        if let CqlType::Udt(udt) = ty {
            begin_count(&mut out, udt.fields.len());
            for field in 0..udt.fields.len() {
                let cell = cells
                    .iter()
                    .find(|(path, _)| field_index(path) == Some(field));
                let value = cell.and_then(|(_, cell)| self.of_cell(kind, cell));
                put_element(&mut out, value.as_deref());
            }
        } else {
            begin_count(&mut out, cells.len());
            for (_, cell) in cells {
                put_element(&mut out, self.of_cell(kind, cell).as_deref());
            }
        }
        out.freeze()
    }
}

fn element<'v>(ty: &CqlType, value: &'v [u8], key: &[u8]) -> Option<&'v [u8]> {
    match ty.strip_frozen() {
        CqlType::Map(types) => map_value(&types.0, value, key),
        CqlType::Set(element) => Elements::new(value)
            .flatten()
            .find(|item| compare(element, item, key).is_eq()),
        _ => None,
    }
}

fn slice(ty: &CqlType, value: &[u8], from: Option<&[u8]>, to: Option<&[u8]>) -> Bytes {
    let within = |ty: &CqlType, key: &[u8]| {
        from.is_none_or(|from| compare(ty, key, from).is_ge())
            && to.is_none_or(|to| compare(ty, key, to).is_le())
    };
    let mut out = BytesMut::new();
    match ty.strip_frozen() {
        CqlType::Map(types) => {
            let entries: Vec<_> = Pairs::new(value)
                .filter(|(key, _)| within(&types.0, key))
                .collect();
            begin_count(&mut out, entries.len());
            for (key, item) in entries {
                put_element(&mut out, Some(key));
                put_element(&mut out, item);
            }
        }
        CqlType::Set(element) => {
            let items: Vec<_> = Elements::new(value)
                .flatten()
                .filter(|item| within(element, item))
                .collect();
            begin_count(&mut out, items.len());
            items
                .iter()
                .for_each(|item| put_element(&mut out, Some(item)));
        }
        _ => out.extend_from_slice(value),
    }
    out.freeze()
}
