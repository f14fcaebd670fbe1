//! What a server counts. Connections count plainly for themselves; each adds its differences to the
//! counters of its thread once a turn, and whoever reads them sums over the threads.

use helenus_core::connection::{ErrorCounts, Stats};
use helenus_core::error::ErrorKind;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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

/// Declares [`Totals`], the atomics behind it, and the way between.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// What a server has counted since it started.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Totals {
            $($(#[$doc])* pub $name: u64,)+
            /// What broke the protocol or a limit, by its kind.
            pub faults: ErrorCounts,
        }

        /// Aligned so that no two threads write to one cache line.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        struct Shard {
            $($name: AtomicU64,)+
            faults: [AtomicU64; ErrorKind::ALL.len()],
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
                }
            }

            fn add_to(&self, totals: &mut Totals) {
                $(totals.$name += self.$name.load(Ordering::Relaxed);)+
                for (kind, counter) in ErrorKind::ALL.iter().zip(&self.faults) {
                    totals.faults.add(*kind, counter.load(Ordering::Relaxed));
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
    /// Well-formed requests, those of handshakes included.
    requests,
    /// Answers written.
    responses,
    /// Events written.
    events,
    /// Bytes read from sockets.
    bytes_received,
    /// Bytes written to sockets.
    bytes_sent,
    /// Answers that were ERRORs.
    errors,
    /// Connections closed for a fatal error.
    fatal,
    /// Clients that an [`Authenticator`](crate::Authenticator) let in.
    logins,
    /// Logins that it refused.
    logins_failed,
    /// Logins refused unverified, because too many waited.
    logins_shed,
    /// Panics of the service.
    panics,
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

/// What `now` has more than `before`.
pub(crate) fn difference(now: &Stats, before: &Stats) -> Totals {
    let has_faults = now.errors != before.errors || now.fatal != before.fatal;
    Totals {
        requests: now.requests - before.requests,
        responses: now.responses - before.responses,
        events: now.events - before.events,
        bytes_sent: now.bytes_sent - before.bytes_sent,
        errors: now.errors - before.errors,
        fatal: now.fatal - before.fatal,
        faults: if has_faults {
            now.faults - before.faults
        } else {
            ErrorCounts::default()
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
