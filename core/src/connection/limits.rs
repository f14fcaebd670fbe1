//! [`Limits`] of a connection, and the account of what is in flight on it.

use std::collections::VecDeque;

use crate::codes::ProtocolVersion;
use crate::envelope::Header;
use crate::framing::Dialect;

/// What a peer may make a connection hold.
///
/// A connection over a limit takes no further request: [`next`](super::ServerConnection::next) says
/// [`Progress::Blocked`](super::Progress::Blocked), and the peer feels it as backpressure. A peer that asked
/// for `THROW_ON_OVERLOAD` in STARTUP gets OVERLOADED instead for a request that would bring it over
/// [`Limits::max_requests`] or [`Limits::max_request_bytes`]. A request that has begun to arrive is always
/// taken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest message in bytes: with its header before v5, the body alone in v5, as Cassandra counts.
    /// A longer one is discarded as it arrives and answered Invalid. 16 MiB by default.
    pub max_envelope: usize,
    /// The same in v5, where it isn't to be [`Limits::max_envelope`], the default.
    pub max_message: Option<usize>,
    /// The same before the connection is ready; never more than [`Limits::max_envelope`]. 256 KiB by default.
    pub max_envelope_before_login: usize,
    /// Requests taken whose answers aren't sent, at least one. 4,096 by default.
    pub max_requests: usize,
    /// Their bytes, headers included. 32 MiB by default.
    pub max_request_bytes: usize,
    /// Bytes of output not sent; an answer may go over it, whatever its length, but then no further
    /// request is taken. 1 MiB by default.
    pub max_unsent: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_envelope: 16 << 20,
            max_message: None,
            max_envelope_before_login: 256 << 10,
            max_requests: 4096,
            max_request_bytes: 32 << 20,
            max_unsent: 1 << 20,
        }
    }
}

impl Limits {
    /// The longest message on a connection that is ready.
    pub(crate) fn longest(&self, agreed: Option<Dialect>) -> usize {
        match (agreed, self.max_message) {
            (Some(agreed), Some(limit)) if agreed.version >= ProtocolVersion::V5 => limit,
            _ => self.max_envelope,
        }
    }

    /// What may be in flight. None of it would be a connection that never goes on: one request is always
    /// taken.
    pub(crate) fn in_flight(&self) -> Credit {
        Credit {
            requests: self.max_requests.max(1),
            bytes: self.max_request_bytes.max(1),
        }
    }
}

/// Requests and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Credit {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

/// Requests taken, from their arrival until their answers are sent.
#[derive(Debug)]
pub(crate) struct InFlight {
    total: Credit,
    /// What the connection's own limits allow.
    own: Credit,
    /// What is allowed: no more than that, nor than what others leave of shared budgets.
    allowed: Credit,
    /// Taken, and not answered.
    unanswered: usize,
    /// Answered, the answer not sealed.
    unsealed: Credit,
    /// Answered; the answers end at these stream positions, in order.
    sealed: VecDeque<(u64, Credit)>,
}

impl InFlight {
    /// An account of nothing, under these limits.
    pub(crate) fn new(own: Credit) -> InFlight {
        InFlight {
            total: Credit::default(),
            own,
            allowed: own,
            unanswered: 0,
            unsealed: Credit::default(),
            sealed: VecDeque::new(),
        }
    }

    /// Other limits hold from now on.
    pub(crate) fn limit(&mut self, own: Credit) {
        self.own = own;
        self.allowed = own;
    }

    /// Beside the connection's own limits, these hold until the next call.
    #[inline]
    pub(crate) fn allow(&mut self, shared: Credit) {
        self.allowed = Credit {
            requests: self.own.requests.min(shared.requests),
            bytes: self.own.bytes.min(shared.bytes),
        };
    }

