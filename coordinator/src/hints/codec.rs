//! Hints as bytes, for a restart: a version, then each node with its hints, numbers in big endian.

use std::fmt;

use super::{Hint, HintId, HintLimits, Hints, Queue};

const VERSION: u8 = 1;

/// What was to be read isn't what [`Hints::encode`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintsCorrupt;

impl fmt::Display for HintsCorrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these bytes aren't hints")
    }
}

impl std::error::Error for HintsCorrupt {}

impl<T> Hints<T> {
    /// Appends all hints; `encode` appends a mutation.
    pub fn encode(&self, out: &mut Vec<u8>, mut encode: impl FnMut(&T, &mut Vec<u8>)) {
        out.push(VERSION);
        for (host, queue) in &self.queues {
            for hint in &queue.hints {
                out.extend_from_slice(&host.to_be_bytes());
                out.extend_from_slice(&hint.written.to_be_bytes());
                out.extend_from_slice(&hint.expires.to_be_bytes());
                out.extend_from_slice(&hint.size.to_be_bytes());
                let length = out.len();
                out.extend_from_slice(&[0; 4]);
                encode(&hint.mutation, out);
                let written = u32::try_from(out.len() - length - 4).unwrap_or(u32::MAX);
                if let Some(place) = out.get_mut(length..length + 4) {
                    place.copy_from_slice(&written.to_be_bytes());
                }
            }
        }
    }

    /// Reads what [`Hints::encode`] wrote; `decode` reads a mutation. Limits apply to what comes later.
    ///
    /// # Errors
    /// [`HintsCorrupt`] if it is something else, or `decode` gives nothing.
    pub fn decode(
        bytes: &[u8],
        limits: HintLimits,
        mut decode: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Hints<T>, HintsCorrupt> {
        let mut hints = Hints::new(limits);
        let Some((&VERSION, mut rest)) = bytes.split_first() else {
            return Err(HintsCorrupt);
        };
        while !rest.is_empty() {
            let read = &mut rest;
            let host = u128::from_be_bytes(take(read)?);
            let written = i64::from_be_bytes(take(read)?);
            let expires = i64::from_be_bytes(take(read)?);
            let size = u32::from_be_bytes(take(read)?);
            let length = u32::from_be_bytes(take(read)?) as usize;
            let (mutation, after) = rest.split_at_checked(length).ok_or(HintsCorrupt)?;
            rest = after;
            let hint = Hint {
                id: HintId(hints.next),
                written,
                expires,
                size,
                mutation: decode(mutation).ok_or(HintsCorrupt)?,
            };
            hints.next += 1;
            hints
                .queues
                .entry(host)
                .or_insert_with(Queue::new)
                .push(hint);
        }
        Ok(hints)
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], HintsCorrupt> {
    let (first, rest) = bytes.split_first_chunk().ok_or(HintsCorrupt)?;
    *bytes = rest;
    Ok(*first)
}
