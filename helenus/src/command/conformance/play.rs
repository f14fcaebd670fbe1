//! Plays a probe: takes its steps one after the other, and stops at the first that comes out otherwise.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use helenus_core::Opcode;
use helenus_core::compression::Compression;
use helenus_core::wire::Reader;

use super::compare::{Difference, compare};
use super::connection::{Connection, NoReply};
use super::differences::Deliberate;
use super::probe::{Action, Expected, Probe, Step};
use super::render::{Captured, render};
use super::reply::Reply;
use super::setup::SideConnection;
use crate::command::socket::Endpoint;

/// What the table of deliberate differences calls it when no reply comes.
const SILENCE: &str = "silence";

/// How long a reply may take that needn't come.
const SHORT_PATIENCE: Duration = Duration::from_millis(500);

/// What went over a connection.
#[derive(Debug)]
pub(super) enum Traffic {
    /// Bytes that the probe sent.
    Sent(Vec<u8>),
    /// A reply.
    Received(Reply),
}

/// A step that came out otherwise.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// Which step, from 1; 0 is the set-up.
    pub(super) step: usize,
    /// What was expected.
    pub(super) expected: String,
    /// What came instead, as the table of deliberate differences names it: `ERROR 0x000A`, `silence`, `close`, …
    pub(super) got: String,
    /// The reply that came, if one did, and where it differs.
    pub(super) reply: Option<Box<(Reply, Vec<Difference>)>>,
}

/// How a probe came out.
#[derive(Debug)]
pub(super) struct Played {
    /// The first mismatch that nothing excuses.
    pub(super) mismatch: Option<Mismatch>,
    /// The first mismatch that the table of deliberate differences excuses.
    pub(super) excused: Option<Mismatch>,
    /// What was sent and received on each connection, in order.
    pub(super) traffic: Vec<(String, Traffic)>,
    /// How long it took.
    pub(super) took: Duration,
}

/// Plays a probe against a server whose replies may take `patience` each.
pub(super) fn play(
    probe: &Probe,
    server: &Endpoint,
    side: &mut SideConnection,
    patience: Duration,
    deliberate: Option<&Deliberate>,
) -> Played {
    let began = Instant::now();
    let mut player = Player {
        server,
        side,
        // Where silence is as good there is no use in much patience.
        patience: match deliberate {
            Some(row) if row.allows(SILENCE) => patience.min(SHORT_PATIENCE),
            _ => patience,
        },
        deliberate,
        compression: probe
            .compression
            .as_deref()
            .and_then(Compression::from_name),
        connections: BTreeMap::new(),
        captured: Captured::new(),
        traffic: Vec::new(),
        excused: None,
    };
    let mismatch = player.run(probe).err().and_then(|stop| match stop {
        Stop::Mismatch(mismatch) => Some(*mismatch),
        Stop::Excused => None,
    });
    let Player {
        traffic, excused, ..
    } = player;
    Played {
        mismatch,
        excused,
        traffic,
        took: began.elapsed(),
    }
}

/// Why a probe ends before its last step.
enum Stop {
    Mismatch(Box<Mismatch>),
    /// What follows an excused answer of another kind can't be as the probe expects.
    Excused,
}

/// How a step came out otherwise.
struct Unexpected {
    expected: String,
    got: String,
    reply: Option<Box<(Reply, Vec<Difference>)>>,
}

impl Unexpected {
    fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            got: got.into(),
            reply: None,
        }
    }
}

struct Player<'a> {
    server: &'a Endpoint,
    side: &'a mut SideConnection,
    patience: Duration,
    deliberate: Option<&'a Deliberate>,
    compression: Option<Compression>,
    connections: BTreeMap<String, Connection>,
    captured: Captured,
    traffic: Vec<(String, Traffic)>,
    excused: Option<Mismatch>,
}

