//! [`Streams`]: the stream ids of a client. Which request waits on which, and which are orphans: given
//! up by their callers, and not to be used again before their late reply.
//! Answers to native protocol v5, section 2.4.

use crate::envelope::StreamId;

/// A request in flight. Never given twice by one connection, unlike the stream it travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    const fn new(serial: u64, stream: u16) -> CallId {
        CallId(serial << 16 | stream as u64)
    }

    /// The stream the request travels on.
    #[must_use]
    pub const fn stream(self) -> StreamId {
        StreamId(self.key() as i16)
    }

    pub(crate) const fn key(self) -> u16 {
        self.0 as u16
    }

    const fn serial(self) -> u64 {
        self.0 >> 16
    }
}

/// What an answer's stream was used for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<T> {
    Call(CallId, T),
    Orphan,
    Nothing,
}

/// Stream ids from 1 on, each with what its request needs to be remembered for.
///
/// Stream 0 is left to the connection itself: servers use it for errors that concern no request.
/// Everything is O(1); memory is that of the most requests that were in flight at once.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    /// That of stream 1 comes first.
    slots: Vec<Slot<T>>,
    /// Slots that are free, the one used last on top: its memory is warm.
    free: Vec<u16>,
    serial: u64,
    calls: usize,
    orphans: usize,
    /// No call stands before this slot; only for [`Streams::pop`].
    drained: usize,
}

#[derive(Debug)]
struct Slot<T> {
    serial: u64,
    usage: Usage<T>,
}

#[derive(Debug)]
enum Usage<T> {
    Free,
    Call(T),
    Orphan,
}

/// The most requests that can wait at once: streams 1 to 32,767.
pub(crate) const MAX_STREAMS: usize = i16::MAX as usize;

impl<T> Streams<T> {
    pub(crate) const fn new() -> Streams<T> {
        Streams {
            slots: Vec::new(),
            free: Vec::new(),
            serial: 0,
            calls: 0,
            orphans: 0,
            drained: 0,
        }
    }

    /// Requests that wait for their answers.
    #[inline]
    pub(crate) const fn calls(&self) -> usize {
        self.calls
    }

    /// Streams whose late reply is awaited.
    #[inline]
    pub(crate) const fn orphans(&self) -> usize {
        self.orphans
    }

