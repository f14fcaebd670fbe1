//! One node: its data, its clock, whom it believes to be alive, and the requests that it coordinates.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use helenus_coordinator::{CallId, HintLimits, Hints, NodeId, NodeSet};

use crate::model::Mutation;
use crate::random::Random;
use crate::replica::Replica;
use crate::running::Running;

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Who it is.
    pub(crate) id: NodeId,
    /// Its data centre.
    pub(crate) centre: usize,
    /// Its data.
    pub(crate) replica: Replica,
    /// What it keeps for others. It survives crashes from the moment that it is kept.
    pub(crate) hints: Hints<Mutation>,
    /// Updates of counters that it was asked to lead: such a request may not be obeyed twice, so whoever carries it has to
    /// see to that.
    pub(crate) led: BTreeSet<(u64, CallId)>,
    /// What it coordinates, by numbers that no two machines of a run share.
    pub(crate) running: BTreeMap<u64, Running>,
    /// Whether it runs.
    pub(crate) alive: bool,
    /// Until when it stands still, or stood.
    pub(crate) paused_until: Duration,
    /// Whom it believes to be alive.
    pub(crate) believes: NodeSet,
    clock: Clock,
}

impl Node {
    /// An empty one whose clock is off by some seconds.
    pub(crate) fn new(
        id: NodeId,
        centre: usize,
        hints: HintLimits,
        epoch: Instant,
        random: &mut Random,
    ) -> Self {
        Self {
            id,
            centre,
            replica: Replica::new(id),
            hints: Hints::new(hints),
            led: BTreeSet::new(),
            running: BTreeMap::new(),
            alive: true,
            paused_until: Duration::ZERO,
            believes: NodeSet::new(),
            clock: Clock {
                epoch,
                skew: random.between(0, 2_000_000) as i64,
                ahead: Duration::from_micros(random.below(5_000)),
            },
        }
    }

    /// The time that its machines are told.
    #[must_use]
    pub(crate) fn instant(&self, now: Duration) -> Instant {
        self.clock.epoch + now + self.clock.ahead
    }

    /// How long it is until its clock shows a time.
    #[must_use]
    pub(crate) fn until(&self, at: Instant, now: Duration) -> Duration {
        at.saturating_duration_since(self.instant(now))
    }

    /// By what hints for it are kept.
    #[must_use]
    pub(crate) fn host(id: NodeId) -> u128 {
        u128::from(id.0) + 1
    }

    /// Microseconds since 1970, as it believes.
    #[must_use]
    pub(crate) fn micros(&self, now: Duration) -> i64 {
        const TODAY: i64 = 1_700_000_000_000_000;
        TODAY + now.as_micros() as i64 + self.clock.skew
    }

    /// Sets its clocks: that of the calendar by up to two seconds, that of its machines by a few milliseconds.
    pub(crate) fn jump(&mut self, random: &mut Random) {
        self.clock.skew = random.between(0, 2_000_000) as i64;
        self.clock.ahead = Duration::from_micros(random.below(5_000));
    }
}

#[derive(Debug)]
struct Clock {
    epoch: Instant,
    /// Of the calendar, in microseconds.
    skew: i64,
    /// Of the machines' time.
    ahead: Duration,
}