    /// A request was taken.
    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.total.requests += 1;
        self.total.bytes += bytes;
        self.unanswered += 1;
    }

    /// A request was answered.
    #[inline]
    pub(crate) fn answer(&mut self, bytes: usize) {
        self.unanswered = self.unanswered.saturating_sub(1);
        self.unsealed.requests += 1;
        self.unsealed.bytes += bytes;
    }

    /// What was answered since the last seal ends at this position of the output.
    #[inline]
    pub(crate) fn seal(&mut self, position: u64) {
        if self.unsealed.requests > 0 {
            self.sealed.push_back((position, self.unsealed));
            self.unsealed = Credit::default();
        }
    }

    /// The output was sent up to this position.
    #[inline]
    pub(crate) fn sent(&mut self, position: u64) {
        while let Some(&(end, credit)) = self.sealed.front() {
            if end > position {
                break;
            }
            self.total.requests = self.total.requests.saturating_sub(credit.requests);
            self.total.bytes = self.total.bytes.saturating_sub(credit.bytes);
            self.sealed.pop_front();
        }
    }

    /// Whether a further request would be too many.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.total.requests >= self.allowed.requests || self.total.bytes >= self.allowed.bytes
    }

    /// The shortest body of a further request that would be too much; zero if any would be.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        if self.is_full() {
            return 0;
        }
        let left = self.allowed.bytes - self.total.bytes;
        (left + 1).saturating_sub(Header::SIZE)
    }

    /// Requests taken and not answered.
    #[inline]
    pub(crate) const fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// Requests taken whose answers aren't sent.
    pub(crate) const fn requests(&self) -> usize {
        self.total.requests
    }

    /// The bytes of requests taken whose answers aren't sent.
    pub(crate) const fn bytes(&self) -> usize {
        self.total.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNBOUNDED: Credit = Credit {
        requests: usize::MAX,
        bytes: usize::MAX,
    };

    #[test]
    fn a_credit_is_released_when_the_sent_position_passes_its_answer() {
        let mut in_flight = InFlight::new(UNBOUNDED);
        in_flight.take(10);
        in_flight.take(20);
        in_flight.answer(10);
        in_flight.seal(100);
        in_flight.answer(20);
        in_flight.seal(200);
        assert_eq!((in_flight.requests(), in_flight.bytes()), (2, 30));
        assert_eq!(in_flight.unanswered(), 0);
        in_flight.sent(99);
        assert_eq!(in_flight.requests(), 2);
        in_flight.sent(100);
        assert_eq!((in_flight.requests(), in_flight.bytes()), (1, 20));
        in_flight.sent(250);
        assert_eq!((in_flight.requests(), in_flight.bytes()), (0, 0));
    }

    #[test]
    fn a_limit_of_bytes_admits_the_request_that_goes_over_it() {
        let limits = Limits {
            max_request_bytes: 100,
            ..Limits::default()
        };
        let mut in_flight = InFlight::new(limits.in_flight());
        in_flight.take(90);
        assert!(!in_flight.is_full());
        // With its header, a body of one byte fills what is left.
        assert_eq!(in_flight.room(), 2);
        in_flight.take(500);
        assert!(in_flight.is_full());
        assert_eq!(in_flight.room(), 0);
    }

    #[test]
    fn what_others_leave_of_a_budget_holds_beside_the_own_limits() {
        let mut in_flight = InFlight::new(Credit {
            requests: 4,
            bytes: 100,
        });
        in_flight.take(50);
        in_flight.allow(Credit {
            requests: 1,
            bytes: usize::MAX,
        });
        assert!(in_flight.is_full());
        in_flight.allow(Credit {
            requests: 9,
            bytes: 60,
        });
        assert_eq!((in_flight.is_full(), in_flight.room()), (false, 2));
        in_flight.allow(UNBOUNDED);
        assert_eq!(in_flight.room(), 42);
    }

    #[test]
    fn only_v5_has_a_limit_of_messages_of_its_own() {
        let limits = Limits {
            max_message: Some(7),
            ..Limits::default()
        };
        let v5 = Dialect::LATEST;
        let v4 = Dialect {
            version: ProtocolVersion::V4,
            ..v5
        };
        assert_eq!(limits.longest(Some(v5)), 7);
        assert_eq!(limits.longest(Some(v4)), 16 << 20);
        assert_eq!(Limits::default().longest(Some(v5)), 16 << 20);
    }
}
