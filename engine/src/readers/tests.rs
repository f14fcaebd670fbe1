//! Pauses, waits and positions at every fragment of random data, in both directions.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::*;
use crate::storage::testing::arbitrary::{Step as Write, any_case};
use crate::storage::testing::support::table;
use crate::storage::{ClusteringBound, DecoratedKey, DeletionTime, Mutation, Run};
use std::ops::ControlFlow;

/// What one source of a merge was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Source(Vec<Mutation>);

impl Source {
    pub(super) fn run(&self) -> Run {
        let mut run = Run::default();
        self.0.iter().for_each(|mutation| run.apply(mutation));
        run
    }
}

/// Up to four sources, and reads of them.
pub(super) fn any_sources() -> impl Strategy<Value = (Vec<Source>, Vec<ReadCommand>)> {
    let writers = prop::collection::vec(0_usize..4, 40);
    (any_case(), writers).prop_map(|((steps, commands), writers)| {
        let mut sources = vec![Source::default(); 4];
        for (step, writer) in steps.into_iter().zip(writers) {
            if let Write::Apply(mutation) = step {
                sources[writer].0.push(mutation);
            }
        }
        (sources, commands)
    })
}

pub(super) fn command_of(command: ReadCommand, is_counter: bool) -> ReadCommand {
    ReadCommand {
        table: table(is_counter),
        ..command
    }
}

/// All that a fragment says.
pub(super) fn shown(key: &DecoratedKey, fragment: MutationFragment<'_>) -> String {
    let token = key.token.0;
    match fragment {
        MutationFragment::StaticRow(row) => format!("{token} static {:?}", row.row()),
        MutationFragment::Row(place, row) => format!("{token} {:?} {:?}", place.sort, row.row()),
        other => format!("{token} {other:?}"),
    }
}

/// What a reader yields, step by step.
pub(super) fn each(reader: &mut impl MutationReader) -> Vec<String> {
    let mut fragments = Vec::new();
    while let Step::Fragment(key, fragment) = reader.next() {
        fragments.push(shown(key, fragment));
        let (key, fragment) = reader.current().expect("what was just given");
        assert_eq!(fragments.last(), Some(&shown(key, fragment)));
    }
    assert!(matches!(reader.next(), Step::End));
    assert!(reader.current().is_none());
    fragments
}

/// Takes fragments until it has so many more.
struct Collector {
    seen: Vec<String>,
    left: usize,
}

impl Collector {
    fn of(left: usize) -> Self {
        let seen = Vec::new();
        Self { seen, left }
    }
}

impl MutationConsumer for Collector {
    type Pause = ();

