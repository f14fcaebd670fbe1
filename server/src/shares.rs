//! A connection's part of what the connections of its address and of its server share: bytes, requests
//! in flight, requests a second.

use crate::budget::{Budget, Lease};
use crate::clients::Held;
use crate::options::Limits;
use crate::rate::{Left, Rate};
use helenus_core::ServerConnection;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

/// What a connection holds below so many bytes isn't counted, so that short requests touch no memory
/// that threads share: 4 KiB.
const COUNTED: u64 = 4 << 10;

/// The budgets of the connections of one address, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Budgets {
    pub(crate) bytes: Arc<Budget>,
    pub(crate) requests: Arc<Budget>,
}

impl Budgets {
    /// Those of a whole server.
    pub(crate) fn of_server(limits: &Limits) -> Self {
        Budgets {
            bytes: Budget::new(limits.bytes),
            requests: Budget::new(limits.requests),
        }
    }

    /// Those of an address.
    pub(crate) fn of_address(limits: &Limits) -> Self {
        Budgets {
            bytes: Budget::new(limits.bytes_per_address),
            requests: Budget::new(limits.requests_per_address),
        }
    }

    pub(crate) fn limit_server(&self, limits: &Limits) {
        self.bytes.set_limit(limits.bytes);
        self.requests.set_limit(limits.requests);
    }

    pub(crate) fn limit_address(&self, limits: &Limits) {
        self.bytes.set_limit(limits.bytes_per_address);
        self.requests.set_limit(limits.requests_per_address);
    }
}

/// A connection's part of what others share with it.
#[derive(Debug)]
pub(crate) struct Shares {
    bytes: [Lease; 2],
    requests: [Lease; 2],
    rate: Arc<Rate>,
    /// Requests that the rate was told of.
    taken: u64,
    /// How many requests may be in flight as far as the rate is concerned.
    rated: usize,
    /// When the rate allows a request again, if it allows none now.
    pub(crate) delayed: Option<Instant>,
    /// Whether the budgets had no room when the connection was last told what it may take.
    pub(crate) starved: bool,
}

impl Shares {
    pub(crate) fn new(budgets: [Budgets; 2], rate: Arc<Rate>) -> Self {
        let [address, server] = budgets;
        Shares {
            bytes: [address.bytes, server.bytes].map(Lease::new),
            requests: [address.requests, server.requests].map(Lease::new),
            rate,
            taken: 0,
            rated: usize::MAX,
            delayed: None,
            starved: false,
        }
    }

    /// Counts what the connection holds: requests from their first byte until their answers are sent, and
    /// the answers.
    pub(crate) fn hold(&mut self, held: Held) {
        for lease in &mut self.bytes {
            lease.hold(held.bytes - held.bytes % COUNTED);
        }
        for lease in &mut self.requests {
            lease.hold(held.requests);
        }
    }

    /// Lets the connection take what the others leave. One that has begun to send something may finish it,
    /// lest many beginnings hold all there is.
    pub(crate) fn allow(
        &mut self,
        connection: &mut ServerConnection,
        has_begun: bool,
        now: Instant,
    ) {
        self.starved = !self.have_room();
        let taken = connection.stats().requests;
        self.rate.take(now, taken - self.taken);
        self.taken = taken;
        let left = match self.rate.left(now) {
            Left::Requests(left) => {
                self.delayed = None;
                left
            }
            Left::From(then) => {
                self.delayed = Some(then);
                0
            }
        };
        let share = |[address, server]: &[Lease; 2]| {
            let least = address.share().min(server.share());
            usize::try_from(least).unwrap_or(usize::MAX)
        };
        let (requests, bytes) = connection.in_flight();
        let at_least = |held: usize| if has_begun { held + 1 } else { 0 };
        self.rated = requests.saturating_add(left);
        connection.allow(
            share(&self.requests)
                .max(at_least(requests))
                .min(self.rated),
            share(&self.bytes)
                .saturating_add(COUNTED as usize)
                .max(at_least(bytes)),
        );
    }

    /// Whether the connection has taken what the rate allowed.
    pub(crate) fn is_delayed(&self, connection: &ServerConnection) -> bool {
        connection.in_flight().0 >= self.rated
    }

    /// Whether the budgets let more be read.
    pub(crate) fn have_room(&self) -> bool {
        self.leases().all(|lease| lease.budget().has_room())
    }

    /// The same; if not, `waker` is woken when this may have changed.
    pub(crate) fn poll_room(&self, waker: &Waker) -> bool {
        self.leases().all(|lease| lease.poll_room(waker))
    }

    fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.bytes.iter().chain(&self.requests)
    }
}
