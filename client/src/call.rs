//! [`Call`]: the future of one request, and [`Room`], which it takes first.

use crate::calls::{Key, Outcome};
use crate::outgoing::Outgoing;
use crate::shared::Shared;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Room for one call, or a place in the line for it. Given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    shared: Arc<Shared>,
    key: Option<Key>,
}

impl Room {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Room { shared, key: None }
    }

    /// Ready when there is room, which is kept from then on.
    #[cfg(feature = "tower")]
    pub(crate) fn poll(
        &mut self,
        timeout: Option<std::time::Duration>,
        cx: &Context<'_>,
    ) -> Poll<Result<(), crate::error::Error>> {
        self.shared.poll_room(&mut self.key, timeout, cx.waker())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.abandon(key);
        }
    }
}

/// One request, made when it is polled first. Dropped before its outcome is there, it isn't sent if it
/// wasn't yet; if it was, its stream id stays taken until the late answer comes, which nobody sees.
pub(crate) struct Call<'a> {
    room: Room,
    request: &'a Outgoing<'a>,
    is_queued: bool,
}

impl<'a> Call<'a> {
    pub(crate) fn new(room: Room, request: &'a Outgoing<'a>) -> Self {
        Call {
            room,
            request,
            is_queued: false,
        }
    }
}

impl Future for Call<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Call {
            room,
            request,
            is_queued,
        } = &mut *self;
        let waker = cx.waker();
        room.shared
            .poll_call(&mut room.key, is_queued, request, waker)
    }
}