impl Player<'_> {
    fn run(&mut self, probe: &Probe) -> Result<(), Stop> {
        let ready = self.side.set_up(&probe.setup);
        ready
            .or_else(|why| self.judge(0, Unexpected::new("the probe can be set up", why), false))?;
        for (index, step) in probe.steps.iter().enumerate() {
            self.step(index + 1, step)?;
        }
        Ok(())
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<(), Stop> {
        let name = &step.connection;
        match &step.action {
            Action::Expect { expect } => self.expect(number, name, vec![expect.as_ref()]),
            Action::ExpectAnyOrder { expect_any_order } => {
                self.expect(number, name, expect_any_order.iter().collect())
            }
            other => self
                .act(name, other)
                .or_else(|unexpected| self.judge(number, unexpected, false)),
        }
    }

    fn act(&mut self, name: &str, action: &Action) -> Result<(), Unexpected> {
        match action {
            Action::Send {
                send,
                chunk,
                gap_ms,
            } => {
                let broken = |why| Unexpected::new("bytes to send", why);
                let bytes = render(send, &self.captured).map_err(broken)?;
                let gap = Duration::from_secs_f64(gap_ms.clamp(0.0, 1000.0) / 1000.0);
                let sent = self.connection(name)?.send(&bytes, *chunk, gap);
                self.traffic.push((name.to_owned(), Traffic::Sent(bytes)));
                sent.map_err(|error| {
                    Unexpected::new("the server takes the bytes", error.to_string())
                })
            }
            Action::Silence { silence_ms } => {
                let deadline = Instant::now() + Duration::from_millis(*silence_ms);
                match self.read(name, deadline) {
                    Err(NoReply::Quiet) => self.nothing_stray(name, SILENCE),
                    other => Err(instead(SILENCE, other)),
                }
            }
            Action::Closed { .. } => match self.read(name, Instant::now() + self.patience) {
                Err(NoReply::Closed) => self.nothing_stray(name, "close"),
                other => Err(instead("close", other)),
            },
            Action::ShutdownWrite { .. } => self
                .connection(name)
                .map(|connection| connection.shutdown_write()),
            Action::Cql { cql, may_fail } => match self.side.run(cql, *may_fail) {
                Ok(_) => Ok(()),
                Err(why) => Err(Unexpected::new("the statement of the set-up runs", why)),
            },
            Action::Wait { wait_ms } => {
                thread::sleep(Duration::from_millis(*wait_ms));
                Ok(())
            }
            Action::Connect { connect } => self.connection(connect).map(drop),
            Action::Expect { .. } | Action::ExpectAnyOrder { .. } => Ok(()),
        }
    }

    /// The next replies are these, in some order.
    fn expect(&mut self, number: usize, name: &str, mut all: Vec<&Expected>) -> Result<(), Stop> {
        while let Some(first) = all.first() {
            let reply = match self.read(name, Instant::now() + self.patience) {
                Ok(reply) => reply,
                other => return self.judge(number, instead(&describe(first), other), false),
            };
            let judged = all.iter().map(|expected| compare(expected, &reply));
            let nearest = judged
                .enumerate()
                .min_by_key(|(_, differences)| differences.len());
            let Some((index, differences)) = nearest else {
                return Ok(());
            };
            let expected = all.remove(index);
            if differences.is_empty() {
                let kept = self.capture(expected, &reply);
                kept.or_else(|unexpected| self.judge(number, unexpected, false))?;
                continue;
            }
            let is_alike = reply.header.opcode.to_string() == expected.opcode;
            let unexpected = Unexpected {
                expected: describe(expected),
                got: reply.name(),
                reply: Some(Box::new((reply, differences))),
            };
            self.judge(number, unexpected, is_alike)?;
        }
        Ok(())
    }

    fn capture(&mut self, expected: &Expected, reply: &Reply) -> Result<(), Unexpected> {
        for (variable, field) in &expected.capture {
            let bytes = reply
                .field(field)
                .ok_or_else(|| Unexpected::new(format!("a {field} to keep"), reply.name()))?;
            self.captured
                .insert(variable.clone(), content(field, bytes));
        }
        Ok(())
    }

    /// Goes on after a mismatch, or not. `is_alike`: the reply is of the kind that was expected.
    fn judge(&mut self, step: usize, unexpected: Unexpected, is_alike: bool) -> Result<(), Stop> {
        let Unexpected {
            expected,
            got,
            reply,
        } = unexpected;
        let mismatch = Mismatch {
            step,
            expected,
            got,
            reply,
        };
        if !self
            .deliberate
            .is_some_and(|deliberate| deliberate.allows(&mismatch.got))
        {
            return Err(Stop::Mismatch(Box::new(mismatch)));
        }
        self.excused.get_or_insert(mismatch);
        match is_alike {
            true => Ok(()),
            false => Err(Stop::Excused),
        }
    }

    fn connection(&mut self, name: &str) -> Result<&mut Connection, Unexpected> {
        if !self.connections.contains_key(name) {
            let opened = Connection::open(self.server, self.compression)
                .map_err(|error| Unexpected::new("a connection", error.to_string()))?;
            self.connections.insert(name.to_owned(), opened);
        }
        self.connections
            .get_mut(name)
            .ok_or_else(|| Unexpected::new("a connection", "none"))
    }

    /// The next reply that has to do with the probe.
    fn read(&mut self, name: &str, deadline: Instant) -> Result<Reply, NoReply> {
        loop {
            let connection = self.connection(name).map_err(|_| NoReply::Closed)?;
            let reply = connection.read(deadline)?;
            if !is_foreign(&reply) {
                self.traffic
                    .push((name.to_owned(), Traffic::Received(reply.clone())));
                return Ok(reply);
            }
        }
    }

    fn nothing_stray(&mut self, name: &str, expected: &str) -> Result<(), Unexpected> {
        match self.connection(name)?.stray() {
            [] => Ok(()),
            bytes => Err(Unexpected::new(
                expected,
                format!("bytes {}", crate::command::hex::brief(bytes, 32)),
            )),
        }
    }
}

