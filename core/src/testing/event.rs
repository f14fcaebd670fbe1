//! [`PairEvent`]: what the client of a [`Pair`](super::Pair) was told, to keep and compare.

use bytes::Bytes;

use crate::connection::{Answer, CallError, CallId, Challenge, ClientError, ClientEvent};
use crate::envelope::Header;
use crate::error::Error;
use crate::message::{Extras, Response, ServerEvent};
use crate::wire::DecodeError;

/// A [`ClientEvent`], owned and decoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PairEvent {
    /// The handshake is over.
    Ready,
    /// The server wants a token.
    Challenge(Challenge),
    /// A request was answered.
    Answer(CallId, Answered),
    /// A request has no answer.
    Failed(CallId, CallError),
    /// An event that the server pushed.
    Server(Result<ServerEvent, DecodeError>),
    /// The client's end is over.
    Closed(ClientError),
}

/// An [`Answer`], owned.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The header as it arrived.
    pub header: Header,
    /// The body, decompressed.
    pub body: Bytes,
    /// What it decodes to.
    pub decoded: Result<(Response, Extras), Error>,
}

impl Answered {
    /// The response, if the answer decodes.
    #[must_use]
    pub fn response(&self) -> Option<&Response> {
        self.decoded.as_ref().ok().map(|(response, _)| response)
    }
}

impl From<Answer<'_>> for Answered {
    fn from(answer: Answer<'_>) -> Answered {
        Answered {
            header: *answer.header(),
            body: Bytes::copy_from_slice(answer.body()),
            decoded: answer.parse(),
        }
    }
}

impl From<ClientEvent<'_>> for PairEvent {
    fn from(event: ClientEvent<'_>) -> PairEvent {
        match event {
            ClientEvent::Ready => PairEvent::Ready,
            ClientEvent::Challenge(challenge) => PairEvent::Challenge(challenge),
            ClientEvent::Answer(call, answer) => PairEvent::Answer(call, answer.into()),
            ClientEvent::Failed(call, error) => PairEvent::Failed(call, error),
            ClientEvent::Server(notice) => PairEvent::Server(notice.parse()),
            ClientEvent::Closed(error) => PairEvent::Closed(error),
        }
    }
}
