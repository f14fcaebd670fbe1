//! What clients ask for: random requests for few keys, so that they meet.

use helenus_core::Consistency;

use crate::history::Operation;
use crate::model::{Cell, Change, Command, Content, Key, Mutation, Row};
use crate::random::Random;

/// Keys of plain rows, of rows that batches write, of counters, and of conditional writes.
pub(crate) const PLAIN: std::ops::Range<u8> = 0..4;
/// Each row of these is written by one batch.
pub(crate) const BATCHED: std::ops::Range<u8> = 4..7;
/// One counter each.
pub(crate) const COUNTERS: std::ops::Range<u8> = 7..9;
/// One row each.
pub(crate) const CONDITIONAL: std::ops::Range<u8> = 9..11;
/// The clusterings of a plain partition.
pub(crate) const CLUSTERINGS: u8 = 6;

/// Shares of the kinds of request, in the order of [`Workload::draw`], in runs about little else than one matter.
const FOCUSED: [[u64; 7]; 5] = [
    [3, 0, 3, 0, 0, 0, 0],
    [0, 2, 4, 0, 0, 0, 0],
    [2, 0, 0, 4, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 0, 2, 4],
];

/// Draws requests.
#[derive(Debug)]
pub(crate) struct Workload {
    random: Random,
    values: u64,
    batches: u8,
    /// The shares of the kinds of request, the same for all clients of a run.
    shares: [u64; 7],
    /// The last value that a client saw in each conditional partition.
    seen: Vec<Option<u64>>,
    centres: usize,
    /// The plain partitions of the run: the fewer, the more often requests meet.
    plain: std::ops::Range<u8>,
}

impl Workload {
    /// Requests of a run over so many data centres.
    #[must_use]
    pub(crate) fn new(mut random: Random, centres: usize) -> Self {
        let shares = match random.pick(&FOCUSED) {
            Some(shares) if random.chance(4_000) => *shares,
            _ => [0; 7].map(|_| 1 + random.below(4) * random.below(4)),
        };
        let plain = PLAIN.start..random.between(1, u64::from(PLAIN.end)) as u8;
        Self {
            random,
            plain,
            values: 0,
            batches: 0,
            shares,
            seen: vec![None; CONDITIONAL.len()],
            centres,
        }
    }

    /// The next request.
    pub(crate) fn draw(&mut self) -> Operation {
        let mut drawn = self.random.below(self.shares.iter().sum());
        let kind = self.shares.iter().position(|share| {
            let found = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            found
        });
        match kind {
            Some(0) => Operation::Read(self.slice(), self.level(false)),
            Some(1) => Operation::Scan(self.range(), self.level(false)),
            Some(2) => self.write(),
            Some(3) if self.batches < u8::MAX => self.batch(),
            Some(4) => self.counter(),
            Some(5) => Operation::SerialRead(self.key(CONDITIONAL)),
            _ => self.compare(),
        }
    }

    /// Remembers what is in a conditional partition.
    pub(crate) fn saw(&mut self, key: Key, value: Option<u64>) {
        self.seen[usize::from(key.0 - CONDITIONAL.start)] = value;
    }

    fn key(&mut self, of: std::ops::Range<u8>) -> Key {
        Key(self
            .random
            .between(u64::from(of.start), u64::from(of.end - 1)) as u8)
    }

    /// Mostly levels of which reads and writes meet.
    fn level(&mut self, write: bool) -> Consistency {
        let several = self.centres > 1;
        match self.random.below(12) {
            0 => Consistency::ONE,
            1 => Consistency::TWO,
            2 => Consistency::ALL,
            3 if write => Consistency::ANY,
            4 if several => Consistency::LOCAL_QUORUM,
            5 | 6 if several && write => Consistency::EACH_QUORUM,
            _ => Consistency::QUORUM,
        }
    }

    fn value(&mut self) -> u64 {
        self.values += 1;
        self.values
    }

    fn slice(&mut self) -> Command {
        let of = if self.random.chance(7_000) {
            self.plain.clone()
        } else {
            BATCHED
        };
        let key = self.key(of);
        Command {
            from: (key, 0),
            to: key,
            limit: self.limit(),
        }
    }

    fn range(&mut self) -> Command {
        Command {
            from: (Key(PLAIN.start), 0),
            to: Key(PLAIN.end - 1),
            limit: self.limit(),
        }
    }

    fn limit(&mut self) -> u32 {
        *self.random.pick(&[1, 1, 2, 2, 3, 1000]).unwrap_or(&1)
    }

    /// Deletions begin at the first row: what reads with a limit then find lies behind tombstones.
    fn write(&mut self) -> Operation {
        let key = self.key(self.plain.clone());
        let deletes = self.random.chance(3_500);
        let first = match deletes {
            true => 0,
            false => self.random.below(u64::from(CLUSTERINGS)) as u8,
        };
        let last = u64::from(CLUSTERINGS - 1);
        let last = self.random.between(u64::from(first), last) as u8;
        let changes = (first..=last).map(|clustering| {
            let content = if deletes {
                Content::Tombstone
            } else {
                self.values += 1;
                Content::Value(self.values)
            };
            (clustering, plain(content))
        });
        let changes = changes.collect();
        Operation::Write(Mutation { key, changes }, self.level(true))
    }

    fn batch(&mut self) -> Operation {
        self.batches += 1;
        let row = self.batches;
        let mutations = BATCHED.map(|key| Mutation {
            key: Key(key),
            changes: vec![(row, plain(Content::Value(self.value())))],
        });
        let mutations = mutations.collect();
        Operation::Batch(mutations, self.level(false))
    }

    fn counter(&mut self) -> Operation {
        let key = self.key(COUNTERS);
        if self.random.chance(4_000) {
            let command = Command {
                from: (key, 0),
                to: key,
                limit: 1,
            };
            return Operation::Read(command, self.level(false));
        }
        let delta = self.random.between(1, 9) as i64;
        let changes = vec![(0, Change::Add(delta))];
        Operation::Add(Mutation { key, changes }, self.level(false))
    }

    fn compare(&mut self) -> Operation {
        let key = self.key(CONDITIONAL);
        Operation::Compare {
            key,
            expected: self.seen[usize::from(key.0 - CONDITIONAL.start)],
            value: self.value(),
        }
    }
}

fn plain(content: Content) -> Change {
    Change::Merge(Row::Cell(Cell { at: 0, content }))
}
