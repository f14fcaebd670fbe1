//! Services written with `async`: polled once in place, and handed to the runtime only if they wait.

use crate::authentication::{Authenticator, Identity};
use crate::handle::ServerHandle;
use crate::service::{PeerInfo, Service};
use crate::sync::{contain, lock};
use helenus_core::connection::AuthToken;
use helenus_core::{Reply, Request, Responder, Response};
use std::any::Any;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// A future that a runtime can run beside its connections.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a runtime starts a [`Task`]; each runtime crate has one.
pub trait Spawn: Send + Sync + 'static {
    /// Runs `task` to its end. Called on the threads that pump connections.
    fn spawn(&self, task: Task);
}

/// The asynchronous form of a [`Service`].
///
/// What the future needs of the session and of the request is taken out before it is made, so
/// that it borrows neither:
///
/// ```
/// use helenus_core::{Request, Response};
/// use helenus_server::{AsyncService, PeerInfo};
///
/// struct Quiet;
///
/// impl AsyncService for Quiet {
///     type Session = u64;
///
///     fn open(&self, peer: &PeerInfo) -> u64 {
///         peer.connection
///     }
///
///     fn call(
///         &self,
///         session: &mut u64,
///         _request: Request<'_>,
///     ) -> impl Future<Output = Response> + Send + 'static {
///         let connection = *session;
///         async move {
///             assert!(connection < u64::MAX);
///             Response::Void
///         }
///     }
/// }
/// ```
pub trait AsyncService: Send + Sync + 'static {
    /// What the service remembers of one connection.
    type Session: Send + 'static;

    /// The server starts; `server` may be kept.
    fn start(&self, _server: ServerHandle) {}

    /// A connection was accepted.
    fn open(&self, peer: &PeerInfo) -> Self::Session;

    /// A QUERY, PREPARE, EXECUTE or BATCH arrived, undecoded. The future is dropped if the
    /// connection closes first; a panic in it answers SERVER_ERROR for this request alone.
    fn call(
        &self,
        session: &mut Self::Session,
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static;

    /// As [`Service::authenticator`], which it stands for.
    fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
        None
    }

    /// As [`Service::authenticated`], which it stands for.
    fn authenticated(&self, _session: &mut Self::Session, _identity: Identity) {}

    /// As [`Service::authenticate`], which it stands for.
    fn authenticate(
        &self,
        _now: Instant,
        _session: &mut Self::Session,
        _token: AuthToken<'_>,
        responder: Responder<'_>,
    ) {
        responder.refuse("This service knows no users".to_owned());
    }

    /// The connection is gone.
    fn close(&self, _session: Self::Session) {}
}

/// Makes a [`Service`] of an [`AsyncService`] and a runtime's way to spawn.
#[derive(Debug)]
pub struct AsyncAdapter<A, P> {
    service: A,
    spawn: P,
}

impl<A: AsyncService, P: Spawn> AsyncAdapter<A, P> {
    /// Runs `service`'s futures with `spawn`.
    pub fn new(service: A, spawn: P) -> Self {
        AsyncAdapter { service, spawn }
    }
}

/// The session of an [`AsyncAdapter`].
pub struct AsyncSession<T> {
    session: T,
    /// A box that a finished future left, for the next one of its type.
    spare: Option<Box<dyn Any + Send>>,
    closing: Arc<Closing>,
}

impl<T: std::fmt::Debug> std::fmt::Debug for AsyncSession<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AsyncSession").field(&self.session).finish()
    }
}

/// A future's place: emptied when it is done, so that nothing it held outlives its answer.
type Slot<F> = Pin<Box<Option<F>>>;

impl<A: AsyncService, P: Spawn> Service for AsyncAdapter<A, P> {
    type Session = AsyncSession<A::Session>;

    fn start(&self, server: ServerHandle) {
        self.service.start(server);
    }

    fn open(&self, peer: &PeerInfo) -> Self::Session {
        let session = self.service.open(peer);
        AsyncSession {
            session,
            spare: None,
            closing: Arc::default(),
        }
    }

