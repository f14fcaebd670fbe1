//! Captures as text: a line is a write, `[NAME] DIRECTION HEX`, as `helenus conformance` prints them too.

use std::collections::HashMap;
use std::io::BufRead;

use helenus_core::Direction;

use super::{CaptureError, Content, Piece};
use crate::command::hex;

/// Reads lines.
#[derive(Debug)]
pub(in crate::command::inspect) struct HexLines<R> {
    lines: std::io::Lines<R>,
    number: usize,
    /// The direction of lines that don't say theirs.
    direction: Option<Direction>,
    /// Connections by their names.
    connections: HashMap<String, u32>,
}

impl<R: BufRead> HexLines<R> {
    /// Lines whose direction is this one where they don't say it.
    pub(in crate::command::inspect) fn new(reader: R, direction: Option<Direction>) -> Self {
        Self {
            lines: reader.lines(),
            number: 0,
            direction,
            connections: HashMap::new(),
        }
    }

    fn piece(&mut self, line: &str) -> Result<Piece, CaptureError> {
        let (mut name, mut direction, mut digits) = ("", None, line);
        let words = line.split_whitespace();
        for word in words.take(2) {
            let rest = digits.trim_start().strip_prefix(word).unwrap_or(digits);
            if let Some(marked) = mark(word) {
                (direction, digits) = (Some(marked), rest);
                break;
            }
            // A name stands in front of a direction alone.
            if rest.split_whitespace().next().and_then(mark).is_none() {
                break;
            }
            (name, digits) = (word, rest);
        }
        let bytes = hex::decode(digits).map_err(|why| CaptureError::Line(self.number, why))?;
        let by_version = || match bytes.first() {
            Some(0x80..) => Direction::Response,
            _ => Direction::Request,
        };
        let direction = direction.or(self.direction).unwrap_or_else(by_version);
        let next = self.connections.len() as u32 + 1;
        let connection = *self.connections.entry(name.to_owned()).or_insert(next);
        Ok(Piece {
            connection,
            time: None,
            content: Content::Bytes(direction, bytes.into()),
        })
    }
}

/// The direction that a word stands for.
fn mark(word: &str) -> Option<Direction> {
    match word.trim_end_matches(':') {
        ">" | "->" | "→" | "C" | "client" | "request" | "sent" => Some(Direction::Request),
        "<" | "<-" | "←" | "S" | "server" | "response" | "received" => Some(Direction::Response),
        _ => None,
    }
}

impl<R: BufRead> Iterator for HexLines<R> {
    type Item = Result<Piece, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next()? {
                Ok(line) => line,
                Err(error) => return Some(Err(error.into())),
            };
            self.number += 1;
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Some(self.piece(text));
            }
        }
    }
}
