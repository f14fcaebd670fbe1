//! What a counter's cell holds: what each node has counted. Answers to Cassandra's `CounterContext`.
//!
//! A value is a list of shares, each of 32 bytes: the node's identity, its clock, its count, big-endian, ascending by
//! identity. Of two shares of one node the one with the greater clock counts, so that replicas may merge them in any order and
//! as often as they like. A sum of 8 bytes may stand behind them: what was added here without a node's name on it. Sums add
//! up, and so are for a node by itself: what is replicated must have none.

use bytes::{Bytes, BytesMut};

use super::{Cell, ColumnData, Row};

/// What one node has counted of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    node: u128,
    /// Greater with each change.
    clock: i64,
    count: i64,
}

impl Share {
    const BYTES: usize = 32;

    fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let whole = |range: std::ops::Range<usize>| {
            let bytes = bytes.get(range).unwrap_or_default();
            bytes
                .iter()
                .fold(0_u128, |value, byte| value << 8 | u128::from(*byte))
        };
        Self {
            node: whole(0..16),
            clock: (whole(16..24) as u64).cast_signed(),
            count: (whole(24..32) as u64).cast_signed(),
        }
    }

    /// The share of a node in a value; one that has counted nothing if there is none.
    pub(super) fn of(node: u128, value: &[u8]) -> Self {
        let nothing = Self {
            node,
            clock: 0,
            count: 0,
        };
        let (shares, _) = parts(value);
        let own = shares.iter().map(Self::read).filter(|own| own.node == node);
        own.max_by_key(|own| own.rank()).unwrap_or(nothing)
    }

    /// The share after a change at `timestamp`. Its clock is that of the change, unless it was ahead of that already.
    pub(super) fn add(self, delta: i64, timestamp: i64) -> Self {
        Self {
            node: self.node,
            clock: timestamp.max(self.clock.saturating_add(1)),
            count: self.count.wrapping_add(delta),
        }
    }

    /// The value that holds this share alone.
    pub(super) fn to_value(self) -> Bytes {
        let mut out = BytesMut::with_capacity(Self::BYTES);
        self.put(&mut out);
        out.freeze()
    }

    fn put(self, out: &mut BytesMut) {
        out.extend_from_slice(&self.node.to_be_bytes());
        out.extend_from_slice(&self.clock.to_be_bytes());
        out.extend_from_slice(&self.count.to_be_bytes());
    }

    /// Of two of one node the greater stands.
    fn rank(self) -> (i64, i64) {
        (self.clock, self.count)
    }
}

/// The shares of a value, and the sum behind them. Of bytes that are no such value nothing.
fn parts(value: &[u8]) -> (&[[u8; Share::BYTES]], Option<i64>) {
    let (shares, rest) = value.as_chunks();
    match (rest, <[u8; 8]>::try_from(rest)) {
        ([], _) => (shares, None),
        (_, Ok(sum)) => (shares, Some(i64::from_be_bytes(sum))),
        _ => (&[], None),
    }
}

/// The sum in a value without shares: a change that no node has its name on, or what such changes came to.
pub(super) fn plain(value: &[u8]) -> Option<i64> {
    <[u8; 8]>::try_from(value).ok().map(i64::from_be_bytes)
}

/// What a counter with this value stands at.
pub(super) fn total(value: &[u8]) -> i64 {
    let (shares, sum) = parts(value);
    shares
        .iter()
        .map(|share| Share::read(share).count)
        .fold(sum.unwrap_or(0), i64::wrapping_add)
}

/// Both values in one: of each node's shares the newer, and the sum of the sums.
pub(super) fn merge(a: &[u8], b: &[u8]) -> Bytes {
    let ((a, sum), (b, other)) = (parts(a), parts(b));
    let mut shares: Vec<Share> = Vec::with_capacity(a.len() + b.len());
    for share in a.iter().chain(b).map(Share::read) {
        match shares.binary_search_by_key(&share.node, |known| known.node) {
            Err(index) => shares.insert(index, share),
            Ok(index) => {
                if let Some(known) = shares.get_mut(index)
                    && known.rank() < share.rank()
                {
                    *known = share;
                }
            }
        }
    }
    let mut out = BytesMut::with_capacity(shares.len() * Share::BYTES + 8);
    shares.into_iter().for_each(|share| share.put(&mut out));
    if sum.is_some() || other.is_some() {
        let sum = sum.unwrap_or(0).wrapping_add(other.unwrap_or(0));
        out.extend_from_slice(&sum.to_be_bytes());
    }
    out.freeze()
}

impl Row {
    /// Whether some counter in it isn't a plain sum.
    pub(crate) fn has_shares(&self) -> bool {
        let has = |cell: &Cell| cell.value.as_ref().is_some_and(|value| value.len() != 8);
        self.columns.iter().any(|(_, data)| match data {
            ColumnData::Simple(cell) => has(cell),
            ColumnData::Complex { .. } => false,
        })
    }

    /// Makes each counter in it what it stands at.
    pub(crate) fn total_counters(&mut self) {
        for (_, data) in &mut self.columns {
            if let ColumnData::Simple(cell) = data
                && let Some(value) = cell.value.as_mut().filter(|value| value.len() != 8)
            {
                *value = Bytes::copy_from_slice(&total(value).to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(node: u128, clock: i64, count: i64) -> Share {
        Share { node, clock, count }
    }

    fn value(shares: &[Share], sum: Option<i64>) -> Bytes {
        let mut out = BytesMut::new();
        shares.iter().for_each(|share| share.put(&mut out));
        if let Some(sum) = sum {
            out.extend_from_slice(&sum.to_be_bytes());
        }
        out.freeze()
    }

    #[test]
    fn of_each_nodes_shares_the_one_with_the_greater_clock_counts() {
        let a = value(&[share(1, 5, 10), share(3, 1, 7)], None);
        let b = value(&[share(1, 4, 99), share(2, 9, -3), share(3, 2, 8)], None);
        let both = value(&[share(1, 5, 10), share(2, 9, -3), share(3, 2, 8)], None);
        assert_eq!(merge(&a, &b), both);
        assert_eq!(merge(&b, &a), both);
        assert_eq!(merge(&both, &a), both);
        assert_eq!(total(&both), 15);
    }

    #[test]
    fn sums_add_up_beside_the_shares() {
        let a = value(&[share(1, 5, 10)], Some(2));
        let merged = merge(&a, &value(&[], Some(3)));
        assert_eq!(merged, value(&[share(1, 5, 10)], Some(5)));
        assert_eq!(total(&merged), 15);
        assert_eq!(total(&value(&[share(1, 1, i64::MAX)], Some(1))), i64::MIN);
    }

    #[test]
    fn bytes_that_are_no_counter_count_as_nothing() {
        for bytes in [&b""[..], b"x", &[9; 31], &[9; 33], &[9; 41]] {
            assert_eq!(total(bytes), 0, "{bytes:?}");
        }
        assert_eq!(merge(&[9; 33], &value(&[], Some(3))), value(&[], Some(3)));
    }

    #[test]
    fn a_clock_goes_forward_though_time_goes_back() {
        let own = Share::of(7, &value(&[share(7, 100, 5)], None));
        assert_eq!(own.add(2, 90), share(7, 101, 7));
        assert_eq!(own.add(2, 200), share(7, 200, 7));
        assert_eq!(Share::of(8, b"").add(-1, 3), share(8, 3, -1));
    }
}
