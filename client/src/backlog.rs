//! [`Backlog`]: what the pump took over to send, and the connection hasn't taken yet.

use crate::calls::{Calls, Key};
use crate::outgoing::Queued;
use bytes::BytesMut;
use std::collections::VecDeque;
use std::time::Instant;

/// The room for bodies that is kept when all are gone.
const KEPT: usize = 1 << 20;

/// Requests to be sent, in order: what is known of each, and their bodies one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bodies: BytesMut,
    /// Bytes of `bodies` whose requests are gone.
    gone: usize,
    queued: VecDeque<Queued>,
}

impl Backlog {
    /// Takes over what was queued, and what was cancelled since.
    pub(crate) fn collect(&mut self, calls: &mut Calls, cancelled: &mut Vec<Key>) {
        calls.collect(&mut self.bodies, &mut self.queued, cancelled);
    }

    /// The first request.
    pub(crate) fn first(&self) -> Option<(&Queued, &[u8])> {
        let queued = self.queued.front()?;
        let body = self.bodies.get(self.gone..self.gone + queued.length);
        Some((queued, body.unwrap_or_default()))
    }

    /// Takes the first request off.
    pub(crate) fn pop(&mut self) {
        if let Some(queued) = self.queued.pop_front() {
            self.gone += queued.length;
        }
        if self.queued.is_empty() {
            self.gone = 0;
            self.bodies.clear();
            if self.bodies.capacity() > KEPT {
                self.bodies = BytesMut::new();
            }
        }
    }

    /// A request that nobody asks for any more isn't sent.
    pub(crate) fn cancel(&mut self, key: Key) {
        if let Some(queued) = self.queued.iter_mut().find(|queued| queued.key == key) {
            queued.is_void = true;
        }
    }

    /// Sets the deadlines of requests that have to wait, and voids those whose deadline has come.
    pub(crate) fn expire(&mut self, now: Instant, expired: &mut Vec<Key>) {
        for queued in self.queued.iter_mut().filter(|queued| !queued.is_void) {
            if queued.deadline.is_none() {
                queued.deadline = queued.timeout.and_then(|timeout| now.checked_add(timeout));
            }
            if queued.deadline.is_some_and(|deadline| deadline <= now) {
                queued.is_void = true;
                expired.push(queued.key);
            }
        }
    }

    /// The first deadline.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let waiting = self.queued.iter().filter(|queued| !queued.is_void);
        waiting.filter_map(|queued| queued.deadline).min()
    }
}
