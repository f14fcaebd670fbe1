//! What [`ClientConnection::next`](super::ClientConnection::next) tells its caller.

use bytes::Bytes;

use super::answer::{Answer, Notice};
use super::error::{CallError, ClientError};
use crate::connection::event::Progress;
use crate::streams::CallId;

/// An event, or the reason why there is none.
#[derive(Debug)]
pub enum ClientNext<'a> {
    /// Something happened.
    Event(ClientEvent<'a>),
    /// Nothing more will happen before something changes. It is never [`Progress::Blocked`]: answers are
    /// always taken.
    Stop(Progress),
}

/// Something a connection leaves to its user.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent<'a> {
    /// The handshake is over: requests may be sent. It comes once.
    Ready,
    /// The server wants a token: answer with
    /// [`authenticate`](super::ClientConnection::authenticate).
    Challenge(Challenge),
    /// The answer to a request, an ERROR included.
    Answer(CallId, Answer<'a>),
    /// A request that will have no answer. Each request that was sent gets one of both, once, unless it is
    /// cancelled.
    Failed(CallId, CallError),
    /// An EVENT that the server pushed.
    Server(Notice<'a>),
    /// The connection is over. It comes once, when every request in flight has failed.
    Closed(ClientError),
}

/// What a server wants a token for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Challenge {
    /// Authentication begins: the class name of its authenticator.
    Authenticator(String),
    /// It goes on: the server's token.
    Token(Option<Bytes>),
}
