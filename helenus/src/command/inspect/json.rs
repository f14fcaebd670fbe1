//! Messages as JSON lines.

use std::io::{self, Write};
use std::time::Duration;

use helenus_core::Direction;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Show;
use super::decode::{Broken, Event, Fields, Kind, Message};
use super::text::{flags, travels};
use crate::command::hex;

/// Writes JSON.
pub(super) struct Json<W> {
    out: W,
    with_bytes: bool,
}

impl<W: Write> Json<W> {
    pub(super) const fn new(out: W, with_bytes: bool) -> Self {
        Self { out, with_bytes }
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

/// One line.
#[derive(Debug, Default, Serialize)]
struct Line<'a> {
    connection: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    framing: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opcode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<InOrder<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<&'a str>,
    /// Where in `hex` the broken bytes begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// Fields in the order in which they stand in the message.
#[derive(Debug)]
struct InOrder<'a>(&'a Fields);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<W: Write> Show for Json<W> {
    fn opened(&mut self, connection: u32, client: &str, server: &str) -> io::Result<()> {
        self.line(&Line {
            connection,
            client: Some(client),
            server: Some(server),
            ..Line::default()
        })
    }

    fn event(&mut self, connection: u32, event: &Event) -> io::Result<()> {
        let line = Line {
            connection,
            time: event.time.map(|time| time.as_secs_f64()),
            direction: Some(match event.direction {
                Direction::Request => "request",
                Direction::Response => "response",
            }),
            offset: Some(event.offset),
            ..Line::default()
        };
        let line = match &event.kind {
            Kind::Message(message) => of_message(line, message, self.with_bytes),
            Kind::Broken(broken) => of_broken(line, broken),
        };
        self.line(&line)
    }
}

fn of_message<'a>(line: Line<'a>, message: &'a Message, with_bytes: bool) -> Line<'a> {
    let answers = message.answers.as_ref();
    let milliseconds = |took: Duration| took.as_secs_f64() * 1000.0;
    Line {
        version: Some(message.header.version),
        flags: flags(message.header.flags),
        framing: travels(message),
        stream: Some(message.header.stream.0),
        opcode: Some(message.header.opcode.to_string()),
        length: Some(message.header.length),
        fields: Some(InOrder(&message.fields)),
        answers: answers.map(|(request, _)| request.as_str()),
        took_ms: answers.and_then(|(_, took)| took.map(milliseconds)),
        notes: &message.remarks,
        hex: with_bytes.then(|| hex::encode(&message.bytes)),
        ..line
    }
}

fn of_broken<'a>(line: Line<'a>, broken: &'a Broken) -> Line<'a> {
    Line {
        broken: Some(&broken.what),
        at: Some(broken.mark.start),
        hex: Some(hex::encode(&broken.bytes)),
        ..line
    }
}
