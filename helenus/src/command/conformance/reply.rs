//! A reply as it came, taken apart as far as it goes; each field knows which bytes it is.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use helenus_core::compression::{Compression, decompress_body};
use helenus_core::types::read_type;
use helenus_core::wire::Reader;
use helenus_core::{DecodeError, ErrorCode, Flags, Header, Opcode};

/// The longest body that is decompressed.
const MAX_BODY: usize = 256 << 20;

/// The kinds of RESULT by their numbers.
const KINDS: [&str; 6] = [
    "",
    "Void",
    "Rows",
    "Set_keyspace",
    "Prepared",
    "Schema_change",
];

/// How an envelope came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Bare.
    Plain,
    /// In segments without compression.
    Segment,
    /// In segments of the lz4 format.
    SegmentLz4,
}

impl Framing {
    /// The name that the probes use.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Segment => "segment",
            Self::SegmentLz4 => "segment-lz4",
        }
    }
}

/// A reply.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) framing: Framing,
    /// The header, in the form of v3 and later.
    pub(super) header: Header,
    /// Header and body, the body decompressed.
    pub(super) bytes: Bytes,
    /// Why not all of it could be taken apart.
    pub(super) broken: Option<String>,
    fields: Vec<(&'static str, Range<usize>)>,
}

impl Reply {
    /// Takes an envelope apart that was read as a whole, with a header of `header_length` bytes: v1 and v2 had eight.
    pub(super) fn new(
        raw: &[u8],
        header_length: usize,
        framing: Framing,
        compression: Option<Compression>,
    ) -> Self {
        let header = decode_header(raw, header_length);
        let stream_end = header_length - 5;
        let mut reply = Self {
            framing,
            header,
            bytes: Bytes::copy_from_slice(raw),
            broken: None,
            fields: vec![
                ("version", 0..1),
                ("flags", 1..2),
                ("stream", 2..stream_end),
                ("opcode", stream_end..stream_end + 1),
            ],
        };
        if let Err(why) = reply.decompress(header_length, compression) {
            reply.broken = Some(why);
        } else if let Err(error) = reply.decode(header_length) {
            reply.broken = Some(error.kind.to_string());
        }
        reply
    }

    fn decompress(&mut self, at: usize, compression: Option<Compression>) -> Result<(), String> {
        let (Some(compression), Some((head, body))) =
            (compression, self.bytes.split_at_checked(at))
        else {
            return Ok(());
        };
        let is_compressed = self.header.flags.contains(Flags::COMPRESSION);
        if !is_compressed || self.framing != Framing::Plain || body.is_empty() {
            return Ok(());
        }
        let mut bytes = BytesMut::from(head);
        decompress_body(compression, body, MAX_BODY, &mut bytes)
            .map_err(|error| error.to_string())?;
        self.bytes = bytes.freeze();
        Ok(())
    }

