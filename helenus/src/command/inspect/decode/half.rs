//! One direction: bytes to envelopes. Says where the first byte of each stands, and where bytes are neither envelope nor
//! segment.
//!
//! Memory: what was received of one message, and its body decompressed, at most [`MAX_BODY`].

use bytes::{Bytes, BytesMut};
use helenus_core::compression::{Compression, decompress_body, decompress_segment};
use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER, check_payload};
use helenus_core::{Direction, Flags, Header};

use super::Broken;

/// The longest body.
const MAX_BODY: usize = 256 << 20;

/// How envelopes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command::inspect) enum Framing {
    /// Bare; bodies compressed so if they say that they are.
    Bare(Option<Compression>),
    /// In segments of this format; `None` while it isn't known.
    Segments(Option<SegmentFormat>),
}

/// An envelope.
#[derive(Debug)]
pub(super) struct Frame {
    /// Where it begins.
    pub(super) offset: u64,
    pub(super) header: Header,
    /// Header and body, the body decompressed.
    pub(super) bytes: Bytes,
    pub(super) framing: Framing,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Step {
    Frame(Frame),
    Broken(u64, Broken),
    /// The rest isn't there yet, or nothing is left.
    Wait,
}

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Half {
    direction: Direction,
    framing: Framing,
    received: BytesMut,
    /// Where `received` begins.
    offset: u64,
    /// Bytes of envelopes that segments carried, and where the first of them stands.
    payload: BytesMut,
    payload_offset: u64,
    /// The segment that `payload` is the whole of, rather than a part of an envelope.
    is_self_contained: bool,
    /// Nothing more can be read.
    is_over: bool,
}

impl Half {
    pub(super) fn new(direction: Direction, framing: Framing) -> Self {
        Self {
            direction,
            framing,
            received: BytesMut::new(),
            offset: 0,
            payload: BytesMut::new(),
            payload_offset: 0,
            is_self_contained: true,
            is_over: false,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        if self.is_over {
            self.offset += bytes.len() as u64;
        } else {
            self.received.extend_from_slice(bytes);
        }
    }

    /// From the next envelope on they travel so.
    pub(super) const fn switch(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Bytes are missing here: what was begun can't be finished.
    pub(super) fn lose(&mut self, count: u64) -> Option<(u64, Broken)> {
        if self.is_over {
            return None;
        }
        let what =
            format!("{count} bytes weren't captured; the rest of this direction can't be read");
        Some(self.end(what))
    }

    /// No more bytes come.
    pub(super) fn finish(&mut self) -> Option<(u64, Broken)> {
        let left = self.received.len() + self.payload.len();
        if self.is_over || left == 0 {
            return None;
        }
        let what = match self.missing() {
            Some(missing) => {
                format!("the capture ends here; {missing} bytes are missing to the end")
            }
            None => "the capture ends here, within a header".to_owned(),
        };
        Some(self.end(what))
    }

    fn end(&mut self, what: String) -> (u64, Broken) {
        let (offset, bytes) = match self.payload.is_empty() {
            true => (self.offset, self.received.split().freeze()),
            false => (self.payload_offset, self.payload.split().freeze()),
        };
        self.stop(offset, what, bytes.clone(), bytes.len()..bytes.len())
    }

    /// How many bytes the message or segment that was begun lacks.
    fn missing(&self) -> Option<usize> {
        if let Framing::Segments(format) = self.framing
            && self.payload.is_empty()
        {
            let (format, header) = segment_header(format, &self.received)?.ok()?;
            let length = format.header_len() + header.payload as usize + TRAILER;
            return Some(length - self.received.len());
        }
        let bytes = if self.payload.is_empty() {
            &self.received
        } else {
            &self.payload
        };
        let header = Header::decode(bytes.first_chunk()?);
        Some(Header::SIZE + header.length as usize - bytes.len())
    }

    pub(super) fn step(&mut self) -> Step {
        loop {
            if self.is_over {
                return Step::Wait;
            }
            match self.framing {
                // Envelopes of a segment that was opened before are still read from it.
                _ if !self.payload.is_empty() => {
                    if let Some(step) = self.next_of_payload() {
                        return step;
                    }
                }
                Framing::Bare(compression) => return self.next_bare(compression),
                Framing::Segments(_) => {}
            }
            if let Some(step) = self.open_segment() {
                return step;
            }
        }
    }

    fn next_bare(&mut self, compression: Option<Compression>) -> Step {
        let Some(header) = self.received.first_chunk().map(Header::decode) else {
            return Step::Wait;
        };
        if let Err(broken) = self.check(&header, &self.received) {
            let (what, mark) = broken;
            let bytes = self.received.split().freeze();
            let (offset, broken) = self.stop(self.offset, what, bytes, mark);
            return Step::Broken(offset, broken);
        }
        let length = Header::SIZE + header.length as usize;
        if self.received.len() < length {
            return Step::Wait;
        }
        let (offset, mut bytes) = (self.offset, self.received.split_to(length));
        self.offset += length as u64;
        // In v5 segments are compressed, and the flag means nothing.
        let may_be_compressed = header.version < 5 && bytes.len() > Header::SIZE;
        if may_be_compressed && header.flags.contains(Flags::COMPRESSION) {
            match decompress(compression, &bytes) {
                Ok(plain) => bytes = plain,
                Err(what) => {
                    let mark = Header::SIZE..bytes.len();
                    let broken = Broken {
                        what,
                        bytes: bytes.freeze(),
                        mark,
                        is_final: false,
                    };
                    return Step::Broken(offset, broken);
                }
            }
        }
        Step::Frame(Frame {
            offset,
            header,
            bytes: bytes.freeze(),
            framing: self.framing,
        })
    }

    /// The next envelope of what segments carried; `None` if it goes on in the next segment.
    fn next_of_payload(&mut self) -> Option<Step> {
        let header = self.payload.first_chunk().map(Header::decode);
        if let Some(header) = header {
            if let Err((what, mark)) = self.check(&header, &self.payload) {
                return Some(self.drop_payload(what, mark));
            }
            let length = Header::SIZE + header.length as usize;
            if self.payload.len() >= length {
                let bytes = self.payload.split_to(length).freeze();
                let (offset, framing) = (self.payload_offset, self.framing);
                return Some(Step::Frame(Frame {
                    offset,
                    header,
                    bytes,
                    framing,
                }));
            }
        }
        if self.is_self_contained {
            let end = self.payload.len();
            let what = match header {
                Some(header) => format!(
                    "a self-contained segment ends within an envelope: {} of {} bytes of its body are there",
                    end - Header::SIZE,
                    header.length
                ),
                None => "a self-contained segment ends within the header of an envelope".to_owned(),
            };
            return Some(self.drop_payload(what, end..end));
        }
        None
    }

    fn drop_payload(&mut self, what: String, mark: std::ops::Range<usize>) -> Step {
        let bytes = self.payload.split().freeze();
        Step::Broken(
            self.payload_offset,
            Broken {
                what,
                bytes,
                mark,
                is_final: false,
            },
        )
    }

    /// Takes a segment off what was received; `Some` if that can't go on.
    fn open_segment(&mut self) -> Option<Step> {
        let Framing::Segments(known) = self.framing else {
            return Some(Step::Wait);
        };
        let (format, header) = match segment_header(known, &self.received) {
            None => return Some(Step::Wait),
            Some(Ok(found)) => found,
            Some(Err(what)) => {
                let bytes = self.received.split().freeze();
                let end = known.unwrap_or(SegmentFormat::Plain).header_len();
                let (offset, broken) = self.stop(self.offset, what, bytes, 0..end);
                return Some(Step::Broken(offset, broken));
            }
        };
        let (start, length) = (format.header_len(), header.payload as usize);
        let whole = start + length + TRAILER;
        if self.received.len() < whole {
            return Some(Step::Wait);
        }
        self.framing = Framing::Segments(Some(format));
        let (offset, bytes) = (self.offset, self.received.split_to(whole).freeze());
        self.offset += whole as u64;
        let broken = |what, mark| {
            let bytes = bytes.clone();
            Some(Step::Broken(
                offset,
                Broken {
                    what,
                    bytes,
                    mark,
                    is_final: false,
                },
            ))
        };
        let Some((_, rest)) = bytes.split_at_checked(start) else {
            return Some(Step::Wait);
        };
        if let Some(Err(wrong)) = check_payload(rest, length) {
            let what = format!(
                "the CRC32 of the segment's payload is {:08x}, but the payload's is {:08x}",
                wrong.read, wrong.computed
            );
            return broken(what, start + length..whole);
        }
        if self.payload.is_empty() {
            self.payload_offset = offset;
            self.is_self_contained = header.self_contained;
        } else if header.self_contained {
            let what = "a self-contained segment amidst a message of several segments".to_owned();
            self.payload.clear();
            return broken(what, 0..start);
        }
        let payload = rest.get(..length).unwrap_or_default();
        if header.uncompressed == 0 {
            self.payload.extend_from_slice(payload);
        } else if let Err(error) =
            decompress_segment(payload, header.uncompressed as usize, &mut self.payload)
        {
            return broken(error.to_string(), start..start + length);
        }
        None
    }

    /// What is wrong with a header, and in which of its bytes.
    fn check(&self, header: &Header, bytes: &[u8]) -> Result<(), (String, std::ops::Range<usize>)> {
        if header.direction != self.direction {
            let way = match self.direction {
                Direction::Request => "a request has the direction bit of a response",
                Direction::Response => "a response lacks its direction bit",
            };
            return Err((
                format!("{way}: version byte {:#04x}", bytes.first().unwrap_or(&0)),
                0..1,
            ));
        }
        if !(3..=6).contains(&header.version) {
            return Err((
                format!("protocol version {} isn't known", header.version),
                0..1,
            ));
        }
        if header.length as usize > MAX_BODY {
            let what = format!("a body of {} bytes", header.length.cast_signed());
            return Err((what, 5..Header::SIZE));
        }
        Ok(())
    }

    /// Nothing in this direction can be read from here on.
    fn stop(
        &mut self,
        offset: u64,
        what: String,
        bytes: Bytes,
        mark: std::ops::Range<usize>,
    ) -> (u64, Broken) {
        self.is_over = true;
        self.received.clear();
        self.payload.clear();
        (
            offset,
            Broken {
                what,
                bytes,
                mark,
                is_final: true,
            },
        )
    }
}

/// The header of the segment that `bytes` begins with. Where the format isn't known, its checksum tells.
fn segment_header(
    known: Option<SegmentFormat>,
    bytes: &[u8],
) -> Option<Result<(SegmentFormat, SegmentHeader), String>> {
    let formats = match known {
        Some(format) => vec![format],
        None => vec![SegmentFormat::Plain, SegmentFormat::Lz4],
    };
    let mut wrong = None;
    for format in formats {
        match SegmentHeader::decode(format, bytes)? {
            Ok(header) => return Some(Ok((format, header))),
            Err(mismatch) => wrong = Some(mismatch),
        }
    }
    wrong.map(|wrong| {
        Err(format!(
            "the CRC24 of the segment's header is {:06x}, but the header's is {:06x}",
            wrong.read, wrong.computed
        ))
    })
}

fn decompress(compression: Option<Compression>, envelope: &BytesMut) -> Result<BytesMut, String> {
    let (head, body) = envelope.split_at_checked(Header::SIZE).unwrap_or_default();
    let compression =
        compression.ok_or("the body is compressed, but no compression was agreed on")?;
    let mut plain = BytesMut::from(head);
    decompress_body(compression, body, MAX_BODY, &mut plain).map_err(|error| error.to_string())?;
    Ok(plain)
}
