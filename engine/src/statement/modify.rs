//! Planning `INSERT`, `UPDATE` and `DELETE`. Answers to Cassandra's `ModificationStatement`.

use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clustering::{ClusteringPlan, GroupKind};
use super::conditions::{self, Condition};
use super::keys::{KeyPart, KeyPlan};
use super::operations::{self, Operation};
use super::planner::Planner;
use super::restrictions::{ColumnTest, Relations};
use crate::cql::ast;
use crate::json;
use crate::schema::{Column, ColumnKind, Table};
use crate::term::{self, Binds, Bound, Receiver, Term};

/// Which statement a plan is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModifyKind {
    /// `INSERT`
    Insert,
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
}

/// A planned `INSERT`, `UPDATE` or `DELETE`.
#[derive(Debug)]
pub(crate) struct Modify {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// The statement.
    pub(crate) kind: ModifyKind,
    /// The partitions.
    pub(crate) keys: KeyPlan,
    /// The rows.
    pub(crate) clustering: ClusteringPlan,
    /// Whether only static columns are concerned, so that no row is.
    pub(crate) only_static: bool,
    /// What is done to columns; of a `DELETE`, empty for whole rows.
    pub(crate) operations: Vec<Operation>,
    /// `USING TIMESTAMP`
    pub(crate) timestamp: Option<Term>,
    /// `USING TTL`
    pub(crate) ttl: Option<Term>,
    /// `IF`
    pub(crate) condition: Condition,
    /// Whether a list must be read before it is written.
    pub(crate) reads: bool,
    /// The document that the values are taken from, of an `INSERT JSON`.
    pub(crate) json: Option<JsonSource>,
}

/// Where an `INSERT JSON` has its values from.
#[derive(Debug)]
pub(crate) struct JsonSource {
    /// The document.
    pub(crate) document: Term,
    /// The place of the first column's value; the others follow.
    pub(crate) first: usize,
    /// Whether columns that the document doesn't name stay as they are.
    pub(crate) default_unset: bool,
}

impl Modify {
    /// Takes the columns' values from the document, if it has one, and adds them to those that were bound.
    pub(super) fn expand(&self, binds: &mut Binds<'_>) -> Result<(), ErrorResponse> {
        let Some(source) = &self.json else {
            return Ok(());
        };
        let Some(document) = source.document.bind(binds)?.into_bytes() else {
            return Err(json::no_document());
        };
        let text = String::from_utf8_lossy(&document);
        let values = json::columns(&self.table, &text, binds.context().now_millis)?;
        for (index, value) in values.into_iter().enumerate() {
            let bound = match value {
                Some(Some(bytes)) => Bound::Bytes(bytes),
                None if source.default_unset => Bound::Unset,
                Some(None) | None => Bound::Null,
            };
            binds.set(source.first + index, bound);
        }
        Ok(())
    }
}

