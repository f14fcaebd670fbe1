//! Planning reads of materialized views: how rows of the base table become rows of the view.

use std::sync::Arc;

use helenus_core::ErrorResponse;

use super::column::ColumnRef;
use super::filter::Filter;
use super::planner::Planner;
use super::restrictions::Relations;
use crate::cql::ast::{Name, Relation};
use crate::schema::{ColumnId, Keyspace, Schema, Table, View};
use crate::term::Markers;

/// Where the rows of a view come from.
#[derive(Debug)]
pub(crate) struct ViewSource {
    /// The view.
    pub(crate) view: Arc<View>,
    /// The table it is made from.
    pub(crate) base: Arc<Table>,
    /// What rows of the table must meet.
    pub(crate) filters: Vec<Filter>,
    /// The view's partition key, as columns of the table.
    pub(crate) partition_key: Vec<ColumnRef>,
    /// The view's clustering columns, as columns of the table, each with whether it descends.
    pub(crate) clustering: Vec<(ColumnRef, bool)>,
    /// The table's primary key, as columns of the view.
    pub(crate) base_key: Vec<ColumnRef>,
    /// The columns of the view outside its key, ascending.
    pub(crate) regulars: Vec<ColumnId>,
}

impl ViewSource {
    /// The source of a view of this keyspace.
    pub(super) fn plan(
        schema: &Schema,
        keyspace: &Keyspace,
        view: &Arc<View>,
    ) -> Result<Self, ErrorResponse> {
        let missing = || ErrorResponse::invalid(format!("table {} does not exist", view.base));
        let base = keyspace.tables.get(&view.base).ok_or_else(missing)?;
        let in_base = |id: ColumnId| {
            let column = base.column_with_id(id).ok_or_else(missing)?;
            Ok(ColumnRef::new(column, base.partition_key_len))
        };
        let in_view = |id: ColumnId| {
            let column = view.table.column_with_id(id).ok_or_else(missing)?;
            Ok(ColumnRef::new(column, view.table.partition_key_len))
        };
        let clustering = view.table.clustering().iter();
        let mut regulars: Vec<_> = view
            .table
            .regulars()
            .iter()
            .map(|column| column.id)
            .collect();
        regulars.sort_unstable();
        Ok(Self {
            filters: view_filters(schema, keyspace, base, &view.restrictions)?,
            partition_key: view
                .table
                .partition_key()
                .iter()
                .map(|column| in_base(column.id))
                .collect::<Result<_, ErrorResponse>>()?,
            clustering: clustering
                .map(|column| Ok((in_base(column.id)?, column.descending)))
                .collect::<Result<_, ErrorResponse>>()?,
            base_key: base
                .primary_key()
                .iter()
                .map(|column| in_view(column.id))
                .collect::<Result<_, ErrorResponse>>()?,
            regulars,
            view: Arc::clone(view),
            base: Arc::clone(base),
        })
    }
}

/// What a view's `WHERE` asks of rows of its table. `IS NOT NULL` asks nothing by itself: the columns of the view's key
/// are never null, and of others Cassandra doesn't ask it either.
pub(crate) fn view_filters(
    schema: &Schema,
    keyspace: &Keyspace,
    base: &Arc<Table>,
    relations: &[Relation],
) -> Result<Vec<Filter>, ErrorResponse> {
    let mut markers = Markers::new(0);
    let mut planner = Planner {
        schema,
        keyspace,
        table: base,
        markers: &mut markers,
    };
    let relations: Vec<_> = relations
        .iter()
        .filter(|relation| !matches!(relation, Relation::IsNotNull(_)))
        .cloned()
        .collect();
    let relations = Relations::collect(&mut planner, &relations)?;
    if !markers.functions().is_empty() {
        return Err(ErrorResponse::invalid(
            "User functions are not supported in the WHERE of a materialized view",
        ));
    }
    Ok(relations.into_filters(base))
}

/// The columns a relation restricts.
pub(crate) fn restricted_columns(relation: &Relation) -> &[Name] {
    match relation {
        Relation::Column(name, ..)
        | Relation::In(name, _)
        | Relation::Element(name, ..)
        | Relation::Contains(name, _)
        | Relation::ContainsKey(name, _)
        | Relation::Like(name, _)
        | Relation::IsNotNull(name) => std::slice::from_ref(name),
        Relation::Columns(names, ..)
        | Relation::ColumnsIn(names, _)
        | Relation::Token(names, ..) => names,
        Relation::Expression(..) => &[],
    }
}