    /// Takes a free stream, none if [`MAX_STREAMS`] are used.
    #[inline]
    pub(crate) fn take(&mut self, call: T) -> Option<CallId> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() < MAX_STREAMS => {
                self.slots.push(Slot {
                    serial: 0,
                    usage: Usage::Free,
                });
                (self.slots.len() - 1) as u16
            }
            None => return None,
        };
        self.serial += 1;
        self.calls += 1;
        self.drained = self.drained.min(usize::from(slot));
        if let Some(place) = self.slots.get_mut(usize::from(slot)) {
            place.serial = self.serial;
            place.usage = Usage::Call(call);
        }
        Some(CallId::new(self.serial, slot + 1))
    }

    /// An answer came on this stream, which is free again.
    #[inline]
    pub(crate) fn answered(&mut self, stream: StreamId) -> Found<T> {
        let index = usize::try_from(stream.0)
            .ok()
            .and_then(|id| id.checked_sub(1));
        let Some((index, slot)) = index.and_then(|at| Some((at, self.slots.get_mut(at)?))) else {
            return Found::Nothing;
        };
        let found = match std::mem::replace(&mut slot.usage, Usage::Free) {
            Usage::Free => return Found::Nothing,
            Usage::Orphan => {
                self.orphans -= 1;
                Found::Orphan
            }
            Usage::Call(call) => {
                self.calls -= 1;
                Found::Call(CallId::new(slot.serial, index as u16 + 1), call)
            }
        };
        self.free.push(index as u16);
        found
    }

    /// The request, if it still waits.
    pub(crate) fn get(&self, id: CallId) -> Option<&T> {
        match self.slots.get(usize::from(id.key()).checked_sub(1)?)? {
            Slot {
                serial,
                usage: Usage::Call(call),
            } if *serial == id.serial() => Some(call),
            _ => None,
        }
    }

    /// The request that waits on this stream.
    pub(crate) fn on(&self, key: u16) -> Option<CallId> {
        let slot = self.slots.get(usize::from(key).checked_sub(1)?)?;
        matches!(slot.usage, Usage::Call(_)).then(|| CallId::new(slot.serial, key))
    }

    /// Nobody waits for the answer any more: the stream stays taken until it comes.
    pub(crate) fn orphan(&mut self, id: CallId) -> Option<T> {
        self.get(id)?;
        let slot = self.slots.get_mut(usize::from(id.key()) - 1)?;
        let Usage::Call(call) = std::mem::replace(&mut slot.usage, Usage::Orphan) else {
            return None;
        };
        self.calls -= 1;
        self.orphans += 1;
        Some(call)
    }

    /// Takes a stream back on which nothing was sent after all.
    pub(crate) fn withdraw(&mut self, id: CallId) {
        if self.get(id).is_some() {
            self.answered(id.stream());
        }
    }

    /// Takes any request that still waits out, when no answer will come any more.
    pub(crate) fn pop(&mut self) -> Option<(CallId, T)> {
        while let Some(slot) = self.slots.get_mut(self.drained) {
            self.drained += 1;
            if let Usage::Call(_) = slot.usage
                && let Usage::Call(call) = std::mem::replace(&mut slot.usage, Usage::Orphan)
            {
                self.calls -= 1;
                self.orphans += 1;
                return Some((CallId::new(slot.serial, self.drained as u16), call));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_begin_at_one_and_end_at_the_largest_number() {
        let mut streams = Streams::new();
        for expected in 1..=i16::MAX {
            let id = streams.take(()).unwrap();
            assert_eq!(id.stream(), StreamId(expected));
        }
        assert_eq!(streams.take(()), None);
        assert_eq!(streams.calls(), MAX_STREAMS);
        assert!(matches!(streams.answered(StreamId(7)), Found::Call(..)));
        assert_eq!(streams.take(()).unwrap().stream(), StreamId(7));
    }

    #[test]
    fn a_call_id_is_never_given_twice() {
        let mut streams = Streams::new();
        let first = streams.take('a').unwrap();
        assert_eq!(streams.answered(first.stream()), Found::Call(first, 'a'));
        let second = streams.take('b').unwrap();
        assert_eq!(first.stream(), second.stream());
        assert_ne!(first, second);
        assert_eq!(streams.orphan(first), None);
        assert_eq!(streams.get(first), None);
        assert_eq!(streams.get(second), Some(&'b'));
    }

    #[test]
    fn an_orphan_keeps_its_stream_until_the_late_reply() {
        let mut streams = Streams::new();
        let id = streams.take('a').unwrap();
        assert_eq!(streams.orphan(id), Some('a'));
        assert_eq!(streams.orphan(id), None);
        assert_eq!((streams.calls(), streams.orphans()), (0, 1));
        assert_eq!(streams.take('b').unwrap().stream(), StreamId(2));
        assert_eq!(streams.answered(StreamId(1)), Found::Orphan);
        assert_eq!(streams.answered(StreamId(1)), Found::Nothing);
        assert_eq!(streams.take('c').unwrap().stream(), StreamId(1));
    }

    #[test]
    fn streams_that_nobody_took_are_known_as_such() {
        let mut streams = Streams::<()>::new();
        for stream in [i16::MIN, -1, 0, 1, i16::MAX] {
            assert_eq!(streams.answered(StreamId(stream)), Found::Nothing);
        }
    }

    #[test]
    fn every_request_is_popped_once() {
        let mut streams = Streams::new();
        let ids: Vec<CallId> = (0..5).filter_map(|n| streams.take(n)).collect();
        streams.orphan(ids[1]);
        streams.answered(ids[3].stream());
        let popped: Vec<i32> = std::iter::from_fn(|| streams.pop())
            .map(|(_, n)| n)
            .collect();
        assert_eq!(popped, [0, 2, 4]);
        assert_eq!((streams.calls(), streams.on(1)), (0, None));
    }
}
