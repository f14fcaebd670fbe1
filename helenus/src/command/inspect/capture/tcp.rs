//! Puts TCP streams together again: segments that come late, twice or overlapping, and those that never came.
//!
//! Memory: what waits for earlier bytes is bounded for all connections together, and so is the number of open ones; beyond
//! either bound the missing bytes count as lost.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Buf, Bytes};
use helenus_core::Direction;

use super::{Content, Piece};

/// The most bytes that wait for earlier ones.
const MAX_WAITING: usize = 64 << 20;

/// The most connections that are followed at once.
const MAX_OPEN: usize = 16 << 10;

/// A segment, as far as it matters here.
#[derive(Debug, Clone)]
pub(in crate::command::inspect) struct Segment {
    pub(in crate::command::inspect) source: SocketAddr,
    pub(in crate::command::inspect) target: SocketAddr,
    pub(in crate::command::inspect) sequence: u32,
    pub(in crate::command::inspect) syn: bool,
    /// FIN or RST.
    pub(in crate::command::inspect) ends: bool,
    pub(in crate::command::inspect) payload: Bytes,
}

/// The connections to servers on one port.
#[derive(Debug)]
pub(in crate::command::inspect) struct Reassembly {
    port: u16,
    open: HashMap<(SocketAddr, SocketAddr), Connection>,
    /// The open connections, the oldest first; some may have been closed since.
    order: VecDeque<((SocketAddr, SocketAddr), u32)>,
    count: u32,
    waiting: usize,
    max_waiting: usize,
}

#[derive(Debug)]
struct Connection {
    number: u32,
    client: Half,
    server: Half,
}

/// One direction.
#[derive(Debug, Default)]
struct Half {
    /// The sequence number of the next byte; `None` before the first segment.
    next: Option<u32>,
    /// Bytes that came too early, by how far behind `base` they stand.
    early: BTreeMap<u64, Bytes>,
    /// How many bytes were handed out or lost.
    offset: u64,
    ended: bool,
}

impl Reassembly {
    /// Follows connections to this port.
    pub(in crate::command::inspect) fn new(port: u16) -> Self {
        Self::with_room(port, MAX_WAITING)
    }

    /// Follows connections to this port; at most `max_waiting` bytes wait for earlier ones.
    pub(super) fn with_room(port: u16, max_waiting: usize) -> Self {
        Self {
            port,
            open: HashMap::new(),
            order: VecDeque::new(),
            count: 0,
            waiting: 0,
            max_waiting,
        }
    }

    /// Takes a segment; what it completes goes to `out`.
    pub(in crate::command::inspect) fn take(
        &mut self,
        time: Option<Duration>,
        segment: Segment,
        out: &mut VecDeque<Piece>,
    ) {
        let to_server = segment.target.port() == self.port;
        if !to_server && segment.source.port() != self.port {
            return;
        }
        let (client, server) = match to_server {
            true => (segment.source, segment.target),
            false => (segment.target, segment.source),
        };
        let key = (client, server);
        // A client's SYN with another number opens the same pair of addresses again.
        let is_new = segment.syn
            && to_server
            && self.open.get(&key).is_some_and(|connection| {
                connection
                    .client
                    .next
                    .is_some_and(|next| next != segment.sequence.wrapping_add(1))
            });
        if is_new {
            self.close(key, time, out);
        }
        if !self.open.contains_key(&key) {
            if segment.payload.is_empty() && !segment.syn {
                return;
            }
            self.open(key, segment.syn, time, out);
        }
        let Some(connection) = self.open.get_mut(&key) else {
            return;
        };
        let (half, direction) = match to_server {
            true => (&mut connection.client, Direction::Request),
            false => (&mut connection.server, Direction::Response),
        };
        let number = connection.number;
        let piece = |content| Piece {
            connection: number,
            time,
            content,
        };
        self.waiting += half.insert(&segment);
        half.drain(&mut self.waiting, &mut |bytes| {
            out.push_back(piece(Content::Bytes(direction, bytes)))
        });
        if self.waiting > self.max_waiting {
            let lost = half.skip();
            out.push_back(piece(Content::Lost(direction, lost)));
            half.drain(&mut self.waiting, &mut |bytes| {
                out.push_back(piece(Content::Bytes(direction, bytes)));
            });
        }
        half.ended |= segment.ends;
        // The last bytes may come after the end that was said behind them.
        let is_whole = |half: &Half| half.ended && half.early.is_empty();
        if is_whole(&connection.client) && is_whole(&connection.server) {
            self.close(key, time, out);
        }
    }

