//! Every scenario, with what it may cost.

use helenus_core::{Consistency, ProtocolVersion};

use crate::Entry;
use crate::Limit::{Count, Times};
use crate::calls::Calls;
use crate::client_calls::{Answered, ClientCalls};
use crate::coordinator::{Reads, Writes};
use crate::core::{Asked, Pipeline, Storm, Traffic};
use crate::engine::{Embedded, Statement};

/// One entry a line or two: name, what is made, the most instructions, the most allocations.
macro_rules! scenarios {
    ($($name:literal: $made:expr, $instructions:expr, $allocations:expr;)+) => {
        /// Every scenario.
        pub const SCENARIOS: &[Entry] = &[$(
            Entry {
                name: $name,
                make: || Box::new($made),
                instructions: $instructions,
                allocations: $allocations,
            },
        )+];
    };
}

const fn query(version: u8) -> Traffic {
    Traffic::new(version, Asked::Query)
}

const fn execute(version: u8) -> Traffic {
    Traffic::new(version, Asked::Execute)
}

const fn batch(version: u8) -> Traffic {
    Traffic::new(version, Asked::Batch)
}

/// OPTIONS, as the first words of a connection.
const OPTIONS: &[u8] = &[4, 0, 0, 1, 5, 0, 0, 0, 0];

scenarios! {
    // The good path.
    "core v4": Pipeline::new(execute(4)), Count(1200), Count(0);
    "core v5": Pipeline::new(execute(5)), Count(1200), Count(0);
    "core v4, columns described": Pipeline::new(execute(4).described()), Count(1200), Count(0);
    "core v5, columns described": Pipeline::new(execute(5).described()), Count(1200), Count(0);
    "core v4, query": Pipeline::new(query(4)), Count(1200), Count(0);
    "core v4, batch": Pipeline::new(batch(4)), Count(1500), Count(0);
    "core v5, a segment each": Pipeline::new(execute(5).apart()), Count(1500), Count(0);
    // A body each: 8,500 instructions of it empty the compressor's table.
    "core v4, lz4": Pipeline::new(execute(4).lz4(256)), Count(12_500), Count(0);
    "core v5, lz4": Pipeline::new(execute(5).lz4(256)), Count(3200), Count(0);

    // A malformed request costs no more than a good one that is answered by one row.
    "core v4, malformed query": Pipeline::new(query(4).cut()), Times(1.0, "core v4, query"), Count(0);
    "core v4, malformed execute": Pipeline::new(execute(4).cut()), Times(1.0, "core v4"), Count(0);
    "core v4, malformed batch": Pipeline::new(batch(4).cut()), Times(1.0, "core v4, batch"), Count(0);
    "core v5, malformed execute": Pipeline::new(execute(5).cut().apart()),
        Times(1.0, "core v5, a segment each"), Count(0);

    // Nor does a connection that speaks no CQL cost more than one that asks for OPTIONS.
    "core, a connection of OPTIONS": Storm::new(OPTIONS), Count(2200), Count(1);
    "core, a connection of 0x42": Storm::new(&[0x42]),
        Times(1.0, "core, a connection of OPTIONS"), Times(1.0, "core, a connection of OPTIONS");
    "core, a connection of nothing but 0x42": Storm::new(&[0x42; 64]),
        Times(1.0, "core, a connection of OPTIONS"), Times(1.0, "core, a connection of OPTIONS");

    // A client's end: an EXECUTE written, and the row of its answer read.
    "core v4, a client's": Calls::new(ProtocolVersion::V4), Count(1400), Count(0);
    "core v5, a client's": Calls::new(ProtocolVersion::V5), Count(1400), Count(0);

    // A call of `helenus-client`, from the method to its result.
    "client v4, a row": ClientCalls::new(Answered::Row), Count(9000), Count(11);
    "client v4, void": ClientCalls::new(Answered::Void), Count(5500), Count(4);

    // The coordinator's share of a read or a write: planned, sent, counted and answered.
    "coordinator, a read at ONE": Reads::new(Consistency::ONE), Count(1600), Count(0);
    "coordinator, a read at QUORUM": Reads::new(Consistency::QUORUM), Count(2200), Count(0);
    "coordinator, a write at QUORUM": Writes::new(Consistency::QUORUM), Count(2700), Count(0);

    // The engine behind it.
    "engine read v4": Embedded::new(4, Statement::Read), Count(4200), Count(1);
    "engine read v5": Embedded::new(5, Statement::Read), Count(4200), Count(1);
    "engine write v4": Embedded::new(4, Statement::Write), Count(8000), Count(9);
    "engine write v5": Embedded::new(5, Statement::Write), Count(8000), Count(9);
    "engine query v4": Embedded::new(4, Statement::Query), Count(40_000), Count(60);
    "engine syntax error v4": Embedded::new(4, Statement::SyntaxError),
        Times(1.5, "engine query v4"), Times(1.5, "engine query v4");
    "engine unprepared v4": Embedded::new(4, Statement::Unprepared),
        Times(1.0, "engine read v4"), Count(3);
}
