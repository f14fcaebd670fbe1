//! Running conditional modifications: read, decide under the shard's lock, and tell the client what was found.
//! Answers to Cassandra's `CQL3CasRequest`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::BytesMut;
use helenus_core::message::Name;
use helenus_core::message::Rows;
use helenus_core::types::CqlType;
use helenus_core::{ColumnSpec, ErrorResponse, Response, ResultMetadata};

use super::row::RowView;
use super::write::{self, Found, Item};
use crate::context::Context;
use crate::readers::{Fragment, PartitionRange, ReadCommand, ReadLimit, Slices};
use crate::schema::{Column, ColumnKind, Table};
use crate::statement::{BoundCondition, BoundRows, ColumnRef, columns_id};
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, Mutation, Row};
use crate::term::put_element;

/// A condition and the row it is about; `None` is the static row.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) clustering: Option<ClusteringKey>,
    pub(super) condition: BoundCondition,
}

/// Conditional modifications of one partition.
#[derive(Debug)]
pub(super) struct CasRun {
    table: Arc<Table>,
    key: DecoratedKey,
    requests: Vec<Request>,
    items: Vec<Item>,
    is_batch: bool,
    found: Found,
    decision: Option<Result<bool, ErrorResponse>>,
    context: Context,
    now_seconds: i64,
    list_elements: Cell<u32>,
}

impl CasRun {
    /// For these modifications, all of one partition.
    pub(super) fn new(
        table: Arc<Table>,
        key: DecoratedKey,
        requests: Vec<Request>,
        items: Vec<Item>,
        is_batch: bool,
        context: Context,
        now_seconds: i64,
    ) -> Result<Self, ErrorResponse> {
        let mut wanted = BTreeMap::new();
        for request in &requests {
            let exists = match request.condition {
                BoundCondition::Exists => true,
                BoundCondition::NotExists => false,
                BoundCondition::None | BoundCondition::Columns(_) => continue,
            };
            if *wanted.entry(&request.clustering).or_insert(exists) != exists {
                return Err(ErrorResponse::invalid(
                    "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row",
                ));
            }
        }
        Ok(Self {
            table,
            key,
            requests,
            items,
            is_batch,
            found: Found::default(),
            decision: None,
            context,
            now_seconds,
            list_elements: Cell::new(0),
        })
    }

    /// What it writes.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// The read whose rows decide: those with conditions, and those whose lists are written.
    pub(super) fn command(&self) -> ReadCommand {
        let mut keys: Vec<ClusteringKey> = self
            .requests
            .iter()
            .filter_map(|request| request.clustering.clone())
            .collect();
        for item in self
            .items
            .iter()
            .filter(|item| item.modify().is_some_and(|modify| modify.reads))
        {
            match &item.places.rows {
                BoundRows::One(key) => keys.push(key.clone()),
                BoundRows::Keys(more) => keys.extend(more.iter().cloned()),
                BoundRows::All | BoundRows::Ranges(_) => {}
            }
        }
        keys.sort();
        keys.dedup();
        let slices = if self.table.clustering_len == 0 || self.is_about_partition() {
            Slices::All
        } else {
            let one = |key: ClusteringKey| {
                (
                    ClusteringBound::Before(key.sort.clone()),
                    ClusteringBound::After(key.sort),
                )
            };
            Slices::Ranges(keys.into_iter().map(one).collect())
        };
        ReadCommand {
            table: self.table.clone(),
            range: PartitionRange::Key(self.key.clone()),
            slices,
            reversed: false,
            now_seconds: self.now_seconds,
            resume: None,
            limit: ReadLimit {
                rows: match self.is_about_partition() {
                    true => 1,
                    false => u32::MAX,
                },
                ..ReadLimit::NONE
            },
        }
    }

    /// Whether no condition looks at a row, so that the partition's first one stands for all.
    fn is_about_partition(&self) -> bool {
        self.requests
            .iter()
            .all(|request| request.clustering.is_none())
            && !self
                .items
                .iter()
                .any(|item| item.modify().is_some_and(|modify| modify.reads))
    }

    /// Takes in a piece of the read.
    pub(super) fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        let is_row = matches!(fragment, Fragment::Row(..));
        self.found.consume(fragment)?;
        if is_row && self.is_about_partition() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Forgets what was read and decided.
    pub(super) fn reconsider(&mut self) {
        self.found = Found::default();
        self.decision = None;
    }

    /// What to write: nothing unless every condition holds.
    pub(super) fn decide(&mut self) -> Vec<Mutation> {
        let applies = self.requests.iter().all(|request| self.holds(request));
        let mut mutations = Vec::new();
        let built = if applies {
            write::build(
                &self.items,
                &self.found.rows,
                &self.context,
                &self.list_elements,
                &mut mutations,
            )
        } else {
            Ok(())
        };
        let failed = built.is_err();
        self.decision = Some(built.map(|()| applies));
        if failed {
            Vec::new()
        } else {
            write::merge(mutations)
        }
    }

