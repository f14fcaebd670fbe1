//! [`Listeners`]: who listens to a connection's events, each with a buffer of its own. One that doesn't
//! keep up is closed: to wait for it would stop the connection, and to buffer without end would not end well.

use crate::error::Error;
use helenus_core::ServerEvent;
use helenus_core::message::EventType;
use std::collections::VecDeque;
use std::task::{Poll, Waker};

/// The listeners of one connection.
#[derive(Debug)]
pub(crate) struct Listeners {
    limit: usize,
    next: u64,
    listeners: Vec<Listener>,
}

#[derive(Debug)]
struct Listener {
    number: u64,
    types: Vec<EventType>,
    buffer: VecDeque<ServerEvent>,
    /// What comes after the buffered events, once; then nothing.
    end: Option<Option<Error>>,
    waker: Option<Waker>,
}

impl Listener {
    fn end(&mut self, error: Error) -> Option<Waker> {
        self.end.get_or_insert(Some(error));
        self.waker.take()
    }
}

impl Listeners {
    /// No listeners. Each that comes buffers `limit` events, one at least.
    pub(crate) fn new(limit: usize) -> Self {
        Listeners {
            limit: limit.max(1),
            next: 0,
            listeners: Vec::new(),
        }
    }

    /// Adds a listener to events of these types, and gives its number.
    pub(crate) fn add(&mut self, types: &[EventType]) -> u64 {
        self.next += 1;
        self.listeners.push(Listener {
            number: self.next,
            types: types.to_vec(),
            buffer: VecDeque::new(),
            end: None,
            waker: None,
        });
        self.next
    }

    /// Takes a listener out, and gives back who would have been woken.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Waker> {
        let is_it = |listener: &Listener| listener.number == number;
        let at = self.listeners.iter().position(is_it)?;
        self.listeners.swap_remove(at).waker
    }

    /// Gives `event` to who listens to its type, and adds to `wakers` who is to be woken.
    pub(crate) fn publish(&mut self, event: &ServerEvent, wakers: &mut Vec<Waker>) {
        let limit = self.limit;
        let concerned = |listener: &&mut Listener| listener.types.contains(&event.event_type());
        for listener in self.listeners.iter_mut().filter(concerned) {
            if listener.end.is_some() {
                continue;
            }
            if listener.buffer.len() < limit {
                listener.buffer.push_back(event.clone());
                wakers.extend(listener.waker.take());
            } else {
                wakers.extend(listener.end(Error::SlowReader));
            }
        }
    }

    /// Ends every listener with `error`, and adds to `wakers` who is to be woken.
    pub(crate) fn end(&mut self, error: &Error, wakers: &mut Vec<Waker>) {
        for listener in &mut self.listeners {
            wakers.extend(listener.end(error.clone()));
        }
    }

    /// The next event of a listener; none after its end.
    pub(crate) fn poll(
        &mut self,
        number: u64,
        waker: &Waker,
    ) -> Poll<Option<Result<ServerEvent, Error>>> {
        let mut listeners = self.listeners.iter_mut();
        let Some(listener) = listeners.find(|listener| listener.number == number) else {
            return Poll::Ready(None);
        };
        if let Some(event) = listener.buffer.pop_front() {
            return Poll::Ready(Some(Ok(event)));
        }
        match &mut listener.end {
            Some(error) => Poll::Ready(error.take().map(Err)),
            None => {
                listener.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_core::message::StatusChange;

    fn up(port: u16) -> ServerEvent {
        ServerEvent::StatusChange {
            change: StatusChange::Up,
            address: ([127, 0, 0, 1], port).into(),
        }
    }

    #[test]
    fn events_reach_who_listens_to_their_type_in_order() {
        let mut listeners = Listeners::new(8);
        let status = listeners.add(&[EventType::StatusChange]);
        let schema = listeners.add(&[EventType::SchemaChange]);
        let mut wakers = Vec::new();
        assert!(listeners.poll(status, Waker::noop()).is_pending());
        listeners.publish(&up(1), &mut wakers);
        listeners.publish(&up(2), &mut wakers);
        assert_eq!(wakers.len(), 1);
        for port in [1, 2] {
            let event = listeners.poll(status, Waker::noop());
            assert!(matches!(event, Poll::Ready(Some(Ok(event))) if event == up(port)));
        }
        assert!(listeners.poll(status, Waker::noop()).is_pending());
        assert!(listeners.poll(schema, Waker::noop()).is_pending());
    }

    #[test]
    fn a_slow_reader_gets_what_was_buffered_then_an_error_then_nothing() {
        let mut listeners = Listeners::new(2);
        let slow = listeners.add(&[EventType::StatusChange]);
        for port in 1..=5 {
            listeners.publish(&up(port), &mut Vec::new());
        }
        let mut next = || listeners.poll(slow, Waker::noop());
        assert!(matches!(next(), Poll::Ready(Some(Ok(event))) if event == up(1)));
        assert!(matches!(next(), Poll::Ready(Some(Ok(event))) if event == up(2)));
        assert!(matches!(next(), Poll::Ready(Some(Err(Error::SlowReader)))));
        assert!(matches!(next(), Poll::Ready(None)));
        assert!(matches!(next(), Poll::Ready(None)));
    }

    #[test]
    fn a_removed_listener_hears_nothing() {
        let mut listeners = Listeners::new(2);
        let number = listeners.add(&[EventType::StatusChange]);
        assert!(listeners.remove(number).is_none());
        listeners.publish(&up(1), &mut Vec::new());
        assert!(matches!(
            listeners.poll(number, Waker::noop()),
            Poll::Ready(None)
        ));
    }
}
