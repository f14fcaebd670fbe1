//! Which levels meet: whether what was written at one must be seen by a read at another.

use helenus_core::Consistency;

/// How a keyspace is replicated: so many data centres with so many replicas each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replicas {
    /// Data centres; one or two.
    pub(crate) centres: usize,
    /// Replicas in each.
    pub(crate) each: usize,
}

/// A level as it was asked for from a data centre.
pub(crate) type Asked = (Consistency, usize);

impl Replicas {
    /// Whether at least one replica takes part in both.
    #[must_use]
    pub(crate) fn meet(self, one: Asked, other: Asked) -> bool {
        let total = |asked| self.total(asked);
        let within = |asked, centre| self.within(asked, centre);
        total(one) + total(other) > self.centres * self.each
            || (0..self.centres)
                .any(|centre| within(one, centre) + within(other, centre) > self.each)
    }

    /// How many replicas take part at least.
    fn total(self, asked: Asked) -> usize {
        match asked.0 {
            Consistency::ANY => 0,
            Consistency::ONE | Consistency::LOCAL_ONE => 1,
            Consistency::TWO => 2,
            Consistency::THREE => 3,
            Consistency::QUORUM => self.centres * self.each / 2 + 1,
            _ => (0..self.centres)
                .map(|centre| self.within(asked, centre))
                .sum(),
        }
    }

    /// How many replicas of a data centre take part at least.
    fn within(self, (level, local): Asked, centre: usize) -> usize {
        match level {
            Consistency::ALL => self.each,
            Consistency::EACH_QUORUM => self.each / 2 + 1,
            Consistency::LOCAL_QUORUM if centre == local => self.each / 2 + 1,
            Consistency::LOCAL_ONE if centre == local => 1,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use helenus_core::Consistency as Level;

    use super::Replicas;

    #[test]
    fn two_quorums_meet_and_two_ones_dont() {
        let three = Replicas {
            centres: 1,
            each: 3,
        };
        assert!(three.meet((Level::QUORUM, 0), (Level::QUORUM, 0)));
        assert!(three.meet((Level::ONE, 0), (Level::ALL, 0)));
        assert!(three.meet((Level::TWO, 0), (Level::QUORUM, 0)));
        assert!(!three.meet((Level::ONE, 0), (Level::QUORUM, 0)));
        assert!(!three.meet((Level::ANY, 0), (Level::ALL, 0)));
    }

    #[test]
    fn quorums_of_data_centres_meet_within_theirs() {
        let both = Replicas {
            centres: 2,
            each: 3,
        };
        assert!(both.meet((Level::EACH_QUORUM, 0), (Level::LOCAL_QUORUM, 1)));
        assert!(both.meet((Level::EACH_QUORUM, 0), (Level::QUORUM, 1)));
        assert!(both.meet((Level::LOCAL_QUORUM, 1), (Level::LOCAL_QUORUM, 1)));
        assert!(!both.meet((Level::LOCAL_QUORUM, 0), (Level::LOCAL_QUORUM, 1)));
        assert!(!both.meet((Level::LOCAL_QUORUM, 0), (Level::QUORUM, 0)));
    }
}
