//! Hints: what nodes have missed, kept until they are back. Plain data, of a bounded size; mutations are opaque. Answers to
//! Cassandra's `HintsService` and its `max_hint_window`.
//!
//! | a hint | if | is |
//! |---|---|---|
//! | comes | its node's bytes would be more than the limit, expired hints aside | refused: full |
//! | comes | the oldest one of its node is older than the window, or it would expire at once | refused: too old |
//! | comes | otherwise | kept |
//! | kept | its table's grace period is over | dropped, for tombstones that it might precede are gone |
//! | kept | its node confirms it ([`HintReplay`]) | removed |
//!
//! A hint stays where it is while it is replayed: what is encoded at any time loses none that isn't confirmed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

mod codec;
mod replay;

pub use codec::HintsCorrupt;
pub use replay::HintReplay;

/// A hint; later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HintId(pub u64);

/// How much is kept for one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintLimits {
    /// The sum of the sizes of its hints, at most.
    pub bytes: u64,
    /// How long it may have missed changes; after that it needs a repair, and no more hints are kept for it.
    pub window: Duration,
}

impl Default for HintLimits {
    /// 64 MiB and Cassandra's three hours.
    fn default() -> Self {
        HintLimits {
            bytes: 64 << 20,
            window: Duration::from_secs(3 * 60 * 60),
        }
    }
}

/// Why a hint isn't kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintRefused {
    /// The node's hints take as much as they may.
    Full,
    /// The node has missed changes for longer than the window, or the hint would expire at once.
    TooOld,
}

#[derive(Debug, Clone)]
struct Hint<T> {
    id: HintId,
    /// Microseconds since 1970, as all times here.
    written: i64,
    expires: i64,
    size: u32,
    mutation: T,
}

#[derive(Debug, Clone)]
struct Queue<T> {
    hints: VecDeque<Hint<T>>,
    bytes: u64,
}

/// The hints that a node keeps for others, by their host ids: they outlive places in the ring.
#[derive(Debug, Clone)]
pub struct Hints<T> {
    queues: BTreeMap<u128, Queue<T>>,
    limits: HintLimits,
    next: u64,
}

impl<T> Hints<T> {
    /// None yet.
    #[must_use]
    pub fn new(limits: HintLimits) -> Hints<T> {
        Hints {
            queues: BTreeMap::new(),
            limits,
            next: 0,
        }
    }

    /// Keeps what a node misses from `micros` on, for no longer than its table's grace period. `size` is what it takes.
    ///
    /// # Errors
    /// [`HintRefused`]: the mutation isn't kept.
    pub fn push(
        &mut self,
        host: u128,
        micros: i64,
        grace: Duration,
        size: u32,
        mutation: T,
    ) -> Result<HintId, HintRefused> {
        let limits = self.limits;
        let queue = self.queues.entry(host).or_insert_with(Queue::new);
        let expires = micros.saturating_add(in_micros(grace));
        let oldest = queue.hints.front().map_or(micros, |hint| hint.written);
        let id = HintId(self.next);
        let hint = Hint {
            id,
            written: micros,
            expires,
            size,
            mutation,
        };
        let refused = if expires <= micros {
            Some(HintRefused::TooOld)
        } else {
            let is_full = |queue: &Queue<T>| queue.bytes + u64::from(size) > limits.bytes;
            if is_full(queue) {
                queue.expire(micros);
            }
            if is_full(queue) {
                Some(HintRefused::Full)
            } else if micros.saturating_sub(oldest) > in_micros(limits.window) {
                Some(HintRefused::TooOld)
            } else {
                None
            }
        };
        if let Some(refused) = refused {
            self.forget_if_empty(host);
            return Err(refused);
        }
        self.next += 1;
        queue.push(hint);
        Ok(id)
    }

    /// The oldest hints of a node, `count` at most: what a [`HintReplay`] sends. Expired ones are dropped on the way.
    pub fn batch(&mut self, host: u128, micros: i64, count: usize) -> Vec<(HintId, T)>
    where
        T: Clone,
    {
        let Some(queue) = self.queues.get_mut(&host) else {
            return Vec::new();
        };
        queue.expire(micros);
        let hints = queue.hints.iter().take(count);
        let hints = hints.map(|hint| (hint.id, hint.mutation.clone())).collect();
        self.forget_if_empty(host);
        hints
    }

    /// Forgets hints that their node has confirmed.
    pub fn remove(&mut self, host: u128, ids: &[HintId]) {
        if let Some(queue) = self.queues.get_mut(&host) {
            ids.iter().for_each(|id| queue.remove(*id));
            self.forget_if_empty(host);
        }
    }

    /// Forgets all hints of a node that won't come back.
    pub fn forget(&mut self, host: u128) {
        self.queues.remove(&host);
    }

    /// Drops what has expired, of all nodes; how many that were.
    pub fn expire(&mut self, micros: i64) -> usize {
        let dropped = self.queues.values_mut().map(|queue| queue.expire(micros));
        let dropped = dropped.sum();
        self.queues.retain(|_, queue| !queue.hints.is_empty());
        dropped
    }

    /// The nodes that hints are kept for.
    pub fn hosts(&self) -> impl Iterator<Item = u128> {
        self.queues.keys().copied()
    }

    /// How many hints are kept for a node.
    #[must_use]
    pub fn count(&self, host: u128) -> usize {
        self.queues.get(&host).map_or(0, |queue| queue.hints.len())
    }

    /// The sum of their sizes.
    #[must_use]
    pub fn bytes(&self, host: u128) -> u64 {
        self.queues.get(&host).map_or(0, |queue| queue.bytes)
    }

    fn forget_if_empty(&mut self, host: u128) {
        if self.count(host) == 0 {
            self.queues.remove(&host);
        }
    }
}

impl<T> Queue<T> {
    fn new() -> Queue<T> {
        Queue {
            hints: VecDeque::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, hint: Hint<T>) {
        self.bytes += u64::from(hint.size);
        self.hints.push_back(hint);
    }

    fn remove(&mut self, id: HintId) {
        // What is removed was replayed, and so is near the front.
        if let Ok(index) = self.hints.binary_search_by_key(&id, |hint| hint.id)
            && let Some(hint) = self.hints.remove(index)
        {
            self.bytes -= u64::from(hint.size);
        }
    }

    fn expire(&mut self, micros: i64) -> usize {
        let before = self.hints.len();
        // Tables differ in their grace periods: those that expire may stand anywhere.
        self.hints.retain(|hint| hint.expires > micros);
        self.bytes = self.hints.iter().map(|hint| u64::from(hint.size)).sum();
        before - self.hints.len()
    }
}

fn in_micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
