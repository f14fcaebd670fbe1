//! [`Sent`]: which call of a client is which request of its connection.

use crate::calls::Key;
use helenus_core::CallId;

/// A request that was sent.
#[derive(Debug, Clone, Copy)]
struct Asked {
    call: CallId,
    key: Key,
    is_undecoded: bool,
}

/// The calls that were sent, found by either name in constant time.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    by_stream: Vec<Option<Asked>>,
    by_place: Vec<Option<(Key, CallId)>>,
}

impl Sent {
    pub(crate) fn insert(&mut self, key: Key, call: CallId, is_undecoded: bool) {
        *slot(&mut self.by_stream, stream(call)) = Some(Asked {
            call,
            key,
            is_undecoded,
        });
        *slot(&mut self.by_place, key.place()) = Some((key, call));
    }

    /// A request is over: whose it was, and whether its answer is left undecoded, if it is asked for still.
    pub(crate) fn finish(&mut self, call: CallId) -> Option<(Key, bool)> {
        let found = self.by_stream.get_mut(stream(call))?;
        let asked = found.take_if(|asked| asked.call == call)?;
        if let Some(place) = self.by_place.get_mut(asked.key.place()) {
            place.take_if(|(known, _)| *known == asked.key);
        }
        Some((asked.key, asked.is_undecoded))
    }

    /// A call is given up: its request, if it was sent.
    pub(crate) fn cancel(&mut self, key: Key) -> Option<CallId> {
        let found = self.by_place.get_mut(key.place())?;
        let (_, call) = found.take_if(|(known, _)| *known == key)?;
        if let Some(place) = self.by_stream.get_mut(stream(call)) {
            place.take_if(|asked| asked.call == call);
        }
        Some(call)
    }

    /// Whether a call was sent, and isn't over.
    pub(crate) fn contains(&self, key: Key) -> bool {
        let found = self.by_place.get(key.place());
        found.is_some_and(|found| found.is_some_and(|(known, _)| known == key))
    }
}

/// Where a request stands; a client's streams count from 1.
fn stream(call: CallId) -> usize {
    usize::try_from(call.stream().0).unwrap_or(0)
}

fn slot<T>(slots: &mut Vec<Option<T>>, at: usize) -> &mut Option<T> {
    if slots.len() <= at {
        slots.resize_with(at + 1, || None);
    }
    &mut slots[at]
}
