//! Planning `ORDER BY … ANN OF`: the nearest neighbours of a vector.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::column::ColumnRef;
use super::indexes::{Operator, Restriction};
use super::planner::Planner;
use super::restrictions::Relations;
use crate::cql::ast;
use crate::schema::{ColumnId, IndexKind, Similarity};
use crate::term::{self, Receiver, Term};

/// An `ORDER BY column ANN OF vector`.
#[derive(Debug)]
pub(crate) struct Nearest {
    /// The column.
    pub(crate) column: ColumnRef,
    /// Its name, for errors.
    pub(crate) name: std::sync::Arc<str>,
    /// The vector whose neighbours are wanted.
    pub(crate) vector: Term,
    /// How near two vectors are.
    pub(crate) similarity: Similarity,
}

/// Plans an `ANN` ordering, if there is one.
pub(super) fn plan(
    planner: &mut Planner<'_>,
    select: &ast::Select,
    relations: &Relations,
) -> Result<Option<(Nearest, Restriction)>, ErrorResponse> {
    let mut planned = Vec::new();
    for order in &select.order_by {
        let column = planner.column(&order.column)?.clone();
        if let Some(written) = &order.ann_of {
            let receiver = Receiver::column(planner.table, &column);
            let vector = term::plan(planner, written, &receiver)?;
            planned.push((order, column, vector));
        }
    }
    let Some((order, column, vector)) = planned.pop() else {
        return Ok(None);
    };
    if !planned.is_empty() {
        return Err(invalid("Cannot specify more than one ANN ordering"));
    }
    if select.order_by.len() > 1 {
        return Err(invalid("ANN ordering does not support any other ordering"));
    }
    if order.descending {
        return Err(invalid("Descending ANN ordering is not supported"));
    }
    if relations
        .others
        .iter()
        .any(|(other, _)| other.id == column.id)
    {
        return Err(ErrorResponse::invalid(format!(
            "{} cannot be restricted by more than one relation if it includes an Equal",
            super::planner::quoted(&column.name)
        )));
    }
    if !matches!(&column.ty, CqlType::Vector(element, _) if **element == CqlType::Float) {
        return Err(invalid(
            "ANN ordering is only supported on float vector indexes",
        ));
    }
    let Some(similarity) = similarity(planner, column.id) else {
        return Err(invalid(
            "ANN ordering by vector requires the column to be indexed",
        ));
    };
    if select.per_partition_limit.is_some() {
        return Err(invalid("Top-K queries do not support per-partition limits"));
    }
    let restriction = Restriction {
        column: column.id,
        operator: Operator::Nearest,
    };
    let nearest = Nearest {
        column: ColumnRef::new(&column, planner.table.partition_key_len),
        name: column.name,
        vector,
        similarity,
    };
    Ok(Some((nearest, restriction)))
}

fn similarity(planner: &Planner<'_>, column: ColumnId) -> Option<Similarity> {
    let mut indexes = planner.table.indexes.iter();
    indexes.find_map(|index| match index.kind {
        IndexKind::StorageAttached(similarity) if index.column == column => Some(similarity),
        _ => None,
    })
}

/// Refuses restrictions that a search for neighbours could only apply afterwards.
pub(super) fn check_restrictions(
    planner: &Planner<'_>,
    relations: &Relations,
) -> Result<(), ErrorResponse> {
    let table = planner.table;
    let is_indexed = |column: ColumnId| table.indexes.iter().any(|index| index.column == column);
    let rest = relations.others.iter().map(|(column, _)| column.id);
    let contents = relations.contents.iter().filter_map(Restriction::content);
    let mut rest = rest.chain(contents.map(|content| content.column));
    let clustering = relations
        .clustering
        .iter()
        .flat_map(|group| Restriction::group(table.clustering(), group));
    let mut unindexed = clustering.filter(|restriction| !is_indexed(restriction.column));
    let has_partition =
        relations.token.is_some() || relations.partition.iter().all(Option::is_some);
    if rest.any(|column| !is_indexed(column)) || (unindexed.next().is_some() && !has_partition) {
        return Err(invalid(
            "ANN ordering by vector requires all restricted column(s) to be indexed",
        ));
    }
    Ok(())
}

fn invalid(message: &'static str) -> ErrorResponse {
    ErrorResponse::invalid(message)
}
