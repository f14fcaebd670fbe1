//! [`DeadlineQueue`]: many deadlines, the earliest first.

use std::time::Instant;

/// Deadlines by small keys, one a key: a binary heap that knows where each key stands, so that a
/// deadline that is met is taken out at once and the queue never holds more than there are.
///
/// Insertion and removal are O(log n), and insertion of the latest deadline, which is the rule, O(1).
#[derive(Debug, Default)]
pub(crate) struct DeadlineQueue {
    heap: Vec<(Instant, u16)>,
    /// Where each key stands in the heap.
    places: Vec<u16>,
}

const NOWHERE: u16 = u16::MAX;

impl DeadlineQueue {
    pub(crate) const fn new() -> DeadlineQueue {
        DeadlineQueue {
            heap: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The earliest deadline, and whose it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, u16)> {
        self.heap.first().copied()
    }

    /// Adds a deadline; an earlier one of the same key goes.
    #[inline]
    pub(crate) fn insert(&mut self, key: u16, at: Instant) {
        self.remove(key);
        let index = usize::from(key);
        if self.places.len() <= index {
            self.places.resize(index + 1, NOWHERE);
        }
        self.heap.push((at, key));
        self.rise(self.heap.len() - 1);
    }

    /// Takes a key's deadline out, if it has one.
    #[inline]
    pub(crate) fn remove(&mut self, key: u16) {
        let Some(place) = self.places.get_mut(usize::from(key)) else {
            return;
        };
        let hole = usize::from(std::mem::replace(place, NOWHERE));
        if hole >= self.heap.len() {
            return;
        }
        self.heap.swap_remove(hole);
        if hole < self.heap.len() {
            let hole = self.rise(hole);
            self.sink(hole);
        }
    }

    /// Moves an entry up to where it belongs, and says where that is.
    fn rise(&mut self, mut index: usize) -> usize {
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.at(parent) <= self.at(index) {
                break;
            }
            self.swap(parent, index);
            index = parent;
        }
        self.settle(index);
        index
    }

    fn sink(&mut self, mut index: usize) {
        loop {
            let left = 2 * index + 1;
            let Some(at) = self.at(left) else { break };
            let right = self.at(left + 1).filter(|right| *right < at);
            let child = if right.is_some() { left + 1 } else { left };
            if self.at(index) <= self.at(child) {
                break;
            }
            self.swap(index, child);
            index = child;
        }
        self.settle(index);
    }

    fn at(&self, index: usize) -> Option<Instant> {
        self.heap.get(index).map(|(at, _)| *at)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.settle(a);
        self.settle(b);
    }

    /// Remembers where an entry stands.
    fn settle(&mut self, index: usize) {
        if let Some((_, key)) = self.heap.get(index)
            && let Some(place) = self.places.get_mut(usize::from(*key))
        {
            *place = index as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_earliest_deadline_comes_first_whatever_was_removed() {
        let start = Instant::now();
        let mut queue = DeadlineQueue::new();
        let mut sorted = Vec::new();
        let mut state = 7_u64;
        for round in 0..2000_u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let key = (state >> 40) as u16 % 300;
            let at = start + Duration::from_millis(state >> 50);
            sorted.retain(|(_, known)| *known != key);
            if round % 3 == 0 {
                queue.remove(key);
            } else {
                queue.insert(key, at);
                sorted.push((at, key));
            }
            let earliest = sorted.iter().map(|(at, _)| *at).min();
            assert_eq!(queue.first().map(|(at, _)| at), earliest);
            assert_eq!(queue.heap.len(), sorted.len());
        }
        while let Some((at, key)) = queue.first() {
            assert_eq!(sorted.iter().map(|(at, _)| *at).min(), Some(at));
            sorted.retain(|(_, known)| *known != key);
            queue.remove(key);
        }
        assert!(sorted.is_empty());
    }
}
