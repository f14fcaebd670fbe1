//! Reading envelopes that stand bare, one after the other: v3, v4, and v5 before its segments.

use bytes::{Buf, BytesMut};

use super::{Dialect, Fault, Frame, Rules, Source, Step, negative};
use crate::codes::{Opcode, ProtocolVersion};
use crate::compression::{Compression, decompress_body};
use crate::envelope::{Flags, Header, StreamId};
use crate::error::{PeerMisbehaved, Scope};
use crate::transition::Role;

/// Where reading stands.
#[derive(Debug, Default)]
pub(crate) struct BareReader {
    stage: Stage,
    /// Bytes of envelopes that were refused on their header.
    discarded: u64,
}

#[derive(Debug, Default)]
enum Stage {
    /// At the beginning of an envelope.
    #[default]
    Start,
    /// Behind a header; its body is awaited.
    Body(Header, Dialect),
    /// Within an envelope that is discarded; the fault, if it isn't reported yet, is reported behind it.
    Discard {
        left: usize,
        fault: Option<Box<Fault>>,
    },
    /// At an envelope of an unsupported version, which was answered.
    Foreign,
}

impl BareReader {
    /// How many bytes of envelopes that were refused on their header came and went.
    pub(crate) const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Whether an envelope's header was read, and its body wasn't.
    #[inline]
    pub(crate) fn is_begun(&self) -> bool {
        matches!(self.stage, Stage::Body(..) | Stage::Discard { .. })
    }

    /// Bytes still missing to what was begun.
    pub(crate) fn missing(&self) -> usize {
        match &self.stage {
            Stage::Start | Stage::Foreign => Header::SIZE,
            Stage::Body(header, _) => header.length as usize,
            Stage::Discard { left, .. } => *left,
        }
    }

    /// How much input it takes to go on, where so much is left: less than a header is looked at once, for its
    /// first byte, and what is discarded goes as it comes.
    pub(crate) fn wanted(&self, left: usize) -> usize {
        match &self.stage {
            Stage::Start if left > 0 => Header::SIZE,
            Stage::Body(header, _) => header.length as usize,
            Stage::Start | Stage::Foreign | Stage::Discard { .. } => 0,
        }
    }

    #[inline]
    pub(crate) fn poll(
        &mut self,
        input: &mut BytesMut,
        scratch: &mut BytesMut,
        compression: Option<Compression>,
        rules: &Rules,
    ) -> Step {
        loop {
            if let Stage::Start = self.stage {
                let Some(header) = input.first_chunk::<{ Header::SIZE }>() else {
                    return self.first_byte(input, rules);
                };
                let header = Header::decode(header);
                if rules.agreed.is_none()
                    && rules.role == Role::Client
                    && matches!(header.version, 1 | 2)
                {
                    return old_response(input, rules);
                }
                let end = Header::SIZE.saturating_add(header.length as usize);
                match rules.admit(&header) {
                    Ok(dialect) if end <= rules.limit && !rules.sheds(&header) => {
                        if input.len() >= end {
                            let frame = frame(header, dialect, Header::SIZE);
                            return deliver(frame, input, scratch, compression, rules);
                        }
                        input.advance(Header::SIZE);
                        self.stage = Stage::Body(header, dialect);
                        return Step::NeedInput;
                    }
                    verdict => {
                        if let Some(step) = self.refuse(header, verdict, input, rules) {
                            return step;
                        }
                    }
                }
            }
            if let Some(step) = self.go_on(input, scratch, compression, rules) {
                return step;
            }
        }
    }

    /// Goes on with what an earlier call began. `None` at the beginning of an envelope.
    #[cold]
    fn go_on(
        &mut self,
        input: &mut BytesMut,
        scratch: &mut BytesMut,
        compression: Option<Compression>,
        rules: &Rules,
    ) -> Option<Step> {
        match &mut self.stage {
            Stage::Start => None,
            Stage::Body(header, dialect) => {
                let (header, dialect) = (*header, *dialect);
                if input.len() < header.length as usize {
                    return Some(Step::NeedInput);
                }
                self.stage = Stage::Start;
                let frame = frame(header, dialect, 0);
                Some(deliver(frame, input, scratch, compression, rules))
            }
            Stage::Discard { left, fault } => {
                let taken = input.len().min(*left);
                input.advance(taken);
                *left -= taken;
                self.discarded += taken as u64;
                if *left > 0 {
                    return Some(Step::NeedInput);
                }
                let fault = fault.take();
                self.stage = Stage::Start;
                fault.map(|fault| Step::Fault(*fault))
            }
            Stage::Foreign => self.foreign(input, rules),
        }
    }

