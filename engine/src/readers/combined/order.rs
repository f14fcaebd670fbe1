//! Which source is ahead of which: a sorted list that is mended where a head has changed.

use std::cmp::Ordering;

/// Sources by their heads; those whose heads tie, in the order of the sources.
#[derive(Debug)]
pub(super) struct Order(Vec<Entry>);

#[derive(Debug, Clone, Copy)]
struct Entry {
    source: usize,
    /// Whether its head and the next one's tie.
    ties: bool,
}

impl Order {
    /// So many sources, of which nothing is known yet.
    pub(super) fn of(count: usize) -> Self {
        let entry = |source| Entry {
            source,
            ties: false,
        };
        Self((0..count).map(entry).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<usize> {
        self.0.get(at).map(|entry| entry.source)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + Clone {
        self.0.iter().map(|entry| entry.source)
    }

    /// How many heads tie with the first, itself included.
    pub(super) fn ties(&self) -> usize {
        let next = self.0.iter().take_while(|entry| entry.ties);
        (next.count() + 1).min(self.0.len())
    }

    pub(super) fn remove(&mut self, at: usize) {
        if at < self.0.len() {
            self.0.remove(at);
        }
    }

    /// Moves the source at `at`, whose head has changed, to where it belongs among those behind it and before `end`,
    /// which are sorted. `compare` says how its head compares with another's. Looks at the next one first, then further
    /// and further: one that stays ahead costs one comparison.
    #[inline]
    pub(super) fn settle(&mut self, at: usize, end: usize, compare: impl Fn(usize) -> Ordering) {
        let Some([moved, others @ ..]) = self.0.get_mut(at..end) else {
            return;
        };
        let Some(next) = others.first() else {
            moved.ties = false;
            return;
        };
        let order = compare(next.source);
        if order.then(moved.source.cmp(&next.source)).is_lt() {
            moved.ties = order.is_eq();
            return;
        }
        let low = place_behind(moved, others, order, compare);
        if let Some(range) = self.0.get_mut(at..=at + low) {
            range.rotate_left(1);
        }
    }
}

/// How many of `others` come before `moved`, of which the first does; `order` is how the two compare. Tells both
/// neighbours whether they tie.
fn place_behind(
    moved: &mut Entry,
    others: &mut [Entry],
    order: Ordering,
    compare: impl Fn(usize) -> Ordering,
) -> usize {
    let source = moved.source;
    let (mut low, mut high) = (1, others.len());
    let (mut ties_before, mut ties_behind) = (order.is_eq(), false);
    let mut stride = 1;
    while low < high {
        let middle = low + (high - low) / 2;
        let probe = middle.min(low + stride - 1);
        let Some(other) = others.get(probe).map(|entry| entry.source) else {
            break;
        };
        let order = compare(other);
        if order.then(source.cmp(&other)).is_lt() {
            (high, ties_behind) = (probe, order.is_eq());
        } else {
            (low, ties_before) = (probe + 1, order.is_eq());
            stride *= 2;
        }
    }
    moved.ties = ties_behind;
    if let Some(before) = others.get_mut(low - 1) {
        before.ties = ties_before;
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_list_that_is_mended_is_sorted_and_knows_its_ties(
            mut heads in prop::collection::vec(0_u8..6, 1..12),
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4), 0..40),
        ) {
            let mut order = Order::of(heads.len());
            for at in (0..heads.len()).rev() {
                order.settle(at, heads.len(), |other| heads[at].cmp(&heads[other]));
            }
            for (index, step) in steps {
                // As many at the front as tie go on, the last of them first.
                let due = index.index(order.ties()) + 1;
                for at in (0..due).rev() {
                    let moved = order.get(at).unwrap();
                    heads[moved] += step;
                    order.settle(at, heads.len(), |other| heads[moved].cmp(&heads[other]));
                }
                let sorted: Vec<_> = order.iter().collect();
                prop_assert!(sorted.is_sorted_by_key(|&source| (heads[source], source)));
                for (pair, entry) in sorted.windows(2).zip(&order.0) {
                    prop_assert_eq!(entry.ties, heads[pair[0]] == heads[pair[1]]);
                }
            }
        }
    }
}
