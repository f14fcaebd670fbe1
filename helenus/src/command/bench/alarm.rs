//! Wakes a thread that waits for its sockets at a moment finer than the millisecond that waiting for sockets knows.

use std::io;
use std::time::{Duration, Instant};

use mio::{Interest, Registry, Token};

/// The alarm of one thread.
#[derive(Debug)]
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: rustix::fd::OwnedFd,
    at: Option<Instant>,
}

#[cfg(target_os = "linux")]
impl Alarm {
    /// An alarm that wakes who polls `registry`.
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        use rustix::fd::AsRawFd;
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};

        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let mut source = mio::unix::SourceFd(&timer.as_raw_fd());
        registry.register(&mut source, token, Interest::READABLE)?;
        Ok(Self { timer, at: None })
    }

    /// Wakes at `at`, and not before; how long waiting for sockets may last at most.
    pub(super) fn set(
        &mut self,
        at: Instant,
        now: Instant,
        most: Duration,
    ) -> io::Result<Duration> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

        if self.at != Some(at) {
            self.at = Some(at);
            // Zero would disarm it.
            let left = at
                .saturating_duration_since(now)
                .max(Duration::from_nanos(1));
            let value = Itimerspec {
                it_interval: Timespec::default(),
                it_value: Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?,
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &value)?;
        }
        Ok(most)
    }
}

#[cfg(not(target_os = "linux"))]
impl Alarm {
    /// An alarm that wakes who polls `registry`.
    pub(super) fn new(_registry: &Registry, _token: Token) -> io::Result<Self> {
        Ok(Self { at: None })
    }

    /// Wakes at `at`, to a millisecond; how long waiting for sockets may last at most.
    pub(super) fn set(
        &mut self,
        at: Instant,
        now: Instant,
        most: Duration,
    ) -> io::Result<Duration> {
        self.at = Some(at);
        Ok(most.min(at.saturating_duration_since(now)))
    }
}
