//! The data sets: shapes of partitions and rows, and the reads of them.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ProtocolVersion;
use helenus_engine::Context;
use helenus_engine::cql::{self, ast};
use helenus_engine::readers::{
    Combined, MutationFragment, MutationReader, PartitionRange, ReadCommand, ReadLimit, RingBound,
    RunReader, Slices, Step,
};
use helenus_engine::schema::{Schema, Table};
use helenus_engine::storage::{
    Cell, ClusteringKey, ColumnData, DecoratedKey, Mutation, NO_EXPIRY, Row, Run,
};
use helenus_engine::system::NodeInfo;

use super::ways::{Read, Way, count_allocations, with_construction, without_construction};

/// A data set and how it is read.
#[derive(Debug, Clone, Copy)]
pub struct Set {
    /// Its name, as published.
    pub name: &'static str,
    /// The published time in nanoseconds.
    pub published: Option<f64>,
    /// Whether the time of a read is also that of making its readers.
    pub with_construction: bool,
    /// Whether times are those of a fragment rather than of a read.
    pub per_fragment: bool,
    /// Whether a read is one row.
    pub is_one_row: bool,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// A merge of the sources that this makes.
    Combined(fn(&Maker) -> Vec<Run>),
    /// The same of sources that step, but can't seek.
    Stepping(fn(&Maker) -> Vec<Run>),
    /// A memtable of so many partitions of so many rows, of which so many in the middle are read.
    Memtable {
        partitions: usize,
        rows: u32,
        read: usize,
    },
}

const fn combined(name: &'static str, published: f64, make: fn(&Maker) -> Vec<Run>) -> Set {
    Set {
        name,
        published: Some(published),
        with_construction: false,
        per_fragment: false,
        is_one_row: false,
        shape: Shape::Combined(make),
    }
}

const fn memtable(name: &'static str, published: Option<f64>, shape: (usize, u32, usize)) -> Set {
    let (partitions, rows, read) = shape;
    Set {
        name,
        published,
        with_construction: true,
        per_fragment: false,
        is_one_row: rows == 1 && read == 1,
        shape: Shape::Memtable {
            partitions,
            rows,
            read,
        },
    }
}

/// Every data set.
pub const SETS: &[Set] = &[
    Set {
        is_one_row: true,
        ..combined("combined.one_row", 109.2, |maker| {
            vec![maker.run(0..1, 0..1)]
        })
    },
    combined("combined.single_active", 87_300.0, |maker| {
        vec![
            maker.run(0..32, 0..16),
            Run::default(),
            Run::default(),
            Run::default(),
        ]
    }),
    combined("combined.many_overlapping", 853_000.0, |maker| {
        (0..4).map(|_| maker.run(0..32, 0..16)).collect()
    }),
    combined("combined.disjoint_interleaved", 82_000.0, |maker| {
        (0..4)
            .map(|source| maker.run((source..32).step_by(4), 0..16))
            .collect()
    }),
    combined("combined.disjoint_ranges", 81_700.0, |maker| {
        (0..4)
            .map(|source| maker.run(8 * source..8 * source + 8, 0..16))
            .collect()
    }),
    combined(
        "combined.overlapping_partitions_disjoint_rows",
        121_000.0,
        |maker| {
            (0..4)
                .map(|source| maker.run(0..4, 32 * source..32 * source + 32))
                .collect()
        },
    ),
    // Each source has a column of its own, so that no version stands for the others.
    Set {
        published: None,
        ..combined("combined.many_merged", 0.0, |maker| {
            (0..4)
                .map(|column| maker.column(column).run(0..32, 0..16))
                .collect()
        })
    },
    Set {
        per_fragment: true,
        shape: Shape::Stepping(almost_disjoint),
        ..combined("clustering_combined.ranges_generic", 212.0, almost_disjoint)
    },
    Set {
        per_fragment: true,
        ..combined(
            "clustering_combined.ranges_specialized",
            187.8,
            almost_disjoint,
        )
    },
    memtable("memtable.one_partition_one_row", Some(1542.0), (1000, 1, 1)),
    memtable(
        "memtable.one_partition_many_rows",
        Some(11_760.0),
        (1000, 50, 1),
    ),
    memtable(
        "memtable.many_partitions_one_row",
        Some(22_800.0),
        (1000, 1, 25),
    ),
    memtable(
        "memtable.many_partitions_many_rows",
        Some(290_000.0),
        (1000, 50, 25),
    ),
    memtable("large_partition.one", None, (27, 8 * 1024, 1)),
    memtable("large_partition.many", None, (27, 8 * 1024, 25)),
];

/// Five ranges of 32 rows, each of which shares two with the next.
fn almost_disjoint(maker: &Maker) -> Vec<Run> {
    (0..5)
        .map(|source| maker.run(0..1, 30 * source..30 * source + 32))
        .collect()
}

/// A table of text keys and values, and runs of it.
#[derive(Debug, Clone)]
pub(super) struct Maker {
    table: Arc<Table>,
    /// In ring order.
    keys: Vec<DecoratedKey>,
    column: usize,
}

