//! Reading a materialized view: the base table is read, the view's rows are made of what is found, and the `SELECT` runs
//! on those as it would on a table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::{ErrorResponse, Response};

use super::calls::Calls;
use super::row::RowView;
use super::select::{SelectRun, Wanted};
use crate::readers::{
    Consumer, Fragment, PartitionRange, ReadCommand, ReadLimit, ReadProgress, Slices,
};
use crate::schema::Table;
use crate::statement::{BoundFilter, BoundRows, Select, ViewSource, partition_key};
use crate::storage::{
    ClusteringBound, ClusteringKey, ColumnData, DecoratedKey, Liveness, Mutation, NO_EXPIRY, Row,
    Shard, ShardOptions,
};
use crate::term::Binds;
use crate::types::comparable;

/// Fragments of the view read in one go, before others have their turn.
const SLICE: usize = 1024;

/// A `SELECT` on a view under way.
#[derive(Debug)]
pub(super) struct ViewRun {
    select: SelectRun,
    /// The read of the base table, until that is done.
    base: Option<ReadCommand>,
    /// The partition of the base table that the read is in.
    key: Option<DecoratedKey>,
    filters: Vec<BoundFilter>,
    wanted: Wanted,
    /// The view's rows that are wanted, until the read of the base table is done.
    found: BTreeMap<(DecoratedKey, ClusteringKey), Row>,
    /// The same from then on.
    rows: Shard,
    now_seconds: i64,
}

/// How far the `SELECT` on the view's rows came.
pub(super) enum Progress {
    /// There is more to do, and others should have their turn first.
    Yielded,
    /// All is read.
    Finished,
    /// Native functions have to be called first.
    Calling(Calls),
}

impl ViewRun {
    /// The view.
    pub(super) fn table(&self) -> Option<&Table> {
        self.select.table()
    }

    /// The `SELECT`.
    pub(super) fn select_mut(&mut self) -> &mut SelectRun {
        &mut self.select
    }

    /// For a `SELECT` planned on the view.
    pub(super) fn new(
        select: SelectRun,
        plan: &Select,
        source: &ViewSource,
        binds: &Binds<'_>,
        now_seconds: i64,
    ) -> Result<Self, ErrorResponse> {
        let filters = source.filters.iter();
        let filters: Result<_, _> = filters.map(|filter| filter.bind(binds)).collect();
        let view = &source.view.table;
        let row = match plan.restrictions.clustering.bind(view, binds)? {
            BoundRows::One(row) => select
                .only_partition()
                .and_then(|key| source.base_row(key, &row)),
            _ => None,
        };
        let (range, slices) = match row {
            Some((key, slices)) => (PartitionRange::Key(key), slices),
            None => (PartitionRange::ALL, Slices::All),
        };
        let base = ReadCommand {
            table: source.base.clone(),
            range,
            slices,
            reversed: false,
            now_seconds,
            resume: None,
            limit: ReadLimit::NONE,
        };
        Ok(Self {
            base: Some(base),
            key: None,
            filters: filters?,
            wanted: select.wanted(),
            found: BTreeMap::new(),
            rows: Shard::new(ShardOptions::default()),
            select,
            now_seconds,
        })
    }

    /// The read of the base table to make next.
    pub(super) fn next_read(&self) -> Option<ReadCommand> {
        self.base.clone()
    }

    /// Takes in how the read of the base table ended.
    pub(super) fn read(&mut self, progress: ReadProgress) {
        match (progress, &mut self.base) {
            (ReadProgress::Finished, base) => {
                *base = None;
                self.store();
            }
            (ReadProgress::Yielded(position) | ReadProgress::Stopped(position), Some(base)) => {
                base.resume = Some(position);
            }
            _ => {}
        }
    }

