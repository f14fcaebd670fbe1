//! [`MaybeTls`]: a driver, and TLS beneath it if there is any.

use crate::error::Error;
use crate::layer::Layer;
use crate::negotiated::Negotiated;
use crate::outgoing::Outgoing;
use bytes::{Buf, BytesMut};
use helenus_core::{Pumped, Turn};
use std::ops::{Deref, DerefMut};
use std::task::{Poll, Waker};
use std::time::Instant;

/// What a driver hears of the layer below it.
pub trait Driver: Pumped {
    /// The handshake is over; from now on there is something to read. `None`: on a port where TLS is optional, the
    /// client speaks without.
    fn handle_handshake(&mut self, now: Instant, negotiated: Option<Negotiated>);

    /// TLS failed, in the handshake or later. The driver is dropped soon.
    fn handle_failure(&mut self, error: &Error);

    /// So many bytes that were taken from the driver are encrypted, but the socket hasn't taken them yet. Told
    /// before each turn.
    fn handle_unsent(&mut self, bytes: usize);
}

/// A driver to be pumped, with TLS beneath it or without.
///
/// It holds at most 80 KiB of ciphertext on its way out, and what has come of one unfinished record or message of the
/// handshake; nothing of either while it is idle.
#[derive(Debug)]
pub struct MaybeTls<D> {
    pub(crate) driver: D,
    pub(crate) layer: Option<Box<Layer>>,
}

impl<D> MaybeTls<D> {
    /// A driver whose bytes go to the socket as they are.
    pub fn plain(driver: D) -> Self {
        MaybeTls {
            driver,
            layer: None,
        }
    }
}

/// The driver, for what isn't pumping.
impl<D> Deref for MaybeTls<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.driver
    }
}

impl<D> DerefMut for MaybeTls<D> {
    fn deref_mut(&mut self) -> &mut D {
        &mut self.driver
    }
}

impl<D: Driver> MaybeTls<D> {
    /// A driver above `layer`, or one that hears why there is none.
    pub(crate) fn layered(mut driver: D, layer: Result<Layer, rustls::Error>) -> Self {
        let layer = layer.unwrap_or_else(|error| {
            driver.handle_failure(&error.into());
            Layer::closed()
        });
        MaybeTls {
            driver,
            layer: Some(Box::new(layer)),
        }
    }

    fn drop_layer_if_plain(&mut self) {
        self.layer.take_if(|layer| layer.is_bypassed());
    }
}

impl<D: Driver> Pumped for MaybeTls<D> {
    #[inline]
    fn turn(&mut self, now: Instant) -> Turn {
        match &mut self.layer {
            None => self.driver.turn(now),
            Some(layer) => layer.turn(&mut self.driver, now),
        }
    }

    #[inline]
    fn read<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let Some(layer) = &mut self.layer else {
            return self.driver.read(now, read);
        };
        let outcome = layer.read(&mut self.driver, now, read);
        self.drop_layer_if_plain();
        outcome
    }

    #[inline]
    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let Some(layer) = &mut self.layer else {
            return self.driver.read_slice(now, read);
        };
        let outcome = layer.read_slice(&mut self.driver, now, read);
        self.drop_layer_if_plain();
        outcome
    }

    #[inline]
    fn poll_transmit(&mut self) -> Option<impl Buf> {
        match &mut self.layer {
            None => self.driver.poll_transmit().map(Transmit::Plain),
            Some(layer) => layer.poll_transmit(&mut self.driver).map(Transmit::Sealed),
        }
    }

    #[inline]
    fn wants_read(&mut self) -> bool {
        match &mut self.layer {
            None => self.driver.wants_read(),
            Some(layer) => layer.wants_read(&mut self.driver),
        }
    }

    #[inline]
    fn park(&mut self, waker: &Waker) -> bool {
        match &mut self.layer {
            None => self.driver.park(waker),
            Some(layer) => layer.park(&mut self.driver, waker),
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        match &self.layer {
            None => self.driver.poll_timeout(),
            Some(layer) => layer.poll_timeout(&self.driver),
        }
    }
}

/// Bytes for the socket.
enum Transmit<'a, B> {
    Plain(B),
    Sealed(&'a mut Outgoing),
}

impl<B: Buf> Buf for Transmit<'_, B> {
    #[inline]
    fn remaining(&self) -> usize {
        match self {
            Transmit::Plain(bytes) => bytes.remaining(),
            Transmit::Sealed(bytes) => bytes.remaining(),
        }
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        match self {
            Transmit::Plain(bytes) => bytes.chunk(),
            Transmit::Sealed(bytes) => bytes.chunk(),
        }
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        match self {
            Transmit::Plain(bytes) => bytes.advance(count),
            Transmit::Sealed(bytes) => bytes.advance(count),
        }
    }
}

#[cfg(test)]
mod tests;
