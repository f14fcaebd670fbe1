//! Running a `SELECT`: rows in, a page of the result out, in wire form as they arrive.

mod document;
mod group;
mod nearest;
mod rows;
mod tombstones;
mod waiting;
mod wanted;

use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use helenus_core::message::{QueryParams, Rows};
use helenus_core::{Consistency, ErrorResponse, Response, ResultMetadata};

use super::page::PageState;
use crate::context::Context;
use crate::guardrails::{
    Guard, Part, Threshold, check_page_size, check_partitions, check_places, read_size,
};
use crate::readers::{
    Fragment, PartitionRange, Position, ReadCommand, ReadLimit, ReadProgress, Slices,
};
use crate::schema::Table;
use crate::statement::{BoundFilter, BoundKeys, BoundRows, Plan, Select, Statement, ViewSource};
use crate::storage::{ClusteringBound, ClusteringKey, DecoratedKey, Row};
use crate::term::{Binds, Bound, Term};
use group::Group;
use nearest::Neighbours;
use tombstones::Tombstones;
use waiting::Waiting;
pub(super) use wanted::Wanted;

/// How many rows of a partition are passed over before the read is told to go on with the next partition.
const PASSED_OVER: u32 = 100;

/// How many steps of user functions are taken before the read is left for a moment.
const PAUSE_STEPS: usize = 1 << 14;

/// Bytes set aside for output at the first row: enough for most single rows.
const FIRST_ROW: usize = 128;

/// A `SELECT` under way.
#[derive(Debug)]
pub(super) struct SelectRun {
    statement: Arc<Statement>,
    state: State,
}

#[derive(Debug)]
struct State {
    keys: Keys,
    slices: Slices,
    resume: Option<Position>,
    filters: Vec<BoundFilter>,
    terms: Vec<Option<Bytes>>,
    group: Option<Box<Group>>,
    neighbours: Option<Box<Neighbours>>,
    context: Context,
    consistency: Consistency,
    now_seconds: i64,
    per_partition: u32,
    skip_metadata: bool,
    metadata_changed: bool,
    partition: Partition,
    /// What user functions took since the read was last left.
    steps: usize,
    /// Those passed over, once there are any.
    tombstones: Option<Box<Tombstones>>,
    /// The partitions asked for, where the size of the page matters.
    measured: Option<Box<BoundKeys>>,
    page: Page,
}

/// The result so far, and what the limits leave.
#[derive(Debug)]
struct Page {
    out: BytesMut,
    row_count: u32,
    sorted: Vec<SortedRow>,
    /// How many rows `LIMIT` leaves.
    remaining: u32,
    /// How many rows the page has room for.
    room: u32,
    stop: Option<Stop>,
    /// What waits for native functions, if any are called.
    waiting: Option<Box<Waiting>>,
}

#[derive(Debug)]
enum Keys {
    /// One partition; the key is in the read while that goes on.
    One(Option<DecoratedKey>),
    Many {
        keys: Vec<DecoratedKey>,
        next: usize,
    },
    Range(PartitionRange),
    Finished,
}

/// The partition a read is in.
#[derive(Debug, Default)]
struct Partition {
    key: Option<DecoratedKey>,
    static_row: Option<Row>,
    has_static: bool,
    has_rows: bool,
    remaining: u32,
    passed_over: u32,
}

/// A row of the output by where it lies in it, with what it is sorted by.
#[derive(Debug)]
struct SortedRow {
    order: Vec<u8>,
    start: usize,
    end: usize,
}

/// Why the consumer said stop.
#[derive(Debug)]
enum Stop {
    /// The limit is reached.
    Limit,
    /// The page is full; the next one begins so.
    Page(PageState),
    /// Nothing more of this partition is wanted.
    NextPartition(DecoratedKey),
    /// A function failed.
    Failed(ErrorResponse),
}

/// The value of a limit, which must be positive.
pub(crate) fn limit_value(bytes: &[u8]) -> Result<u32, ErrorResponse> {
    let value = bytes
        .try_into()
        .map(i32::from_be_bytes)
        .map_err(|_| ErrorResponse::invalid("Invalid limit value"))?;
    match u32::try_from(value) {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(ErrorResponse::invalid("LIMIT must be strictly positive")),
    }
}

