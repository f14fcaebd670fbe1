//! The threads of a server that has one event loop a core.

use crate::hub::Hub;
use crate::service::Service;
use std::io;
use std::sync::Arc;
use std::thread;

/// Which worker of a server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worker {
    /// The one that runs the service's timers.
    First,
    /// Any other.
    Other,
}

/// Runs `work` once for each of `listeners`, each on a thread called `name` and its number, the
/// first on this thread, and returns when all have ended. If a thread can't be started, the server
/// is shut down; the first error is returned.
pub fn run_workers<S: Service, L: Send + 'static>(
    hub: &Arc<Hub<S>>,
    name: &str,
    listeners: Vec<L>,
    work: impl Fn(L, Arc<Hub<S>>, Worker) -> io::Result<()> + Clone + Send + 'static,
) -> io::Result<()> {
    let mut listeners = listeners.into_iter();
    let first = listeners.next();
    let mut result = Ok(());
    let mut threads = Vec::new();
    for (listener, number) in listeners.zip(1..) {
        let (hub_of_worker, work) = (Arc::clone(hub), work.clone());
        let thread = thread::Builder::new()
            .name(format!("{name}-{number}"))
            .spawn(move || work(listener, hub_of_worker, Worker::Other));
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                result = Err(error);
                hub.shutdown_handle().shutdown();
            }
        }
    }
    if let Some(listener) = first {
        result = result.and(work(listener, Arc::clone(hub), Worker::First));
    }
    for thread in threads {
        let panicked = |_| Err(io::Error::other("a worker panicked"));
        result = result.and(thread.join().unwrap_or_else(panicked));
    }
    result
}
