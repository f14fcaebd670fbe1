//! [`Cuts`]: bytes cut up as a network might.

use super::random::Random;

/// How bytes are cut on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cuts {
    /// Not at all.
    Whole,
    /// Into pieces of this length; zero counts as one.
    Every(usize),
    /// Into pieces of 1 to `longest` bytes, the same ones for the same seed.
    Random {
        /// Decides the lengths.
        seed: u64,
        /// The longest piece; zero counts as one.
        longest: usize,
    },
}

impl Cuts {
    /// One byte at a time.
    pub const BYTES: Cuts = Cuts::Every(1);

    /// The pieces of `bytes`; none of them is empty.
    #[must_use]
    pub const fn pieces(self, bytes: &[u8]) -> Pieces<'_> {
        let seed = match self {
            Cuts::Random { seed, .. } => seed,
            _ => 0,
        };
        Pieces {
            cuts: self,
            rest: bytes,
            random: Random::new(seed),
        }
    }
}

/// The pieces of cut bytes.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    cuts: Cuts,
    rest: &'a [u8],
    random: Random,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let length = match self.cuts {
            Cuts::Whole => self.rest.len(),
            Cuts::Every(length) => length.max(1),
            Cuts::Random { longest, .. } => 1 + self.random.below(longest),
        };
        let (piece, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        let random = Cuts::Random {
            seed: 42,
            longest: 10,
        };
        for cuts in [
            Cuts::Whole,
            Cuts::BYTES,
            Cuts::Every(0),
            Cuts::Every(100),
            random,
        ] {
            let pieces: Vec<&[u8]> = cuts.pieces(&bytes).collect();
            assert_eq!(pieces.concat(), bytes);
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
        assert!(random.pieces(&bytes).all(|piece| piece.len() <= 10));
        assert_eq!(Cuts::BYTES.pieces(&bytes).count(), 256);
    }
}
