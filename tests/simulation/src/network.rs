//! The links between nodes: delay, loss, duplication, reordering, garbage, and cuts that heal.

use std::time::Duration;

use crate::faults::{Faults, Weather};
use crate::random::Random;

/// One arrival of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// How long it takes.
    pub(crate) after: Duration,
    /// Whether it arrives as garbage.
    pub(crate) garbled: bool,
}

/// All links. A message is judged when it is sent; one that is under way when its link is cut still arrives.
#[derive(Debug)]
pub(crate) struct Network {
    /// The side of the cut that each node is on; nodes of different sides don't hear each other.
    sides: Vec<u8>,
    weather: Weather,
    random: Random,
}

impl Network {
    /// Whole, among so many nodes.
    #[must_use]
    pub(crate) fn new(nodes: usize, weather: Weather, random: Random) -> Self {
        Self {
            sides: vec![0; nodes],
            weather,
            random,
        }
    }

    /// The arrivals of a message: none, one, or two.
    pub(crate) fn send(
        &mut self,
        from: usize,
        to: usize,
        faults: &mut Faults,
    ) -> [Option<Arrival>; 2] {
        if from == to {
            let after = Duration::from_micros(self.random.between(1, 20));
            return [
                Some(Arrival {
                    after,
                    garbled: false,
                }),
                None,
            ];
        }
        if self.sides[from] != self.sides[to] || self.random.chance(self.weather.drop) {
            faults.dropped += 1;
            return [None, None];
        }
        let first = self.arrival(faults);
        if !self.random.chance(self.weather.duplicate) {
            return [Some(first), None];
        }
        faults.duplicated += 1;
        [Some(first), Some(self.arrival(faults))]
    }

    fn arrival(&mut self, faults: &mut Faults) -> Arrival {
        let mut micros = self.random.between(100, 600);
        if self.random.chance(self.weather.delay) {
            faults.delayed += 1;
            // Up to far beyond every deadline.
            let most = *self.random.pick(&[3_000, 30_000, 400_000]).unwrap_or(&0);
            micros += self.random.below(most);
        }
        let garbled = self.random.chance(self.weather.garble);
        faults.garbled += u64::from(garbled);
        Arrival {
            after: Duration::from_micros(micros),
            garbled,
        }
    }

    /// Whether a message could pass at the moment.
    #[must_use]
    pub(crate) fn connects(&self, from: usize, to: usize) -> bool {
        self.sides[from] == self.sides[to]
    }

    /// Cuts some nodes off from the others; an earlier cut is healed.
    pub(crate) fn cut(&mut self, faults: &mut Faults) {
        for side in &mut self.sides {
            *side = self.random.below(2) as u8;
        }
        faults.partitions += 1;
    }

    /// Joins all nodes again.
    pub(crate) fn heal(&mut self) {
        self.sides.fill(0);
    }

    /// No further faults: what is sent from now on arrives, whole and once.
    pub(crate) fn calm(&mut self) {
        self.heal();
        self.weather.drop = 0;
        self.weather.delay = 0;
        self.weather.duplicate = 0;
        self.weather.garble = 0;
    }
}
