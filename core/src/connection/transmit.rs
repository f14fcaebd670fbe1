//! [`Transmit`]: the bytes to send, as a `Buf`.

use bytes::Buf;

use super::exchange::Exchange;

/// The bytes to send, in one piece. Advance it by what was written: that sets free what the answers within
/// it held.
#[derive(Debug)]
#[must_use = "bytes that aren't sent leave the peer waiting"]
pub struct Transmit<'a> {
    exchange: &'a mut Exchange,
}

impl<'a> Transmit<'a> {
    pub(crate) const fn new(exchange: &'a mut Exchange) -> Transmit<'a> {
        Transmit { exchange }
    }
}

impl Buf for Transmit<'_> {
    #[inline]
    fn remaining(&self) -> usize {
        self.exchange.outbound.sendable().len()
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        self.exchange.outbound.sendable()
    }

    /// More than there is counts as all of it.
    #[inline]
    fn advance(&mut self, count: usize) {
        let count = count.min(self.remaining());
        self.exchange.advance(count);
    }
}
