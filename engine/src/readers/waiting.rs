//! Waiting as a future, for readers and consumers that can't always go on: a loop over plain values.

use std::future::poll_fn;
use std::task::{Context, Poll};

use super::{Combined, Consumed, MutationConsumer, MutationReader, RunReader};

/// Something that can't always go on.
pub trait Wait {
    /// Ready if it can, or may be able to, go on. Else has the task woken when that has changed.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// Why a consumer that may have to wait pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest<P> {
    /// For good, with its outcome.
    Done(P),
    /// Until it can take more: its output is full, say. What it has been handed it has taken.
    Full,
}

/// Feeds a consumer until it is done, or to the end; waits where either has to. The consumer's outcome, if it was done.
///
/// Nothing is allocated, and while nobody has to wait the reader runs on as without a future. Dropped half way it leaves
/// both just behind the fragment that was consumed last.
pub async fn consume<R, C, P>(reader: &mut R, consumer: &mut C) -> Option<P>
where
    R: MutationReader + Wait,
    C: MutationConsumer<Pause = Rest<P>> + Wait,
{
    loop {
        match reader.consume_pausable(consumer) {
            Consumed::Finished => return None,
            Consumed::Paused(Rest::Done(outcome)) => return Some(outcome),
            Consumed::Paused(Rest::Full) => poll_fn(|context| consumer.poll_ready(context)).await,
            Consumed::Pending => poll_fn(|context| reader.poll_ready(context)).await,
        }
    }
}

impl Wait for RunReader<'_> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

impl<R: MutationReader + Wait> Wait for Combined<R> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.awaited() {
            Some(reader) => reader.poll_ready(context),
            None => Poll::Ready(()),
        }
    }
}