    /// Hands out what waits for bytes that never came.
    pub(in crate::command::inspect) fn finish(&mut self, out: &mut VecDeque<Piece>) {
        while let Some((key, number)) = self.order.pop_front() {
            if self
                .open
                .get(&key)
                .is_some_and(|connection| connection.number == number)
            {
                self.close(key, None, out);
            }
        }
    }

    fn open(
        &mut self,
        key: (SocketAddr, SocketAddr),
        from_start: bool,
        time: Option<Duration>,
        out: &mut VecDeque<Piece>,
    ) {
        while self.open.len() >= MAX_OPEN {
            let Some((oldest, number)) = self.order.pop_front() else {
                break;
            };
            if self
                .open
                .get(&oldest)
                .is_some_and(|connection| connection.number == number)
            {
                self.close(oldest, time, out);
            }
        }
        self.count += 1;
        let number = self.count;
        let connection = Connection {
            number,
            client: Half::default(),
            server: Half::default(),
        };
        self.open.insert(key, connection);
        // Names of connections that are closed already must not pile up.
        if self.order.len() >= 2 * MAX_OPEN {
            let open = &self.open;
            self.order
                .retain(|(key, number)| open.get(key).is_some_and(|found| found.number == *number));
        }
        self.order.push_back((key, number));
        let (client, server) = key;
        out.push_back(Piece {
            connection: number,
            time,
            content: Content::Opened {
                client,
                server,
                from_start,
            },
        });
    }

    fn close(
        &mut self,
        key: (SocketAddr, SocketAddr),
        time: Option<Duration>,
        out: &mut VecDeque<Piece>,
    ) {
        let Some(Connection {
            number,
            mut client,
            mut server,
        }) = self.open.remove(&key)
        else {
            return;
        };
        let piece = |content| Piece {
            connection: number,
            time,
            content,
        };
        for (half, direction) in [
            (&mut client, Direction::Request),
            (&mut server, Direction::Response),
        ] {
            while !half.early.is_empty() {
                out.push_back(piece(Content::Lost(direction, half.skip())));
                half.drain(&mut self.waiting, &mut |bytes| {
                    out.push_back(piece(Content::Bytes(direction, bytes)));
                });
            }
        }
        out.push_back(piece(Content::Closed));
    }
}

impl Half {
    /// Keeps what of a segment wasn't handed out yet; how many more bytes wait.
    fn insert(&mut self, segment: &Segment) -> usize {
        let start = segment.sequence.wrapping_add(u32::from(segment.syn));
        let next = *self.next.get_or_insert(start);
        // Sequence numbers wrap: the distance is what counts, and is less than half of them.
        let distance = start.wrapping_sub(next).cast_signed();
        let mut payload = segment.payload.clone();
        let at = match u64::try_from(distance) {
            Ok(ahead) => self.offset + ahead,
            Err(_) => {
                let known = distance.unsigned_abs() as usize;
                payload.advance(known.min(payload.len()));
                self.offset
            }
        };
        if payload.is_empty() {
            return 0;
        }
        let length = payload.len();
        match self.early.get(&at) {
            Some(kept) if kept.len() >= length => 0,
            Some(kept) => {
                let more = length - kept.len();
                self.early.insert(at, payload);
                more
            }
            None => {
                self.early.insert(at, payload);
                length
            }
        }
    }

    /// Hands out what follows without a gap.
    fn drain(&mut self, waiting: &mut usize, hand_out: &mut dyn FnMut(Bytes)) {
        while let Some(entry) = self
            .early
            .first_entry()
            .filter(|entry| *entry.key() <= self.offset)
        {
            let (at, mut bytes) = entry.remove_entry();
            *waiting = waiting.saturating_sub(bytes.len());
            let known = usize::try_from(self.offset - at).unwrap_or(usize::MAX);
            bytes.advance(known.min(bytes.len()));
            if !bytes.is_empty() {
                self.go_on(bytes.len() as u64);
                hand_out(bytes);
            }
        }
    }

    /// Gives up the bytes before the first that waits; how many they are.
    fn skip(&mut self) -> u64 {
        let first = self
            .early
            .first_key_value()
            .map_or(self.offset, |(at, _)| *at);
        let lost = first.saturating_sub(self.offset);
        self.go_on(lost);
        lost
    }

    fn go_on(&mut self, length: u64) {
        self.offset += length;
        self.next = self.next.map(|next| next.wrapping_add(length as u32));
    }
}