fn instead(expected: &str, read: Result<Reply, NoReply>) -> Unexpected {
    match read {
        Ok(reply) => Unexpected {
            got: reply.name(),
            reply: Some(Box::new((reply, Vec::new()))),
            expected: expected.to_owned(),
        },
        Err(NoReply::Quiet) => Unexpected::new(expected, SILENCE),
        Err(NoReply::Closed) => Unexpected::new(expected, "close"),
        Err(NoReply::Garbled(why)) => Unexpected::new(expected, why),
    }
}

/// A reply as the probe expects it, in a few words.
pub(super) fn describe(expected: &Expected) -> String {
    let detail = expected.code.as_ref().or(expected.kind.as_ref());
    let detail = detail.map_or_else(String::new, |detail| format!(" {detail}"));
    let message = expected
        .message
        .as_ref()
        .map_or_else(String::new, |text| format!(" ({text})"));
    format!(
        "{}{detail} on stream {}{message}",
        expected.opcode, expected.stream
    )
}

/// The bytes of a field without their length.
fn content(field: &str, bytes: &[u8]) -> Vec<u8> {
    let mut reader = Reader::new(bytes);
    let inner = match field {
        "prepared.id" | "prepared.metadata_id" | "rows.new_metadata_id" => {
            reader.short_bytes().ok()
        }
        "rows.paging_state" => reader.bytes().ok().flatten(),
        _ => Some(bytes),
    };
    inner.unwrap_or_default().to_vec()
}

/// Whether an event is about somebody else's schema, or about nodes: others may use the server too.
fn is_foreign(reply: &Reply) -> bool {
    if reply.header.opcode != Opcode::EVENT {
        return false;
    }
    let mut reader = Reader::new(reply.field("body").unwrap_or_default());
    if reader.string() != Ok("SCHEMA_CHANGE") {
        return true;
    }
    let keyspace = reader
        .string()
        .and_then(|_| reader.string())
        .and_then(|_| reader.string());
    keyspace.is_ok_and(|keyspace| !keyspace.starts_with("probe"))
}