    fn decode(&mut self, at: usize) -> Result<(), DecodeError> {
        let (header, bytes) = (self.header, self.bytes.clone());
        let mut reader = Fields {
            reader: Reader::at(bytes.get(at..).unwrap_or_default(), at),
            fields: &mut self.fields,
        };
        if header.flags.contains(Flags::TRACING) {
            reader.field("tracing_id", |reader| reader.uuid().map(drop))?;
        }
        if header.flags.contains(Flags::WARNING) {
            reader.field("warnings", |reader| reader.string_list().map(drop))?;
        }
        if header.flags.contains(Flags::CUSTOM_PAYLOAD) {
            reader.field("custom_payload", |reader| reader.bytes_map().map(drop))?;
        }
        let body = reader.reader.position();
        reader.fields.push(("body", body..bytes.len()));
        match header.opcode {
            Opcode::ERROR => {
                reader.field("code", |reader| reader.int().map(drop))?;
                reader.field("message", |reader| reader.short_bytes().map(drop))?;
                reader.rest("extra");
            }
            Opcode::AUTHENTICATE => {
                reader.field("authenticator", |reader| reader.short_bytes().map(drop))?;
            }
            Opcode::SUPPORTED => {
                reader.field("supported", |reader| reader.string_multimap().map(drop))?
            }
            Opcode::RESULT => {
                let mut kind = 0;
                reader.field("kind", |reader| reader.int().map(|number| kind = number))?;
                match kind {
                    2 => reader.rows()?,
                    4 => reader.prepared(header.version)?,
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The bytes of a field, if the reply has it.
    pub(super) fn field(&self, name: &str) -> Option<&[u8]> {
        self.bytes.get(self.span(name)?)
    }

    /// Where a field stands in [`bytes`](Self::bytes).
    pub(super) fn span(&self, name: &str) -> Option<Range<usize>> {
        self.fields
            .iter()
            .find(|(field, _)| *field == name)
            .map(|(_, span)| span.clone())
    }

    /// The number in a field of four bytes.
    pub(super) fn int(&self, name: &str) -> Option<i32> {
        Reader::new(self.field(name)?).int().ok()
    }

    /// The code of an ERROR.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        self.int("code").map(|code| ErrorCode(code.cast_unsigned()))
    }

    /// The message of an ERROR.
    pub(super) fn message(&self) -> Option<String> {
        let text = self.field("message")?.get(2..)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// The class that an AUTHENTICATE names.
    pub(super) fn authenticator(&self) -> Option<String> {
        let text = self.field("authenticator")?.get(2..)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// The kind of a RESULT.
    pub(super) fn kind(&self) -> Option<String> {
        let number = self.int("kind")?;
        let known = usize::try_from(number)
            .ok()
            .and_then(|number| KINDS.get(number));
        Some(known.map_or_else(|| number.to_string(), |name| (*name).to_owned()))
    }

    /// How many rows a RESULT has.
    pub(super) fn row_count(&self) -> Option<i32> {
        Reader::new(self.field("rows.rest")?).int().ok()
    }

    /// What it is, without what is in it: `ERROR 0x000A`, `RESULT Rows`, `READY`.
    pub(super) fn name(&self) -> String {
        let detail = match self.header.opcode {
            Opcode::ERROR => self.code().map(|code| format!("0x{:04X}", code.0)),
            Opcode::RESULT => self.kind(),
            _ => None,
        };
        match detail {
            Some(detail) => format!("{} {detail}", self.header.opcode),
            None => self.header.opcode.to_string(),
        }
    }
}

/// The header, whose stream has one byte in v1 and v2.
fn decode_header(raw: &[u8], length: usize) -> Header {
    let mut bytes = [0; Header::SIZE];
    let short = Header::SIZE.saturating_sub(length);
    for (at, byte) in raw.iter().take(length).enumerate() {
        let to = if at < 2 { at } else { at + short };
        if let Some(slot) = bytes.get_mut(to) {
            *slot = *byte;
        }
    }
    if short > 0 && raw.get(2).is_some_and(|stream| *stream >= 0x80) {
        bytes[2] = 0xFF;
    }
    Header::decode(&bytes)
}

/// Reads on, and keeps what is read as fields.
struct Fields<'a, 'f> {
    reader: Reader<'a>,
    fields: &'f mut Vec<(&'static str, Range<usize>)>,
}

impl<'a> Fields<'a, '_> {
    fn field(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Reader<'a>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let start = self.reader.position();
        read(&mut self.reader)?;
        self.fields.push((name, start..self.reader.position()));
        Ok(())
    }

    fn rest(&mut self, name: &'static str) {
        let start = self.reader.position();
        self.fields
            .push((name, start..start + self.reader.remaining().len()));
    }

    fn rows(&mut self) -> Result<(), DecodeError> {
        let (mut flags, mut columns) = (0, 0);
        self.field("rows.flags", |reader| {
            reader.int().map(|number| flags = number)
        })?;
        self.field("rows.columns", |reader| {
            reader.int().map(|number| columns = number)
        })?;
        if flags & 0x02 != 0 {
            self.field("rows.paging_state", |reader| reader.bytes().map(drop))?;
        }
        if flags & 0x08 != 0 {
            self.field("rows.new_metadata_id", |reader| {
                reader.short_bytes().map(drop)
            })?;
        }
        if flags & 0x04 == 0 {
            self.field("rows.spec", |reader| {
                skip_columns(reader, flags & 0x01 != 0, columns)
            })?;
        }
        self.rest("rows.rest");
        Ok(())
    }

    fn prepared(&mut self, version: u8) -> Result<(), DecodeError> {
        self.field("prepared.id", |reader| reader.short_bytes().map(drop))?;
        if version >= 5 {
            self.field("prepared.metadata_id", |reader| {
                reader.short_bytes().map(drop)
            })?;
        }
        self.rest("prepared.rest");
        Ok(())
    }
}

fn skip_columns(reader: &mut Reader<'_>, one_table: bool, count: i32) -> Result<(), DecodeError> {
    if one_table {
        reader.short_bytes()?;
        reader.short_bytes()?;
    }
    for _ in 0..count {
        if !one_table {
            reader.short_bytes()?;
            reader.short_bytes()?;
        }
        reader.short_bytes()?;
        read_type(reader)?;
    }
    Ok(())
}
