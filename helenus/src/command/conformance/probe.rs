//! What a probe is: a small program of steps over connections, with the replies that Apache Cassandra 5.0.4 gave.
//! `probes/README.md` describes the file.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One line of the file.
#[derive(Debug, Deserialize)]
pub(super) struct Probe {
    /// Its unique name.
    pub(super) id: String,
    /// The part of the protocol that it belongs to.
    pub(super) group: String,
    /// The protocol version that it belongs to.
    pub(super) version: u8,
    /// What is probed, in a sentence.
    pub(super) about: String,
    /// The configuration that the server needs.
    #[serde(default = "plain")]
    pub(super) profile: String,
    /// What STARTUP asks for.
    #[serde(default)]
    pub(super) compression: Option<String>,
    /// Why its outcome isn't fixed.
    #[serde(default)]
    pub(super) unstable: Option<String>,
    /// What is odd about Cassandra's answer.
    #[serde(default)]
    pub(super) quirk: Option<String>,
    /// What is run before, on a connection of its own.
    #[serde(default)]
    pub(super) setup: Vec<Setup>,
    /// The program.
    pub(super) steps: Vec<Step>,
}

fn plain() -> String {
    "plain".to_owned()
}

impl Probe {
    /// Whether it waits much, and neither changes nor watches what other probes read: many such run at once.
    pub(super) fn runs_beside_others(&self) -> bool {
        const HARMLESS: [&str; 6] = [
            "framing",
            "handshake",
            "limits",
            "segment",
            "tracing",
            "version",
        ];
        let waits =
            |step: &Step| matches!(step.action, Action::Silence { .. } | Action::Wait { .. });
        HARMLESS.contains(&self.group.as_str()) && self.steps.iter().any(waits)
    }
}

impl Probe {
    /// Expects as many replies as before, whatever they are.
    pub(super) fn take_any_reply(&mut self) {
        for step in &mut self.steps {
            match &mut step.action {
                Action::Expect { expect } => expect.compare.clear(),
                Action::ExpectAnyOrder { expect_any_order } => {
                    expect_any_order
                        .iter_mut()
                        .for_each(|reply| reply.compare.clear());
                }
                _ => {}
            }
        }
    }
}

/// A statement that a probe needs to have been run.
#[derive(Debug, Deserialize)]
pub(super) struct Setup {
    /// The statement.
    pub(super) cql: String,
    /// Whether an error is no matter.
    #[serde(default)]
    pub(super) may_fail: bool,
    /// Whether once for all probes is enough.
    #[serde(default)]
    pub(super) once: bool,
}

/// One step of a probe's program.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    /// The connection that it is about; opened when it is first named.
    #[serde(default = "first", rename = "conn")]
    pub(super) connection: String,
    /// What is done or expected.
    #[serde(flatten)]
    pub(super) action: Action,
}

fn first() -> String {
    "a".to_owned()
}

/// What a step does or expects.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Action {
    /// Writes, at once or in chunks.
    Send {
        /// What is written.
        send: Vec<Part>,
        /// Bytes a write.
        #[serde(default)]
        chunk: Option<usize>,
        /// Milliseconds between writes.
        #[serde(default)]
        gap_ms: f64,
    },
    /// The next reply is this.
    Expect {
        /// The reply.
        expect: Box<Expected>,
    },
    /// The next replies are these, in some order.
    ExpectAnyOrder {
        /// The replies.
        expect_any_order: Vec<Expected>,
    },
    /// Nothing comes for so long.
    Silence {
        /// Milliseconds.
        silence_ms: u64,
    },
    /// The server closes without another byte.
    Closed {
        /// Always true.
        #[serde(rename = "closed")]
        _closed: bool,
    },
    /// The client sends no more.
    ShutdownWrite {
        /// Always true.
        #[serde(rename = "shutdown_write")]
        _shutdown: bool,
    },
    /// A statement on the connection of the set-up.
    Cql {
        /// The statement.
        cql: String,
        /// Whether an error is no matter.
        #[serde(default)]
        may_fail: bool,
    },
    /// Time passes.
    Wait {
        /// Milliseconds.
        wait_ms: u64,
    },
    /// A connection is opened, and that is all.
    Connect {
        /// Its name.
        connect: String,
    },
}

/// A piece of what is sent.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Part {
    /// Bytes in hex.
    Hex(String),
    /// Bytes many times over.
    Repeat {
        /// The bytes in hex.
        repeat: String,
        /// How often.
        count: usize,
    },
    /// Bytes that an earlier reply carried.
    Captured {
        /// What they were kept as.
        var: String,
        /// How they are written.
        #[serde(default, rename = "as")]
        notation: Notation,
    },
    /// An envelope whose header is computed.
    Envelope {
        /// What is in it.
        envelope: EnvelopePart,
    },
    /// A segment whose header and checksums are computed.
    Segment {
        /// What is in it.
        segment: SegmentPart,
    },
}

/// How captured bytes are written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Notation {
    /// As they are.
    #[default]
    Raw,
    /// Behind their length as a \[short\].
    ShortBytes,
    /// Behind their length as an \[int\].
    Bytes,
}

/// An envelope to be sent.
#[derive(Debug, Deserialize)]
pub(super) struct EnvelopePart {
    pub(super) version: u8,
    #[serde(default)]
    pub(super) flags: u8,
    pub(super) stream: i16,
    pub(super) opcode: u8,
    pub(super) body: Parts,
}

/// A segment to be sent, its payload uncompressed.
#[derive(Debug, Deserialize)]
pub(super) struct SegmentPart {
    #[serde(default)]
    pub(super) format: Option<String>,
    #[serde(default = "yes")]
    pub(super) self_contained: bool,
    pub(super) payload: Parts,
}

fn yes() -> bool {
    true
}

/// One part, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Parts {
    Several(Vec<Part>),
    One(Box<Part>),
}

impl Parts {
    pub(super) fn as_slice(&self) -> &[Part] {
        match self {
            Self::Several(parts) => parts,
            Self::One(part) => std::slice::from_ref(part),
        }
    }
}

/// A reply as Cassandra gave it; `compare` names the fields in which another server's has to be equal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Expected {
    pub(super) framing: String,
    pub(super) version: u8,
    pub(super) flags: u8,
    pub(super) stream: i16,
    pub(super) opcode: String,
    pub(super) body: Option<String>,
    pub(super) authenticator: Option<String>,
    pub(super) supported: BTreeMap<String, Vec<String>>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) message_contains: Vec<String>,
    pub(super) extra: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) rows: ExpectedRows,
    pub(super) row_count: Option<i32>,
    pub(super) prepared: ExpectedPrepared,
    pub(super) has_tracing_id: bool,
    pub(super) has_paging_state: bool,
    pub(super) has_new_metadata_id: bool,
    pub(super) warning_count: usize,
    pub(super) compare: Vec<String>,
    pub(super) capture: BTreeMap<String, String>,
}

/// The parts of a RESULT with rows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExpectedRows {
    pub(super) flags: Option<i32>,
    pub(super) columns: Option<i32>,
    pub(super) spec: Option<String>,
    pub(super) rest: Option<String>,
}

/// The parts of a RESULT of PREPARE.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExpectedPrepared {
    pub(super) rest: Option<String>,
}
