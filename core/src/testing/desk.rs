//! [`Desk`]: where a [`Pair`](super::Pair)'s service leaves requests to be answered later.

use std::time::{Duration, Instant};

use super::random::Random;
use crate::connection::Reply;
use crate::message::{Extras, Response};

/// Where a service leaves requests that it answers later: after a time, or when the test says so.
#[derive(Debug)]
pub struct Desk {
    now: Instant,
    random: Random,
    due: Vec<(Instant, Reply, Response, Extras)>,
    kept: Vec<Reply>,
}

impl Desk {
    pub(super) const fn new(now: Instant, seed: u64) -> Desk {
        Desk {
            now,
            random: Random::new(seed),
            due: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// The pair's time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// A number below `bound`, the same ones for the same seed; a bound of zero counts as one.
    pub fn random(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    /// Answers after a time. Answers of the same time go out in the order they were left here.
    pub fn later(&mut self, after: Duration, reply: Reply, response: Response) {
        self.later_with(after, reply, response, Extras::default());
    }

    /// As [`Desk::later`], with a tracing id, warnings or a payload.
    pub fn later_with(
        &mut self,
        after: Duration,
        reply: Reply,
        response: Response,
        extras: Extras,
    ) {
        let at = self.now.checked_add(after).unwrap_or(self.now);
        self.due.push((at, reply, response, extras));
    }

    /// Keeps a request until the test [takes it](Desk::take_kept).
    pub fn keep(&mut self, reply: Reply) {
        self.kept.push(reply);
    }

    /// The requests that were kept, in the order they came. They may be answered in any.
    pub fn take_kept(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.kept)
    }

    pub(super) const fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// When the next answer is due.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.due.iter().map(|(at, ..)| *at).min()
    }

    /// Answers what is due, the earliest first; whether there was any.
    pub(super) fn answer(&mut self) -> bool {
        let mut answered = false;
        while let Some(at) = self.next_at().filter(|at| *at <= self.now) {
            let Some(index) = self.due.iter().position(|(due, ..)| *due == at) else {
                break;
            };
            let (_, reply, response, extras) = self.due.remove(index);
            reply.send_with(response, extras);
            answered = true;
        }
        answered
    }
}