    /// Takes in a piece of the read of the base table.
    pub(super) fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        match fragment {
            Fragment::PartitionStart(key) => self.key = Some(key.clone()),
            Fragment::Row(clustering, row) => self.row(clustering, row),
            // A view has no static columns.
            Fragment::StaticRow(_) | Fragment::PartitionEnd => {}
        }
        ControlFlow::Continue(())
    }

    fn row(&mut self, clustering: &ClusteringKey, row: &Row) {
        let (Some(key), Some(source)) = (&self.key, self.select.view_source()) else {
            return;
        };
        let base = RowView {
            key,
            clustering: Some(clustering),
            static_row: None,
            row: Some(row),
        };
        let mut filters = source.filters.iter().zip(&self.filters);
        if !filters.all(|(filter, bound)| filter.accepts(bound, &base)) {
            return;
        }
        let Some((key, clustering)) = source.place(&base) else {
            return;
        };
        if !self.wanted.includes(&key, &clustering) {
            return;
        }
        let row = source.content(row);
        let view = RowView {
            key: &key,
            clustering: Some(&clustering),
            static_row: None,
            row: Some(&row),
        };
        if self.select.accepts(&view) {
            self.found.insert((key, clustering), row);
        }
        if self
            .wanted
            .first
            .is_some_and(|first| self.found.len() > first)
        {
            self.found.pop_last();
        }
    }

    /// Puts what was found where a `SELECT` reads, partition by partition.
    fn store(&mut self) {
        let Some(source) = self.select.view_source() else {
            return;
        };
        let mut rows = std::mem::take(&mut self.found).into_iter().peekable();
        while let Some(((key, clustering), row)) = rows.next() {
            let mut of_partition = vec![(clustering, row)];
            while let Some(((_, clustering), row)) = rows.next_if(|((other, _), _)| *other == key) {
                of_partition.push((clustering, row));
            }
            let mutation = Mutation {
                table: source.view.table.clone(),
                key,
                partition_deletion: None,
                static_row: None,
                rows: of_partition,
                range_tombstones: Vec::new(),
            };
            self.rows.apply(&mutation, self.now_seconds);
        }
    }

    /// Runs the `SELECT` on the view's rows, all of which are there.
    pub(super) fn select(&mut self) -> Result<Progress, ErrorResponse> {
        loop {
            if let Some(calls) = self.select.next_calls()? {
                return Ok(Progress::Calling(calls));
            }
            let Some(command) = self.select.next_read() else {
                return Ok(Progress::Finished);
            };
            let progress = self.rows.read(&command, SLICE, &mut Rows(&mut self.select));
            let has_yielded = matches!(progress, ReadProgress::Yielded(_));
            self.select.read(progress)?;
            if has_yielded {
                return Ok(Progress::Yielded);
            }
        }
    }

    /// The result, and what to warn of.
    pub(super) fn finish(&mut self) -> Result<(Response, Option<String>), ErrorResponse> {
        self.select.finish()
    }
}

/// Hands the view's rows to the `SELECT`.
struct Rows<'a>(&'a mut SelectRun);

impl Consumer for Rows<'_> {
    fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        self.0.consume(fragment)
    }
}

impl ViewSource {
    /// Where the view has a row of the base table; `None` where a column of its key is null, so that it hasn't.
    fn place(&self, base: &RowView<'_>) -> Option<(DecoratedKey, ClusteringKey)> {
        let parts: Option<Vec<Cow<'_, [u8]>>> = self
            .partition_key
            .iter()
            .map(|column| base.value(column))
            .collect();
        let key = partition_key(&parts?).ok()?;
        let (mut sort, mut values) = (Vec::new(), BytesMut::new());
        for (column, descending) in &self.clustering {
            let value = base.value(column)?;
            comparable::encode(&column.ty, &value, *descending, &mut sort);
            values.put_i32(i32::try_from(value.len()).ok()?);
            values.put_slice(&value);
        }
        let clustering = ClusteringKey {
            sort: sort.into(),
            values: values.freeze(),
        };
        Some((key, clustering))
    }

    /// The row of the base table that a row of the view is made of.
    fn base_row(
        &self,
        key: &DecoratedKey,
        clustering: &ClusteringKey,
    ) -> Option<(DecoratedKey, Slices)> {
        let view = RowView {
            key,
            clustering: Some(clustering),
            static_row: None,
            row: None,
        };
        let values: Option<Vec<Cow<'_, [u8]>>> = self
            .base_key
            .iter()
            .map(|column| view.value(column))
            .collect();
        let values = values?;
        let (parts, rest) = values.split_at_checked(self.base.partition_key_len)?;
        let key = partition_key(parts).ok()?;
        if rest.is_empty() {
            return Some((key, Slices::All));
        }
        let mut sort = Vec::new();
        for (column, value) in self.base.clustering().iter().zip(rest) {
            comparable::encode(&column.ty, value, column.descending, &mut sort);
        }
        let sort = Bytes::from(sort);
        let row = (
            ClusteringBound::Before(sort.clone()),
            ClusteringBound::After(sort),
        );
        Some((key, Slices::Ranges([row].into())))
    }

    /// What the view has of a row: the cells of its columns as they are, and the row itself, which is alive.
    fn content(&self, row: &Row) -> Row {
        let is_wanted = |id| self.regulars.binary_search(id).is_ok();
        let columns: Vec<(_, ColumnData)> = row
            .columns
            .iter()
            .filter(|(id, _)| is_wanted(id))
            .cloned()
            .collect();
        Row {
            liveness: Some(Liveness {
                timestamp: row.liveness.map_or(0, |liveness| liveness.timestamp),
                ttl: 0,
                expires_at: NO_EXPIRY,
            }),
            deletion: None,
            columns,
        }
    }
}
