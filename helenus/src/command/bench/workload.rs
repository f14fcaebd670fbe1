//! What a load asks for, and how its requests are written: encoded once, and only the key changes.

use std::fmt;

use bytes::BytesMut;
use clap::ValueEnum;
use helenus_client::Prepared;
use helenus_core::message::{Execute, QueryFlags, QueryParams, RequestBody, ValueList};
use helenus_core::{Consistency, Opcode, ProtocolVersion, RawValue};

/// What a load consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(super) enum Workload {
    /// A prepared SELECT of one row of 100 bytes by its key.
    Read,
    /// A prepared INSERT of one row of 100 bytes.
    Write,
    /// As many reads as writes.
    Mixed,
    /// OPTIONS, which no engine answers.
    Options,
    /// Connections that come, start the protocol (and log in) and go.
    Connect,
    /// An EXECUTE of a statement that nobody prepared: each answer is an ERROR.
    Error,
    /// A prepared SELECT of one page of a partition, 5,000 rows of ten columns.
    Rows,
    /// A prepared SELECT count(*) of all --keys rows: long requests, to see what others have of them.
    Scan,
}

impl Workload {
    /// Its name, as the flag has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mixed => "mixed",
            Self::Options => "options",
            Self::Connect => "connect",
            Self::Error => "error",
            Self::Rows => "rows",
            Self::Scan => "scan",
        }
    }

    /// Whether it needs the table of keys; and its rows.
    pub(super) const fn needs_keys(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Mixed | Self::Scan)
    }

    /// Whether it needs the partition of a page.
    pub(super) const fn needs_page(self) -> bool {
        matches!(self, Self::Rows)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a row of the table of keys holds.
pub(super) const VALUE: &str = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";

/// An id that no server gives to a statement.
const UNKNOWN: &[u8] = b"never prepared!!";

/// Stands for the key in a request until it is known.
const KEY: [u8; 4] = [0xA5, 0xC3, 0x96, 0xF1];

/// A request whose key changes, its body encoded.
#[derive(Debug, Clone)]
struct Template {
    opcode: Opcode,
    body: Vec<u8>,
    /// Where the key stands, if there is one.
    key: Option<usize>,
}

impl Template {
    fn options() -> Self {
        Self {
            opcode: Opcode::OPTIONS,
            body: Vec::new(),
            key: None,
        }
    }

    fn execute(
        version: ProtocolVersion,
        id: &[u8],
        result_metadata_id: Option<&[u8]>,
        values: &[&[u8]],
        page_size: Option<i32>,
    ) -> Self {
        let mut list = ValueList::new();
        for value in values {
            // There are two at most.
            let _ = list.push(RawValue::Bytes(value));
        }
        let params = QueryParams::new(Consistency::ONE);
        let execute = Execute {
            id,
            result_metadata_id,
            params: QueryParams {
                values: list.as_values(),
                page_size,
                flags: params.flags.set(QueryFlags::SKIP_METADATA, true),
                ..params
            },
        };
        let mut body = BytesMut::new();
        RequestBody::Execute(execute).encode(version, &mut body);
        Self {
            opcode: Opcode::EXECUTE,
            key: body.windows(KEY.len()).rposition(|bytes| bytes == KEY),
            body: body.into(),
        }
    }

    /// An EXECUTE of a statement with these values.
    fn prepared(
        version: ProtocolVersion,
        statement: &Prepared,
        values: &[&[u8]],
        page_size: Option<i32>,
    ) -> Self {
        let result = statement.result();
        let id = statement.id();
        // v5 has an id for statements without rows too.
        let known = result.as_ref().and_then(|metadata| metadata.id());
        let metadata_id = known.map_or(&id[..], |id| &id[..]);
        Self::execute(version, &id, Some(metadata_id), values, page_size)
    }
}

/// The statements that workloads execute, as a server has prepared them.
#[derive(Debug, Clone, Default)]
pub(super) struct Statements {
    /// A row by its key.
    pub(super) select: Option<Prepared>,
    /// A row written.
    pub(super) insert: Option<Prepared>,
    /// A page.
    pub(super) page: Option<Prepared>,
    /// All rows, counted.
    pub(super) count: Option<Prepared>,
}

/// The requests of a load, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    templates: Vec<Template>,
    turn: usize,
    keys: u32,
    random: u32,
}

