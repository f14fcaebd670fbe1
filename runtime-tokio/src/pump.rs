//! Moves the bytes of one connection, at either end, between its socket and its driver.

use bytes::Buf;
use helenus_core::{Pumped, Turn};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};

/// Pumps one connection to its end; an error is the socket's.
pub(crate) async fn pump(stream: TcpStream, driver: &mut impl Pumped) -> io::Result<()> {
    let mut pump = Pump {
        stream,
        driver,
        sleep: None,
    };
    poll_fn(|cx| pump.poll(cx)).await
}

struct Pump<'a, D> {
    stream: TcpStream,
    driver: &'a mut D,
    /// There while a deadline is armed.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<D: Pumped> Pump<'_, D> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let now = Instant::now();
            let turn = self.driver.turn(now);
            let mut moved = match turn {
                Turn::Close => return Poll::Ready(Ok(())),
                Turn::ShutdownWrite => {
                    ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                    true
                }
                _ => false,
            };
            if turn != Turn::Yield && self.driver.wants_read() {
                moved |= self.read(cx, now)?.is_ready();
            }
            moved |= self.write(cx)?;
            if turn == Turn::Yield {
                // The first poll of it leaves our waker with the scheduler, for after the next
                // look at I/O; a plain wake would put us before those whose bytes just came.
                let _ = pin!(tokio::task::yield_now()).poll(cx);
                return Poll::Pending;
            }
            if moved || !self.driver.park(cx.waker()) || self.poll_deadline(cx).is_ready() {
                continue;
            }
            return Poll::Pending;
        }
    }

    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> io::Result<Poll<usize>> {
        let stream = &mut self.stream;
        match self
            .driver
            .read(now, |buffer| pin!(stream.read_buf(buffer)).poll(cx))
        {
            Poll::Ready(Ok(bytes)) => Ok(Poll::Ready(bytes)),
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Ok(Poll::Pending),
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
            // An idle connection has no alarm that goes off for nothing.
            self.sleep = None;
            return Poll::Pending;
        };
        let deadline = deadline.into();
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // A deadline that moved back, as an idle one does with each request, is looked at again
        // when the armed one fires: cheaper than to arm it anew each time.
        if sleep.is_elapsed() || deadline < sleep.deadline() {
            sleep.as_mut().reset(deadline);
        }
        sleep.as_mut().poll(cx)
    }
}
