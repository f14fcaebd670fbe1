//! Decodes both directions of a connection together: each explains the other. Knows nothing of where the bytes come from
//! and how they are shown.

mod conversation;
mod fields;
mod half;
mod requests;
mod responses;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use helenus_core::{Direction, Header};
use serde_json::Value as Json;

pub(super) use conversation::{Conversation, Settings};
pub(super) use half::Framing;

/// What a message says: names and values, in the order in which they stand.
pub(super) type Fields = Vec<(&'static str, Json)>;

/// Something that was found in a connection's bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Which way it went.
    pub(super) direction: Direction,
    /// Where it begins: bytes from the start of the direction.
    pub(super) offset: u64,
    /// When its last byte was captured.
    pub(super) time: Option<Duration>,
    /// What.
    pub(super) kind: Kind,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A message.
    Message(Box<Message>),
    /// Bytes that are none.
    Broken(Box<Broken>),
}

/// A message that decodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) header: Header,
    pub(super) framing: Framing,
    /// Header and body, the body decompressed.
    pub(super) bytes: Bytes,
    /// What it says.
    pub(super) fields: Fields,
    /// The request that a response answers, in a few words, and how long the answer took.
    pub(super) answers: Option<(String, Option<Duration>)>,
    /// What is odd about it, though it decodes.
    pub(super) remarks: Vec<String>,
}

/// Bytes that break the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Broken {
    /// What is wrong.
    pub(super) what: String,
    /// The message or segment it is in; decompressed, if it was compressed.
    pub(super) bytes: Bytes,
    /// Which of these bytes it is.
    pub(super) mark: Range<usize>,
    /// Whether what follows in this direction can't be read.
    pub(super) is_final: bool,
}
