//! [`Sent`]: which request of a connection is which call of its clients.

use crate::calls::Key;
use helenus_core::CallId;

/// A request that was sent.
#[derive(Debug, Clone, Copy)]
struct Request {
    call: CallId,
    key: Key,
    /// Whether its answer is left undecoded.
    is_undecoded: bool,
}

/// The calls that were sent, each where its stream stands.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    streams: Vec<Option<Request>>,
}

impl Sent {
    pub(crate) fn insert(&mut self, key: Key, call: CallId, is_undecoded: bool) {
        let stream = stream(call);
        if self.streams.len() <= stream {
            self.streams.resize(stream + 1, None);
        }
        if let Some(place) = self.streams.get_mut(stream) {
            *place = Some(Request {
                call,
                key,
                is_undecoded,
            });
        }
    }

    /// A request is over: whose it was, unless that gave it up, and whether its answer is left undecoded.
    pub(crate) fn finish(&mut self, call: CallId) -> Option<(Key, bool)> {
        let place = self.streams.get_mut(stream(call))?;
        let request = place.take_if(|request| request.call == call)?;
        Some((request.key, request.is_undecoded))
    }

    /// A call is given up: its request, if it was sent.
    pub(crate) fn cancel(&mut self, key: Key) -> Option<CallId> {
        let is_its = |place: &&mut Option<Request>| place.is_some_and(|request| request.key == key);
        let request = self.streams.iter_mut().find(is_its)?.take()?;
        Some(request.call)
    }

    /// The calls that were sent, and aren't over.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        self.streams.iter().flatten().map(|request| request.key)
    }
}

/// Where a request stands; a client's streams count from 1.
fn stream(call: CallId) -> usize {
    usize::try_from(call.stream().0).unwrap_or(0)
}
