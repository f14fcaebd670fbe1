//! [`Events`]: what a server says of its own accord.

use crate::client::Client;
use crate::error::Error;
use futures_core::Stream;
use helenus_core::ServerEvent;
use helenus_core::message::EventType;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The events of a connection: a [`Stream`], with a [`next`](Events::next) of its own.
///
/// It buffers [`Config::event_buffer`](crate::Config::event_buffer) events. A reader that falls further
/// behind gets those, then [`Error::SlowReader`], then nothing: events were lost, and it must look anew at what
/// they were about. When the connection ends, so does the stream, with the error that ended it. It keeps the
/// connection open as a client does.
#[derive(Debug)]
pub struct Events {
    client: Client,
    number: u64,
}

impl Events {
    pub(crate) fn new(client: Client, types: &[EventType]) -> Self {
        let number = client.shared().listen(types);
        Events { client, number }
    }

    /// The next event; `None` after an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ServerEvent, Error>> {
        poll_fn(|cx| self.client.shared().poll_event(self.number, cx)).await
    }
}

impl Stream for Events {
    type Item = Result<ServerEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.client.shared().poll_event(self.number, cx)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.client.shared().forget_listener(self.number);
    }
}
