//! [`Transmit`]: the bytes to send, as a `Buf`.

use bytes::Buf;

use super::client::ClientConnection;
use super::exchange::Exchange;

/// The bytes to send, in one piece. Advance it by what was written: that sets free what the messages
/// within it held.
#[derive(Debug)]
#[must_use = "bytes that aren't sent leave the peer waiting"]
pub struct Transmit<'a>(End<'a>);

/// Whose bytes they are.
#[derive(Debug)]
enum End<'a> {
    Server(&'a mut Exchange),
    Client(&'a mut ClientConnection),
}

impl<'a> Transmit<'a> {
    pub(crate) const fn from_server(exchange: &'a mut Exchange) -> Transmit<'a> {
        Transmit(End::Server(exchange))
    }

    pub(crate) const fn from_client(connection: &'a mut ClientConnection) -> Transmit<'a> {
        Transmit(End::Client(connection))
    }
}

impl Buf for Transmit<'_> {
    #[inline]
    fn remaining(&self) -> usize {
        self.chunk().len()
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        match &self.0 {
            End::Server(exchange) => exchange.outbound.sendable(),
            End::Client(connection) => connection.outbound.sendable(),
        }
    }

    /// More than there is counts as all of it.
    #[inline]
    fn advance(&mut self, count: usize) {
        let count = count.min(self.remaining());
        match &mut self.0 {
            End::Server(exchange) => exchange.advance(count),
            End::Client(connection) => connection.advance(count),
        }
    }
}