    /// Fewer bytes than a header: the first tells whether it is worth waiting for the rest.
    fn first_byte(&mut self, input: &BytesMut, rules: &Rules) -> Step {
        match (rules.role, input.first()) {
            (Role::Server, Some(&byte)) if !is_spoken(byte) => {
                self.unsupported(byte & 0x7F, input, rules)
            }
            // Whatever speaks here, it isn't CQL.
            (Role::Client, Some(&byte)) if byte & 0x80 == 0 => {
                Step::Fault(rules.fatal(PeerMisbehaved::RequestBit(byte)))
            }
            _ => Step::NeedInput,
        }
    }

    /// A version that isn't spoken is answered on its first byte; and closed for at once if more is there,
    /// and makes no sense.
    fn unsupported(&mut self, version: u8, input: &BytesMut, rules: &Rules) -> Step {
        self.stage = Stage::Foreign;
        let scope = match foreign_length(input, rules) {
            Foreign::Nonsense => Scope::Fatal,
            _ => Scope::Stream,
        };
        Step::Fault(strange(version, scope, rules))
    }

    /// Passes over an envelope of an unsupported version that was answered.
    ///
    /// Cassandra drops whatever it happens to have read so far, so that what follows depends on how the
    /// bytes were cut.
    #[cold]
    fn foreign(&mut self, input: &mut BytesMut, rules: &Rules) -> Option<Step> {
        match foreign_length(input, rules) {
            Foreign::Unknown => Some(Step::NeedInput),
            Foreign::Envelope(left) => {
                self.stage = Stage::Discard { left, fault: None };
                None
            }
            Foreign::Nonsense => {
                let version = input.first().map_or(0, |byte| byte & 0x7F);
                Some(Step::Fault(Fault {
                    is_answered: true,
                    ..strange(version, Scope::Fatal, rules)
                }))
            }
        }
    }

    /// An envelope that isn't taken: it is consumed to its declared end, then answered.
    #[cold]
    fn refuse(
        &mut self,
        header: Header,
        verdict: Result<Dialect, Fault>,
        input: &mut BytesMut,
        rules: &Rules,
    ) -> Option<Step> {
        let mut fault = match verdict {
            Err(fault) => match fault.error {
                PeerMisbehaved::UnsupportedVersion(_) => {
                    return Some(self.unsupported(header.version, input, rules));
                }
                _ => fault,
            },
            Ok(dialect) => self.unwanted(&header, dialect, rules),
        };
        if fault.scope == Scope::Fatal {
            return Some(Step::Fault(fault));
        }
        input.advance(Header::SIZE);
        if let Some(length) = negative(header.length) {
            return Some(Step::Fault(Fault {
                error: PeerMisbehaved::NegativeLength(length),
                stream: header.stream,
                scope: Scope::Fatal,
                ..fault
            }));
        }
        if let PeerMisbehaved::BetaVersion(_) = fault.error {
            fault.stream = StreamId(0);
        }
        self.discarded += Header::SIZE as u64;
        self.stage = Stage::Discard {
            left: header.length as usize,
            fault: Some(Box::new(fault)),
        };
        None
    }

    /// Why a well-formed envelope is discarded: it is too long, or too much is in flight.
    fn unwanted(&self, header: &Header, dialect: Dialect, rules: &Rules) -> Fault {
        let length = Header::SIZE as u64 + u64::from(header.length);
        let limit = rules.limit as u64;
        let (error, stamp) = if length > limit {
            // Cassandra refuses it before it looks at the version.
            let error = PeerMisbehaved::EnvelopeTooLong { length, limit };
            (error, rules.fallback())
        } else {
            (PeerMisbehaved::Overloaded, dialect.into())
        };
        Fault {
            error,
            stream: header.stream,
            stamp,
            // No request of a client fails without the others before it is ready.
            scope: match rules.role {
                Role::Client if !rules.ready => Scope::Fatal,
                _ => Scope::Stream,
            },
            is_answered: false,
        }
    }
}

