//! Planning `SELECT`. Answers to Cassandra's `SelectStatement`.

use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clustering::GroupKind;
use super::column::{ColumnRef, Place};
use super::expression::{Output, Selection};
use super::group_by::{self, GroupBy};
use super::keys::KeyPlan;
use super::nearest::{self, Nearest};
use super::planner::Planner;
use super::restrictions::{ColumnTest, FILTERING, Relations, Restrictions};
use super::selection::{self, OutputColumn};
use super::view::ViewSource;
use crate::cql::ast;
use crate::execution::RowView;
use crate::json;
use crate::schema::{ColumnKind, Table};
use crate::term::{self, Receiver, Term};
use crate::types::comparable;

/// A planned `SELECT`.
#[derive(Debug)]
pub(crate) struct Select {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// Where its rows come from, if it is a view.
    pub(crate) view: Option<ViewSource>,
    /// What is returned.
    pub(crate) selection: Selection,
    /// What is read.
    pub(crate) restrictions: Restrictions,
    /// One row a partition.
    pub(crate) distinct: bool,
    /// Rows of each partition in descending order.
    pub(crate) reversed: bool,
    /// Clustering columns by which rows of several partitions are sorted, each with whether it descends.
    pub(crate) sort: Vec<(ColumnRef, bool)>,
    /// `GROUP BY`
    pub(crate) group_by: Option<GroupBy>,
    /// `ORDER BY … ANN OF`
    pub(crate) nearest: Option<Nearest>,
    /// `LIMIT`
    pub(crate) limit: Option<Term>,
    /// `PER PARTITION LIMIT`
    pub(crate) per_partition_limit: Option<Term>,
    /// `ALLOW FILTERING`
    pub(crate) allow_filtering: bool,
    /// Whether to warn of an aggregate over all partitions, or several.
    pub(crate) aggregate_warning: Option<&'static str>,
    /// Of a `SELECT JSON`, the columns that each row's document has: their keys and types.
    pub(crate) json: Option<Vec<(String, CqlType)>>,
}

impl Select {
    /// What a row is sorted by, if rows of several partitions are.
    pub(crate) fn order_of(&self, view: &RowView<'_>) -> Option<Vec<u8>> {
        if self.sort.is_empty() {
            return None;
        }
        let mut order = Vec::new();
        for (column, descending) in &self.sort {
            let value = view.value(column).unwrap_or_default();
            comparable::encode(&column.ty, &value, *descending, &mut order);
        }
        Some(order)
    }
}

/// Plans a `SELECT` and names its result's columns.
pub(crate) fn plan(
    planner: &mut Planner<'_>,
    select: &ast::Select,
) -> Result<(Select, Vec<OutputColumn>), ErrorResponse> {
    let table = planner.table.clone();
    let (mut selection, mut named) = selection::plan(planner, &select.selectors)?;
    let relations = Relations::collect(planner, &select.restrictions)?;
    if select.distinct {
        check_distinct(&table, &selection, select, &relations)?;
    }
    let equal: Vec<bool> = table
        .clustering()
        .iter()
        .map(|column| {
            relations.clustering.iter().any(|group| {
                (group.first..group.first + group.len).contains(&column.position)
                    && matches!(group.kind, GroupKind::Equal(_))
            })
        })
        .collect();
    let equal_parts: Vec<bool> = relations
        .partition
        .iter()
        .map(|test| matches!(test, Some(ColumnTest::Equal(_))))
        .collect();
    if select.distinct && select.order_by.iter().any(|order| order.ann_of.is_some()) {
        return Err(distinct_where());
    }
    let restricts_partition =
        relations.token.is_some() || relations.partition.iter().any(Option::is_some);
    let only_statics = only_statics(&selection);
    if only_statics && !relations.clustering.is_empty() && !select.distinct {
        return Err(ErrorResponse::invalid(
            "Cannot restrict clustering columns when selecting only static columns",
        ));
    }
    let nearest = nearest::plan(planner, select, &relations)?;
    if nearest.is_some() {
        nearest::check_restrictions(planner, &relations)?;
    }
    let (nearest, restriction) = nearest.unzip();
    let restrictions = relations.into_select(planner, select.allow_filtering, restriction)?;
    selection.uses_statics |= restrictions
        .filters
        .iter()
        .any(|filter| filter.columns.iter().any(ColumnRef::is_static));
    let group_by = group_by::plan(planner, select, &mut selection, |column| {
        match column.kind {
            ColumnKind::PartitionKey => equal_parts.get(column.position) == Some(&true),
            _ => equal.get(column.position) == Some(&true),
        }
    })?;
    let (reversed, sort) = match &nearest {
        Some(_) => (false, Vec::new()),
        None => plan_order(&table, select, &restrictions, &equal)?,
    };
    if restrictions.must_allow && !select.allow_filtering {
        return Err(ErrorResponse::invalid(FILTERING));
    }
    let is_aggregate = !selection.aggregates.is_empty();
    if select.per_partition_limit.is_some() {
        if select.distinct {
            return Err(ErrorResponse::invalid(
                "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries",
            ));
        }
        if is_aggregate && group_by.is_none() {
            return Err(ErrorResponse::invalid(
                "PER PARTITION LIMIT is not allowed with aggregate queries.",
            ));
        }
    }
    let per_partition_limit = plan_limit(
        planner,
        &select.per_partition_limit,
        "[per_partition_limit]",
    )?;
    let limit = plan_limit(planner, &select.limit, "[limit]")?;
    let aggregate_warning = if !is_aggregate && group_by.is_none() {
        None
    } else if !restricts_partition {
        Some("Aggregation query used without partition key")
    } else if restrictions.keys.has_in() {
        Some("Aggregation query used on multiple partition keys (IN restriction)")
    } else {
        None
    };
    if nearest.is_some() && (is_aggregate || group_by.is_some()) {
        return Err(ErrorResponse::invalid(
            "Top-K queries can not be run with aggregation",
        ));
    }
    let view = match planner.keyspace.views.get(&table.name) {
        Some(view) if table.is_view => {
            Some(ViewSource::plan(planner.schema, planner.keyspace, view)?)
        }
        _ => None,
    };
    let json = select.json.then(|| {
        let columns = std::mem::replace(&mut named, vec![("[json]".to_owned(), CqlType::Text)]);
        let keyed = columns.into_iter();
        keyed
            .map(|(name, ty)| (json::column_key(&name), ty))
            .collect()
    });
    let plan = Select {
        table,
        view,
        selection,
        restrictions,
        distinct: select.distinct,
        reversed,
        sort,
        group_by,
        nearest,
        limit,
        per_partition_limit,
        allow_filtering: select.allow_filtering,
        aggregate_warning,
        json,
    };
    Ok((plan, named))
}

