//! An allocator that counts: how often memory was asked for, how much is live, and how much was at most.
//!
//! It becomes the allocator of every program that uses this crate. Each thread counts for itself, so that
//! tests may run beside each other; memory that one thread frees for another is missed by both.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constants without destructors: reading them allocates nothing, even in a thread that ends.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
    COUNT.set(COUNT.get() + 1);
    let live = LIVE.get() + bytes as i64;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

fn shrink(bytes: usize) {
    LIVE.set(LIVE.get() - bytes as i64);
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist while the bytes move.
        grow(size);
        shrink(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How often this thread has asked for memory.
#[must_use]
pub fn count() -> u64 {
    COUNT.get()
}

/// The most bytes that this thread had in use while `work` ran, above those in use before.
pub fn peak_of(work: impl FnOnce()) -> u64 {
    let before = LIVE.get();
    PEAK.set(before);
    work();
    (PEAK.get() - before).max(0) as u64
}
