//! An allocator that counts: how often memory was asked for, how much is live, and how much was at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static COUNT: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
    COUNT.fetch_add(1, Relaxed);
    let live = LIVE.fetch_add(bytes as u64, Relaxed) + bytes as u64;
    PEAK.fetch_max(live, Relaxed);
}

fn shrink(bytes: usize) {
    LIVE.fetch_sub(bytes as u64, Relaxed);
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

/// How often memory was asked for so far, by any thread.
#[must_use]
pub fn count() -> u64 {
    COUNT.load(Relaxed)
}

/// Bytes in use.
#[must_use]
pub fn live() -> u64 {
    LIVE.load(Relaxed)
}

/// The most bytes that were in use while `work` ran, above those in use before.
pub fn peak_of(work: impl FnOnce()) -> u64 {
    let before = live();
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed).saturating_sub(before)
}
