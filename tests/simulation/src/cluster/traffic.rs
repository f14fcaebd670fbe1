//! Messages between nodes, and what replicas make of them.

use std::time::Duration;

use helenus_coordinator::{CallId, FailureReason, NodeId, Reply, Request};

use super::{Cluster, Event};
use crate::reconcile::Rows;
use crate::replica::{Asked, Synced, Taken};

/// What passes between nodes.
#[derive(Debug)]
pub(super) enum Message {
    /// A question.
    Ask(Asked),
    /// What came of one.
    Answer {
        from: NodeId,
        machine: u64,
        call: CallId,
        reply: Result<Reply<Rows>, FailureReason>,
    },
}

impl Message {
    /// The same once more.
    fn copy(&self) -> Option<Self> {
        Some(match self {
            Self::Ask(asked) => Self::Ask(asked.clone()),
            Self::Answer {
                from,
                machine,
                call,
                reply,
            } => Self::Answer {
                from: *from,
                machine: *machine,
                call: *call,
                reply: match reply {
                    Ok(reply) => Ok(copy_of(reply)?),
                    Err(reason) => Err(*reason),
                },
            },
        })
    }

    /// What is understood of it when it arrives as garbage: whose answer it would have been, if anything.
    fn garbled(self) -> Option<Self> {
        match self {
            Self::Ask(_) => None,
            Self::Answer {
                from,
                machine,
                call,
                ..
            } => Some(Self::Answer {
                from,
                machine,
                call,
                reply: Err(FailureReason::UNKNOWN),
            }),
        }
    }
}

/// Replies can't be cloned by themselves, for data of other models can't.
fn copy_of(reply: &Reply<Rows>) -> Option<Reply<Rows>> {
    Some(match reply {
        Reply::Data(data) => Reply::Data(data.clone()),
        Reply::Digest(digest) => Reply::Digest(*digest),
        Reply::Done => Reply::Done,
        Reply::Promise(promise) => Reply::Promise(promise.clone()),
        Reply::Accepted(accepted) => Reply::Accepted(*accepted),
        _ => return None,
    })
}

impl Cluster {
    /// Sends a message; the weather decides whether, when and how often it arrives.
    pub(super) fn transmit(&mut self, from: usize, to: usize, message: Message) {
        self.messages += 1;
        let [first, second] = self.network.send(from, to, &mut self.faults);
        let now = self.queue.now();
        let fate = match (&first, &second) {
            (None, _) => "lost",
            (_, None) => "",
            _ => "twice",
        };
        let line = format_args!("n{from} → n{to} {} {fate}", Shown(&message)).to_string();
        self.trace.line(now, format_args!("{line}"));
        let again = second.and_then(|arrival| Some((arrival, message.copy()?)));
        for (arrival, message) in first
            .map(|arrival| (arrival, message))
            .into_iter()
            .chain(again)
        {
            let arrived = match arrival.garbled {
                true => message.garbled(),
                false => Some(message),
            };
            if let Some(message) = arrived {
                self.queue.push(arrival.after, Event::Arrive(to, message));
            }
        }
    }

    pub(super) fn arrive(&mut self, node: usize, message: Message) {
        match message {
            Message::Ask(asked) => self.asked(node, asked),
            Message::Answer {
                from,
                machine,
                call,
                reply,
            } => self.answered(node, machine, from, call, reply),
        }
    }

    /// A node is asked something.
    fn asked(&mut self, node: usize, asked: Asked) {
        if matches!(asked.request, Request::CounterWrite { .. }) {
            return self.lead(node, asked);
        }
        let (from, machine, call) = (asked.from, asked.machine, asked.call);
        match self.nodes[node].replica.take(asked) {
            Taken::Answered(reply) => self.reply(node, from, machine, call, Ok(reply)),
            Taken::Logged(true) => self.sync_soon(node),
            Taken::Logged(false) => {}
        }
    }

    /// Has what is logged synced, together with what comes until then.
    pub(super) fn sync_soon(&mut self, node: usize) {
        let after = Duration::from_micros(self.random.between(50, 1_500));
        self.queue.push(after, Event::Sync(node));
    }

    pub(super) fn sync(&mut self, node: usize) {
        let now = self.queue.now();
        for synced in self.nodes[node].replica.sync(now) {
            match synced {
                Synced::Answer(asked, reply) => {
                    self.reply(node, asked.from, asked.machine, asked.call, Ok(reply));
                }
                Synced::Counted(machine, mutation) => self.counted(node, machine, mutation),
            }
        }
    }

    pub(super) fn reply(
        &mut self,
        node: usize,
        to: NodeId,
        machine: u64,
        call: CallId,
        reply: Result<Reply<Rows>, FailureReason>,
    ) {
        let answer = Message::Answer {
            from: NodeId(node as u16),
            machine,
            call,
            reply,
        };
        self.transmit(node, usize::from(to.0), answer);
    }
}

/// A message in a trace.
struct Shown<'a>(&'a Message);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Message::Ask(asked) => {
                write!(f, "m{}/{} {:?}", asked.machine, asked.call.0, asked.request)
            }
            Message::Answer {
                machine,
                call,
                reply: Ok(reply),
                ..
            } => write!(f, "m{machine}/{} {reply:?}", call.0),
            Message::Answer {
                machine,
                call,
                reply: Err(reason),
                ..
            } => write!(f, "m{machine}/{} failed: {reason:?}", call.0),
        }
    }
}
