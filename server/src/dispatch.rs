//! The loop between a connection and its service.

use crate::service::Service;
use crate::sync::contain;
use bytes::BytesMut;
use helenus_core::connection::AuthToken;
use helenus_core::error::Error;
use helenus_core::{Event, Next, Progress, Responder, ServerConnection};
use std::time::Instant;

/// Why [`dispatch`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatched {
    /// The connection says that it can't go on.
    Stopped(Progress),
    /// The quota is used up, and more may be there to do.
    QuotaUsedUp,
}

/// What a call of [`dispatch`] may use up, and what it counts.
#[derive(Debug, Default)]
pub struct Quota {
    /// Events that may still be handled.
    pub events: usize,
    /// Panics of the service so far.
    pub panics: u64,
    /// The error that closed the connection.
    pub closed: Option<Error>,
}

/// Gives `service` the requests in `input` until the connection stops, or its quota of events
/// is used up: one busy connection then lets the others have their turn. Consumes what it handled.
/// AUTH_RESPONSE goes to `log_in`.
pub fn dispatch<S: Service>(
    connection: &mut ServerConnection,
    now: Instant,
    input: &mut BytesMut,
    service: &S,
    session: &mut S::Session,
    quota: &mut Quota,
    mut log_in: impl FnMut(&mut S::Session, AuthToken<'_>, Responder<'_>),
) -> Dispatched {
    while quota.events > 0 {
        let event = match connection.next(now, input) {
            Next::Event(event) => event,
            Next::Stop(progress) => return Dispatched::Stopped(progress),
        };
        quota.events -= 1;
        // A responder that an unwind drops has answered SERVER_ERROR.
        let handled = contain("the service", || match event {
            Event::Request(request, responder) => service.call(now, session, request, responder),
            Event::Authenticate(token, responder) => log_in(session, token, responder),
            Event::Closed(error) => quota.closed = Some(error),
            _ => {}
        });
        quota.panics += u64::from(handled.is_none());
    }
    Dispatched::QuotaUsedUp
}
