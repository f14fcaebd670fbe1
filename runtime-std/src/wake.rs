//! A waker for a thread that waits in `poll(2)`: a descriptor that becomes readable.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

/// The descriptor, and the waker that makes it readable.
#[derive(Debug)]
pub(crate) struct WakeHandle {
    bell: Arc<Bell>,
    waker: Waker,
}

/// What woke a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The watched descriptor is ready, the waker was used or the time is over.
    Ready,
    /// The watched descriptor is broken or closed on both sides.
    HungUp,
}

impl WakeHandle {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = Arc::new(Bell::new()?);
        let waker = Waker::from(Arc::clone(&bell));
        Ok(WakeHandle { bell, waker })
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Waits for `events` of `fd`, for the waker or for `deadline`.
    pub(crate) fn wait(
        &self,
        fd: BorrowedFd<'_>,
        events: PollFlags,
        deadline: Option<Instant>,
    ) -> io::Result<Woken> {
        let mut fds = [
            PollFd::from_borrowed_fd(self.bell.readable(), PollFlags::IN),
            PollFd::from_borrowed_fd(fd, events),
        ];
        match poll(&mut fds, deadline.map(remaining).as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Woken::Ready),
            Err(error) => return Err(error.into()),
        }
        let [bell, watched] = fds;
        if !bell.revents().is_empty() {
            self.bell.silence();
        }
        let broken = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        if watched.revents().intersects(broken) && !watched.revents().intersects(events) {
            return Ok(Woken::HungUp);
        }
        Ok(Woken::Ready)
    }

    /// Waits for the waker or for `deadline`.
    pub(crate) fn wait_alone(&self, deadline: Instant) -> io::Result<()> {
        let mut fds = [PollFd::from_borrowed_fd(
            self.bell.readable(),
            PollFlags::IN,
        )];
        match poll(&mut fds, Some(&remaining(deadline))) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
            Ok(_) => {
                self.bell.silence();
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The time until `deadline`, rounded up to the microsecond lest the thread wake too early.
fn remaining(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now()) + Duration::from_micros(1);
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}

/// An eventfd where there is one, a pipe elsewhere.
#[derive(Debug)]
struct Bell {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    event: OwnedFd,
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pipe: (OwnedFd, OwnedFd),
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Bell {
    fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Bell { event })
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    fn writable(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Bell {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let pipe = (OwnedFd::from(reader), OwnedFd::from(writer));
        rustix::io::ioctl_fionbio(&pipe.0, true)?;
        rustix::io::ioctl_fionbio(&pipe.1, true)?;
        Ok(Bell { pipe })
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.pipe.0.as_fd()
    }

    fn writable(&self) -> BorrowedFd<'_> {
        self.pipe.1.as_fd()
    }
}

impl Bell {
    fn ring(&self) {
        // A full one is readable already, which is all it is for.
        let _ = rustix::io::write(self.writable(), &1_u64.to_ne_bytes());
    }

    fn silence(&self) {
        let _ = rustix::io::read(self.readable(), &mut [0; 64]);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_before_the_wait_ends_it_and_is_used_up() {
        let handle = WakeHandle::new().unwrap();
        handle.waker().wake_by_ref();
        handle.waker().wake_by_ref();
        handle
            .wait_alone(Instant::now() + Duration::from_secs(3600))
            .unwrap();
        let deadline = Instant::now() + Duration::from_millis(20);
        handle.wait_alone(deadline).unwrap();
        assert!(Instant::now() >= deadline);
    }
}
