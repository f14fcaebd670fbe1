//! `scylla-cql`, as the `scylla` driver uses it. It speaks v4 alone.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub mod framing;
pub mod requests;
pub mod rows;

/// The outcome of a future that never waits.
#[inline]
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => unreachable!("its reader is always ready"),
    }
}
