//! Readers and their consumers: a consumer says by a plain value that it pauses, a reader that it has to wait.

use std::ops::ControlFlow;

use crate::storage::DecoratedKey;

use super::limits::Before;
use super::{MutationFragment, Place};

/// What a step of a reader gives.
#[derive(Debug, Clone, Copy)]
pub enum Step<'f> {
    /// The next fragment, and the key of its partition.
    Fragment(&'f DecoratedKey, MutationFragment<'f>),
    /// The next fragment isn't here yet. Nothing is lost: ask again when it may be; how to wait for that is up to who
    /// drives the reader.
    Pending,
    /// There are no more, now and from now on.
    End,
}

/// How far a consumer was fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a read may not be over"]
pub enum Consumed<P> {
    /// It has taken everything.
    Finished,
    /// It said stop, with its reason. Feeding goes on just behind the fragment that it took last.
    Paused(P),
    /// The reader has to wait ([`Step::Pending`]). Feeding goes on where it was.
    Pending,
}

/// Yields the fragments of partitions in ring order: of each partition its start, its static row if it has one, its rows
/// and the changes of deletion between them in the direction of the read, and its end.
///
/// A reader keeps its place: steps and feeding may alternate, and go on after every pause and every wait. A place
/// outlives the reader as a [`Position`](super::Position).
pub trait MutationReader {
    /// Steps to the next fragment.
    fn next(&mut self) -> Step<'_>;

    /// The fragment that the last step gave, or that was consumed last; `None` if there was none.
    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)>;

    /// Feeds a consumer until it pauses, the reader has to wait, or everything is consumed.
    fn consume_pausable<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause>
    where
        Self: Sized,
    {
        loop {
            match self.next() {
                Step::Fragment(key, fragment) => {
                    if let ControlFlow::Break(pause) = consumer.consume(key, fragment) {
                        return Consumed::Paused(pause);
                    }
                }
                Step::Pending => return Consumed::Pending,
                Step::End => return Consumed::Finished,
            }
        }
    }

    /// Feeds a consumer with the rows that follow and lie before a place, in a read that is `reversed` or isn't.
    ///
    /// Pauses with `None` at the first fragment that is no such row: that one is current then, and wasn't consumed. This
    /// compares each row; a reader that can seek looks for the last one.
    fn consume_before<C: MutationConsumer>(
        &mut self,
        limit: Place<'_>,
        reversed: bool,
        consumer: &mut C,
    ) -> Consumed<Option<C::Pause>>
    where
        Self: Sized,
    {
        self.consume_pausable(&mut Before {
            limit,
            reversed,
            consumer,
        })
    }
}

/// Takes what a [`MutationReader`] yields.
pub trait MutationConsumer {
    /// Why, or where, it pauses.
    type Pause;

    /// Takes one fragment of the partition of this key; `Break` pauses just after it.
    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Self::Pause>;
}

impl<P, F> MutationConsumer for F
where
    F: FnMut(&DecoratedKey, MutationFragment<'_>) -> ControlFlow<P>,
{
    type Pause = P;

    fn consume(&mut self, key: &DecoratedKey, fragment: MutationFragment<'_>) -> ControlFlow<P> {
        self(key, fragment)
    }
}
