//! Bytes to envelopes and back: bare before v5's handshake is over and in v3 and v4, in segments after.
//! Which of both it is, is state that STARTUP's answer changes, and never guessed from the bytes.
//! Answers to native protocol v5, sections 2 and 2.1 to 2.3.

pub(crate) mod bare;
pub(crate) mod inbound;
pub(crate) mod lent;
pub(crate) mod outbound;
mod reader;
pub(crate) mod segmented;

use bytes::BytesMut;

use crate::codes::{Opcode, ProtocolVersion};
use crate::compression::Compression;
use crate::envelope::{Direction, Flags, Header, StreamId};
use crate::error::{PeerMisbehaved, Scope};
use crate::segment::SegmentFormat;
use crate::transition::Role;

pub use reader::{EnvelopeReader, LentEnvelope};

/// How envelopes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One after the other, bodies perhaps compressed.
    Bare(Option<Compression>),
    /// Within segments.
    Segments(SegmentFormat),
}

/// A version as it is spoken: v6-beta is v5 with another number, and a flag on every envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) version: ProtocolVersion,
    pub(crate) beta: bool,
}

impl Dialect {
    /// What answers are spoken in before a version is agreed upon, if the request's can't be used.
    pub(crate) const LATEST: Dialect = Dialect {
        version: ProtocolVersion::LATEST,
        beta: false,
    };

    /// The spoken version that is nearest to this number.
    pub(crate) fn nearest(number: u8) -> Dialect {
        let lowest = ProtocolVersion::V3.as_u8();
        Dialect {
            version: ProtocolVersion::from_u8(number.max(lowest))
                .unwrap_or(ProtocolVersion::LATEST),
            beta: false,
        }
    }

    /// The version byte, without the direction bit.
    #[inline]
    pub(crate) const fn number(self) -> u8 {
        if self.beta { 6 } else { self.version.as_u8() }
    }
}

/// The version byte and flag that an envelope goes out with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) version: u8,
    pub(crate) flags: Flags,
}

impl From<Dialect> for Stamp {
    #[inline]
    fn from(dialect: Dialect) -> Stamp {
        Stamp {
            version: dialect.number(),
            flags: if dialect.beta {
                Flags::USE_BETA
            } else {
                Flags::NONE
            },
        }
    }
}

/// A whole envelope that lies ready at the front of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) header: Header,
    pub(crate) dialect: Dialect,
    pub(crate) source: Source,
    /// Bytes in front of the body that belong to the envelope.
    pub(crate) before: usize,
    pub(crate) body: usize,
    /// Bytes behind the body that go with it: the trailer of a segment it is the last in.
    pub(crate) after: usize,
}

/// The buffer an envelope lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The caller's.
    Input,
    /// The connection's: what was decompressed, or put together from several segments.
    Scratch,
}

/// Received bytes that are no good envelope, and how they are answered. They are consumed already.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) error: PeerMisbehaved,
    pub(crate) stream: StreamId,
    pub(crate) stamp: Stamp,
    pub(crate) scope: Scope,
    /// Whether it was answered before; only to be closed for.
    pub(crate) is_answered: bool,
}

/// What reading came to.
#[derive(Debug)]
pub(crate) enum Step {
    Frame(Frame),
    Fault(Fault),
    NeedInput,
}

/// What the connection has agreed upon and allows, as far as reading must know it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Which end reads.
    pub(crate) role: Role,
    /// The version STARTUP settled.
    pub(crate) agreed: Option<Dialect>,
    /// The longest message: header included before v5, the body alone in v5.
    pub(crate) limit: usize,
    /// Requests whose bodies are not shorter than this are discarded and answered OVERLOADED.
    pub(crate) room: usize,
    /// The oldest version that is taken.
    pub(crate) oldest: ProtocolVersion,
    /// Whether authentication is complete.
    pub(crate) ready: bool,
}

impl Rules {
    /// What an answer to bytes that name no usable version is spoken in.
    fn fallback(&self) -> Stamp {
        self.agreed.unwrap_or(Dialect::LATEST).into()
    }

    /// The dialect of an envelope that is as most are: in the version agreed upon, and of a known kind. Of
    /// others [`Rules::admit`] knows more.
    #[inline(always)]
    fn expects(&self, header: &Header) -> Option<Dialect> {
        let agreed = self.agreed.filter(|agreed| !agreed.beta)?;
        let (direction, is_known) = match self.role {
            Role::Server => (Direction::Request, header.opcode.is_request()),
            Role::Client => (Direction::Response, header.opcode.is_response()),
        };
        let is_expected = header.version == agreed.number()
            && header.direction == direction
            && is_known
            && (header.length as usize) < self.room;
        is_expected.then_some(agreed)
    }

    /// The dialect of an envelope with this header, if it may come.
    ///
    /// Lengths are left to the framings, which differ in them.
    #[inline]
    fn admit(&self, header: &Header) -> Result<Dialect, Fault> {
        match self.role {
            Role::Server => self.admit_request(header),
            Role::Client => self.admit_response(header),
        }
    }