fn only_statics(selection: &Selection) -> bool {
    match &selection.output {
        Output::Columns(columns) => {
            columns.iter().any(ColumnRef::is_static)
                && columns.iter().all(|column| {
                    matches!(column.place, Place::Static(_) | Place::Partition { .. })
                })
        }
        Output::Expressions(_) => false,
    }
}

fn check_distinct(
    table: &Table,
    selection: &Selection,
    select: &ast::Select,
    relations: &Relations,
) -> Result<(), ErrorResponse> {
    let columns = match &selection.output {
        Output::Columns(columns) => columns.as_slice(),
        Output::Expressions(_) => &[],
    };
    let name_of = |column: &ColumnRef| match column.place {
        Place::Clustering(position) => table
            .clustering()
            .get(position)
            .map(|column| column.name.clone()),
        Place::Regular(id) => table
            .columns
            .iter()
            .find(|column| column.id == id)
            .map(|column| column.name.clone()),
        Place::Partition { .. } | Place::Static(_) => None,
    };
    if select.selectors.is_empty() && (table.clustering_len > 0 || !table.regulars().is_empty()) {
        let first = table
            .clustering()
            .first()
            .or_else(|| table.regulars().first());
        return Err(wrong_distinct(first.map_or("", |column| &*column.name)));
    }
    if let Some(name) = columns.iter().find_map(name_of) {
        return Err(wrong_distinct(&name));
    }
    if relations.clustering.len() + relations.contents.len() > 0
        || relations
            .others
            .iter()
            .any(|(column, _)| column.kind == ColumnKind::Regular)
    {
        return Err(distinct_where());
    }
    for column in table.partition_key() {
        let selected = columns
            .iter()
            .any(|selected| matches!(selected.place, Place::Partition { position, .. } if position == column.position));
        if !selected && !columns.is_empty() {
            return Err(ErrorResponse::invalid(format!(
                "SELECT DISTINCT queries must request all the partition key columns (missing {})",
                column.name
            )));
        }
    }
    Ok(())
}

fn distinct_where() -> ErrorResponse {
    ErrorResponse::invalid(
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
    )
}

fn wrong_distinct(name: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {name})"
    ))
}

fn plan_limit(
    planner: &mut Planner<'_>,
    written: &Option<ast::Term>,
    name: &str,
) -> Result<Option<Term>, ErrorResponse> {
    let Some(written) = written else {
        return Ok(None);
    };
    let receiver = Receiver::named(planner.table, name, CqlType::Int);
    let planned = term::plan(planner, written, &receiver)?;
    if let Term::Constant(bytes) = &planned {
        crate::execution::limit_value(bytes)?;
    }
    Ok(Some(planned))
}

type Sort = Vec<(ColumnRef, bool)>;

fn plan_order(
    table: &Table,
    select: &ast::Select,
    restrictions: &Restrictions,
    equal: &[bool],
) -> Result<(bool, Sort), ErrorResponse> {
    if select.order_by.is_empty() {
        return Ok((false, Vec::new()));
    }
    if restrictions.uses_index {
        return Err(ErrorResponse::invalid(
            "ORDER BY with 2ndary indexes is not supported, except for ANN queries.",
        ));
    }
    if !matches!(restrictions.keys, KeyPlan::Points(_)) {
        return Err(ErrorResponse::invalid(
            "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
        ));
    }
    let mut direction = None;
    let mut sort = Vec::new();
    let mut next = 0;
    for order in &select.order_by {
        let column = super::planner::column(table, &order.column)?;
        if column.kind != ColumnKind::Clustering {
            return Err(ErrorResponse::invalid(format!(
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {}",
                order.column
            )));
        }
        while next < column.position && equal.get(next) == Some(&true) {
            next += 1;
        }
        if column.position != next {
            return Err(ErrorResponse::invalid(
                "Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY",
            ));
        }
        next += 1;
        let reversed = order.descending != column.descending;
        if direction.is_some_and(|direction| direction != reversed) {
            return Err(ErrorResponse::invalid("Unsupported order by relation"));
        }
        direction = Some(reversed);
        sort.push((
            ColumnRef::new(column, table.partition_key_len),
            order.descending,
        ));
    }
    if !restrictions.keys.has_in() {
        sort.clear();
    }
    Ok((direction == Some(true), sort))
}