/// A response in v1 or v2, whose headers are a byte shorter: servers that speak nothing newer refuse a
/// connection in it.
#[cold]
fn old_response(input: &[u8], rules: &Rules) -> Step {
    let Some(&[version, flags, stream, opcode, a, b, c, d]) = input.first_chunk::<8>() else {
        return Step::NeedInput;
    };
    let sign = if stream & 0x80 == 0 { 0 } else { 0xFF };
    let header = Header::decode(&[version, flags, sign, stream, opcode, a, b, c, d]);
    match rules.admit(&header) {
        Err(fault) => Step::Fault(fault),
        Ok(_) if header.length as usize > rules.limit => {
            Step::Fault(rules.fatal(PeerMisbehaved::UnsupportedVersion(header.version)))
        }
        Ok(_) if input.len() < 8 + header.length as usize => Step::NeedInput,
        Ok(dialect) => Step::Frame(frame(header, dialect, 8)),
    }
}

/// An envelope whose body stands `before` bytes behind the front of the input.
#[inline]
fn frame(header: Header, dialect: Dialect, before: usize) -> Frame {
    Frame {
        header,
        dialect,
        source: Source::Input,
        before,
        body: header.length as usize,
        after: 0,
    }
}

/// Hands out an envelope that is there as a whole.
#[inline]
fn deliver(
    frame: Frame,
    input: &mut BytesMut,
    scratch: &mut BytesMut,
    compression: Option<Compression>,
    rules: &Rules,
) -> Step {
    match compression {
        Some(compression) if frame.header.flags.contains(Flags::COMPRESSION) => {
            decompressed(frame, input, scratch, compression, rules)
        }
        // Without an agreement the flag is ignored, as Cassandra does: there is nothing it could mean.
        _ => Step::Frame(frame),
    }
}

/// Decompresses a body into the scratch buffer, consuming it.
#[inline(never)]
fn decompressed(
    frame: Frame,
    input: &mut BytesMut,
    scratch: &mut BytesMut,
    compression: Compression,
    rules: &Rules,
) -> Step {
    let end = frame.before.saturating_add(frame.body);
    let body = input.get(frame.before..end).unwrap_or_default();
    scratch.clear();
    let outcome = decompress_body(compression, body, rules.limit, scratch);
    input.advance(end.min(input.len()));
    match outcome {
        Ok(()) => Step::Frame(Frame {
            source: Source::Scratch,
            before: 0,
            body: scratch.len(),
            ..frame
        }),
        Err(error) => Step::Fault(Fault {
            error: PeerMisbehaved::Compression(error),
            stream: match rules.role {
                // Cassandra decompresses before it knows whose request it is.
                Role::Server => StreamId(0),
                Role::Client => frame.header.stream,
            },
            stamp: frame.dialect.into(),
            scope: Scope::Stream,
            is_answered: false,
        }),
    }
}

/// A version that isn't spoken.
fn strange(version: u8, scope: Scope, rules: &Rules) -> Fault {
    Fault {
        error: PeerMisbehaved::UnsupportedVersion(version),
        stream: StreamId(0),
        stamp: rules.stamp_for_unsupported(version),
        scope,
        is_answered: false,
    }
}

/// What bytes of an unsupported version are.
enum Foreign {
    /// Too few to tell.
    Unknown,
    /// An envelope of so many bytes.
    Envelope(usize),
    /// No CQL at all.
    Nonsense,
}

/// How long an envelope of an unsupported version says it is: v1 and v2 have a header of eight bytes, though
/// not every client of theirs sends one, and any other has nine.
fn foreign_length(input: &[u8], rules: &Rules) -> Foreign {
    let Some(&[version, _, _, opcode, a, b, c, d]) = input.first_chunk::<8>() else {
        return Foreign::Unknown;
    };
    let is_plausible = |length: u32| length as usize <= rules.limit;
    let short = u32::from_be_bytes([a, b, c, d]);
    if matches!(version & 0x7F, 1 | 2) && Opcode(opcode).is_request() && is_plausible(short) {
        return Foreign::Envelope(8 + short as usize);
    }
    match input.first_chunk::<{ Header::SIZE }>() {
        None => Foreign::Unknown,
        Some(header) => match Header::decode(header).length {
            length if is_plausible(length) => Foreign::Envelope(Header::SIZE + length as usize),
            _ => Foreign::Nonsense,
        },
    }
}

/// Whether a first byte is worth waiting for the rest of a header.
fn is_spoken(byte: u8) -> bool {
    let version = byte & 0x7F;
    version == super::BETA || ProtocolVersion::from_u8(version).is_some()
}
