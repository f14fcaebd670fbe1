//! What a machine is going to say, in order.

use smallvec::SmallVec;

/// A queue of few small items that is emptied before it is filled again; up to six take no allocation.
#[derive(Debug)]
pub(crate) struct Steps<T> {
    items: SmallVec<[T; 6]>,
    next: usize,
}

impl<T: Copy> Steps<T> {
    pub(crate) fn new() -> Steps<T> {
        Steps {
            items: SmallVec::new(),
            next: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.items.get(self.next).copied();
        if item.is_some() {
            self.next += 1;
        } else {
            self.clear();
        }
        item
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.next = 0;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.items.len()
    }
}
