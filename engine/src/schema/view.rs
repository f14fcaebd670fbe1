//! Materialized views as the schema has them.
//!
//! A view keeps no rows of its own. Who reads it reads its table and makes the view's rows of what is found, so that it
//! is never behind its table, whatever was written in which order.

use std::sync::Arc;

use uuid::Uuid;

use super::{Column, ColumnKind, Table};
use crate::cql::ast::{Name, Relation};
use crate::term::relation;

/// A materialized view.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Its name, columns, key and options. Each column has the id that it has in the base table.
    pub table: Arc<Table>,
    /// The name of the base table.
    pub base: Arc<str>,
    /// The base table's identity.
    pub base_id: Uuid,
    /// `SELECT *`: columns added to the base table are added to the view.
    pub includes_all: bool,
    /// `WHERE`, in the order written.
    pub restrictions: Vec<Relation>,
}

impl View {
    /// `WHERE` as CQL text, without the word.
    pub fn where_clause(&self) -> String {
        relation::relations(&self.restrictions)
    }

    /// The view after its base table became `base`: with columns that were added, if it has all, and with columns that
    /// were renamed or got another type.
    pub(super) fn follow(&self, old: &Table, base: &Table) -> Self {
        let mut table = Table::clone(&self.table);
        let mut columns = std::mem::take(&mut table.columns);
        for column in &mut columns {
            if let Some(now) = base.column_with_id(column.id) {
                column.name = Arc::clone(&now.name);
                column.ty = now.ty.clone();
            }
        }
        if self.includes_all {
            let is_new = |column: &&Column| old.column_with_id(column.id).is_none();
            let added = base.columns.iter().filter(is_new);
            columns.extend(added.map(|column| Column {
                kind: ColumnKind::Regular,
                ..column.clone()
            }));
        }
        table.set_columns(columns);
        let renamed: Vec<(Name, Name)> = old
            .columns
            .iter()
            .filter_map(|before| {
                let now = base.column_with_id(before.id)?;
                (now.name != before.name).then(|| (Arc::clone(&before.name), Arc::clone(&now.name)))
            })
            .collect();
        let mut restrictions = self.restrictions.clone();
        restrictions
            .iter_mut()
            .for_each(|relation| rename(relation, &renamed));
        Self {
            table: Arc::new(table),
            restrictions,
            ..self.clone()
        }
    }
}

fn rename(relation: &mut Relation, renamed: &[(Name, Name)]) {
    let change = |name: &mut Name| {
        if let Some((_, now)) = renamed.iter().find(|(before, _)| before == name) {
            *name = Arc::clone(now);
        }
    };
    match relation {
        Relation::Column(name, ..)
        | Relation::In(name, _)
        | Relation::Element(name, ..)
        | Relation::Contains(name, _)
        | Relation::ContainsKey(name, _)
        | Relation::Like(name, _)
        | Relation::IsNotNull(name) => change(name),
        Relation::Columns(names, ..)
        | Relation::ColumnsIn(names, _)
        | Relation::Token(names, ..) => names.iter_mut().for_each(change),
        Relation::Expression(..) => {}
    }
}
