//! What a server is told from outside its connections: to shut down, and that the service's own
//! timers have changed.

use crate::sync::{Seat, WakerSet, lock, wake_all};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Asks a server to shut down gracefully. Cheap to clone; usable from any thread, a signal
/// handling one included.
#[derive(Debug, Clone, Default)]
pub struct ShutdownHandle {
    control: Arc<Control>,
}

impl ShutdownHandle {
    pub(crate) fn new(control: Arc<Control>) -> Self {
        ShutdownHandle { control }
    }

    /// Stops accepting, answers what is in flight and closes, within the server's drain timeout.
    /// A second call changes nothing.
    pub fn shutdown(&self) {
        let mut state = lock(&self.control.state);
        state.shutdown = true;
        let wakers = state.acceptors.take();
        drop(state);
        wake_all(wakers);
    }

    /// Whether a shutdown was asked for.
    pub fn is_shutdown(&self) -> bool {
        self.control.is_shutdown()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Control {
    state: Mutex<State>,
    /// Whether it was said that no connections can be accepted.
    pub(crate) told: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    shutdown: bool,
    acceptors: WakerSet,
    timers_changed: bool,
    timers: Option<Waker>,
}

impl Control {
    /// Whether a shutdown was asked for.
    pub(crate) fn is_shutdown(&self) -> bool {
        lock(&self.state).shutdown
    }

    /// Ready once a shutdown was asked for; wakes `waker` then.
    pub(crate) fn poll_shutdown(&self, seat: &Seat, waker: &Waker) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.shutdown {
            return Poll::Ready(());
        }
        state.acceptors.register(seat, waker);
        Poll::Pending
    }

    /// Ready once after each [`Control::timers_changed`]; wakes `waker` then. There is one who asks.
    pub(crate) fn poll_timers_changed(&self, waker: &Waker) -> Poll<()> {
        let mut state = lock(&self.state);
        if std::mem::take(&mut state.timers_changed) {
            return Poll::Ready(());
        }
        state
            .timers
            .get_or_insert_with(|| waker.clone())
            .clone_from(waker);
        Poll::Pending
    }

    /// The service's next deadline is another one than before.
    pub(crate) fn timers_changed(&self) {
        let mut state = lock(&self.state);
        state.timers_changed = true;
        let waker = state.timers.take();
        drop(state);
        wake_all(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    #[test]
    fn a_shutdown_wakes_every_acceptor_and_stays() {
        let control = Arc::new(Control::default());
        let handle = ShutdownHandle::new(Arc::clone(&control));
        let ((one, first), (two, second)) = (CountingWaker::pair(), CountingWaker::pair());
        let seats = [Seat::default(), Seat::default()];
        assert!(control.poll_shutdown(&seats[0], &first).is_pending());
        assert!(control.poll_shutdown(&seats[1], &second).is_pending());
        handle.shutdown();
        handle.shutdown();
        assert_eq!((one.get(), two.get()), (1, 1));
        assert!(handle.is_shutdown() && control.poll_shutdown(&seats[0], &first).is_ready());
    }

    #[test]
    fn a_timer_change_is_seen_once() {
        let control = Control::default();
        let (count, waker) = CountingWaker::pair();
        control.timers_changed();
        assert!(control.poll_timers_changed(&waker).is_ready());
        assert!(control.poll_timers_changed(&waker).is_pending());
        control.timers_changed();
        assert_eq!(count.get(), 1);
    }
}
