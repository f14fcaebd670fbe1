//! The ways to consume a reader: by its `consume_pausable`, as a boxed future a fragment, as one inlined `async fn`.

use std::future::Future;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use helenus_allocations as allocations;
use helenus_engine::readers::{Consumed, MutationConsumer, MutationFragment, MutationReader, Step};
use helenus_engine::storage::DecoratedKey;

/// How a reader is consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The consumer returns a plain value.
    Pausable,
    /// Each fragment is awaited as a `Pin<Box<dyn Future>>` of a reader behind a pointer, as `async-trait` makes them.
    Boxed,
    /// Each fragment is awaited as a plain `async fn` of a reader whose type is known.
    Inlined,
    /// Not at all: readers are constructed and dropped.
    Unread,
}

impl Way {
    /// Those that consume.
    pub const ALL: [Way; 3] = [Way::Pausable, Way::Boxed, Way::Inlined];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Way::Pausable => "pausable",
            Way::Boxed => "boxed",
            Way::Inlined => "inlined",
            Way::Unread => "unread",
        }
    }

    /// The way of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Way> {
        let mut ways = Way::ALL.into_iter().chain([Way::Unread]);
        ways.find(|way| way.name() == name)
    }
}

/// What reads took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read {
    /// Fragments, of all reads.
    pub fragments: u64,
    /// The time of all reads.
    pub time: Duration,
    /// How often memory was asked for, where that was counted.
    pub allocations: u64,
}

/// Takes every fragment.
#[derive(Debug, Default)]
struct Count(u64);

impl MutationConsumer for Count {
    type Pause = ();

    #[inline]
    fn consume(&mut self, key: &DecoratedKey, fragment: MutationFragment<'_>) -> ControlFlow<()> {
        black_box((key, fragment));
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

type Next<'f> = Option<(&'f DecoratedKey, MutationFragment<'f>)>;

/// A reader as a trait object gives it to an executor.
trait BoxedReader {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Next<'_>> + '_>>;
}

impl<R: MutationReader> BoxedReader for R {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Next<'_>> + '_>> {
        Box::pin(next(self))
    }
}

/// The next fragment. Readers of memory don't have to wait; one that had to would be polled again.
async fn next<R: MutationReader>(reader: &mut R) -> Next<'_> {
    match MutationReader::next(reader) {
        Step::Fragment(key, fragment) => Some((key, fragment)),
        Step::End => None,
        Step::Pending => std::future::pending().await,
    }
}

async fn consume_boxed(reader: &mut dyn BoxedReader, count: &mut Count) {
    while let Some((key, fragment)) = reader.next().await {
        if count.consume(key, fragment).is_break() {
            return;
        }
    }
}

async fn consume_inlined<R: MutationReader>(reader: &mut R, count: &mut Count) {
    while let Some((key, fragment)) = next(reader).await {
        if count.consume(key, fragment).is_break() {
            return;
        }
    }
}

/// An executor of one task that never sleeps.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Consumes a reader to its end; how many fragments.
fn consume<R: MutationReader>(reader: &mut R, way: Way) -> u64 {
    let mut count = Count::default();
    match way {
        Way::Pausable => {
            let consumed = reader.consume_pausable(&mut count);
            assert_eq!(consumed, Consumed::Finished);
        }
        Way::Boxed => block_on(consume_boxed(black_box(reader), &mut count)),
        Way::Inlined => block_on(consume_inlined(reader, &mut count)),
        Way::Unread => {
            black_box(reader);
        }
    }
    count.0
}

/// Makes a reader and consumes it, so many times; the time is that of both.
pub(super) fn with_construction<R: MutationReader>(
    make: impl Fn() -> R,
    way: Way,
    reads: u64,
) -> Read {
    let began = Instant::now();
    let fragments = (0..reads).map(|_| consume(&mut make(), way)).sum();
    Read {
        fragments,
        time: began.elapsed(),
        allocations: 0,
    }
}

/// Consumes so many readers; the time is that of consuming.
pub(super) fn without_construction<R: MutationReader>(
    make: impl Fn() -> R,
    way: Way,
    reads: u64,
) -> Read {
    let mut readers: Vec<R> = (0..reads).map(|_| make()).collect();
    let began = Instant::now();
    let fragments = readers.iter_mut().map(|reader| consume(reader, way)).sum();
    Read {
        fragments,
        time: began.elapsed(),
        allocations: 0,
    }
}

/// Consumes one reader; how often that asked for memory.
pub(super) fn count_allocations<R: MutationReader>(mut reader: R) -> Read {
    let before = allocations::count();
    let fragments = consume(&mut reader, Way::Pausable);
    Read {
        fragments,
        time: Duration::ZERO,
        allocations: allocations::count() - before,
    }
}