    fn consume(&mut self, key: &DecoratedKey, fragment: MutationFragment<'_>) -> ControlFlow<()> {
        self.seen.push(shown(key, fragment));
        self.left -= 1;
        match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Feeds to the end in batches of these sizes, over and over; a batch of none is a step.
fn in_batches(reader: &mut impl MutationReader, sizes: &[usize]) -> Vec<String> {
    let mut seen = Vec::new();
    for size in sizes.iter().cycle().take(100_000) {
        if *size == 0 {
            match reader.next() {
                Step::Fragment(key, fragment) => seen.push(shown(key, fragment)),
                Step::Pending => {}
                Step::End => return seen,
            }
            continue;
        }
        let mut collector = Collector::of(*size);
        let consumed = reader.consume_pausable(&mut collector);
        seen.append(&mut collector.seen);
        match consumed {
            Consumed::Finished => return seen,
            Consumed::Paused(()) => {
                let (key, fragment) = reader.current().expect("what was consumed last");
                assert_eq!(seen.last(), Some(&shown(key, fragment)));
            }
            Consumed::Pending => {}
        }
    }
    panic!("the reader gets nowhere");
}

/// What fragments amount to: rows under the deletions that count for them.
#[derive(Debug, Default)]
struct Meaning {
    deletion: Option<DeletionTime>,
    active: Option<DeletionTime>,
    /// A line for each partition's start, static row, row and end.
    lines: Vec<String>,
}

impl MutationConsumer for Meaning {
    type Pause = ();

    fn consume(&mut self, key: &DecoratedKey, fragment: MutationFragment<'_>) -> ControlFlow<()> {
        match fragment {
            MutationFragment::PartitionStart(deletion) => {
                (self.deletion, self.active) = (deletion, None);
            }
            MutationFragment::TombstoneChange(_, deletion) => {
                self.active = deletion;
                return ControlFlow::Continue(());
            }
            _ => {}
        }
        let shadow = self.deletion.max(self.active);
        let line = format!("{} under {shadow:?}", shown(key, fragment));
        self.lines.push(line);
        ControlFlow::Continue(())
    }
}

fn meaning(reader: &mut impl MutationReader) -> Vec<String> {
    let mut meaning = Meaning::default();
    assert_eq!(reader.consume_pausable(&mut meaning), Consumed::Finished);
    meaning.lines
}

/// A reader that has to wait now and then: before each step as many times as the next figure says.
struct Hesitant<R> {
    reader: R,
    waits: VecDeque<u8>,
}

impl<R: MutationReader> MutationReader for Hesitant<R> {
    fn next(&mut self) -> Step<'_> {
        match self.waits.front_mut() {
            Some(0) => {
                self.waits.pop_front();
            }
            Some(waits) => {
                *waits -= 1;
                return Step::Pending;
            }
            None => {}
        }
        self.reader.next()
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.reader.current()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_reader_that_is_paused_goes_on_just_behind_the_last_fragment(
        (sources, commands) in any_sources(),
        sizes in prop::collection::vec(0_usize..5, 1..6),
    ) {
        let runs: Vec<Run> = sources.iter().map(Source::run).collect();
        let sizes = [&sizes[..], &[1]].concat();
        for command in &commands {
            let combined =
                || Combined::new(runs.iter().map(|run| RunReader::new(command, run)), command);
            let whole = each(&mut combined());
            prop_assert_eq!(in_batches(&mut combined(), &[usize::MAX]), whole.clone());
            prop_assert_eq!(in_batches(&mut combined(), &sizes), whole.clone());
            // Once at each fragment.
            for first in 1..=whole.len() {
                prop_assert_eq!(in_batches(&mut combined(), &[first, usize::MAX]), whole.clone());
            }
            for run in &runs {
                let whole = each(&mut RunReader::new(command, run));
                prop_assert_eq!(in_batches(&mut RunReader::new(command, run), &sizes), whole);
            }
        }
    }

    #[test]
    fn a_position_after_any_fragment_leads_to_what_is_left(
        (sources, commands) in any_sources(),
    ) {
        let runs: Vec<Run> = sources.iter().map(Source::run).collect();
        for command in &commands {
            let readers = || runs.iter().map(|run| RunReader::new(command, run));
            let mut reader = Combined::new(readers(), command);
            while let Step::Fragment(key, fragment) = reader.next() {
                let position = Position::after(key.clone(), fragment, command.reversed);
                let resumed = ReadCommand { resume: Some(position.clone()), ..command.clone() };
                let resumed_readers = runs.iter().map(|run| RunReader::new(&resumed, run));
                let left = meaning(&mut Combined::new(resumed_readers, &resumed));
                prop_assert_eq!(left, left_after(&runs, command, &position));
            }
        }
    }

    #[test]
    fn a_reader_that_has_to_wait_goes_on_where_it_was(
        (sources, commands) in any_sources(),
        waits in prop::collection::vec(prop::collection::vec(0_u8..3, 0..40), 4),
        sizes in prop::collection::vec(0_usize..5, 1..6),
    ) {
        let runs: Vec<Run> = sources.iter().map(Source::run).collect();
        let sizes = [&sizes[..], &[1]].concat();
        for command in &commands {
            let readers = || runs.iter().map(|run| RunReader::new(command, run));
            let whole = each(&mut Combined::new(readers(), command));
            let hesitant = readers().zip(&waits).map(|(reader, waits)| Hesitant {
                reader,
                waits: waits.iter().copied().collect(),
            });
            prop_assert_eq!(in_batches(&mut Combined::new(hesitant, command), &sizes), whole);
        }
    }

    #[test]
    fn what_a_filter_leaves_out_is_all_that_is_missing(
        (sources, commands) in any_sources(),
        sizes in prop::collection::vec(0_usize..5, 1..6),
    ) {
        let keeps = |key: &DecoratedKey, fragment: MutationFragment<'_>| match fragment {
            MutationFragment::PartitionStart(_) => key.token.0 % 2 == 0,
            MutationFragment::Row(place, _) => place.sort[0] != 1,
            _ => true,
        };
        let run = sources[0].run();
        let sizes = [&sizes[..], &[1]].concat();
        for command in &commands {
            let mut expected = Vec::new();
            let mut reader = RunReader::new(command, &run);
            while let Step::Fragment(key, fragment) = reader.next() {
                let is_row = matches!(fragment, MutationFragment::Row(..));
                if key.token.0 % 2 == 0 && (!is_row || keeps(key, fragment)) {
                    expected.push(shown(key, fragment));
                }
            }
            let filtering = || Filtering::new(RunReader::new(command, &run), keeps);
            prop_assert_eq!(each(&mut filtering()), expected.clone());
            prop_assert_eq!(in_batches(&mut filtering(), &sizes), expected);
        }
    }
}

/// The meaning of what lies behind a position, by reading everything: the position's partition begins anew, without the
/// rows before it.
fn left_after(runs: &[Run], command: &ReadCommand, position: &Position) -> Vec<String> {
    let readers = runs.iter().map(|run| RunReader::new(command, run));
    let mut reader = Combined::new(readers, command);
    let mut left = Meaning::default();
    let is_passed =
        |bound: &ClusteringBound, sort: &[u8]| bound.cmp_row(sort).is_gt() != command.reversed;
    while let Step::Fragment(key, fragment) = reader.next() {
        let before = left.lines.len();
        let _ = left.consume(key, fragment);
        let is_past = *key < position.key
            || *key == position.key
                && (position.is_after_partition(command.reversed)
                    || matches!(fragment, MutationFragment::Row(place, _)
                        if is_passed(&position.bound, &place.sort)));
        if is_past {
            left.lines.truncate(before);
        }
    }
    left.lines
}

/// Fragments that another task sends.
#[derive(Debug, Default)]
struct Mailbox {
    fragments: Vec<OwnedFragment>,
    has_ended: bool,
    waker: Option<Waker>,
}

/// A reader over a mailbox.
struct Remote {
    mailbox: Rc<RefCell<Mailbox>>,
    arriving: Arriving,
}

impl MutationReader for Remote {
    fn next(&mut self) -> Step<'_> {
        let mut mailbox = self.mailbox.borrow_mut();
        for fragment in mailbox.fragments.drain(..) {
            self.arriving.push(fragment);
        }
        if mailbox.has_ended {
            self.arriving.end();
        }
        self.arriving.next()
    }

