//! Moves the bytes of one connection, at either end, between its socket and its driver.

use crate::runtime::Runtime;
use bytes::Buf;
use helenus_core::{Pumped, Turn};
use smol::io::AsyncWrite;
use smol::{Async, Timer};
use std::future::poll_fn;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Longer than a connection lasts.
const AGES: Duration = Duration::from_secs(365 * 24 * 3600);

/// Pumps one connection to its end; an error is the socket's.
pub(crate) async fn pump(
    stream: Async<TcpStream>,
    driver: &mut impl Pumped,
    runtime: impl Runtime,
) -> io::Result<()> {
    let mut pump = Pump {
        stream,
        driver,
        runtime,
        readable: false,
        timer: None,
    };
    poll_fn(|cx| pump.poll(cx)).await
}

struct Pump<'a, D, R> {
    stream: Async<TcpStream>,
    driver: &'a mut D,
    runtime: R,
    /// Whether the last read filled its buffer, or the reactor said that there is something. After
    /// a short read the socket is most likely empty: to wait costs less than to try.
    readable: bool,
    /// The armed deadline, and what fires then.
    timer: Option<(Instant, Timer)>,
}

impl<D: Pumped, R: Runtime> Pump<'_, D, R> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let now = Instant::now();
            let turn = self.driver.turn(now);
            let mut moved = match turn {
                Turn::Close => return Poll::Ready(Ok(())),
                Turn::ShutdownWrite => {
                    self.stream.get_ref().shutdown(Shutdown::Write)?;
                    true
                }
                _ => false,
            };
            if turn != Turn::Yield && self.driver.wants_read() {
                moved |= self.read(cx, now)?;
            }
            moved |= self.write(cx)?;
            if turn == Turn::Yield {
                self.runtime.yield_now(cx);
                return Poll::Pending;
            }
            if moved || !self.driver.park(cx.waker()) || self.poll_deadline(cx).is_ready() {
                continue;
            }
            return Poll::Pending;
        }
    }

    /// Reads once, if there is something. True if so.
    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> io::Result<bool> {
        if !self.readable && self.stream.poll_readable(cx)?.is_pending() {
            return Ok(false);
        }
        self.readable = true;
        let (mut stream, readable) = (self.stream.get_ref(), &mut self.readable);
        let outcome = self
            .driver
            .read_slice(now, |buffer| match stream.read(buffer) {
                Ok(bytes) => {
                    *readable = bytes == buffer.len();
                    Poll::Ready(Ok(bytes))
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            });
        match outcome {
            Poll::Ready(Ok(_)) => Ok(true),
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => {
                // Nothing came after all: the next call waits for it.
                self.readable = false;
                Ok(true)
            }
        }
    }

    /// Writes as far as the socket takes it. True if it took anything.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut moved = false;
        while let Some(mut transmit) = self.driver.poll_transmit() {
            match Pin::new(&mut self.stream).poll_write(cx, transmit.chunk()) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(bytes)) => transmit.advance(bytes),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Ready when the driver's deadline has come, or one that was armed before it.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.driver.poll_timeout() else {
            // An idle connection has no alarm that goes off for nothing. To drop it is not enough: the
            // reactor looks at its timers again only when one is set.
            if let Some((armed, mut timer)) = self.timer.take() {
                timer.set_at(armed + AGES);
            }
            return Poll::Pending;
        };
        let (armed, timer) = self
            .timer
            .get_or_insert_with(|| (deadline, Timer::at(deadline)));
        // A deadline that moved back, as an idle one does with each request, is looked at again
        // when the armed one fires: cheaper than to arm it anew each time.
        if deadline < *armed {
            timer.set_at(deadline);
            *armed = deadline;
        }
        let fired = Pin::new(timer).poll(cx).map(drop);
        if fired.is_ready() {
            self.timer = None;
        }
        fired
    }
}
