//! Messages for people.

use std::io::{self, Write};
use std::time::Duration;

use helenus_core::compression::Compression;
use helenus_core::segment::SegmentFormat;
use helenus_core::{Direction, Flags};
use serde_json::Value;

use super::Show;
use super::decode::{Broken, Event, Framing, Kind, Message};
use crate::command::hex;

/// Writes text.
pub(super) struct Text<W> {
    out: W,
    with_bytes: bool,
    /// When the first message was captured: times are shown from then on.
    began: Option<Duration>,
}

impl<W: Write> Text<W> {
    pub(super) const fn new(out: W, with_bytes: bool) -> Self {
        Self {
            out,
            with_bytes,
            began: None,
        }
    }

    fn message(&mut self, prefix: &str, message: &Message) -> io::Result<()> {
        let header = &message.header;
        write!(
            self.out,
            "{prefix}{} v{} stream {}",
            header.opcode, header.version, header.stream
        )?;
        write!(self.out, ", {} bytes", header.length)?;
        let travels = travels(message).map(str::to_owned);
        for word in flags(header.flags).into_iter().chain(travels) {
            write!(self.out, ", {word}")?;
        }
        writeln!(self.out)?;
        if let Some((request, took)) = &message.answers {
            let took = took.map_or_else(String::new, |took| {
                format!(" after {:.3} ms", took.as_secs_f64() * 1000.0)
            });
            writeln!(self.out, "    answers {}{took}", printable(request))?;
        }
        for remark in &message.remarks {
            writeln!(self.out, "    note: {remark}")?;
        }
        for (name, value) in &message.fields {
            self.field(name, value)?;
        }
        if self.with_bytes {
            self.dump(&message.bytes, None)?;
        }
        Ok(())
    }

    fn field(&mut self, name: &str, value: &Value) -> io::Result<()> {
        match value {
            Value::String(text) => writeln!(self.out, "    {name}: {}", printable(text)),
            Value::Array(items) if name == "rows" || name == "statements" => {
                for item in items {
                    writeln!(self.out, "    | {item}")?;
                }
                Ok(())
            }
            other => writeln!(self.out, "    {name}: {other}"),
        }
    }

    fn broken(&mut self, prefix: &str, offset: u64, broken: &Broken) -> io::Result<()> {
        let place = offset + broken.mark.start as u64;
        writeln!(self.out, "{prefix}BROKEN at byte {place}: {}", broken.what)?;
        self.dump(&broken.bytes, Some(broken.mark.clone()))?;
        if broken.is_final {
            writeln!(self.out, "    nothing more of this direction can be read")?;
        }
        Ok(())
    }

    fn dump(&mut self, bytes: &[u8], mark: Option<std::ops::Range<usize>>) -> io::Result<()> {
        for line in hex::dump(bytes, 0, mark).lines() {
            writeln!(self.out, "      {line}")?;
        }
        Ok(())
    }
}

impl<W: Write> Show for Text<W> {
    fn opened(&mut self, connection: u32, client: &str, server: &str) -> io::Result<()> {
        writeln!(self.out, "#{connection} {client} → {server}")
    }

    fn event(&mut self, connection: u32, event: &Event) -> io::Result<()> {
        let arrow = match event.direction {
            Direction::Request => '→',
            Direction::Response => '←',
        };
        let mut prefix = format!("#{connection} ");
        if let Some(time) = event.time {
            let since = time.saturating_sub(*self.began.get_or_insert(time));
            prefix.push_str(&format!("{:.6} ", since.as_secs_f64()));
        }
        prefix.push_str(&format!("{arrow} @{} ", event.offset));
        match &event.kind {
            Kind::Message(message) => self.message(&prefix, message),
            Kind::Broken(broken) => self.broken(&prefix, event.offset, broken),
        }
    }
}

/// The text with its control characters escaped: it is a peer's, and goes to a terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The flags by their names; compression is told by how the message travels.
pub(super) fn flags(flags: Flags) -> Vec<String> {
    let known = [
        (Flags::TRACING, "traced"),
        (Flags::CUSTOM_PAYLOAD, "payload"),
        (Flags::WARNING, "warnings"),
        (Flags::USE_BETA, "beta"),
    ];
    let mut names: Vec<String> = known
        .into_iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, name)| name.to_owned())
        .collect();
    let unknown = known
        .into_iter()
        .fold(flags.without(Flags::COMPRESSION), |left, (flag, _)| {
            left.without(flag)
        });
    if unknown != Flags::NONE {
        names.push(format!("flags {:#04x}", unknown.0));
    }
    names
}

/// How a message travels, if not bare.
pub(super) fn travels(message: &Message) -> Option<&'static str> {
    let is_compressed = message.header.flags.contains(Flags::COMPRESSION);
    match message.framing {
        Framing::Bare(Some(Compression::Lz4)) if is_compressed => Some("lz4"),
        Framing::Bare(Some(Compression::Snappy)) if is_compressed => Some("snappy"),
        Framing::Bare(_) => None,
        Framing::Segments(Some(SegmentFormat::Lz4)) => Some("lz4 segments"),
        Framing::Segments(_) => Some("segments"),
    }
}