    fn row(&self, clustering: Option<&ClusteringKey>) -> Option<&Row> {
        self.found
            .rows
            .get(&(self.key.clone(), clustering.cloned()))
    }

    fn view<'v>(&'v self, clustering: Option<&'v ClusteringKey>) -> RowView<'v> {
        RowView {
            key: &self.key,
            clustering,
            static_row: self.row(None),
            row: clustering.and_then(|clustering| self.row(Some(clustering))),
        }
    }

    fn holds(&self, request: &Request) -> bool {
        let clustering = request.clustering.as_ref();
        match &request.condition {
            BoundCondition::None => true,
            BoundCondition::Exists => self.row(clustering).is_some(),
            BoundCondition::NotExists => self.row(clustering).is_none(),
            BoundCondition::Columns(columns) => {
                let view = self.view(clustering);
                columns.iter().all(|condition| condition.holds(&view))
            }
        }
    }

    /// The result: whether the change was applied, and if not, what was found instead.
    pub(super) fn finish(mut self) -> Result<Response, ErrorResponse> {
        let applied = match self.decision.take() {
            Some(decision) => decision?,
            None => false,
        };
        let spec = |name: Name<'static>, ty: CqlType| ColumnSpec {
            keyspace: self.table.keyspace.clone().into(),
            table: self.table.name.clone().into(),
            name,
            ty,
        };
        let mut specs = vec![spec("[applied]".into(), CqlType::Boolean)];
        let mut content = BytesMut::new();
        let mut row_count = 1;
        let places = if applied {
            Vec::new()
        } else {
            self.reported_rows()
        };
        if places.is_empty() {
            put_element(&mut content, Some(&[u8::from(applied)]));
        } else {
            let columns = self.reported_columns();
            specs.extend(
                columns
                    .iter()
                    .map(|column| spec(column.name.clone().into(), column.ty.clone())),
            );
            row_count = u32::try_from(places.len()).unwrap_or(u32::MAX);
            let only_statics = self.is_about_partition();
            for clustering in &places {
                put_element(&mut content, Some(&[0]));
                let mut view = self.view(clustering.as_ref());
                if only_statics {
                    view.row = None;
                }
                for column in &columns {
                    view.put(
                        &ColumnRef::new(column, self.table.partition_key_len),
                        &mut content,
                    );
                }
            }
        }
        let id = columns_id(&specs);
        Ok(Response::Rows(Rows {
            metadata: Arc::new(ResultMetadata::new(specs).with_id(id)),
            paging_state: None,
            skip_metadata: false,
            metadata_changed: false,
            row_count,
            content: content.freeze(),
        }))
    }

    /// The rows that were found where conditions looked, ascending. A condition on static columns is about the partition,
    /// for which its first row stands.
    fn reported_rows(&self) -> Vec<Option<ClusteringKey>> {
        let looks_at_statics = |request: &Request| match &request.condition {
            BoundCondition::Columns(columns) => {
                columns.iter().any(|condition| condition.column.is_static())
            }
            _ => request.clustering.is_none(),
        };
        let mut places: Vec<Option<ClusteringKey>> = Vec::new();
        for request in &self.requests {
            let is_found =
                request.clustering.is_some() && self.row(request.clustering.as_ref()).is_some();
            if is_found {
                places.push(request.clustering.clone());
            } else if looks_at_statics(request) && self.found.key.is_some() {
                let first = self
                    .found
                    .rows
                    .keys()
                    .find_map(|(_, clustering)| clustering.clone());
                places.push(request.clustering.clone().or(first));
            }
        }
        places.sort();
        places.dedup();
        places
    }

    /// The columns that tell why: those with conditions, or all where a row's existence was asked.
    fn reported_columns(&self) -> Vec<&Column> {
        let mut asked = Vec::new();
        for request in &self.requests {
            match &request.condition {
                BoundCondition::None => {}
                BoundCondition::Exists | BoundCondition::NotExists => {
                    return self.table.columns.iter().collect();
                }
                BoundCondition::Columns(columns) => {
                    for condition in columns {
                        if !asked.contains(&&condition.name) {
                            asked.push(&condition.name);
                        }
                    }
                }
            }
        }
        let mut columns: Vec<&Column> = Vec::new();
        if self.is_batch {
            columns.extend(
                self.table
                    .partition_key()
                    .iter()
                    .chain(self.table.clustering()),
            );
        }
        for kind in [ColumnKind::Regular, ColumnKind::Static] {
            for name in &asked {
                if let Some(column) = self.table.column(name)
                    && column.kind == kind
                    && !columns.iter().any(|other| other.id == column.id)
                {
                    columns.push(column);
                }
            }
        }
        columns
    }
}
