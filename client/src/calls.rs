//! [`Calls`]: every call of a connection, from the moment somebody makes it until its outcome is taken. Who
//! waits for room stands in line; what has room is encoded behind what was encoded before it, so that
//! a call allocates nothing here.

use crate::error::Error;
use crate::outgoing::{Outgoing, Queued};
use crate::result::QueryResult;
use bytes::BytesMut;
use helenus_core::{Header, ProtocolVersion};
use std::collections::VecDeque;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Names one call; never another one, though its place is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    place: u32,
    generation: u32,
}

/// The places that are kept when no call is left.
const KEPT: usize = 4096;

/// How many calls may be under way, and how many bytes may wait to be sent, until the next call has to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) calls: usize,
    pub(crate) bytes: usize,
}

/// What became of a call.
pub(crate) type Outcome = Result<QueryResult, Error>;

#[derive(Debug)]
enum Stage {
    /// The place is free.
    Free,
    /// In line for room. The pump, which has a clock, sets the deadline.
    Waiting {
        timeout: Option<Duration>,
        deadline: Option<Instant>,
    },
    /// With room: to be queued, queued, or sent.
    UnderWay,
    /// To be taken.
    Done(Outcome),
}

#[derive(Debug)]
struct Place {
    generation: u32,
    stage: Stage,
    waker: Option<Waker>,
}

/// The calls of one connection.
#[derive(Debug)]
pub(crate) struct Calls {
    version: ProtocolVersion,
    limits: Limits,
    places: Vec<Place>,
    free: Vec<u32>,
    /// Calls made so far.
    made: u32,
    /// Who waits for room, the longest first. The keys of abandoned calls stay until they are at the front.
    line: VecDeque<Key>,
    /// Calls at the end of the line whose deadline isn't set yet.
    unstamped: usize,
    /// No deadline in line comes before this one.
    deadline: Option<Instant>,
    /// Calls that took room and whose outcome isn't there.
    under_way: usize,
    /// Bytes that took room and weren't sent, with their headers.
    unsent: usize,
    /// The bodies of what is queued, one behind the other.
    bodies: BytesMut,
    queued: Vec<Queued>,
    /// A waker that another one replaced: to be taken, and dropped where that may drop a task.
    pub(crate) replaced: Option<Waker>,
    /// Calls that were abandoned after they had been queued.
    cancelled: Vec<Key>,
}

impl Calls {
    pub(crate) fn new(version: ProtocolVersion, limits: Limits) -> Calls {
        Calls {
            version,
            limits,
            places: Vec::new(),
            free: Vec::new(),
            made: 0,
            line: VecDeque::new(),
            unstamped: 0,
            deadline: None,
            under_way: 0,
            unsent: 0,
            bodies: BytesMut::new(),
            queued: Vec::new(),
            replaced: None,
            cancelled: Vec::new(),
        }
    }

