//! [`Pumped`]: the contract between a pump, which owns a socket, and all of a connection but its socket.
//! One pump a runtime so serves both ends.

use std::task::{Poll, Waker};
use std::time::Instant;

use bytes::{Buf, BytesMut};

/// What a pump does after a [`Pumped::turn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Write and read as far as it goes, then wait.
    Wait,
    /// Write, then let other connections have their turn, after I/O was polled.
    Yield,
    /// Everything is sent: shut down the write side of the socket, and go on.
    ShutdownWrite,
    /// Drop the socket.
    Close,
}

/// All of one connection but its socket.
///
/// The pump's loop: [`turn`](Pumped::turn), obeyed; write what
/// [`poll_transmit`](Pumped::poll_transmit) has, as far as the socket takes it; if
/// [`wants_read`](Pumped::wants_read), [`read`](Pumped::read) once; start over as long as bytes moved.
/// Then [`park`](Pumped::park), start over if it says no, and wait for the socket, the waker and
/// [`poll_timeout`](Pumped::poll_timeout). Reading so goes on while writing blocks.
pub trait Pumped {
    /// Does what can be done without new bytes: orders from outside, deadlines, messages that were waiting.
    fn turn(&mut self, now: Instant) -> Turn;

    /// Reads once with `read`, which appends to the buffer it is given and says how many bytes came
    /// (none: the peer's write side is closed), and handles the messages in it.
    fn read<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>>;

    /// [`Pumped::read`] for sockets that read into initialised bytes only: `read` fills a part of
    /// the slice, from its start. Costs a copy of what came.
    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>>;

    /// What is to be written next, as one contiguous piece; none when all is written. To be
    /// advanced by what the socket took, and never kept across a wait.
    fn poll_transmit(&mut self) -> Option<impl Buf>;

    /// Whether to read: no while limits are reached.
    fn wants_read(&mut self) -> bool;

    /// The pump is about to wait: leaves `waker` for what comes from elsewhere than the socket. False if
    /// there is something to do already.
    fn park(&mut self, waker: &Waker) -> bool;

    /// When [`Pumped::turn`] wants to be called, though nothing else happens.
    fn poll_timeout(&self) -> Option<Instant>;
}
