//! [`Link`]: what becomes of bytes between the two ends of a [`Pair`](super::Pair).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::cuts::Cuts;

/// What becomes of bytes on their way. The default is a perfect network: at once, in one piece, unharmed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// From the client to the server.
    pub to_server: Path,
    /// From the server to the client.
    pub to_client: Path,
}

/// What becomes of bytes in one direction. Order is kept, as TCP does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Path {
    /// How long bytes are under way.
    pub latency: Duration,
    /// How they are cut.
    pub cuts: Cuts,
    /// After so many bytes the link is cut, in both directions: both ends see their input end.
    pub cut_at: Option<u64>,
    /// The byte at this position is combined with this mask by exclusive or.
    pub corrupt: Option<(u64, u8)>,
}

impl Default for Path {
    fn default() -> Path {
        Path {
            latency: Duration::ZERO,
            cuts: Cuts::Whole,
            cut_at: None,
            corrupt: None,
        }
    }
}

impl Path {
    /// This path, with bytes so long under way.
    #[must_use]
    pub const fn with_latency(mut self, latency: Duration) -> Path {
        self.latency = latency;
        self
    }

    /// This path, with bytes cut like this.
    #[must_use]
    pub const fn with_cuts(mut self, cuts: Cuts) -> Path {
        self.cuts = cuts;
        self
    }

    /// This path, with the link cut behind so many bytes.
    #[must_use]
    pub const fn cut_at(mut self, position: u64) -> Path {
        self.cut_at = Some(position);
        self
    }

    /// This path, with one byte damaged.
    #[must_use]
    pub const fn corrupt(mut self, position: u64, mask: u8) -> Path {
        self.corrupt = Some((position, mask));
        self
    }
}

/// What arrives at the end of a wire.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Bytes(Vec<u8>),
    End,
}

/// The bytes under way in one direction.
#[derive(Debug)]
pub(super) struct Wire {
    path: Path,
    /// Bytes that were put on it.
    position: u64,
    under_way: VecDeque<(Instant, Arrival)>,
    is_ended: bool,
}

impl Wire {
    pub(super) const fn new(path: Path) -> Wire {
        Wire {
            path,
            position: 0,
            under_way: VecDeque::new(),
            is_ended: false,
        }
    }

    /// How many bytes were put on it so far.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Puts bytes on the wire; false if that is where it is cut.
    pub(super) fn write(&mut self, now: Instant, bytes: &[u8]) -> bool {
        if self.is_ended {
            return true;
        }
        let room = self
            .path
            .cut_at
            .map_or(u64::MAX, |at| at.saturating_sub(self.position));
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let mut bytes = bytes.get(..room).unwrap_or(bytes).to_vec();
        if let Some((at, mask)) = self.path.corrupt
            && let Some(index) = at.checked_sub(self.position)
            && let Ok(index) = usize::try_from(index)
            && let Some(byte) = bytes.get_mut(index)
        {
            *byte ^= mask;
        }
        self.position += bytes.len() as u64;
        let at = now.checked_add(self.path.latency).unwrap_or(now);
        for piece in self.path.cuts.pieces(&bytes) {
            self.under_way
                .push_back((at, Arrival::Bytes(piece.to_vec())));
        }
        self.path.cut_at.is_none_or(|at| self.position < at)
    }

    /// Nothing is put on it any more.
    pub(super) fn end(&mut self, now: Instant) {
        if !self.is_ended {
            self.is_ended = true;
            let at = now.checked_add(self.path.latency).unwrap_or(now);
            self.under_way.push_back((at, Arrival::End));
        }
    }

    /// When the next piece arrives.
    pub(super) fn next_at(&self) -> Option<Instant> {
        Some(self.under_way.front()?.0)
    }

    /// The next piece, if it has arrived.
    pub(super) fn take(&mut self, now: Instant) -> Option<Arrival> {
        if self.next_at()? > now {
            return None;
        }
        Some(self.under_way.pop_front()?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_cut_late_and_damaged_until_the_wire_is_cut() {
        let second = Duration::from_secs(1);
        let now = Instant::now();
        let path = Path::default()
            .with_latency(second)
            .with_cuts(Cuts::Every(2))
            .corrupt(3, 0xFF)
            .cut_at(5);
        let mut wire = Wire::new(path);
        assert!(wire.write(now, &[1, 2, 3]));
        assert!(!wire.write(now, &[4, 5, 6]));
        wire.end(now);
        assert!(wire.write(now, &[7]), "dropped");
        assert_eq!(wire.take(now), None);
        let arrived: Vec<_> = std::iter::from_fn(|| wire.take(now + second)).collect();
        let pieces =
            [&[1, 2][..], &[3], &[4 ^ 0xFF, 5]].map(|piece| Arrival::Bytes(piece.to_vec()));
        assert_eq!(arrived[..3], pieces);
        assert_eq!(arrived[3..], [Arrival::End]);
        assert_eq!(wire.position(), 5);
    }
}
