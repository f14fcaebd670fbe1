//! What a server counts. Connections count plainly for themselves; each adds its differences to the
//! counters of its thread once a turn, and whoever reads them sums over the threads.

mod latency;

use helenus_core::connection::{ErrorCodeCounts, ErrorCounts, OpcodeCounts, Stats};
use helenus_core::error::ErrorKind;
use helenus_core::{ErrorCode, Opcode};
use latency::AtomicHistogram;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

pub use latency::{BUCKETS, Histogram};

/// Sets of counters; threads beyond this many share.
const SHARDS: usize = 16;

thread_local! {
    static SHARD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The set of counters of this thread.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    SHARD.get().unwrap_or_else(|| {
        let shard = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
        SHARD.set(Some(shard));
        shard
    })
}

/// Declares [`Totals`], the atomics behind it, and the way between. A counter is published as
/// `helenus_<name>_total`, unless it has a better name behind `as`.
macro_rules! counters {
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $metric:literal) => { $metric };
    ($($(#[doc = $doc:literal])+ $name:ident $(as $metric:literal)?,)+) => {
        /// What a server has counted since it started.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Totals {
            $($(#[doc = $doc])+ pub $name: u64,)+
            /// What broke the protocol or a limit, by its kind.
            pub faults: ErrorCounts,
            /// Answers that were ERRORs, by their code.
            pub error_codes: ErrorCodeCounts,
        }

        impl Totals {
            /// Every counter that is a plain number, to be published: its name, without `helenus_` and
            /// `_total`, what it counts, and its value.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((
                    counters!(@name $name $($metric)?),
                    concat!($($doc),+).trim_ascii(),
                    self.$name,
                ),)+].into_iter()
            }
        }

        /// Aligned so that no two threads write to one cache line.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        struct Shard {
            $($name: AtomicU64,)+
            faults: [AtomicU64; ErrorKind::ALL.len()],
            error_codes: [AtomicU64; ErrorCode::KNOWN.len() + 1],
            latencies: [AtomicHistogram; OpcodeCounts::OPCODES.len()],
        }

        impl Shard {
            fn add(&self, more: &Totals) {
                $(if more.$name > 0 {
                    self.$name.fetch_add(more.$name, Ordering::Relaxed);
                })+
                // Faults come with these alone; they are many, and rare.
                if more.errors > 0 || more.fatal > 0 {
                    for (kind, count) in more.faults.iter() {
                        if let Some(counter) = self.faults.get(kind as usize) {
                            counter.fetch_add(count, Ordering::Relaxed);
                        }
                    }
                    for (counter, count) in self.error_codes.iter().zip(more.error_codes.as_array()) {
                        if *count > 0 {
                            counter.fetch_add(*count, Ordering::Relaxed);
                        }
                    }
                }
            }

            fn add_to(&self, totals: &mut Totals) {
                $(totals.$name += self.$name.load(Ordering::Relaxed);)+
                for (kind, counter) in ErrorKind::ALL.iter().zip(&self.faults) {
                    totals.faults.add(*kind, counter.load(Ordering::Relaxed));
                }
                let codes = ErrorCode::KNOWN.iter().copied().map(Some).chain([None]);
                for (code, counter) in codes.zip(&self.error_codes) {
                    totals.error_codes.add(code, counter.load(Ordering::Relaxed));
                }
            }
        }
    };
}