    /// Takes room for a call, of which `key` is the name from then on; in line, while there is none. Ready with
    /// an error if it isn't to be had any more.
    pub(crate) fn poll_room(
        &mut self,
        key: &mut Option<Key>,
        timeout: Option<Duration>,
        waker: &Waker,
    ) -> Poll<Result<(), Error>> {
        self.skip_abandoned();
        let Some(known) = *key else {
            if self.line.is_empty() && self.has_room() {
                *key = Some(self.enter(Stage::UnderWay));
                self.under_way += 1;
                return Poll::Ready(Ok(()));
            }
            let waiting = Stage::Waiting {
                timeout,
                deadline: None,
            };
            let entered = self.enter(waiting);
            self.wait(entered, waker);
            self.line.push_back(entered);
            self.unstamped += 1;
            *key = Some(entered);
            return Poll::Pending;
        };
        let is_next = self.line.front() == Some(&known) && self.has_room();
        match self.stage(known) {
            Some(stage @ Stage::Waiting { .. }) if is_next => {
                *stage = Stage::UnderWay;
                self.line.pop_front();
                self.under_way += 1;
                Poll::Ready(Ok(()))
            }
            Some(Stage::Waiting { .. }) => {
                self.wait(known, waker);
                Poll::Pending
            }
            Some(Stage::Done(_)) => {
                *key = None;
                match self.leave(known) {
                    Some(Stage::Done(Err(error))) => Poll::Ready(Err(error)),
                    _ => Poll::Ready(Ok(())),
                }
            }
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Queues the request of a call that has room.
    pub(crate) fn queue(&mut self, key: Key, request: &Outgoing<'_>) {
        let start = self.bodies.len();
        let flags = request.encode(self.version, &mut self.bodies);
        let length = self.bodies.len() - start;
        self.unsent += Header::SIZE + length;
        self.queued.push(Queued {
            key,
            opcode: request.content.opcode(),
            flags,
            length,
            timeout: request.timeout,
            deadline: None,
            metadata: request.metadata.cloned(),
            is_undecoded: request.content.is_undecoded(),
            is_void: false,
        });
    }

    /// Takes the outcome of a call.
    pub(crate) fn poll(&mut self, key: Key, waker: &Waker) -> Poll<Outcome> {
        let is_done = matches!(self.stage(key), Some(Stage::Done(_)));
        if !is_done {
            self.wait(key, waker);
            return Poll::Pending;
        }
        match self.leave(key) {
            Some(Stage::Done(outcome)) => Poll::Ready(outcome),
            _ => Poll::Pending,
        }
    }

    /// Nobody asks for a call any more: it isn't sent if it wasn't yet, and its answer goes nowhere if it was.
    /// Its waker is given back, since to drop that may drop a task that makes other calls.
    pub(crate) fn abandon(&mut self, key: Key) -> Option<Waker> {
        let waker = self.place(key)?.waker.take();
        if let Some(Stage::UnderWay) = self.leave(key) {
            self.under_way -= 1;
            self.cancelled.push(key);
        }
        waker
    }

    /// Gives a call its outcome, and who is to be woken for it. One that was abandoned needs none.
    pub(crate) fn complete(&mut self, key: Key, outcome: Outcome) -> Option<Waker> {
        let place = self.place(key)?;
        let before = std::mem::replace(&mut place.stage, Stage::Done(outcome));
        let waker = place.waker.take();
        if matches!(before, Stage::UnderWay) {
            self.under_way -= 1;
        }
        waker
    }

    /// What was queued since the last time, behind what `bodies` and `queued` hold, and what was cancelled.
    pub(crate) fn collect(
        &mut self,
        bodies: &mut BytesMut,
        queued: &mut VecDeque<Queued>,
        cancelled: &mut Vec<Key>,
    ) {
        if queued.is_empty() {
            std::mem::swap(bodies, &mut self.bodies);
        } else {
            bodies.extend_from_slice(&self.bodies);
            self.bodies.clear();
        }
        queued.extend(self.queued.drain(..));
        cancelled.append(&mut self.cancelled);
    }

    /// Whether [`Calls::collect`] would give something to send.
    pub(crate) fn has_queued(&self) -> bool {
        !self.queued.is_empty() || self.unstamped > 0
    }

    /// These bytes were handed to the connection.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.unsent -= bytes.min(self.unsent);
    }

    /// Who may try now, if there is room: to be woken.
    pub(crate) fn next_in_line(&mut self) -> Option<Waker> {
        self.skip_abandoned();
        if !self.has_room() {
            return None;
        }
        let key = *self.line.front()?;
        self.place(key)?.waker.take()
    }

    /// Sets the deadlines of who came into the line, and takes the calls out whose deadline has come.
    pub(crate) fn expire(&mut self, now: Instant, expired: &mut Vec<Key>) {
        let unstamped = std::mem::take(&mut self.unstamped);
        for at in self.line.len().saturating_sub(unstamped)..self.line.len() {
            let Some(waiting) = self.line.get(at).copied() else {
                break;
            };
            if let Some(Stage::Waiting { timeout, deadline }) = self.stage(waiting) {
                *deadline = timeout.and_then(|timeout| now.checked_add(timeout));
                let set = *deadline;
                self.deadline = [self.deadline, set].into_iter().flatten().min();
            }
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.take_out(now, expired);
        }
    }

    fn take_out(&mut self, now: Instant, expired: &mut Vec<Key>) {
        let mut first: Option<Instant> = None;
        for waiting in std::mem::take(&mut self.line) {
            let Some(Stage::Waiting { deadline, .. }) = self.stage(waiting) else {
                continue;
            };
            let deadline = *deadline;
            if deadline.is_some_and(|deadline| deadline <= now) {
                expired.push(waiting);
            } else {
                first = [first, deadline].into_iter().flatten().min();
                self.line.push_back(waiting);
            }
        }
        self.deadline = first;
    }

    /// When [`Calls::expire`] has something to do, at the earliest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.filter(|_| !self.line.is_empty())
    }

    /// Every call that has no outcome yet.
    pub(crate) fn unfinished(&self) -> Vec<Key> {
        let open = |(place, held): (usize, &Place)| match held.stage {
            Stage::Free | Stage::Done(_) => None,
            _ => Some(Key {
                place: place as u32,
                generation: held.generation,
            }),
        };
        self.places.iter().enumerate().filter_map(open).collect()
    }

    fn has_room(&self) -> bool {
        // A limit of nothing would be a connection that never goes on.
        self.under_way < self.limits.calls.max(1) && self.unsent < self.limits.bytes.max(1)
    }

    fn enter(&mut self, stage: Stage) -> Key {
        self.made = self.made.wrapping_add(1);
        let generation = self.made;
        let entered = Place {
            generation,
            stage,
            waker: None,
        };
        if let Some(place) = self.free.pop()
            && let Some(free) = self.places.get_mut(place as usize)
        {
            *free = entered;
            return Key { place, generation };
        }
        let place = self.places.len() as u32;
        self.places.push(entered);
        Key { place, generation }
    }

    /// Leaves `waker` for what becomes of a call.
    fn wait(&mut self, key: Key, waker: &Waker) {
        if let Some(place) = self.place(key) {
            match &mut place.waker {
                Some(known) if known.will_wake(waker) => {}
                known => {
                    let replaced = known.replace(waker.clone());
                    self.replaced = replaced;
                }
            }
        }
    }

    /// Frees the place of a call.
    fn leave(&mut self, key: Key) -> Option<Stage> {
        let place = self.place(key)?;
        place.waker = None;
        let stage = std::mem::replace(&mut place.stage, Stage::Free);
        self.free.push(key.place);
        if self.free.len() == self.places.len() && self.places.len() > KEPT {
            // A crowd that is gone leaves no empty hall.
            self.free = Vec::new();
            self.places = Vec::new();
        }
        Some(stage)
    }

    fn stage(&mut self, key: Key) -> Option<&mut Stage> {
        self.place(key).map(|place| &mut place.stage)
    }

    fn place(&mut self, key: Key) -> Option<&mut Place> {
        let place = self.places.get_mut(key.place as usize)?;
        let is_its = place.generation == key.generation && !matches!(place.stage, Stage::Free);
        is_its.then_some(place)
    }

    /// Takes abandoned calls off the front of the line.
    fn skip_abandoned(&mut self) {
        while let Some(&key) = self.line.front() {
            if self.place(key).is_some() {
                return;
            }
            self.line.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