fn bind_limit(term: Option<&Term>, binds: &Binds<'_>) -> Result<u32, ErrorResponse> {
    let Some(term) = term else {
        return Ok(u32::MAX);
    };
    match term.bind(binds)? {
        Bound::Unset => Ok(u32::MAX),
        Bound::Null => Err(ErrorResponse::invalid("Invalid null value of limit")),
        bound => limit_value(bound.as_slice().unwrap_or_default()),
    }
}

impl SelectRun {
    /// Binds a planned `SELECT`.
    pub(super) fn new(
        statement: Arc<Statement>,
        select: &Select,
        binds: &Binds<'_>,
        params: &QueryParams<'_>,
        result_metadata_id: Option<&[u8]>,
        now_seconds: i64,
        guard: &mut Guard<'_>,
    ) -> Result<Self, ErrorResponse> {
        let plan = &select.restrictions;
        let page = params.paging_state.map(PageState::decode).transpose()?;
        let keys = plan.keys.bind(&select.table, binds)?;
        let measured = guard
            .rules
            .read_thresholds_enabled
            .then(|| Box::new(keys.clone()));
        let keys = match keys {
            BoundKeys::One(key) => Keys::One(Some(key)),
            BoundKeys::Many(keys) => {
                check_places(Part::Partition, keys.len(), guard)?;
                check_partitions(&select.table.name, keys.len(), guard)?;
                Keys::Many { keys, next: 0 }
            }
            BoundKeys::Range(range) => Keys::Range(range),
        };
        let rows = plan.clustering.bind(&select.table, binds)?;
        if let BoundRows::Keys(keys) = &rows {
            check_places(Part::Clustering, keys.len(), guard)?;
        }
        let slices = slices(rows, select);
        let filters: Result<_, _> = plan
            .filters
            .iter()
            .map(|filter| filter.bind(binds))
            .collect();
        let mut terms = Vec::with_capacity(select.selection.terms.len());
        for term in &select.selection.terms {
            terms.push(term.bind(binds)?.into_bytes());
        }
        let group = Group::new(select);
        let limit = bind_limit(select.limit.as_ref(), binds)?;
        let per_partition = bind_limit(select.per_partition_limit.as_ref(), binds)?;
        let page_size = params
            .page_size
            .and_then(|size| u32::try_from(size).ok())
            .unwrap_or(0);
        let neighbours = match &select.nearest {
            Some(nearest) => Some(Neighbours::new(nearest, binds, limit, params)?),
            None => None,
        };
        let is_one_row = group.is_some() && select.group_by.is_none();
        let paged = page_size > 0 && limit > page_size && !is_one_row && neighbours.is_none();
        if page_size > 0 && limit > page_size && neighbours.is_none() {
            check_page_size(&select.table.name, page_size, guard)?;
        }
        if paged && !select.sort.is_empty() {
            return Err(ErrorResponse::invalid(
                "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query",
            ));
        }
        let current = statement.result.as_ref().and_then(|metadata| metadata.id());
        let metadata_changed =
            result_metadata_id.is_some_and(|known| current.is_some_and(|id| id != known));
        let mut state = State {
            keys,
            slices,
            resume: None,
            filters: filters?,
            terms,
            group,
            neighbours,
            context: *binds.context(),
            consistency: params.consistency,
            now_seconds,
            per_partition,
            skip_metadata: params.skip_metadata() && !metadata_changed,
            metadata_changed,
            partition: Partition::default(),
            steps: 0,
            tombstones: None,
            measured,
            page: Page {
                out: BytesMut::new(),
                row_count: 0,
                sorted: Vec::new(),
                remaining: limit,
                room: if paged { page_size } else { u32::MAX },
                stop: None,
                waiting: Waiting::new(select),
            },
        };
        if let Some(page) = page.filter(|_| paged) {
            state.begin_at(page);
        }
        Ok(Self { statement, state })
    }

