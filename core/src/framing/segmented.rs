//! Reading the envelopes within v5's segments.
//!
//! Envelopes of an uncompressed self-contained segment stay where they are, in the caller's buffer; those
//! of a compressed one, and those that take several segments, lie in the connection's scratch buffer.

use bytes::{Buf, BytesMut};

use super::{Dialect, Fault, Frame, Rules, Source, Step, negative, reclaim};
use crate::compression::decompress_segment;
use crate::envelope::{Header, StreamId};
use crate::error::{PeerMisbehaved, Scope};
use crate::segment::{SegmentFormat, SegmentHeader, TRAILER, check_payload};

/// Where reading stands. At most one of `run`, and what `scratch` and `part` hold, is under way.
#[derive(Debug)]
pub(crate) struct SegmentReader {
    format: SegmentFormat,
    /// Segments opened so far.
    count: u64,
    /// A header that was read, its payload awaited.
    segment: Option<SegmentHeader>,
    /// Bytes left of a run of whole envelopes at the front of the input, its trailer not counted.
    run: usize,
    /// What the scratch buffer holds.
    holds: Holds,
    /// The envelope that is being put together, or dropped piece by piece.
    part: Option<Part>,
    /// Bytes of envelopes that were refused on their header.
    discarded: u64,
}

/// What the scratch buffer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A run of whole envelopes.
    Run,
    /// The bytes of parts, from the beginning of an envelope on.
    Parts,
}

#[derive(Debug)]
enum Part {
    /// Its header was read and taken; its body isn't there as a whole.
    Begun(Header, Dialect),
    /// So many bytes of its body are still to be dropped, before the fault is reported.
    Dropped { left: usize, fault: Box<Fault> },
}

impl SegmentReader {
    pub(crate) fn new(format: SegmentFormat) -> SegmentReader {
        SegmentReader {
            format,
            count: 0,
            segment: None,
            run: 0,
            holds: Holds::Parts,
            part: None,
            discarded: 0,
        }
    }

    /// How many bytes of envelopes that were refused on their header came and went.
    pub(crate) const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// How many segments were opened.
    #[inline]
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Whether an envelope's header was read, and its body wasn't.
    #[inline]
    pub(crate) const fn is_begun(&self) -> bool {
        self.part.is_some()
    }

    /// Bytes still missing to what was begun.
    pub(crate) fn missing(&self) -> usize {
        match self.segment {
            Some(segment) => segment.payload as usize + TRAILER,
            None => self.format.header_len(),
        }
    }

    /// The next envelope of the run in the input, if there is nothing to be said against it.
    #[inline(always)]
    pub(crate) fn next_whole(&mut self, input: &[u8], rules: &Rules) -> Option<Frame> {
        let rest = self.run.checked_sub(Header::SIZE)?;
        let header = Header::decode(input.first_chunk()?);
        let dialect = rules.expects(&header)?;
        let body = header.length as usize;
        let rest = rest.checked_sub(body)?;
        if body > rules.limit {
            return None;
        }
        self.run = rest;
        Some(Frame {
            header,
            dialect,
            source: Source::Input,
            before: Header::SIZE,
            body,
            after: if rest == 0 { TRAILER } else { 0 },
        })
    }

    #[inline]
    pub(crate) fn poll(
        &mut self,
        input: &mut BytesMut,
        scratch: &mut BytesMut,
        rules: &Rules,
    ) -> Step {
        loop {
            if self.run > 0 {
                return self.next_in_input(input, rules);
            }
            let is_under_way = !scratch.is_empty() || self.part.is_some();
            if is_under_way && let Some(step) = self.next_in_scratch(scratch, rules) {
                return step;
            }
            if let Some(step) = self.open(input, scratch, rules) {
                return step;
            }
        }
    }

    /// The next envelope of the run in the input.
    #[inline]
    fn next_in_input(&mut self, input: &mut BytesMut, rules: &Rules) -> Step {
        let step = next_of_run(input, self.run, Source::Input, rules);
        let (taken, consumed) = match &step {
            Taken::Frame(frame) => (frame.before + frame.body, false),
            Taken::Fault(_, taken) => (*taken, true),
        };
        self.run = self.run.saturating_sub(taken);
        let after = if self.run == 0 { TRAILER } else { 0 };
        if consumed {
            self.discarded += taken as u64;
            input.advance((taken + after).min(input.len()));
        }
        match step {
            Taken::Frame(frame) => Step::Frame(Frame { after, ..frame }),
            Taken::Fault(fault, _) => Step::Fault(fault),
        }
    }

