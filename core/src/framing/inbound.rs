//! The reading half of a connection: takes one envelope at a time off the caller's buffer.

use std::time::Duration;

use bytes::{Buf, BytesMut};

use super::bare::BareReader;
use super::segmented::SegmentReader;
use super::{Framing, LONG, Rules, Source, Step, reclaim};
use crate::compression::Compression;

/// A scratch buffer above this is given back when it isn't needed any more.
const KEEP_SCRATCH: usize = 16 << 10;

/// How many envelopes and segments in a row tell that it isn't.
const UNNEEDED: u32 = 64;

/// How long a silence tells that it isn't, where there is a clock.
pub(crate) const ROOM_KEPT: Duration = Duration::from_secs(1);

/// The longest read that [`Inbound::read_hint`] asks for.
const MAX_HINT: usize = 64 << 10;
/// The shortest.
const MIN_HINT: usize = 4 << 10;

#[derive(Debug)]
pub(crate) struct Inbound {
    reader: Reader,
    /// How many bytes at the front of the input are consumed. They are taken off it at the next call that
    /// finds no whole envelope behind them: one by one that took 35 instructions for each.
    consumed: usize,
    /// Decompressed and reassembled bytes.
    scratch: BytesMut,
    /// How many bytes at its front are consumed.
    scratch_consumed: usize,
    /// How many steps it stayed empty.
    unneeded: u32,
    /// With less input than this there is nothing to be done.
    wanted: usize,
    /// Whether a long body was lent from the input, which leaves its room behind.
    leaves_room: bool,
    /// What readers before this one discarded.
    discarded: u64,
}

#[derive(Debug)]
enum Reader {
    Bare(BareReader, Option<Compression>),
    Segments(SegmentReader),
}

impl Inbound {
    pub(crate) fn new() -> Inbound {
        Inbound {
            reader: Reader::Bare(BareReader::default(), None),
            consumed: 0,
            scratch: BytesMut::new(),
            scratch_consumed: 0,
            unneeded: 0,
            wanted: 0,
            leaves_room: false,
            discarded: 0,
        }
    }

    /// From the next byte on, envelopes travel like this.
    pub(crate) fn switch(&mut self, framing: Framing) {
        self.discarded = self.discarded();
        self.reader = match framing {
            Framing::Bare(compression) => Reader::Bare(BareReader::default(), compression),
            Framing::Segments(format) => Reader::Segments(SegmentReader::new(format)),
        };
        self.wanted = 0;
    }

    /// Whether nothing can come of so much input: what was begun takes more.
    #[inline(always)]
    pub(crate) const fn lacks(&self, input: usize) -> bool {
        input < self.wanted
    }

    /// The next envelope, or what is wrong with it.
    #[inline(always)]
    pub(crate) fn poll(&mut self, input: &mut BytesMut, rules: &Rules) -> Step {
        if self.lacks(input.len()) {
            return Step::NeedInput;
        }
        // Inlined, so that an envelope within a segment needn't be handed on through memory: 60 instructions
        // rather than 225 for each.
        if let Reader::Segments(reader) = &mut self.reader
            && let Some(frame) =
                reader.next_whole(input.get(self.consumed..).unwrap_or_default(), rules)
        {
            return Step::Frame(frame);
        }
        self.read(input, rules)
    }

    #[inline(never)]
    fn read(&mut self, input: &mut BytesMut, rules: &Rules) -> Step {
        self.settle(input);
        if self.leaves_room {
            reclaim(input);
        }
        let step = match &mut self.reader {
            Reader::Bare(reader, compression) => {
                reader.poll(input, &mut self.scratch, *compression, rules)
            }
            Reader::Segments(reader) => reader.poll(input, &mut self.scratch, rules),
        };
        self.note_need();
        self.leaves_room = matches!(&step, Step::Frame(frame) if frame.body > LONG);
        self.wanted = match step {
            Step::NeedInput => self.wanted(input.len()),
            _ => 0,
        };
        step
    }

    /// Takes what is consumed off the input.
    pub(crate) fn settle(&mut self, input: &mut BytesMut) {
        input.advance(self.consumed.min(input.len()));
        self.consumed = 0;
        if self.scratch_consumed > 0 {
            self.scratch
                .advance(self.scratch_consumed.min(self.scratch.len()));
            self.scratch_consumed = 0;
            reclaim(&mut self.scratch);
        }
    }

    /// Keeps room for long messages as long as there are such.
    fn note_need(&mut self) {
        if !self.scratch.is_empty() {
            self.unneeded = 0;
        } else if self.holds_room() {
            self.unneeded += 1;
            if self.unneeded >= UNNEEDED {
                self.give_room_back();
            }
        }
    }

    /// Whether it holds room for long messages, and none is in it.
    #[inline]
    pub(crate) fn holds_room(&self) -> bool {
        self.scratch.capacity() > KEEP_SCRATCH && self.scratch.len() == self.scratch_consumed
    }

    /// Gives the room for long messages back, unless one is in it.
    pub(crate) fn give_room_back(&mut self) {
        if self.holds_room() {
            self.scratch = BytesMut::new();
            self.scratch_consumed = 0;
            self.unneeded = 0;
        }
    }

    /// How much input it takes to go on, where so much is left.
    fn wanted(&self, left: usize) -> usize {
        match &self.reader {
            Reader::Bare(reader, _) => reader.wanted(left),
            Reader::Segments(reader) => reader.missing(),
        }
    }

    /// The buffer of an envelope, and how many bytes at its front are consumed.
    #[inline]
    pub(crate) fn buffer<'a>(
        &'a mut self,
        source: Source,
        input: &'a mut BytesMut,
    ) -> (&'a mut BytesMut, &'a mut usize) {
        match source {
            Source::Input => (input, &mut self.consumed),
            Source::Scratch => (&mut self.scratch, &mut self.scratch_consumed),
        }
    }

    /// How many bytes of envelopes that were refused on their header came and went.
    pub(crate) const fn discarded(&self) -> u64 {
        self.discarded
            + match &self.reader {
                Reader::Bare(reader, _) => reader.discarded(),
                Reader::Segments(reader) => reader.discarded(),
            }
    }

    /// Bytes that were taken off the input and wait here: what came so far of a message of several
    /// segments, or what a compressed segment held.
    pub(crate) fn gathered(&self) -> usize {
        self.scratch.len().saturating_sub(self.scratch_consumed)
    }

    /// Whether an envelope's header was read, and its body wasn't.
    #[inline]
    pub(crate) fn is_begun(&self) -> bool {
        match &self.reader {
            Reader::Bare(reader, _) => reader.is_begun(),
            Reader::Segments(reader) => reader.is_begun(),
        }
    }

    /// How many segments were opened; zero outside of v5.
    #[inline]
    pub(crate) fn segments(&self) -> u64 {
        match &self.reader {
            Reader::Bare(..) => 0,
            Reader::Segments(reader) => reader.count(),
        }
    }

    /// How many bytes the caller should make room for before it reads.
    pub(crate) fn read_hint(&self) -> usize {
        let missing = match &self.reader {
            Reader::Bare(reader, _) => reader.missing(),
            Reader::Segments(reader) => reader.missing(),
        };
        missing.clamp(MIN_HINT, MAX_HINT)
    }
}
