//! [`Sent`]: which call of a client is which request of its connection.

use crate::calls::Key;
use helenus_core::CallId;

/// The calls that were sent, found by either name in constant time.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    by_stream: Vec<Option<(CallId, Key)>>,
    by_place: Vec<Option<(Key, CallId)>>,
}

impl Sent {
    pub(crate) fn insert(&mut self, key: Key, call: CallId) {
        *slot(&mut self.by_stream, stream(call)) = Some((call, key));
        *slot(&mut self.by_place, key.place()) = Some((key, call));
    }

    /// A request is over: whose it was, if it is asked for still.
    pub(crate) fn finish(&mut self, call: CallId) -> Option<Key> {
        let found = self.by_stream.get_mut(stream(call))?;
        let (_, key) = found.take_if(|(known, _)| *known == call)?;
        if let Some(place) = self.by_place.get_mut(key.place()) {
            place.take_if(|(known, _)| *known == key);
        }
        Some(key)
    }

    /// A call is given up: its request, if it was sent.
    pub(crate) fn cancel(&mut self, key: Key) -> Option<CallId> {
        let found = self.by_place.get_mut(key.place())?;
        let (_, call) = found.take_if(|(known, _)| *known == key)?;
        if let Some(place) = self.by_stream.get_mut(stream(call)) {
            place.take_if(|(known, _)| *known == call);
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
