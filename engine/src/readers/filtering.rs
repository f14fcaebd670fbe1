//! Leaves out partitions and rows.

use std::ops::ControlFlow;

use crate::storage::DecoratedKey;

use super::{Consumed, MutationConsumer, MutationFragment, MutationReader, Step};

/// Yields what its reader yields and a predicate keeps.
///
/// The predicate is asked about each partition's start, which stands for the whole partition, each static row and each
/// row. Changes of deletion are kept with their partition, and so are partitions of which nothing else is left.
#[derive(Debug)]
pub struct Filtering<R, F> {
    reader: R,
    filter: Filter<F>,
}

#[derive(Debug)]
struct Filter<F> {
    keeps: F,
    /// Whether the partition is left out.
    skips: bool,
}

impl<R, F> Filtering<R, F>
where
    R: MutationReader,
    F: FnMut(&DecoratedKey, MutationFragment<'_>) -> bool,
{
    /// A reader of what `keeps` holds for.
    pub fn new(reader: R, keeps: F) -> Self {
        Self {
            reader,
            filter: Filter {
                keeps,
                skips: false,
            },
        }
    }
}

impl<F> Filter<F>
where
    F: FnMut(&DecoratedKey, MutationFragment<'_>) -> bool,
{
    fn passes(&mut self, key: &DecoratedKey, fragment: MutationFragment<'_>) -> bool {
        match fragment {
            MutationFragment::PartitionStart(_) => {
                self.skips = !(self.keeps)(key, fragment);
                !self.skips
            }
            MutationFragment::StaticRow(_) | MutationFragment::Row(..) => {
                !self.skips && (self.keeps)(key, fragment)
            }
            MutationFragment::TombstoneChange(..) | MutationFragment::PartitionEnd => !self.skips,
        }
    }
}

/// Hands on what passes.
struct Passing<'f, F, C> {
    filter: &'f mut Filter<F>,
    consumer: &'f mut C,
}

impl<F, C> MutationConsumer for Passing<'_, F, C>
where
    F: FnMut(&DecoratedKey, MutationFragment<'_>) -> bool,
    C: MutationConsumer,
{
    type Pause = C::Pause;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<C::Pause> {
        if self.filter.passes(key, fragment) {
            self.consumer.consume(key, fragment)
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<R, F> MutationReader for Filtering<R, F>
where
    R: MutationReader,
    F: FnMut(&DecoratedKey, MutationFragment<'_>) -> bool,
{
    fn next(&mut self) -> Step<'_> {
        loop {
            match self.reader.next() {
                Step::Fragment(key, fragment) => {
                    if self.filter.passes(key, fragment) {
                        break;
                    }
                }
                Step::Pending => return Step::Pending,
                Step::End => return Step::End,
            }
        }
        match self.reader.current() {
            Some((key, fragment)) => Step::Fragment(key, fragment),
            None => Step::End,
        }
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.reader.current()
    }

    fn consume_pausable<C: MutationConsumer>(&mut self, consumer: &mut C) -> Consumed<C::Pause> {
        self.reader.consume_pausable(&mut Passing {
            filter: &mut self.filter,
            consumer,
        })
    }
}