impl Requests {
    /// The requests of a workload. `seed` tells the requests of one thread from those of another.
    pub(super) fn new(
        workload: Workload,
        version: ProtocolVersion,
        statements: &Statements,
        keys: u32,
        rows: u32,
        seed: u32,
    ) -> Self {
        let page_size = i32::try_from(rows).unwrap_or(i32::MAX);
        let read = || {
            let statement = statements.select.as_ref()?;
            Some(Template::prepared(version, statement, &[&KEY], None))
        };
        let write = || {
            let statement = statements.insert.as_ref()?;
            let values: [&[u8]; 2] = [&KEY, VALUE.as_bytes()];
            Some(Template::prepared(version, statement, &values, None))
        };
        let templates = match workload {
            Workload::Read => vec![read()],
            Workload::Write => vec![write()],
            Workload::Mixed => vec![read(), write()],
            Workload::Rows => {
                let page = statements.page.as_ref();
                vec![page.map(|page| Template::prepared(version, page, &[&KEY], Some(page_size)))]
            }
            Workload::Scan => {
                let count = statements.count.as_ref();
                vec![count.map(|count| Template::prepared(version, count, &[], None))]
            }
            Workload::Error => {
                let id = Some(UNKNOWN);
                vec![Some(Template::execute(version, UNKNOWN, id, &[], None))]
            }
            Workload::Options | Workload::Connect => vec![Some(Template::options())],
        };
        Self {
            templates: templates.into_iter().flatten().collect(),
            turn: 0,
            keys: if workload == Workload::Rows { 1 } else { keys },
            random: seed.wrapping_mul(0x9E37_79B9),
        }
    }

    /// The next request: its opcode and its body.
    pub(super) fn next(&mut self) -> (Opcode, &[u8]) {
        // A full-period step through all 2³² numbers, so that keys come in no order.
        self.random = self
            .random
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        let key = ((u64::from(self.random) * u64::from(self.keys)) >> 32) as u32;
        self.turn += 1;
        if self.turn >= self.templates.len() {
            self.turn = 0;
        }
        let Some(template) = self.templates.get_mut(self.turn) else {
            return (Opcode::OPTIONS, &[]);
        };
        if let Some(at) = template.key
            && let Some(place) = template.body.get_mut(at..at + KEY.len())
        {
            place.copy_from_slice(&key.to_be_bytes());
        }
        (template.opcode, &template.body)
    }
}

#[cfg(test)]
mod tests {
    use helenus_core::wire::Reader;

    use super::*;

    fn key(opcode: Opcode, version: ProtocolVersion, body: &[u8]) -> u32 {
        let mut reader = Reader::new(body);
        let RequestBody::Execute(execute) =
            RequestBody::decode(opcode, version, &mut reader).unwrap()
        else {
            panic!("{opcode} is no EXECUTE");
        };
        match execute.params.values.iter().next().unwrap().1 {
            RawValue::Bytes(bytes) => u32::from_be_bytes(bytes.try_into().unwrap()),
            other => panic!("{other:?} is no key"),
        }
    }

    #[test]
    fn the_key_is_all_that_changes_and_stays_within_its_bounds() {
        for version in [ProtocolVersion::V4, ProtocolVersion::V5] {
            let values = [&KEY[..], VALUE.as_bytes()];
            let template = Template::execute(version, b"id", Some(b"metadata"), &values, None);
            let mut requests = Requests {
                templates: vec![template],
                turn: 0,
                keys: 10,
                random: 1,
            };
            let mut seen = std::collections::HashSet::new();
            let mut rest = std::collections::HashSet::new();
            for _ in 0..200 {
                let (opcode, body) = requests.next();
                seen.insert(key(opcode, version, body));
                let at = body.len() - VALUE.len() - 4 - KEY.len();
                rest.insert([&body[..at], &body[at + KEY.len()..]].concat());
            }
            assert_eq!(seen, (0..10).collect());
            assert_eq!(rest.len(), 1);
        }
    }

    #[test]
    fn a_mixed_load_takes_turns() {
        let template = |opcode| Template {
            opcode,
            body: Vec::new(),
            key: None,
        };
        let mut requests = Requests {
            templates: vec![template(Opcode::EXECUTE), template(Opcode::QUERY)],
            turn: 0,
            keys: 1,
            random: 1,
        };
        let opcodes: Vec<Opcode> = (0..4).map(|_| requests.next().0).collect();
        assert_eq!(opcodes[..2], opcodes[2..]);
        assert_ne!(opcodes[0], opcodes[1]);
    }
}
