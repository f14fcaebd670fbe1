//! Where answers, events and orders wait for the pump of their connection. Delivering never takes
//! the connection: it locks the mailbox alone, and wakes the pump when that asked for it.

use crate::authentication::Identity;
use crate::options::Options;
use crate::sync::lock;
use helenus_core::{Extras, Outbox, RequestTicket, Response, ServerEvent};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// One thing for a connection to do, from outside it.
#[derive(Debug)]
pub(crate) enum Mail {
    /// An answer to a request that was deferred.
    Answer(RequestTicket, Response, Option<Box<Extras>>),
    /// Who the client was let in as; the answer that says so comes behind it.
    Login(Identity),
    /// An event for a client that registered for its kind.
    Event(Arc<ServerEvent>),
    /// Other limits and deadlines hold from now on.
    Options(Arc<Options>),
    /// Take no more requests; close once all are answered.
    Drain,
    /// Close now.
    Abort,
}

/// The mailbox of one connection: mail in the order it was posted, and who to wake.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    mail: Vec<Mail>,
    waker: Option<Waker>,
    closed: bool,
}

impl Mailbox {
    /// Adds `mail` and wakes the pump if it is parked. Mail for a closed connection is dropped.
    pub(crate) fn post(&self, mail: Mail) {
        let mut inner = lock(&self.inner);
        if inner.closed {
            // What an answer holds may be large, and its drop needs no lock.
            drop(inner);
            return;
        }
        inner.mail.push(mail);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Swaps the mail with `into`, which is empty; its room is used for the mail to come.
    pub(crate) fn collect(&self, into: &mut Vec<Mail>) {
        std::mem::swap(&mut lock(&self.inner).mail, into);
    }

    /// Leaves `waker` to be woken once by the next mail; false when mail already waits.
    pub(crate) fn park(&self, waker: &Waker) -> bool {
        let mut inner = lock(&self.inner);
        if !inner.mail.is_empty() {
            return false;
        }
        match &mut inner.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        true
    }

    /// Refuses further mail and drops what is there.
    pub(crate) fn close(&self) {
        let mut inner = lock(&self.inner);
        inner.closed = true;
        let mail = std::mem::take(&mut inner.mail);
        inner.waker = None;
        drop(inner);
        drop(mail);
    }
}

impl Outbox for Mailbox {
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>) {
        self.post(Mail::Answer(ticket, response, extras));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    fn collected(mailbox: &Mailbox) -> Vec<&'static str> {
        let mut mail = Vec::new();
        mailbox.collect(&mut mail);
        let name = |mail: &Mail| match mail {
            Mail::Answer(..) => "answer",
            Mail::Login(_) => "login",
            Mail::Event(_) => "event",
            Mail::Options(_) => "options",
            Mail::Drain => "drain",
            Mail::Abort => "abort",
        };
        mail.iter().map(name).collect()
    }

    #[test]
    fn mail_keeps_its_order_and_wakes_a_parked_pump_once() {
        let mailbox = Mailbox::default();
        let (count, waker) = CountingWaker::pair();
        assert!(mailbox.park(&waker));
        mailbox.post(Mail::Drain);
        mailbox.post(Mail::Abort);
        assert_eq!(count.get(), 1);
        assert!(!mailbox.park(&waker));
        assert_eq!(collected(&mailbox), ["drain", "abort"]);
        assert!(mailbox.park(&waker));
        mailbox.post(Mail::Drain);
        assert_eq!(count.get(), 2);
    }

    #[test]
    fn a_closed_mailbox_takes_no_mail() {
        let mailbox = Mailbox::default();
        mailbox.post(Mail::Drain);
        mailbox.close();
        mailbox.post(Mail::Drain);
        assert!(collected(&mailbox).is_empty());
    }
}
