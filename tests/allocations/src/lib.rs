//! An allocator that counts: how often memory was asked for, how much is live, and how much was at most.
//!
//! It becomes the allocator of every program that uses this crate. Each thread counts for itself, so that
//! tests may run beside each other; memory that one thread frees for another is missed by both.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether somebody asked: until then counting costs next to nothing, so that a program whose instructions
/// are counted needs no other allocator.
static ENABLED: AtomicBool = AtomicBool::new(false);

struct Counters {
    count: Cell<u64>,
    live: Cell<i64>,
    peak: Cell<i64>,
}

thread_local! {
    // A constant without a destructor: reading it allocates nothing, even in a thread that ends.
    static COUNTERS: Counters = const {
        Counters {
            count: Cell::new(0),
            live: Cell::new(0),
            peak: Cell::new(0),
        }
    };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[inline]
fn grow(bytes: usize) {
    if ENABLED.load(Relaxed) {
        COUNTERS.with(|counters| {
            let live = counters.live.get() + bytes as i64;
            counters.live.set(live);
            counters.peak.set(counters.peak.get().max(live));
            counters.count.set(counters.count.get() + 1);
        });
    }
}

#[inline]
fn shrink(bytes: usize) {
    if ENABLED.load(Relaxed) {
        COUNTERS.with(|counters| counters.live.set(counters.live.get() - bytes as i64));
    }
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

/// How often this thread has asked for memory since a thread first asked how often.
#[must_use]
pub fn count() -> u64 {
    ENABLED.store(true, Relaxed);
    COUNTERS.with(|counters| counters.count.get())
}

/// The most bytes that this thread had in use while `work` ran, above those in use before.
pub fn peak_of(work: impl FnOnce()) -> u64 {
    ENABLED.store(true, Relaxed);
    let before = COUNTERS.with(|counters| {
        counters.peak.set(counters.live.get());
        counters.live.get()
    });
    work();
    COUNTERS
        .with(|counters| counters.peak.get() - before)
        .max(0) as u64
}
