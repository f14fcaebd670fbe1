//! [`Outgoing`]: ciphertext on its way to the socket.

use bytes::Buf;

/// Ciphertext that the socket hasn't taken yet, in one piece. It has no memory while it is empty and
/// [released](Outgoing::release).
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Set to something all over, since rustls writes into nothing less.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Outgoing {
    /// Has `write` write behind what is there, and say how much it was. It is given `length` bytes; as an error it
    /// may ask for more.
    pub(crate) fn write(
        &mut self,
        mut length: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, usize>,
    ) {
        loop {
            match write(self.room(length)) {
                Ok(written) => return self.filled(written),
                Err(needed) if needed > length => length = needed,
                Err(_) => return,
            }
        }
    }

    /// `length` bytes behind what is there, to be filled.
    fn room(&mut self, length: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < length {
            let held = self.end - self.start;
            if self.bytes.len() < held + length {
                let mut larger = vec![0; held + length];
                larger[..held].copy_from_slice(self.chunk());
                self.bytes = larger;
            } else {
                self.bytes.copy_within(self.start..self.end, 0);
            }
            (self.start, self.end) = (0, held);
        }
        let end = self.end;
        &mut self.bytes[end..end + length]
    }

    /// The first `length` bytes of the room are to be sent.
    fn filled(&mut self, length: usize) {
        self.end = (self.end + length).min(self.bytes.len());
    }

    /// Appends `bytes` as they are.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Gives its memory back if nothing is in it.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            *self = Outgoing::default();
        }
    }
}

impl Buf for Outgoing {
    fn remaining(&self) -> usize {
        self.end - self.start
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    fn advance(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_comes_out_in_order_however_it_is_taken() {
        let mut outgoing = Outgoing::default();
        let (mut came, mut next) = (Vec::new(), 0_u8);
        for taken in [0, 1, 7, 40, 3, 100, 2] {
            let piece: Vec<u8> = (0..16).map(|step| next.wrapping_add(step)).collect();
            next = next.wrapping_add(16);
            outgoing.put(&piece);
            let taken = taken.min(outgoing.remaining());
            came.extend_from_slice(&outgoing.chunk()[..taken]);
            outgoing.advance(taken);
        }
        came.extend_from_slice(outgoing.chunk());
        assert_eq!(came, (0..112).collect::<Vec<u8>>());
    }

    #[test]
    fn room_is_used_again_before_more_is_taken() {
        let mut outgoing = Outgoing::default();
        outgoing.put(&[1; 100]);
        outgoing.advance(60);
        outgoing.put(&[2; 60]);
        assert_eq!(outgoing.bytes.len(), 100);
        outgoing.advance(100);
        outgoing.release();
        assert_eq!(outgoing.bytes.capacity(), 0);
    }
}
