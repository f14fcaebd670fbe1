//! Bounded, seeded mutation: the same seed makes the same inputs.

use fastrand::Rng;

/// Inputs don't grow beyond this.
pub const LONGEST: usize = 4096;

/// Numbers at which parsers go wrong, in the widths the protocol has.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x1_FFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    u64::MAX,
];

/// Makes an input out of `seed`, with pieces of `other`, and `words` that mean something to the target.
pub fn mutate(rng: &mut Rng, seed: &[u8], other: &[u8], words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    // Mostly one change, seldom many.
    let changes = 1 + rng.u32(..).trailing_ones() as usize;
    for _ in 0..changes {
        change(rng, &mut bytes, other, words);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8], words: &[&[u8]]) {
    let at = rng.usize(..=bytes.len());
    match rng.u8(..10) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.u8(..8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.u8(..);
            }
        }
        2 => overwrite_number(rng, bytes, at),
        3 => bytes.truncate(at),
        4 => {
            let end = (at + 1 + rng.usize(..16)).min(bytes.len());
            bytes.drain(at..end.max(at));
        }
        5 => {
            let end = (at + 1 + rng.usize(..64)).min(bytes.len());
            let piece = bytes.get(at..end).unwrap_or_default().to_vec();
            insert(bytes, rng.usize(..=bytes.len()), &piece);
        }
        6 => {
            let start = rng.usize(..=other.len());
            let end = (start + rng.usize(..256)).min(other.len());
            insert(bytes, at, other.get(start..end).unwrap_or_default());
        }
        7 => {
            let start = rng.usize(..=other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(other.get(start..).unwrap_or_default());
        }
        8 if !words.is_empty() => insert(bytes, at, words[rng.usize(..words.len())]),
        _ => {
            let random: Vec<u8> = (0..1 + rng.usize(..8)).map(|_| rng.u8(..)).collect();
            insert(bytes, at, &random);
        }
    }
}

/// Puts one of the [`EDGES`], or a neighbour, over one to eight bytes.
fn overwrite_number(rng: &mut Rng, bytes: &mut [u8], at: usize) {
    let edge = EDGES[rng.usize(..EDGES.len())].wrapping_add(u64::from(rng.u8(..3)).wrapping_sub(1));
    let width = [1, 2, 4, 8][rng.usize(..4)];
    let number = edge.to_be_bytes();
    for (byte, new) in bytes.iter_mut().skip(at).zip(&number[8 - width..]) {
        *byte = *new;
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, piece.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let make = || {
            let mut rng = Rng::with_seed(7);
            (0..100)
                .map(|_| mutate(&mut rng, b"SELECT v FROM t", b"INSERT", &[b"WHERE"]))
                .collect::<Vec<_>>()
        };
        let inputs = make();
        assert_eq!(inputs, make());
        assert!(inputs.iter().any(|input| input.len() > 15));
        assert!(inputs.iter().any(|input| input.len() < 15));
    }

    #[test]
    fn inputs_stay_below_their_bound() {
        let mut rng = Rng::with_seed(1);
        let long = vec![0; LONGEST];
        for _ in 0..1000 {
            assert!(mutate(&mut rng, &long, &long, &[]).len() <= LONGEST);
        }
    }
}
