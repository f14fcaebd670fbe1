//! Moves the bytes of one connection, at either end, between its socket and its driver, on a thread of its
//! own.

use crate::wake::{WakeHandle, Woken};
use bytes::Buf;
use helenus_core::{Pumped, Turn};
use rustix::event::PollFlags;
use rustix::fd::AsFd;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::task::Poll;
use std::time::Instant;

/// Pumps one connection to its end; an error is the socket's. `stream` doesn't block: it is tried, and only when it takes
/// and gives nothing does the thread wait.
pub(crate) fn pump(
    stream: &TcpStream,
    driver: &mut impl Pumped,
    wake: &WakeHandle,
) -> io::Result<()> {
    // After a short read the socket is most likely empty: to wait costs less than to try.
    let mut is_readable = true;
    loop {
        let now = Instant::now();
        // The kernel shares its time among threads: here a turn that ends on its budget goes on.
        let mut moved = match driver.turn(now) {
            Turn::Close => return Ok(()),
            Turn::ShutdownWrite => {
                stream.shutdown(Shutdown::Write)?;
                true
            }
            Turn::Yield => true,
            Turn::Wait => false,
        };
        let reads = driver.wants_read();
        if reads && is_readable {
            let read = |buffer: &mut [u8]| {
                let outcome = would_block((&mut &*stream).read(buffer));
                let all = buffer.len();
                is_readable = matches!(outcome, Poll::Ready(Ok(bytes)) if bytes == all);
                outcome
            };
            match driver.read_slice(now, read) {
                Poll::Ready(outcome) => moved |= outcome.map(|_| true)?,
                Poll::Pending => {}
            }
        }
        let written = write(stream, driver)?;
        moved |= written == Written::All;
        if moved || !driver.park(wake.waker()) {
            continue;
        }
        let mut events = PollFlags::empty();
        events.set(PollFlags::IN, reads);
        events.set(PollFlags::OUT, written == Written::Blocked);
        if wake.wait(stream.as_fd(), events, driver.poll_timeout())? == Woken::HungUp {
            return Ok(());
        }
        is_readable = true;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    All,
    Blocked,
}

/// Writes as far as the socket takes it.
fn write(mut stream: &TcpStream, driver: &mut impl Pumped) -> io::Result<Written> {
    let mut written = Written::Nothing;
    while let Some(mut transmit) = driver.poll_transmit() {
        match would_block(stream.write(transmit.chunk())) {
            Poll::Ready(Ok(0)) => return Err(ErrorKind::WriteZero.into()),
            Poll::Ready(Ok(bytes)) => transmit.advance(bytes),
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => return Ok(Written::Blocked),
        }
        written = Written::All;
    }
    Ok(written)
}

fn would_block(outcome: io::Result<usize>) -> Poll<io::Result<usize>> {
    match outcome {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Poll::Pending
        }
        outcome => Poll::Ready(outcome),
    }
}
