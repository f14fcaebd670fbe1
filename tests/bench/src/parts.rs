//! A message in several segments: put together by one copy and read there, as core does, or read where its
//! parts lie by a reader over a chain of slices.
//!
//! [`Chain`] is such a reader, as good as could be made: an item that lies within one part is borrowed, one
//! across parts is gathered, and as long as the current part suffices a read costs one comparison, as with
//! core's. What the prototype leaves out speaks against it too: the parts would have to stay in the caller's
//! buffer until the message is complete, which grows with it instead of being read into again; and every
//! type that borrows from a body (`Values`, `Rows`, a `str`) would have to know of chains, or copy.
//!
//! `helenus-bench parts` prints both in instructions and in time. Their order is what counts: instructions
//! make too little of a copy, and time depends on the machine.

use std::borrow::Cow;
use std::hint::black_box;
use std::time::Instant;

use bytes::{BufMut, BytesMut};
use helenus_core::message::RequestBody;
use helenus_core::segment::MAX_PAYLOAD;
use helenus_core::wire::Reader;
use helenus_core::{Opcode, ProtocolVersion, RawValue};

use crate::callgrind;
use crate::client::execute;

/// How a message is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Its parts are copied into one buffer, which core's decoders read.
    Copied,
    /// Where its parts lie.
    Chained,
}

/// A message, cut as segments cut it.
pub struct Message {
    kind: Kind,
    parts: Vec<Vec<u8>>,
    scratch: BytesMut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Query,
    Execute,
    Rows,
}

/// A name, and what makes the message.
type Named = (&'static str, fn() -> Message);

/// The messages.
const MESSAGES: &[Named] = &[
    ("EXECUTE of 60 B in one part", || {
        Message::new(Kind::Execute, values(1, 4), MAX_PAYLOAD)
    }),
    ("EXECUTE of 60 B in two parts", || {
        Message::new(Kind::Execute, values(1, 4), 40)
    }),
    ("EXECUTE of 3,000 × 100 B", || {
        Message::new(Kind::Execute, values(3000, 100), MAX_PAYLOAD)
    }),
    ("EXECUTE of 1 × 300 KB", || {
        Message::new(Kind::Execute, values(1, 300_000), MAX_PAYLOAD)
    }),
    ("QUERY of 300 KB", || {
        Message::new(Kind::Query, query(300_000), MAX_PAYLOAD)
    }),
    ("ROWS of 5,000 × 10 × 8 B", || {
        Message::new(Kind::Rows, rows(5000, 10), MAX_PAYLOAD)
    }),
];

fn values(count: usize, length: usize) -> Vec<u8> {
    let value = vec![b'v'; length];
    let envelope = execute(5, 1, &[0; 16], &[1; 16], true, &vec![&*value; count]);
    envelope[9..].to_vec()
}

fn query(length: usize) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(length as u32);
    body.put_bytes(b'x', length);
    body.put_slice(&[0, 1, 0, 0, 0, 0]);
    body
}

/// A result without metadata.
fn rows(rows: u32, columns: u32) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [2, 4, columns, rows] {
        body.put_u32(number);
    }
    for cell in 0..u64::from(rows * columns) {
        body.put_u32(8);
        body.put_u64(cell);
    }
    body
}

impl Message {
    fn new(kind: Kind, body: Vec<u8>, part: usize) -> Message {
        Message {
            kind,
            parts: body.chunks(part).map(<[u8]>::to_vec).collect(),
            scratch: BytesMut::with_capacity(body.len()),
        }
    }

    /// Reads all of it; a number that depends on every item.
    pub fn read(&mut self, way: Way) -> usize {
        match way {
            Way::Copied => {
                self.scratch.clear();
                for part in &self.parts {
                    self.scratch.extend_from_slice(part);
                }
                read_copied(self.kind, &self.scratch)
            }
            Way::Chained => {
                let mut parts: [&[u8]; 8] = [&[]; 8];
                for (slot, part) in parts.iter_mut().zip(&self.parts) {
                    *slot = part;
                }
                let used = parts.get(..self.parts.len()).unwrap_or(&parts);
                read_chained(self.kind, Chain::new(used)).expect("a good message")
            }
        }
    }
}

fn read_copied(kind: Kind, body: &[u8]) -> usize {
    let mut reader = Reader::new(body);
    let opcode = match kind {
        Kind::Query => Opcode::QUERY,
        Kind::Execute => Opcode::EXECUTE,
        Kind::Rows => {
            let [_, _, columns, rows] = [(); 4].map(|()| reader.int().expect("a head"));
            let cells = (0..rows * columns).map(|_| reader.bytes().expect("a cell"));
            return cells
                .map(|cell| first_and_length(cell.unwrap_or_default()))
                .sum();
        }
    };
    match RequestBody::decode(opcode, ProtocolVersion::V5, &mut reader).expect("a good message") {
        RequestBody::Query(query) => first_and_length(query.query.as_bytes()),
        RequestBody::Execute(execute) => {
            let values = execute.params.values.iter();
            let lengths = values.map(|(_, value)| match value {
                RawValue::Bytes(bytes) => first_and_length(bytes),
                _ => 0,
            });
            lengths.sum::<usize>() + execute.id.len()
        }
        other => panic!("{other:?}"),
    }
}

fn first_and_length(bytes: &[u8]) -> usize {
    bytes.len() + usize::from(bytes.first().copied().unwrap_or_default())
}

/// A reader over a chain of slices.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'a> {
    head: &'a [u8],
    tail: &'a [&'a [u8]],
}

