//! The reading half of a connection: takes one envelope at a time off the caller's buffer.

use bytes::BytesMut;

use super::bare::BareReader;
use super::segmented::SegmentReader;
use super::{Framing, LONG, Rules, Step, reclaim};
use crate::compression::Compression;

/// A scratch buffer above this is given back when it is empty.
const KEEP_SCRATCH: usize = 16 << 10;

/// The longest read that [`Inbound::read_hint`] asks for.
const MAX_HINT: usize = 64 << 10;
/// The shortest.
const MIN_HINT: usize = 4 << 10;

#[derive(Debug)]
pub(crate) struct Inbound {
    reader: Reader,
    /// Decompressed and reassembled bytes.
    scratch: BytesMut,
    /// The most bytes it held since it was made.
    peak: usize,
    /// With less input than this there is nothing to be done.
    wanted: usize,
    /// Whether a long body was lent from the input, which leaves its room behind.
    leaves_room: bool,
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
            scratch: BytesMut::new(),
            peak: 0,
            wanted: 0,
            leaves_room: false,
        }
    }

    /// From the next byte on, envelopes travel like this.
    pub(crate) fn switch(&mut self, framing: Framing) {
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
            && let Some(frame) = reader.next_whole(input, rules)
        {
            return Step::Frame(frame);
        }
        self.read(input, rules)
    }

    #[inline(never)]
    fn read(&mut self, input: &mut BytesMut, rules: &Rules) -> Step {
        if self.peak > KEEP_SCRATCH && self.scratch.is_empty() {
            self.scratch = BytesMut::new();
            self.peak = 0;
        }
        if self.leaves_room {
            reclaim(input);
        }
        let step = match &mut self.reader {
            Reader::Bare(reader, compression) => {
                reader.poll(input, &mut self.scratch, *compression, rules)
            }
            Reader::Segments(reader) => reader.poll(input, &mut self.scratch, rules),
        };
        self.peak = self.peak.max(self.scratch.len());
        self.leaves_room = matches!(&step, Step::Frame(frame) if frame.body > LONG);
        self.wanted = match step {
            Step::NeedInput => self.wanted(input.len()),
            _ => 0,
        };
        step
    }

    /// How much input it takes to go on, where so much is left.
    fn wanted(&self, left: usize) -> usize {
        match &self.reader {
            Reader::Bare(reader, _) => reader.wanted(left),
            Reader::Segments(reader) => reader.missing(),
        }
    }

    pub(crate) fn scratch(&mut self) -> &mut BytesMut {
        &mut self.scratch
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