    fn call(
        &self,
        _now: Instant,
        session: &mut Self::Session,
        request: Request<'_>,
        responder: Responder<'_>,
    ) {
        let future = self.service.call(&mut session.session, request);
        match start(&mut session.spare, future) {
            Started::Ready(response) => responder.send(response),
            Started::Waits(future) => {
                let task = Deferred::new(future, responder.defer(), &session.closing);
                self.spawn.spawn(Box::pin(task));
            }
        }
    }

    fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
        self.service.authenticator()
    }

    fn authenticated(&self, session: &mut Self::Session, identity: Identity) {
        self.service.authenticated(&mut session.session, identity);
    }

    fn authenticate(
        &self,
        now: Instant,
        session: &mut Self::Session,
        token: AuthToken<'_>,
        responder: Responder<'_>,
    ) {
        self.service
            .authenticate(now, &mut session.session, token, responder);
    }

    fn close(&self, session: Self::Session) {
        session.closing.close();
        self.service.close(session.session);
    }
}

enum Started {
    Ready(Response),
    Waits(Pin<Box<dyn Future<Output = Response> + Send>>),
}

/// Polls `future` once, in the box that an earlier one left.
fn start<F>(spare: &mut Option<Box<dyn Any + Send>>, future: F) -> Started
where
    F: Future<Output = Response> + Send + 'static,
{
    let left = spare.take().and_then(|any| any.downcast::<Slot<F>>().ok());
    let mut slot = left.unwrap_or_else(|| Box::new(Box::pin(None)));
    slot.set(Some(future));
    // A future that waits is polled anew by its task, with a waker that counts.
    match poll_slot(
        slot.as_mut().as_mut(),
        &mut Context::from_waker(Waker::noop()),
    ) {
        Poll::Ready(response) => {
            slot.set(None);
            *spare = Some(slot);
            Started::Ready(response)
        }
        Poll::Pending => {
            let mut slot = *slot;
            Started::Waits(Box::pin(std::future::poll_fn(move |cx| {
                poll_slot(slot.as_mut(), cx)
            })))
        }
    }
}

fn poll_slot<F: Future>(slot: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<F::Output> {
    match slot.as_pin_mut() {
        Some(future) => future.poll(cx),
        None => Poll::Pending,
    }
}

/// A request's future after it had to wait: answers, or ends when the connection closes.
struct Deferred {
    future: Pin<Box<dyn Future<Output = Response> + Send>>,
    reply: Option<Reply>,
    closing: Arc<Closing>,
    number: u64,
}

impl Deferred {
    fn new(
        future: Pin<Box<dyn Future<Output = Response> + Send>>,
        reply: Reply,
        closing: &Arc<Closing>,
    ) -> Self {
        let number = closing.enter();
        Deferred {
            future,
            reply: Some(reply),
            closing: Arc::clone(closing),
            number,
        }
    }
}

impl Future for Deferred {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.closing.poll_closed(self.number, cx.waker()) {
            return Poll::Ready(());
        }
        match contain("the future of a request", || self.future.as_mut().poll(cx)) {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(response)) => {
                if let Some(reply) = self.reply.take() {
                    reply.send(response);
                }
            }
            // Its reply answers SERVER_ERROR when it is dropped.
            None => {}
        }
        Poll::Ready(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.closing.leave(self.number);
    }
}

/// Tells the tasks of a connection that it closed.
#[derive(Debug, Default)]
struct Closing {
    state: Mutex<ClosingState>,
}

#[derive(Debug, Default)]
struct ClosingState {
    closed: bool,
    next: u64,
    wakers: HashMap<u64, Waker>,
}

impl Closing {
    fn enter(&self) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        state.next
    }

    fn poll_closed(&self, number: u64, waker: &Waker) -> bool {
        let mut state = lock(&self.state);
        if state.closed {
            return true;
        }
        match state.wakers.get_mut(&number) {
            Some(known) => known.clone_from(waker),
            None => drop(state.wakers.insert(number, waker.clone())),
        }
        false
    }

    fn leave(&self, number: u64) {
        let waker = lock(&self.state).wakers.remove(&number);
        drop(waker);
    }

    fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        for waker in wakers.into_values() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests;
