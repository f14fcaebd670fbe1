//! [`block_on`]: a future run to its end on the thread that wants its output, which sleeps meanwhile.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Polls `future` until it is ready; between the polls the thread sleeps until it is woken.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = WAKER.with(Waker::clone);
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn it_polls_again_whenever_it_is_woken() {
        let mut left = 3;
        let output = block_on(poll_fn(|cx| {
            left -= 1;
            let waker = cx.waker().clone();
            thread::spawn(move || waker.wake());
            if left == 0 {
                Poll::Ready("done")
            } else {
                Poll::Pending
            }
        }));
        assert_eq!(output, "done");
    }
}
