//! Virtual time: what happens next, and when. Nothing waits; the clock jumps from event to event.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// Events in the order of their times, and of equal times in the order in which they were pushed.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Reverse<Due<E>>>,
    now: Duration,
    pushed: u64,
}

#[derive(Debug)]
struct Due<E> {
    at: Duration,
    order: u64,
    event: E,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            now: Duration::ZERO,
            pushed: 0,
        }
    }
}

impl<E> Queue<E> {
    /// The time since the run began: that of the event that was popped last.
    #[must_use]
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Has an event happen in so long.
    pub(crate) fn push(&mut self, after: Duration, event: E) {
        self.pushed += 1;
        self.heap.push(Reverse(Due {
            at: self.now + after,
            order: self.pushed,
            event,
        }));
    }

    /// Goes on to the next event.
    pub(crate) fn pop(&mut self) -> Option<E> {
        let Reverse(due) = self.heap.pop()?;
        self.now = due.at;
        Some(due.event)
    }
}

impl<E> Ord for Due<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<E> PartialOrd for Due<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Due<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Due<E> {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Queue;

    #[test]
    fn events_come_in_the_order_of_time_then_of_pushing() {
        let mut queue = Queue::default();
        queue.push(Duration::from_millis(2), "c");
        queue.push(Duration::from_millis(1), "a");
        queue.push(Duration::from_millis(1), "b");
        assert_eq!(queue.pop(), Some("a"));
        assert_eq!(queue.now(), Duration::from_millis(1));
        queue.push(Duration::from_micros(500), "between");
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(rest, ["b", "between", "c"]);
        assert_eq!(queue.now(), Duration::from_millis(2));
    }
}