impl<'a> Chain<'a> {
    /// A reader of these slices, one behind the other.
    #[must_use]
    pub fn new(parts: &'a [&'a [u8]]) -> Chain<'a> {
        match parts.split_first() {
            Some((head, tail)) => Chain { head, tail },
            None => Chain {
                head: &[],
                tail: &[],
            },
        }
    }

    /// The next bytes: borrowed if they lie in one slice.
    #[inline]
    pub fn take(&mut self, length: usize) -> Option<Cow<'a, [u8]>> {
        match self.head.split_at_checked(length) {
            Some((taken, rest)) => {
                self.head = rest;
                Some(Cow::Borrowed(taken))
            }
            None => self.gather(length).map(Cow::Owned),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        match self.head.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.head = rest;
                Some(*taken)
            }
            None => self.gather(N)?.try_into().ok(),
        }
    }

    /// Bytes that lie in several slices.
    #[cold]
    fn gather(&mut self, length: usize) -> Option<Vec<u8>> {
        let there = self.head.len() + self.tail.iter().map(|part| part.len()).sum::<usize>();
        if there < length {
            return None;
        }
        let mut out = Vec::with_capacity(length);
        loop {
            let (taken, rest) = self.head.split_at(self.head.len().min(length - out.len()));
            out.extend_from_slice(taken);
            self.head = rest;
            if out.len() == length {
                return Some(out);
            }
            (self.head, self.tail) = self.tail.split_first().map(|(head, tail)| (*head, tail))?;
        }
    }

    #[inline]
    fn short(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    fn int(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    fn short_bytes(&mut self) -> Option<Cow<'a, [u8]>> {
        let length = self.short()?;
        self.take(length.into())
    }

    #[inline]
    fn bytes(&mut self) -> Option<Option<Cow<'a, [u8]>>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }

    /// Passes over bytes without looking at them.
    #[inline]
    fn skip(&mut self, length: usize) -> Option<()> {
        let mut left = length;
        while left > self.head.len() {
            left -= self.head.len();
            (self.head, self.tail) = self.tail.split_first().map(|(head, tail)| (*head, tail))?;
        }
        self.head = self.head.get(left..)?;
        Some(())
    }
}

fn read_chained(kind: Kind, mut chain: Chain<'_>) -> Option<usize> {
    match kind {
        Kind::Query => {
            let length = usize::try_from(chain.int()?).ok()?;
            let text = chain.take(length)?;
            let text = std::str::from_utf8(&text).ok()?;
            let (_consistency, _flags) = (chain.short()?, chain.int()?);
            Some(first_and_length(text.as_bytes()))
        }
        Kind::Execute => {
            let (id, _metadata_id) = (chain.short_bytes()?, chain.short_bytes()?);
            let (_consistency, _flags, count) = (chain.short()?, chain.int()?, chain.short()?);
            // As core has it: once over all of them, to know that they are there, and again to read.
            let mut values = chain;
            for _ in 0..count {
                if let Ok(length) = usize::try_from(chain.int()?) {
                    chain.skip(length)?;
                }
            }
            let mut sum = id.len();
            for _ in 0..count {
                sum += values.bytes()?.map_or(0, |value| first_and_length(&value));
            }
            Some(sum)
        }
        Kind::Rows => {
            let (_kind, _flags, columns, rows) =
                (chain.int()?, chain.int()?, chain.int()?, chain.int()?);
            let mut sum = 0;
            for _ in 0..rows * columns {
                sum += chain.bytes()?.map_or(0, |cell| first_and_length(&cell));
            }
            Some(sum)
        }
    }
}

/// Reads the message of this number so often; for callgrind.
///
/// # Errors
/// If there is no such message.
pub fn read(number: &str, way: &str, times: &str) -> Result<(), String> {
    let bad = || format!("no message {number}, {way}");
    let number: usize = number.parse().map_err(|_| bad())?;
    let (_, make) = MESSAGES.get(number).ok_or_else(bad)?;
    let way = [Way::Copied, Way::Chained]
        .into_iter()
        .find(|known| format!("{known:?}") == way)
        .ok_or_else(bad)?;
    let mut message = make();
    for _ in 0..times.parse::<u64>().map_err(|_| bad())? {
        black_box(message.read(way));
    }
    Ok(())
}

/// Prints what both ways cost.
///
/// # Errors
/// What callgrind says, if it counts nothing.
pub fn table() -> Result<(), String> {
    println!(
        "{:<30} {:>12} {:>12} {:>6} {:>12} {:>12} {:>6}",
        "a message", "copied, Ir", "chained, Ir", "", "copied, ns", "chained, ns", ""
    );
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    for (number, (name, make)) in MESSAGES.iter().enumerate() {
        let number = number.to_string();
        let count = |way| callgrind::per_request(&program, &["part", &number, way], 50);
        let (copied, chained) = (count("Copied")?, count("Chained")?);
        let mut message = make();
        assert_eq!(message.read(Way::Copied), message.read(Way::Chained));
        let (mut quickest, ways) = ([f64::MAX; 2], [Way::Copied, Way::Chained]);
        // In turns, and the quickest of them: other programs run beside this one.
        for _ in 0..200 {
            for (best, way) in quickest.iter_mut().zip(ways) {
                let begun = Instant::now();
                for _ in 0..20 {
                    black_box(message.read(way));
                }
                *best = best.min(begun.elapsed().as_nanos() as f64 / 20.0);
            }
        }
        let [copied_ns, chained_ns] = quickest;
        println!(
            "{name:<30} {copied:>12.0} {chained:>12.0} {:>6.2} {copied_ns:>12.0} {chained_ns:>12.0} {:>6.2}",
            chained / copied,
            chained_ns / copied_ns
        );
    }
    Ok(())
}
