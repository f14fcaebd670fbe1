//! What [`ServerConnection::next`](super::ServerConnection::next) tells its caller.

use super::request::{AuthToken, Request};
use super::responder::Responder;
use crate::error::Error;

/// An event, or the reason why there is none.
#[derive(Debug)]
pub enum Next<'a> {
    /// Something happened.
    Event(Event<'a>),
    /// Nothing more will happen before something changes.
    Stop(Progress),
}

/// Why there is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Progress {
    /// More bytes are needed.
    NeedInput,
    /// A limit on output or on work in flight is reached: call again when bytes were sent or requests
    /// answered.
    Blocked,
    /// No event will come any more. Once [`is_finished`](super::ServerConnection::is_finished), shut down.
    Finished,
}

/// Something a connection leaves to its user.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A QUERY, PREPARE, EXECUTE or BATCH.
    Request(Request<'a>, Responder<'a>),
    /// An AUTH_RESPONSE, where an authenticator is configured: answer it with
    /// [`accept`](Responder::accept), [`challenge`](Responder::challenge) or
    /// [`refuse`](Responder::refuse). It may come on a connection that is ready already; that stays ready,
    /// whatever the answer.
    Authenticate(AuthToken<'a>, Responder<'a>),
    /// A fatal error; it comes once. Its ERROR, if the peer is owed one, is in the output: send that, then
    /// shut down.
    Closed(Error),
}