counters! {
    /// Connections accepted.
    connections_opened,
    /// Connections that ended.
    connections_closed,
    /// Connections closed at once, for a limit or during a shutdown.
    connections_refused,
    /// Connections closed at once, as the server has as many as it may.
    refused_for_server as "connections_refused_for_server",
    /// Connections closed at once, as their address has as many as it may.
    refused_for_address as "connections_refused_for_address",
    /// Times that a connection wasn't read any more for its own limits.
    paused_for_limits as "connections_paused_for_limits",
    /// Times that a connection wasn't read any more for a limit of its address or of the server.
    paused_for_budgets as "connections_paused_for_budgets",
    /// Times that a connection wasn't read any more for the rate of requests.
    paused_for_rate as "connections_paused_for_rate",
    /// Well-formed requests, those of handshakes included.
    requests as "cql_requests_received",
    /// Answers written.
    responses as "cql_responses",
    /// Events written.
    events as "cql_events",
    /// Bytes read from sockets.
    bytes_received,
    /// Bytes written to sockets.
    bytes_sent,
    /// Bytes of requests that were refused on their header, thrown away as they came.
    bytes_discarded,
    /// Answers that were ERRORs.
    errors as "cql_error_responses",
    /// Connections closed for a fatal error.
    fatal as "connections_failed",
    /// Clients that were let in when they logged in.
    logins,
    /// Logins that were refused.
    logins_failed,
    /// Logins refused unverified, because too many waited.
    logins_shed,
    /// Panics of the service.
    panics as "service_panics",
    /// TLS handshakes that were completed.
    tls_handshakes,
    /// Of these, those that resumed a session.
    tls_resumptions,
    /// Connections whose TLS failed, in the handshake or later.
    tls_failures,
    /// Clients that spoke without TLS to a port that has it: refused, unless it is optional.
    tls_plaintext,
}

/// The counters of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    shards: [Shard; SHARDS],
}

impl Metrics {
    /// Adds to the counters of this thread.
    pub(crate) fn add(&self, more: &Totals) {
        if let Some(shard) = self.shards.get(shard()) {
            shard.add(more);
        }
    }

    /// Counts `times` that a request of the opcode at this place took `elapsed` to be answered.
    #[inline]
    pub(crate) fn answered(&self, place: usize, elapsed: Duration, times: u64) {
        let latencies = self.shards.get(shard()).map(|shard| &shard.latencies);
        if let Some(latency) = latencies.and_then(|latencies| latencies.get(place)) {
            latency.record(elapsed, times);
        }
    }

    /// How long answered requests took, by their opcode, over all threads.
    pub(crate) fn latencies(&self) -> Vec<(Opcode, Histogram)> {
        let opcodes = OpcodeCounts::OPCODES.into_iter().enumerate();
        opcodes
            .map(|(place, opcode)| {
                let mut histogram = Histogram::default();
                for shard in &self.shards {
                    if let Some(latency) = shard.latencies.get(place) {
                        latency.add_to(&mut histogram);
                    }
                }
                (opcode, histogram)
            })
            .collect()
    }

    /// The sum over all threads. Each counter is exact; together they may be of slightly different
    /// moments.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for shard in &self.shards {
            shard.add_to(&mut totals);
        }
        totals
    }
}

/// Whether there is anything that [`difference`] would have.
#[inline]
pub(crate) fn has_moved(now: &Stats, before: &Stats) -> bool {
    now.requests != before.requests
        || now.responses != before.responses
        || now.bytes_sent != before.bytes_sent
        || now.bytes_discarded != before.bytes_discarded
        || now.events != before.events
        || now.errors != before.errors
        || now.fatal != before.fatal
}

/// What `now` has more than `before`.
pub(crate) fn difference(now: &Stats, before: &Stats) -> Totals {
    let has_faults = now.errors != before.errors || now.fatal != before.fatal;
    Totals {
        requests: now.requests - before.requests,
        responses: now.responses - before.responses,
        events: now.events - before.events,
        bytes_sent: now.bytes_sent - before.bytes_sent,
        bytes_discarded: now.bytes_discarded - before.bytes_discarded,
        errors: now.errors - before.errors,
        fatal: now.fatal - before.fatal,
        faults: if has_faults {
            now.faults - before.faults
        } else {
            ErrorCounts::default()
        },
        error_codes: if has_faults {
            now.error_codes - before.error_codes
        } else {
            ErrorCodeCounts::default()
        },
        ..Totals::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_sum_over_threads() {
        let metrics = Metrics::default();
        let mut two = Totals {
            requests: 2,
            errors: 4,
            panics: 1,
            ..Totals::default()
        };
        two.faults.add(ErrorKind::Decode, 3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| metrics.add(&two));
            }
        });
        let totals = metrics.totals();
        assert_eq!((totals.requests, totals.errors, totals.panics), (6, 12, 3));
        assert_eq!(
            totals.faults.iter().collect::<Vec<_>>(),
            [(ErrorKind::Decode, 9)]
        );
    }
}