    /// The read to make next; `None` when all is read.
    pub(super) fn next_read(&mut self) -> Option<ReadCommand> {
        let Plan::Select(select) = self.statement.plan() else {
            return None;
        };
        let state = &mut self.state;
        let range = match &mut state.keys {
            Keys::One(key) => PartitionRange::Key(key.take()?),
            Keys::Many { keys, next } => PartitionRange::Key(keys.get(*next)?.clone()),
            Keys::Range(range) => range.clone(),
            Keys::Finished => return None,
        };
        Some(ReadCommand {
            table: select.table.clone(),
            range,
            slices: state.slices.clone(),
            reversed: select.reversed,
            now_seconds: state.now_seconds,
            resume: state.resume.clone(),
            limit: state.limit(select),
        })
    }

    /// What it reads.
    pub(super) fn table(&self) -> Option<&Table> {
        match self.statement.plan() {
            Plan::Select(select) => Some(&select.table),
            _ => None,
        }
    }

    /// Where its rows come from, if it is on a view.
    pub(super) fn view_source(&self) -> Option<&ViewSource> {
        match self.statement.plan() {
            Plan::Select(select) => select.view.as_ref(),
            _ => None,
        }
    }

    /// The one partition it asks for, if it does.
    pub(super) fn only_partition(&self) -> Option<&DecoratedKey> {
        match &self.state.keys {
            Keys::One(key) => key.as_ref(),
            _ => None,
        }
    }

    /// Takes in how a read ended.
    pub(super) fn read(&mut self, progress: ReadProgress) -> Result<(), ErrorResponse> {
        let Plan::Select(select) = self.statement.plan() else {
            return Ok(());
        };
        let state = &mut self.state;
        match progress {
            ReadProgress::Yielded(position) => state.resume_at(position),
            ReadProgress::Finished => state.next_key(select),
            ReadProgress::Stopped(position) => match state.page.stop.take() {
                Some(Stop::Failed(error)) => return Err(error),
                Some(Stop::NextPartition(key)) => match state.keys {
                    Keys::Range(_) => {
                        state.resume = Some(Position::after_partition(key, select.reversed));
                    }
                    _ => state.next_key(select),
                },
                Some(stop) => {
                    state.keys = Keys::Finished;
                    state.page.stop = Some(stop);
                }
                None => state.resume_at(position),
            },
        }
        // A stop at the last fragment may be reported as the end.
        if matches!(state.page.stop, Some(Stop::Failed(_)))
            && let Some(Stop::Failed(error)) = state.page.stop.take()
        {
            return Err(error);
        }
        if matches!(state.page.stop, Some(Stop::Limit | Stop::Page(_))) {
            state.end_read(&select.table);
            state.keys = Keys::Finished;
        } else {
            state.page.stop = None;
        }
        Ok(())
    }

