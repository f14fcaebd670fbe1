//! What goes wrong in a run: how likely each fault is, decided by the seed, and how often each happened.

use std::ops::AddAssign;

use crate::random::Random;

/// How often each fault was injected.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// Messages that never arrived: lost by themselves or at a partition.
    pub dropped: u64,
    /// Messages that took far longer than others, so that later ones overtook them.
    pub delayed: u64,
    /// Messages that arrived twice.
    pub duplicated: u64,
    /// Messages that arrived as garbage.
    pub garbled: u64,
    /// Groups of nodes that were cut off from the others.
    pub partitions: u64,
    /// Nodes that stopped, with what they hadn't synced and every request that they coordinated.
    pub crashes: u64,
    /// Requests that a node had taken but not synced when it crashed.
    pub unsynced: u64,
    /// Clocks that jumped, forwards or back.
    pub jumps: u64,
    /// Nodes that stood still for a while, without anybody being told.
    pub pauses: u64,
    /// Hints refused because the store was full.
    pub refused_hints: u64,
}

impl Faults {
    /// Each count with its name, in the order of the fields.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 10] {
        [
            ("dropped", self.dropped),
            ("delayed", self.delayed),
            ("duplicated", self.duplicated),
            ("garbled", self.garbled),
            ("partitions", self.partitions),
            ("crashes", self.crashes),
            ("unsynced", self.unsynced),
            ("jumps", self.jumps),
            ("pauses", self.pauses),
            ("refused_hints", self.refused_hints),
        ]
    }

    /// All faults together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.named().iter().map(|(_, count)| count).sum()
    }
}

impl AddAssign for Faults {
    fn add_assign(&mut self, other: Self) {
        self.dropped += other.dropped;
        self.delayed += other.delayed;
        self.duplicated += other.duplicated;
        self.garbled += other.garbled;
        self.partitions += other.partitions;
        self.crashes += other.crashes;
        self.unsynced += other.unsynced;
        self.jumps += other.jumps;
        self.pauses += other.pauses;
        self.refused_hints += other.refused_hints;
    }
}

/// How likely each fault is in a run; of ten thousand messages, or of ten thousand strokes of 10 ms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weather {
    /// Of messages.
    pub(crate) drop: u32,
    /// Of messages.
    pub(crate) delay: u32,
    /// Of messages.
    pub(crate) duplicate: u32,
    /// Of messages.
    pub(crate) garble: u32,
    /// Of strokes.
    pub(crate) partition: u32,
    /// Of strokes.
    pub(crate) crash: u32,
    /// Of strokes.
    pub(crate) jump: u32,
    /// Of strokes.
    pub(crate) pause: u32,
}

impl Weather {
    /// Each fault is absent, rare or frequent, whatever the others are: faults hide each other's consequences.
    pub(crate) fn of(random: &mut Random) -> Self {
        let mut level = |rare, frequent| match random.below(3) {
            0 => 0,
            1 => rare,
            _ => frequent,
        };
        Self {
            drop: level(50, 800),
            delay: level(100, 1500),
            duplicate: level(100, 2000),
            garble: level(20, 200),
            partition: level(100, 800),
            crash: level(100, 800),
            jump: level(100, 600),
            pause: level(50, 400),
        }
    }
}