    /// A response of any opcode that no request has: who forwards it may know what it means. Before a
    /// version is agreed upon it may be in any, since a server refuses one in a version of its own. All
    /// that isn't admitted is fatal: there is nobody whose fault a client could live with.
    #[inline]
    fn admit_response(&self, header: &Header) -> Result<Dialect, Fault> {
        let error = match self.agreed {
            _ if header.direction == Direction::Request => {
                PeerMisbehaved::RequestBit(header.version)
            }
            Some(agreed) if header.version != agreed.number() => PeerMisbehaved::VersionChanged {
                got: header.version,
                agreed: agreed.number(),
            },
            _ if header.opcode.is_request() => PeerMisbehaved::WrongDirection(header.opcode),
            Some(agreed) => return Ok(agreed),
            None => return Ok(Dialect::nearest(header.version)),
        };
        Err(self.fatal(error))
    }

    /// A fault after which nothing can be read, and that concerns no stream.
    #[cold]
    fn fatal(&self, error: PeerMisbehaved) -> Fault {
        Fault {
            error,
            stream: StreamId(0),
            stamp: self.fallback(),
            scope: Scope::Fatal,
            is_answered: false,
        }
    }

    /// The dialect of a request with this header, if it may come.
    #[inline]
    fn admit_request(&self, header: &Header) -> Result<Dialect, Fault> {
        let dialect = match self.agreed {
            Some(agreed)
                if header.version == agreed.number()
                    && (!agreed.beta || header.flags.contains(Flags::USE_BETA)) =>
            {
                agreed
            }
            _ => self.dialect(header)?,
        };
        let opcode = header.opcode;
        if header.direction == Direction::Request && opcode.is_request() {
            return Ok(dialect);
        }
        let error = if header.direction == Direction::Response {
            PeerMisbehaved::ResponseBit(opcode)
        } else if opcode.is_known() {
            PeerMisbehaved::WrongDirection(opcode)
        } else if opcode == RESERVED {
            PeerMisbehaved::Unexpected(opcode)
        } else {
            PeerMisbehaved::UnknownOpcode(opcode)
        };
        Err(Fault {
            error,
            stream: header.stream,
            stamp: dialect.into(),
            scope: Scope::Stream,
            is_answered: false,
        })
    }

    /// The dialect a header is in; a fault if it isn't spoken, or isn't the agreed one.
    #[cold]
    fn dialect(&self, header: &Header) -> Result<Dialect, Fault> {
        let fault = |error, stamp| {
            Err(Fault {
                error,
                stream: header.stream,
                stamp,
                scope: Scope::Stream,
                is_answered: false,
            })
        };
        let dialect = match (header.version, ProtocolVersion::from_u8(header.version)) {
            (_, Some(version)) if version < self.oldest => {
                let fault = Fault {
                    error: PeerMisbehaved::OldVersion {
                        got: header.version,
                        oldest: self.oldest.as_u8(),
                    },
                    stream: StreamId(0),
                    stamp: Dialect::LATEST.into(),
                    scope: Scope::Stream,
                    is_answered: false,
                };
                return Err(fault);
            }
            (_, Some(version)) => Dialect {
                version,
                beta: false,
            },
            (BETA, None) => {
                let dialect = Dialect {
                    version: ProtocolVersion::V5,
                    beta: true,
                };
                if !header.flags.contains(Flags::USE_BETA) {
                    return fault(PeerMisbehaved::BetaVersion(BETA), dialect.into());
                }
                dialect
            }
            (number, None) => {
                let error = PeerMisbehaved::UnsupportedVersion(number);
                return fault(error, self.stamp_for_unsupported(number));
            }
        };
        match self.agreed {
            Some(agreed) if agreed != dialect => fault(
                PeerMisbehaved::VersionChanged {
                    got: header.version,
                    agreed: agreed.number(),
                },
                agreed.into(),
            ),
            _ => Ok(dialect),
        }
    }

    /// v1 and v2 are answered in their own version, so that their clients understand.
    fn stamp_for_unsupported(&self, version: u8) -> Stamp {
        match version {
            1 | 2 => Stamp {
                version,
                flags: Flags::NONE,
            },
            _ => self.fallback(),
        }
    }

    /// Whether the request is to be discarded rather than read.
    #[inline]
    fn sheds(&self, header: &Header) -> bool {
        header.length as usize >= self.room
            && matches!(
                header.opcode,
                Opcode::QUERY | Opcode::PREPARE | Opcode::EXECUTE | Opcode::BATCH
            )
    }
}

/// The number of the version in beta.
pub(crate) const BETA: u8 = 6;
/// The opcode of v1's CREDENTIALS.
const RESERVED: Opcode = Opcode(0x04);

/// A body length as the signed number it is on the wire, if it is negative.
#[inline]
fn negative(length: u32) -> Option<i32> {
    let length = length.cast_signed();
    (length < 0).then_some(length)
}

/// From this length on, the room that consumed bytes leave is worth getting back.
const LONG: usize = 4 << 10;

/// Moves what little is left of a buffer into the room before it. Otherwise the next long body begins where
/// the last one ended, and is moved when it is half read: 760 KB in reads of 1460 bytes took four times as
/// long.
#[inline(never)]
fn reclaim(buffer: &mut BytesMut) {
    if buffer.len() < LONG {
        // Asking for more than there is behind it does that. It doesn't matter if it can't be done.
        let _ = buffer.try_reclaim(buffer.capacity().saturating_add(1));
    }
}