    /// The next envelope in the scratch buffer; `None` if it takes a further segment.
    fn next_in_scratch(&mut self, scratch: &mut BytesMut, rules: &Rules) -> Option<Step> {
        if self.holds == Holds::Parts {
            return self.next_of_parts(scratch, rules);
        }
        Some(
            match next_of_run(scratch, scratch.len(), Source::Scratch, rules) {
                Taken::Frame(frame) => Step::Frame(frame),
                Taken::Fault(fault, taken) => {
                    self.discarded += taken as u64;
                    scratch.advance(taken.min(scratch.len()));
                    Step::Fault(fault)
                }
            },
        )
    }

    /// Goes on with an envelope of several segments.
    fn next_of_parts(&mut self, scratch: &mut BytesMut, rules: &Rules) -> Option<Step> {
        if self.part.is_none() {
            let header = Header::decode(scratch.first_chunk::<{ Header::SIZE }>()?);
            scratch.advance(Header::SIZE);
            match self.begin(header, rules) {
                Ok(part) => {
                    if let Part::Dropped { .. } = part {
                        self.discarded += Header::SIZE as u64;
                    }
                    self.part = Some(part);
                }
                Err(fault) => return Some(Step::Fault(fault)),
            }
        }
        match &mut self.part {
            Some(Part::Begun(header, dialect)) => {
                let frame = Frame {
                    header: *header,
                    dialect: *dialect,
                    source: Source::Scratch,
                    before: 0,
                    body: header.length as usize,
                    after: 0,
                };
                if scratch.len() < frame.body {
                    return None;
                }
                self.part = None;
                Some(Step::Frame(frame))
            }
            Some(Part::Dropped { left, fault }) => {
                let taken = scratch.len().min(*left);
                scratch.advance(taken);
                *left -= taken;
                self.discarded += taken as u64;
                if *left > 0 {
                    return None;
                }
                let fault = Fault::clone(fault);
                self.part = None;
                Some(Step::Fault(fault))
            }
            None => None,
        }
    }

    /// Judges the header of an envelope of several segments. What it refuses at once is fatal, and
    /// answered on stream 0, as Cassandra does.
    fn begin(&self, header: Header, rules: &Rules) -> Result<Part, Fault> {
        let admitted = rules.admit(&header);
        if let Some(length) = negative(header.length) {
            return Err(rules.fatal(PeerMisbehaved::NegativeLength(length)));
        }
        let dialect = admitted.map_err(|fault| Fault {
            stream: StreamId(0),
            scope: Scope::Fatal,
            ..fault
        })?;
        let left = header.length as usize;
        Ok(match unwanted(&header, dialect, rules) {
            None => Part::Begun(header, dialect),
            Some(fault) => Part::Dropped {
                left,
                fault: Box::new(fault),
            },
        })
    }

    /// Opens the next segment. `None` when there is something in it to be read.
    #[inline]
    fn open(
        &mut self,
        input: &mut BytesMut,
        scratch: &mut BytesMut,
        rules: &Rules,
    ) -> Option<Step> {
        let segment = match self.segment {
            Some(segment) => segment,
            None => {
                let Some(decoded) = SegmentHeader::decode(self.format, input) else {
                    return Some(Step::NeedInput);
                };
                let header = match decoded {
                    Ok(header) => header,
                    Err(crc) => {
                        return Some(Step::Fault(rules.fatal(PeerMisbehaved::SegmentHeader(crc))));
                    }
                };
                input.advance(self.format.header_len());
                self.segment = Some(header);
                header
            }
        };
        let payload = segment.payload as usize;
        match check_payload(input, payload) {
            None => return Some(Step::NeedInput),
            Some(Ok(())) => {}
            Some(Err(crc)) => {
                return Some(Step::Fault(
                    rules.fatal(PeerMisbehaved::SegmentPayload(crc)),
                ));
            }
        }
        self.segment = None;
        self.count += 1;
        let interrupted = if segment.self_contained && (self.part.is_some() || !scratch.is_empty())
        {
            self.interrupt(scratch)
        } else {
            None
        };
        if segment.self_contained && segment.uncompressed == 0 {
            self.run = payload;
            if payload == 0 {
                input.advance(TRAILER);
            }
            return interrupted.map(Step::Fault);
        }
        let outcome = self.unpack(segment, input, scratch, rules);
        interrupted.or(outcome.err()).map(Step::Fault)
    }