    fn current(&self) -> Option<(&DecoratedKey, MutationFragment<'_>)> {
        self.arriving.current()
    }
}

impl Wait for Remote {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut mailbox = self.mailbox.borrow_mut();
        if mailbox.fragments.is_empty() && !mailbox.has_ended {
            mailbox.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

/// Takes two fragments, then waits once.
struct Narrow {
    seen: Vec<String>,
    has_waited: bool,
}

impl MutationConsumer for Narrow {
    type Pause = Rest<()>;

    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Rest<()>> {
        self.seen.push(shown(key, fragment));
        match self.seen.len() % 2 {
            0 => ControlFlow::Break(Rest::Full),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Wait for Narrow {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.has_waited = !self.has_waited;
        if self.has_waited {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_future_waits_for_sources_and_consumer_and_misses_nothing(
        (sources, commands) in any_sources(),
        batch in 1_usize..4,
    ) {
        let runs: Vec<Run> = sources.iter().map(Source::run).collect();
        for command in &commands {
            let readers = || runs.iter().map(|run| RunReader::new(command, run));
            let whole = each(&mut Combined::new(readers(), command));
            let mut unsent: Vec<_> = readers().map(fragments).collect();
            let mailboxes: Vec<Rc<RefCell<Mailbox>>> = runs.iter().map(|_| Rc::default()).collect();
            let remotes = mailboxes.iter().map(|mailbox| Remote {
                mailbox: Rc::clone(mailbox),
                arriving: Arriving::default(),
            });
            let mut reader = Combined::new(remotes, command);
            let mut consumer = Narrow { seen: Vec::new(), has_waited: false };
            {
                let mut future = std::pin::pin!(consume(&mut reader, &mut consumer));
                let mut context = Context::from_waker(Waker::noop());
                let mut turns = 0..10_000;
                while future.as_mut().poll(&mut context).is_pending() {
                    let turn = turns.next().expect("an end");
                    let sender = turn % mailboxes.len();
                    let mut mailbox = mailboxes[sender].borrow_mut();
                    let count = batch.min(unsent[sender].len());
                    mailbox.fragments.extend(unsent[sender].drain(..count));
                    mailbox.has_ended = unsent[sender].is_empty();
                    mailbox.waker.take().into_iter().for_each(Waker::wake);
                }
            }
            prop_assert_eq!(consumer.seen, whole);
        }
    }
}

fn fragments(mut reader: RunReader<'_>) -> VecDeque<OwnedFragment> {
    let mut fragments = VecDeque::new();
    while let Step::Fragment(key, fragment) = reader.next() {
        fragments.push_back(OwnedFragment::copied(key, fragment));
    }
    fragments
}
