//! Rows under construction: cells with their timestamps, the elements of a collection in order.

use bytes::Bytes;
use helenus_core::types::CqlType;

use super::mutate::deletion;
use crate::functions::{time_uuid, uuid_ticks_of_micros};
use crate::schema::ColumnId;
use crate::storage::{Cell, CellPath, ColumnData, DeletionTime, Liveness, NO_EXPIRY, Row};
use crate::term::Binds;
use crate::types::comparable;

/// Ticks of UUID time at 2010-01-01, about which the paths of prepended list elements are mirrored.
const MIRROR: i64 = 0x01DE_F668_9AB0_C000;

/// When and for how long cells are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    /// Microseconds.
    pub(crate) timestamp: i64,
    /// Seconds; 0 is none.
    pub(crate) ttl: u32,
    /// The replica's clock, seconds from 1970.
    pub(crate) now_seconds: i64,
}

impl Stamp {
    /// When what is written expires.
    pub(crate) fn expires_at(self) -> i64 {
        if self.ttl == 0 {
            NO_EXPIRY
        } else {
            self.now_seconds.saturating_add(self.ttl.into())
        }
    }

    /// A deletion now.
    pub(crate) fn deletion(self) -> DeletionTime {
        deletion(self.timestamp, self.now_seconds)
    }

    fn cell(self, value: Option<Bytes>) -> Cell {
        match value {
            Some(_) => Cell {
                timestamp: self.timestamp,
                ttl: self.ttl,
                expires_at: self.expires_at(),
                value,
            },
            None => Cell {
                timestamp: self.timestamp,
                ttl: 0,
                expires_at: self.now_seconds,
                value,
            },
        }
    }
}

/// A column of several cells under construction.
#[derive(Debug)]
struct ComplexBuilder {
    id: ColumnId,
    deletion: Option<DeletionTime>,
    cells: Vec<(CellPath, Cell)>,
}

/// A row under construction.
#[derive(Debug)]
pub(crate) struct RowBuilder {
    row: Row,
    complex: Vec<ComplexBuilder>,
    stamp: Stamp,
}

impl RowBuilder {
    /// An empty row, for about that many columns.
    pub(crate) fn new(stamp: Stamp, columns: usize) -> Self {
        Self {
            row: Row {
                columns: Vec::with_capacity(columns),
                ..Row::default()
            },
            complex: Vec::new(),
            stamp,
        }
    }

    /// Makes the row exist even without cells.
    pub(crate) fn make_live(&mut self) {
        self.row.liveness = Some(Liveness {
            timestamp: self.stamp.timestamp,
            ttl: self.stamp.ttl,
            expires_at: self.stamp.expires_at(),
        });
    }

    /// Writes a simple column; `None` deletes it.
    pub(crate) fn set(&mut self, id: ColumnId, value: Option<Bytes>) {
        let data = ColumnData::Simple(self.stamp.cell(value));
        self.put(id, data);
    }

    /// Deletes what a column of several cells holds, so that what is written beside it replaces it.
    pub(crate) fn overwrite(&mut self, id: ColumnId) {
        let before = deletion(
            self.stamp.timestamp.saturating_sub(1),
            self.stamp.now_seconds,
        );
        self.complex(id, |column| column.deletion = Some(before));
    }

    /// Deletes a column of several cells.
    pub(crate) fn delete_complex(&mut self, id: ColumnId) {
        let now = self.stamp.deletion();
        self.complex(id, |column| column.deletion = Some(now));
    }

    /// Writes an element; `None` deletes it.
    pub(crate) fn set_element(&mut self, id: ColumnId, path: CellPath, value: Option<Bytes>) {
        let cell = self.stamp.cell(value);
        self.complex(id, |column| column.cells.push((path, cell)));
    }

    fn complex(&mut self, id: ColumnId, change: impl FnOnce(&mut ComplexBuilder)) {
        match self.complex.iter_mut().find(|column| column.id == id) {
            Some(column) => change(column),
            None => {
                let mut column = ComplexBuilder {
                    id,
                    deletion: None,
                    cells: Vec::new(),
                };
                change(&mut column);
                self.complex.push(column);
            }
        }
    }

    fn put(&mut self, id: ColumnId, data: ColumnData) {
        match self.row.columns.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(index) => {
                if let Some((_, place)) = self.row.columns.get_mut(index) {
                    *place = data;
                }
            }
            Err(index) => self.row.columns.insert(index, (id, data)),
        }
    }

    /// The row.
    pub(crate) fn finish(mut self) -> Row {
        for ComplexBuilder {
            id,
            deletion,
            mut cells,
        } in std::mem::take(&mut self.complex)
        {
            cells.sort_by(|a, b| a.0.cmp(&b.0));
            // Of two writes to one element the later one counts, as in Cassandra.
            cells.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
            self.put(id, ColumnData::Complex { deletion, cells });
        }
        self.row
    }
}

/// The path of the next list element of an execution. Paths of one execution ascend; those of a later one sort behind,
/// or before where elements are prepended.
pub(crate) fn list_path(binds: &Binds<'_>, prepend: bool) -> CellPath {
    let ticks = uuid_ticks_of_micros(binds.context().timestamp);
    let ticks = if prepend {
        MIRROR.wrapping_mul(2).wrapping_sub(ticks)
    } else {
        ticks
    };
    // Elements of one execution share the time; their number orders them. Time UUIDs compare the bytes behind the
    // time as signed ones, so the sign bits are flipped.
    let [a, b, c, d] = binds
        .next_list_element()
        .to_be_bytes()
        .map(|byte| byte ^ 0x80);
    let [x, y, z, ..] = binds.context().random;
    let value = time_uuid(ticks, [0x80, a, b, c, d, x, y, z]);
    let mut sort = Vec::with_capacity(18);
    comparable::encode(&CqlType::Timeuuid, &value, false, &mut sort);
    CellPath {
        sort: sort.into(),
        value,
    }
}