impl ModifyKind {
    fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// Plans an `INSERT`.
pub(crate) fn plan_insert(
    planner: &mut Planner<'_>,
    insert: &ast::Insert,
) -> Result<Modify, ErrorResponse> {
    let table = planner.table.clone();
    check_modifiable(planner)?;
    if table.is_counter {
        return Err(ErrorResponse::invalid(
            "INSERT statements are not allowed on counter tables, use UPDATE instead",
        ));
    }
    let (names, terms) = match &insert.source {
        ast::InsertSource::Values(names, terms) => (names, terms),
        ast::InsertSource::Json {
            document,
            default_unset,
        } => return plan_insert_json(planner, insert, document, *default_unset),
    };
    if names.len() != terms.len() {
        return Err(ErrorResponse::invalid("Unmatched column names/values"));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for name in names {
        let column = planner.column(name)?;
        if columns.iter().any(|other| other.id == column.id) {
            return Err(ErrorResponse::invalid(
                "The column names contains duplicates",
            ));
        }
        columns.push(column.clone());
    }
    let mut values = Vec::with_capacity(columns.len());
    for (column, written) in columns.into_iter().zip(terms) {
        let receiver = Receiver::column(&table, &column);
        let term = term::plan(planner, written, &receiver)?;
        values.push((column, term));
    }
    finish_insert(planner, insert, values)
}

/// Plans an `INSERT JSON`: every column gets a value, which execution takes from the document.
fn plan_insert_json(
    planner: &mut Planner<'_>,
    insert: &ast::Insert,
    document: &ast::Term,
    default_unset: bool,
) -> Result<Modify, ErrorResponse> {
    let table = planner.table.clone();
    if let ast::Term::Literal(ast::Literal::String(text)) = document {
        // What is wrong with it is told when it is prepared. The time doesn't matter to that.
        json::columns(&table, text, 0)?;
    }
    let receiver = Receiver::named(&table, "[json]", CqlType::Text);
    let document = term::plan(planner, document, &receiver)?;
    let first = planner.markers.set_aside(table.columns.len());
    let values = table.columns.iter().cloned().enumerate();
    let values = values.map(|(index, column)| (column, Term::Marker(first + index)));
    let mut modify = finish_insert(planner, insert, values.collect())?;
    modify.json = Some(JsonSource {
        document,
        first,
        default_unset,
    });
    Ok(modify)
}

/// Plans the rest of an `INSERT` of these values.
fn finish_insert(
    planner: &mut Planner<'_>,
    insert: &ast::Insert,
    values: Vec<(Column, Term)>,
) -> Result<Modify, ErrorResponse> {
    let mut relations = Relations {
        partition: vec![None; planner.table.partition_key_len],
        ..Relations::default()
    };
    let mut operations = Vec::new();
    for (column, term) in values {
        match column.kind {
            ColumnKind::PartitionKey | ColumnKind::Clustering => {
                relations.restrict(&column, ColumnTest::Equal(term))?
            }
            ColumnKind::Static | ColumnKind::Regular => {
                operations.push(Operation::set(&column, term))
            }
        }
    }
    relations.clustering.sort_by_key(|group| group.first);
    let only_static = relations.clustering.is_empty()
        && !operations.is_empty()
        && operations.iter().all(|operation| operation.is_static);
    let condition = if insert.if_not_exists {
        Condition::NotExists
    } else {
        Condition::None
    };
    finish(
        planner,
        ModifyKind::Insert,
        relations,
        operations,
        only_static,
        &insert.using,
        condition,
    )
}

/// Plans an `UPDATE`.
pub(crate) fn plan_update(
    planner: &mut Planner<'_>,
    update: &ast::Update,
) -> Result<Modify, ErrorResponse> {
    check_modifiable(planner)?;
    let mut planned = Vec::with_capacity(update.assignments.len());
    // The text has the assignments between `USING` and `WHERE`; markers know their own places.
    for assignment in &update.assignments {
        planned.push(operations::plan_assignment(planner, assignment)?);
    }
    let relations = Relations::collect(planner, &update.restrictions)?;
    let condition = conditions::plan(planner, &update.condition)?;
    let only_static = planned.iter().all(|operation| operation.is_static) && condition.is_static();
    finish(
        planner,
        ModifyKind::Update,
        relations,
        planned,
        only_static,
        &update.using,
        condition,
    )
}

/// Plans a `DELETE`.
pub(crate) fn plan_delete(
    planner: &mut Planner<'_>,
    delete: &ast::Delete,
) -> Result<Modify, ErrorResponse> {
    check_modifiable(planner)?;
    let mut planned = Vec::with_capacity(delete.targets.len());
    for target in &delete.targets {
        planned.push(operations::plan_deletion(planner, target)?);
    }
    let relations = Relations::collect(planner, &delete.restrictions)?;
    let condition = conditions::plan(planner, &delete.condition)?;
    let only_static = !planned.is_empty()
        && planned.iter().all(|operation| operation.is_static)
        && condition.is_static();
    finish(
        planner,
        ModifyKind::Delete,
        relations,
        planned,
        only_static,
        &delete.using,
        condition,
    )
}

fn check_modifiable(planner: &Planner<'_>) -> Result<(), ErrorResponse> {
    if planner.table.is_view {
        return Err(ErrorResponse::invalid(
            "Cannot directly modify a materialized view",
        ));
    }
    if planner.keyspace.is_virtual {
        return Err(ErrorResponse::invalid(format!(
            "Modification is not supported by table {}.{}",
            planner.table.keyspace, planner.table.name
        )));
    }
    Ok(())
}

fn finish(
    planner: &mut Planner<'_>,
    kind: ModifyKind,
    relations: Relations,
    operations: Vec<Operation>,
    only_static: bool,
    using: &ast::Using,
    condition: Condition,
) -> Result<Modify, ErrorResponse> {
    let table = planner.table.clone();
    if table.is_counter && !matches!(condition, Condition::None) {
        return Err(ErrorResponse::invalid(
            "Conditional updates are not supported on counter tables",
        ));
    }
    if using.timestamp.is_some() {
        if !matches!(condition, Condition::None) {
            return Err(ErrorResponse::invalid(
                "Cannot provide custom timestamp for conditional updates",
            ));
        }
        if table.is_counter {
            return Err(ErrorResponse::invalid(
                "Cannot provide custom timestamp for counter updates",
            ));
        }
    }
    if using.ttl.is_some() && table.is_counter {
        return Err(ErrorResponse::invalid(
            "Cannot provide custom TTL for counter updates",
        ));
    }
    let mut attribute = |written: &Option<ast::Term>, name, ty| match written {
        Some(written) => {
            let receiver = Receiver::named(&table, name, ty);
            term::plan(planner, written, &receiver).map(Some)
        }
        None => Ok(None),
    };
    let timestamp = attribute(&using.timestamp, "[timestamp]", CqlType::BigInt)?;
    let ttl = attribute(&using.ttl, "[ttl]", CqlType::Int)?;
    let (keys, clustering) = places(&table, kind, relations, &operations, only_static)?;
    let conditional = !matches!(condition, Condition::None);
    if conditional {
        let place = if keys.has_in() {
            Some("partition key")
        } else if clustering.has_in() {
            Some("clustering key columns")
        } else {
            None
        };
        if let Some(place) = place {
            return Err(ErrorResponse::invalid(format!(
                "IN on the {place} is not supported with conditional {}",
                if kind == ModifyKind::Delete {
                    "deletions"
                } else {
                    "updates"
                }
            )));
        }
        if !only_static && !clustering.is_full(&table) {
            return Err(ErrorResponse::invalid(
                "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns",
            ));
        }
    }
    Ok(Modify {
        reads: operations.iter().any(Operation::reads),
        table,
        kind,
        keys,
        clustering,
        only_static,
        operations,
        timestamp,
        ttl,
        condition,
        json: None,
    })
}

/// The partitions and rows a modification names, with Cassandra's checks.
fn places(
    table: &Table,
    kind: ModifyKind,
    relations: Relations,
    operations: &[Operation],
    only_static: bool,
) -> Result<(KeyPlan, ClusteringPlan), ErrorResponse> {
    if relations.token.is_some() {
        return Err(ErrorResponse::invalid(format!(
            "The token function cannot be used in WHERE clauses for {} statements",
            kind.name()
        )));
    }
    let mut parts = Vec::with_capacity(table.partition_key_len);
    let mut missing = Vec::new();
    for (column, test) in table.partition_key().iter().zip(relations.partition) {
        match test {
            Some(ColumnTest::Equal(term)) => parts.push(KeyPart::Equal(term)),
            Some(ColumnTest::In(terms)) => parts.push(KeyPart::In(terms)),
            Some(ColumnTest::Slice { .. }) => {
                return Err(ErrorResponse::invalid(format!(
                    "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for {} statements",
                    kind.name()
                )));
            }
            None => missing.push(&*column.name),
        }
    }
    if !missing.is_empty() {
        return Err(ErrorResponse::invalid(format!(
            "Some partition key parts are missing: {}",
            missing.join(", ")
        )));
    }
    let steps = relations.clustering;
    if only_static && !steps.is_empty() && kind != ModifyKind::Insert {
        return Err(ErrorResponse::invalid(format!(
            "Invalid restrictions on clustering columns since the {} statement modifies only static columns",
            kind.name()
        )));
    }
    check_prefix(table, kind, &steps)?;
    let clustering = ClusteringPlan { steps };
    let specific = operations.iter().any(|operation| !operation.is_static);
    if kind == ModifyKind::Delete && specific && !clustering.is_full(table) {
        return Err(ErrorResponse::invalid(
            "Range deletions are not supported for specific columns",
        ));
    }
    if kind != ModifyKind::Delete && !only_static && clustering.has_slice() {
        return Err(ErrorResponse::invalid(format!(
            "Slice restrictions are not supported on the clustering columns in {} statements",
            kind.name()
        )));
    }
    let wanted: Vec<_> = table
        .clustering()
        .iter()
        .filter(|column| {
            !clustering
                .steps
                .iter()
                .any(|step| (step.first..step.first + step.len).contains(&column.position))
        })
        .map(|column| &*column.name)
        .collect();
    if kind != ModifyKind::Delete && !only_static && !wanted.is_empty() {
        return Err(ErrorResponse::invalid(format!(
            "Some clustering keys are missing: {}",
            wanted.join(", ")
        )));
    }
    let mut foreign: Vec<_> = relations
        .others
        .iter()
        .map(|(column, _)| &*column.name)
        .collect();
    foreign.extend(relations.contents.iter().map(|filter| &*filter.name));
    if !foreign.is_empty() {
        return Err(ErrorResponse::invalid(format!(
            "Non PRIMARY KEY columns found in where clause: {} ",
            foreign.join(", ")
        )));
    }
    Ok((KeyPlan::Points(parts), clustering))
}

/// Checks that restrictions go from the first clustering column on, a range only last.
fn check_prefix(
    table: &Table,
    kind: ModifyKind,
    steps: &[super::clustering::Group],
) -> Result<(), ErrorResponse> {
    let name = |position: usize| {
        table
            .clustering()
            .get(position)
            .map_or("", |column| &*column.name)
    };
    let mut next = 0;
    let mut slice: Option<usize> = None;
    for step in steps {
        if let Some(first) = slice {
            return Err(ErrorResponse::invalid(format!(
                "Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                name(step.first),
                name(first)
            )));
        }
        if step.first > next && kind == ModifyKind::Delete {
            return Err(ErrorResponse::invalid(format!(
                "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
                name(step.first),
                name(next)
            )));
        }
        if matches!(step.kind, GroupKind::Slice { .. }) {
            slice = Some(step.first);
        }
        next = step.first + step.len;
    }
    Ok(())
}