    /// Drops a message of several segments that a self-contained one cuts off.
    fn interrupt(&mut self, scratch: &mut BytesMut) -> Option<Fault> {
        scratch.clear();
        match self.part.take() {
            Some(Part::Begun(header, dialect)) => Some(Fault {
                error: PeerMisbehaved::InterruptedMessage,
                stream: header.stream,
                stamp: dialect.into(),
                scope: Scope::Stream,
                is_answered: false,
            }),
            _ => None,
        }
    }

    /// Moves a payload into the scratch buffer, decompressed.
    #[inline(never)]
    fn unpack(
        &mut self,
        segment: SegmentHeader,
        input: &mut BytesMut,
        scratch: &mut BytesMut,
        rules: &Rules,
    ) -> Result<(), Fault> {
        if !segment.self_contained && !rules.ready {
            return Err(rules.fatal(PeerMisbehaved::LongMessageBeforeLogin));
        }
        let length = segment.payload as usize;
        let payload = input.get(..length).unwrap_or_default();
        self.holds = if segment.self_contained {
            Holds::Run
        } else {
            Holds::Parts
        };
        let outcome = if segment.uncompressed == 0 {
            scratch.extend_from_slice(payload);
            Ok(())
        } else {
            decompress_segment(payload, segment.uncompressed as usize, scratch)
        };
        input.advance((length + TRAILER).min(input.len()));
        reclaim(input);
        outcome.map_err(|error| {
            // What was gathered of a message is of no use without this part.
            scratch.clear();
            self.part = None;
            Fault {
                error: PeerMisbehaved::Compression(error),
                stream: StreamId(0),
                stamp: rules.fallback(),
                scope: Scope::Stream,
                is_answered: false,
            }
        })
    }
}

/// What was found at the front of a run; a fault comes with the bytes that it takes.
enum Taken {
    Frame(Frame),
    Fault(Fault, usize),
}

/// Reads the envelope at the front of a run of `run` bytes.
#[inline]
fn next_of_run(bytes: &[u8], run: usize, source: Source, rules: &Rules) -> Taken {
    let Some(header) = bytes
        .first_chunk::<{ Header::SIZE }>()
        .filter(|_| run >= Header::SIZE)
    else {
        return Taken::Fault(cut(StreamId(0), rules), run);
    };
    let header = Header::decode(header);
    let body = header.length as usize;
    let end = Header::SIZE.saturating_add(body);
    match rules.admit(&header) {
        Ok(dialect) if end <= run && unwanted(&header, dialect, rules).is_none() => {
            Taken::Frame(Frame {
                header,
                dialect,
                source,
                before: Header::SIZE,
                body,
                after: 0,
            })
        }
        verdict => refuse(header, verdict, run, rules),
    }
}

/// An envelope of a run that isn't taken. The run's bounds stay known, so that reading can go on.
#[cold]
fn refuse(header: Header, verdict: Result<Dialect, Fault>, run: usize, rules: &Rules) -> Taken {
    let end = Header::SIZE.saturating_add(header.length as usize);
    let fault = match (negative(header.length), verdict) {
        (Some(length), verdict) => Fault {
            error: PeerMisbehaved::NegativeLength(length),
            stream: header.stream,
            stamp: verdict.map_or_else(|fault| fault.stamp, Into::into),
            scope: Scope::Fatal,
            is_answered: false,
        },
        (None, Err(fault)) => fault,
        (None, Ok(_)) if end > run => cut(header.stream, rules),
        (None, Ok(dialect)) => {
            unwanted(&header, dialect, rules).unwrap_or_else(|| cut(header.stream, rules))
        }
    };
    Taken::Fault(fault, end.min(run))
}

fn cut(stream: StreamId, rules: &Rules) -> Fault {
    Fault {
        error: PeerMisbehaved::CutSegment,
        stream,
        stamp: rules.fallback(),
        scope: Scope::Stream,
        is_answered: false,
    }
}

/// Why a well-formed envelope is discarded: it is too long, or too much is in flight.
#[inline]
fn unwanted(header: &Header, dialect: Dialect, rules: &Rules) -> Option<Fault> {
    let error = if header.length as usize > rules.limit {
        PeerMisbehaved::MessageTooLong {
            length: header.length.into(),
            limit: rules.limit as u64,
        }
    } else if rules.sheds(header) {
        PeerMisbehaved::Overloaded
    } else {
        return None;
    };
    Some(Fault {
        error,
        stream: header.stream,
        stamp: dialect.into(),
        scope: Scope::Stream,
        is_answered: false,
    })
}