    /// Takes in a piece of a read.
    pub(super) fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        match self.statement.plan() {
            Plan::Select(select) => self.state.consume(select, fragment),
            _ => ControlFlow::Break(()),
        }
    }

    /// Counts tombstones that its read passed over.
    pub(super) fn pass_tombstones(
        &mut self,
        key: &DecoratedKey,
        count: usize,
        threshold: Threshold,
        node: IpAddr,
    ) -> ControlFlow<()> {
        match self.statement.plan() {
            Plan::Select(select) => {
                let table = &select.table;
                self.state
                    .pass_tombstones(table, key, count, threshold, node)
            }
            _ => ControlFlow::Break(()),
        }
    }

    /// What its reads so far give reason to warn of.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        let tombstones = self.state.tombstones.take();
        tombstones.map_or_else(Vec::new, |tombstones| tombstones.warnings)
    }

    /// Holds the size of its result against the limits, if there are any.
    pub(super) fn measure(
        &self,
        result: &Response,
        node: IpAddr,
        guard: &mut Guard<'_>,
    ) -> Result<(), ErrorResponse> {
        let (Some(keys), Plan::Select(select), Response::Rows(rows)) =
            (&self.state.measured, self.statement.plan(), result)
        else {
            return Ok(());
        };
        // Each value stands behind its length.
        let lengths = 4 * rows.metadata.columns().len() * rows.row_count as usize;
        let size = rows.content.len().saturating_sub(lengths) as u64;
        read_size(
            &select.table,
            keys,
            size,
            self.state.consistency,
            node,
            guard,
        )
    }

    /// The result, and what to warn of. Taken out of it where it is: it is large to move.
    pub(super) fn finish(&mut self) -> Result<(Response, Option<String>), ErrorResponse> {
        let Plan::Select(select) = self.statement.plan() else {
            return Ok((Response::Void, None));
        };
        self.state.finish_groups(select)?;
        let mut warning = select.aggregate_warning.map(str::to_owned);
        if let Some(neighbours) = self.state.neighbours.take() {
            warning = neighbours.finish(&mut self.state.page);
        }
        self.state.page.sort();
        let state = &mut self.state;
        let metadata: Arc<ResultMetadata> = match self.statement.result.as_ref() {
            Some(metadata) => metadata.clone(),
            None => Arc::new(ResultMetadata::new(Vec::new())),
        };
        let paging_state = match &state.page.stop {
            Some(Stop::Page(next)) => Some(next.encode()),
            _ => None,
        };
        let rows = Rows {
            metadata,
            paging_state,
            skip_metadata: state.skip_metadata,
            metadata_changed: state.metadata_changed,
            row_count: state.page.row_count,
            content: std::mem::take(&mut state.page.out).freeze(),
        };
        Ok((Response::Rows(rows), warning))
    }
}

fn slices(rows: BoundRows, select: &Select) -> Slices {
    let one = |key: ClusteringKey| {
        (
            ClusteringBound::Before(key.sort.clone()),
            ClusteringBound::After(key.sort),
        )
    };
    match rows {
        BoundRows::One(_) if select.table.clustering_len == 0 => Slices::All,
        BoundRows::All => Slices::All,
        BoundRows::One(key) => Slices::Ranges([one(key)].into()),
        BoundRows::Keys(keys) => Slices::Ranges(keys.into_iter().map(one).collect()),
        BoundRows::Ranges(ranges) => Slices::Ranges(ranges.into()),
    }
}

impl State {
    /// How many rows of its reads are of use, where each row read is a row of the result.
    fn limit(&self, select: &Select) -> ReadLimit {
        let is_plain = self.filters.is_empty()
            && self.group.is_none()
            && self.neighbours.is_none()
            && select.sort.is_empty();
        if !is_plain {
            return ReadLimit::NONE;
        }
        ReadLimit {
            rows: self.page.remaining.min(self.page.room),
            per_partition: match select.distinct {
                true => 1,
                false => self.per_partition,
            },
            ..ReadLimit::NONE
        }
    }

    /// Goes on where the last page ended. A state of another query whose partition isn't read here counts for its limit only.
    fn begin_at(&mut self, page: PageState) {
        self.page.remaining = page.remaining.min(self.page.remaining);
        if self.page.remaining == 0 {
            self.keys = Keys::Finished;
            return;
        }
        let key = &page.position.key;
        let found = match &mut self.keys {
            Keys::One(own) => own.as_ref() == Some(key),
            Keys::Many { keys, next } => match keys.iter().position(|own| own == key) {
                Some(index) => {
                    *next = index;
                    true
                }
                None => false,
            },
            Keys::Range(_) => true,
            Keys::Finished => false,
        };
        if found {
            self.partition = Partition {
                key: Some(key.clone()),
                has_rows: true,
                remaining: page.remaining_in_partition.min(self.per_partition),
                ..Partition::default()
            };
            self.resume = Some(page.position);
        }
    }

    fn resume_at(&mut self, position: Position) {
        if let Keys::One(key) = &mut self.keys {
            *key = Some(position.key.clone());
        }
        self.resume = Some(position);
    }

    fn next_key(&mut self, select: &Select) {
        self.end_read(&select.table);
        self.resume = None;
        match &mut self.keys {
            Keys::Many { next, .. } => *next += 1,
            keys => *keys = Keys::Finished,
        }
    }
}
