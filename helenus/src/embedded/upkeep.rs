//! Upkeep of storage that no request waits for: merging goes on when writes have stopped, large tables are freed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use helenus_engine::storage::Removed;

use super::delays::Delays;
use super::shards::Shards;

/// When merging goes on by itself. While writes come, they carry it along.
const PAUSE: Duration = Duration::from_secs(1);

/// Fragments that are merged under one lock of a shard.
const STEP: usize = 1024;

/// Bytes of heap that are freed where a request is answered; more are freed on a thread of their own.
const FREED_AT_ONCE: usize = 1 << 20;

impl Shards {
    /// Has merging go on in a while: once, however many writes ask for it meanwhile.
    pub(super) fn merge_later(self: &Arc<Self>, delays: &Delays, now_seconds: i64) {
        if self.merging.swap(true, Ordering::Relaxed) {
            return;
        }
        let shards = Arc::clone(self);
        delays.after(PAUSE, move || {
            let merged = Arc::clone(&shards);
            let thread = thread::Builder::new().name("merging".to_owned());
            let merge = move || {
                while merged.maintain(now_seconds, STEP) {}
                merged.merging.store(false, Ordering::Relaxed);
            };
            if thread.spawn(merge).is_err() {
                shards.merging.store(false, Ordering::Relaxed);
            }
        });
    }
}

/// Frees tables that were truncated or dropped, which nobody has to wait for.
pub(super) fn free(removed: Vec<Removed>) {
    if removed.iter().map(Removed::bytes).sum::<usize>() > FREED_AT_ONCE {
        // Without a thread they are dropped here.
        let _ = thread::Builder::new()
            .name("freeing".to_owned())
            .spawn(move || drop(removed));
    }
}
