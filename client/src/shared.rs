//! [`Shared`]: what the clients of a connection and its pump have in common, behind one mutex that is
//! held for a few copies at most. Nobody is woken while it is held, and no caller's waker dropped: its task may
//! go with it, and that may make other calls.

use crate::calls::{Calls, Key, Limits, Outcome};
use crate::error::Error;
use crate::listeners::Listeners;
use crate::outgoing::Outgoing;
use helenus_core::message::EventType;
use helenus_core::{ProtocolVersion, ServerEvent};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

/// What clients and pump share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) version: ProtocolVersion,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) page_size: i32,
    state: Mutex<State>,
}

/// What the mutex guards.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) calls: Calls,
    pub(crate) listeners: Listeners,
    pub(crate) stage: Stage,
    /// The pump, while it waits.
    pub(crate) pump: Option<Waker>,
}

/// How far a connection is.
#[derive(Debug)]
pub(crate) enum Stage {
    /// In the handshake; who waits for its end.
    Connecting(Option<Waker>),
    /// Takes calls.
    Open,
    /// The last client is gone.
    Closing,
    /// Over, and why.
    Ended(Error),
}

impl State {
    /// The pump, if it waits and there is something for it.
    fn pump_for_queued(&mut self) -> Option<Waker> {
        self.pump.take_if(|_| self.calls.has_queued())
    }
}

impl Shared {
    pub(crate) fn new(
        version: ProtocolVersion,
        request_timeout: Option<Duration>,
        page_size: i32,
        limits: Limits,
        events: usize,
    ) -> Self {
        Shared {
            version,
            request_timeout,
            page_size,
            state: Mutex::new(State {
                calls: Calls::new(version, limits),
                listeners: Listeners::new(events),
                stage: Stage::Connecting(None),
                pump: None,
            }),
        }
    }

    /// The state. Every critical section leaves it whole at each step, so a panic elsewhere takes
    /// nothing away from it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when the handshake is over.
    pub(crate) fn poll_connected(&self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        match &mut self.lock().stage {
            Stage::Connecting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Stage::Ended(error) => Poll::Ready(Err(error.clone())),
            Stage::Open | Stage::Closing => Poll::Ready(Ok(())),
        }
    }

    /// The handshake is over: calls are taken.
    pub(crate) fn connected(&self) {
        let mut state = self.lock();
        let Stage::Connecting(waker) = &mut state.stage else {
            return;
        };
        let waker = waker.take();
        state.stage = Stage::Open;
        drop(state);
        wake(waker);
    }

    /// Takes room for a call, which `key` names from then on.
    pub(crate) fn poll_room(
        &self,
        key: &mut Option<Key>,
        timeout: Option<Duration>,
        waker: &Waker,
    ) -> Poll<Result<(), Error>> {
        let mut state = self.lock();
        if let (None, Stage::Ended(error)) = (&key, &state.stage) {
            return Poll::Ready(Err(error.clone()));
        }
        let room = state.calls.poll_room(key, timeout, waker);
        let next = match room.is_ready() {
            true => state.calls.next_in_line(),
            false => None,
        };
        let pump = state.pump_for_queued();
        let replaced = state.calls.replaced.take();
        drop(state);
        drop(replaced);
        wake(pump.into_iter().chain(next));
        room
    }

    /// Goes on with a call: takes room, queues its request once, and takes the outcome.
    pub(crate) fn poll_call(
        &self,
        key: &mut Option<Key>,
        is_queued: &mut bool,
        request: &Outgoing<'_>,
        waker: &Waker,
    ) -> Poll<Outcome> {
        if !*is_queued {
            ready!(self.poll_room(key, request.timeout, waker))?;
        }
        let Some(named) = *key else {
            return Poll::Pending;
        };
        let mut state = self.lock();
        if !std::mem::replace(is_queued, true) {
            state.calls.queue(named, request);
        }
        let outcome = state.calls.poll(named, waker);
        if outcome.is_ready() {
            *key = None;
        }
        let pump = state.pump_for_queued();
        let replaced = state.calls.replaced.take();
        drop(state);
        drop(replaced);
        wake(pump);
        outcome
    }

    /// Nobody asks for a call any more.
    pub(crate) fn abandon(&self, key: Key) {
        let mut state = self.lock();
        let abandoned = state.calls.abandon(key);
        let next = state.calls.next_in_line();
        drop(state);
        drop(abandoned);
        wake(next);
    }

    /// Adds a listener to events of these types.
    pub(crate) fn listen(&self, types: &[EventType]) -> u64 {
        self.lock().listeners.add(types)
    }

    pub(crate) fn forget_listener(&self, number: u64) {
        let forgotten = self.lock().listeners.remove(number);
        drop(forgotten);
    }

    pub(crate) fn poll_event(
        &self,
        number: u64,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<ServerEvent, Error>>> {
        self.lock().listeners.poll(number, cx.waker())
    }

    /// Gives an event to who listens to it.
    pub(crate) fn publish(&self, event: &ServerEvent) {
        let mut wakers = Vec::new();
        self.lock().listeners.publish(event, &mut wakers);
        wake(wakers);
    }

    /// The last client is gone, or the one that was to be.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        if !matches!(state.stage, Stage::Ended(_)) {
            state.stage = Stage::Closing;
        }
        let pump = state.pump.take();
        drop(state);
        wake(pump);
    }

    /// The connection is over. What isn't answered yet fails with what `lost` makes of whether it was sent.
    pub(crate) fn end(&self, error: Error, lost: impl Fn(Key) -> Error) {
        let mut state = self.lock();
        if matches!(state.stage, Stage::Ended(_)) {
            return;
        }
        let mut wakers = Vec::new();
        for key in state.calls.unfinished() {
            wakers.extend(state.calls.complete(key, Err(lost(key))));
        }
        state.listeners.end(&error, &mut wakers);
        let before = std::mem::replace(&mut state.stage, Stage::Ended(error));
        if let Stage::Connecting(waker) = before {
            wakers.extend(waker);
        }
        state.pump = None;
        drop(state);
        wake(wakers);
    }
}

/// Wakes each of `wakers`; no lock is held then.
pub(crate) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        waker.wake();
    }
}