impl Maker {
    fn new(partitions: usize) -> Self {
        let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 0);
        let context = Context {
            timestamp: 1,
            now_seconds: 1,
            now_millis: 1,
            random: [1; 16],
            version: ProtocolVersion::V5,
        };
        let mut schema = Arc::new(schema);
        for statement in [
            "CREATE KEYSPACE ks WITH replication = \
             {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "CREATE TABLE ks.cf (pk text, ck text, v text, w text, x text, y text, s1 text static, \
             PRIMARY KEY (pk, ck))",
        ] {
            let parsed = cql::parse(statement).expect("a statement");
            let ast::Statement::Ddl(ddl) = parsed.statement else {
                panic!("{statement}");
            };
            let update = Arc::clone(&schema).apply(&ddl, None, &context);
            schema = update.expect("a schema").schema;
        }
        let table = schema.table("ks", "cf").expect("the table");
        let keys =
            (0..partitions).map(|number| DecoratedKey::new(format!("pk{number:010}").into()));
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        Self {
            table: Arc::clone(table),
            keys,
            column: 0,
        }
    }

    /// One that writes another column.
    fn column(&self, column: usize) -> Self {
        Self {
            column,
            ..self.clone()
        }
    }

    fn run(
        &self,
        partitions: impl Iterator<Item = usize>,
        rows: impl Iterator<Item = u32> + Clone,
    ) -> Run {
        let mut run = Run::default();
        let column = self.table.regulars()[self.column].id;
        for partition in partitions {
            let row = |number: u32| {
                let bytes = Bytes::from(format!("ck{number:010}"));
                let key = ClusteringKey {
                    sort: bytes.clone(),
                    values: bytes,
                };
                let cell = Cell {
                    timestamp: 1,
                    ttl: 0,
                    expires_at: NO_EXPIRY,
                    value: Some(Bytes::from_static(b"value")),
                };
                let row = Row {
                    columns: vec![(column, ColumnData::Simple(cell))],
                    ..Row::default()
                };
                (key, row)
            };
            run.apply(&Mutation {
                table: Arc::clone(&self.table),
                key: self.keys[partition].clone(),
                partition_deletion: None,
                static_row: None,
                rows: rows.clone().map(row).collect(),
                range_tombstones: Vec::new(),
            });
        }
        run
    }

    fn command(&self, range: PartitionRange) -> ReadCommand {
        ReadCommand {
            table: Arc::clone(&self.table),
            range,
            slices: Slices::All,
            reversed: false,
            now_seconds: 1,
            resume: None,
            limit: ReadLimit::NONE,
        }
    }
}

/// A reader that steps, and does nothing better than that.
struct Stepping<R>(R);

impl<R: MutationReader> MutationReader for Stepping<R> {
    fn next(&mut self) -> Step<'_> {
        self.0.next()
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.0.current()
    }
}

/// A data set in memory.
pub(super) struct Data {
    set: Set,
    runs: Vec<Run>,
    command: ReadCommand,
}

impl Data {
    pub(super) fn of(set: &Set) -> Self {
        let (runs, command) = match set.shape {
            Shape::Combined(make) | Shape::Stepping(make) => {
                let maker = Maker::new(32);
                (make(&maker), maker.command(PartitionRange::ALL))
            }
            Shape::Memtable {
                partitions,
                rows,
                read,
            } => {
                let maker = Maker::new(partitions);
                let first = (partitions - read) / 2;
                let range = match read {
                    1 => PartitionRange::Key(maker.keys[first].clone()),
                    _ => PartitionRange::Tokens {
                        start: RingBound::Before(maker.keys[first].token),
                        end: RingBound::Before(maker.keys[first + read].token),
                    },
                };
                (
                    vec![maker.run(0..partitions, 0..rows)],
                    maker.command(range),
                )
            }
        };
        Self {
            set: *set,
            runs,
            command,
        }
    }

    fn readers(&self) -> impl Iterator<Item = RunReader<'_>> {
        self.runs
            .iter()
            .map(|run| RunReader::new(&self.command, run))
    }

    fn combined(&self) -> Combined<RunReader<'_>> {
        Combined::new(self.readers(), &self.command)
    }

    fn stepping(&self) -> Combined<Stepping<RunReader<'_>>> {
        Combined::new(self.readers().map(Stepping), &self.command)
    }

    fn memtable(&self) -> RunReader<'_> {
        RunReader::new(&self.command, &self.runs[0])
    }

    /// Reads all of it so many times.
    pub(super) fn read(&self, way: Way, reads: u64) -> Read {
        match self.set.shape {
            Shape::Combined(_) => without_construction(|| self.combined(), way, reads),
            Shape::Stepping(_) => without_construction(|| self.stepping(), way, reads),
            Shape::Memtable { .. } => with_construction(|| self.memtable(), way, reads),
        }
    }

    /// Reads it once by `consume_pausable`; how often that asks for memory, its readers aside.
    pub(super) fn count_allocations(&self) -> Read {
        match self.set.shape {
            Shape::Combined(_) => count_allocations(self.combined()),
            Shape::Stepping(_) => count_allocations(self.stepping()),
            Shape::Memtable { .. } => count_allocations(self.memtable()),
        }
    }
}
