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
/// first on this thread, and returns when all have ended. One that fails shuts the server down; the
/// first error is returned.
pub fn run_workers<S: Service, L: Send + 'static>(
    hub: &Arc<Hub<S>>,
    name: &str,
    listeners: Vec<L>,
    work: impl Fn(L, Arc<Hub<S>>, Worker) -> io::Result<()> + Clone + Send + 'static,
) -> io::Result<()> {
    let work = move |listener, hub: Arc<Hub<S>>, worker| {
        let result = work(listener, Arc::clone(&hub), worker);
        if result.is_err() {
            hub.shutdown_handle().shutdown();
        }
        result
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::service::PeerInfo;
    use helenus_core::{Request, Responder};
    use std::time::Instant;

    struct Silent;

    impl Service for Silent {
        type Session = ();

        fn open(&self, _: &PeerInfo) {}

        fn call(&self, _: Instant, (): &mut (), _: Request<'_>, _: Responder<'_>) {}
    }

    #[test]
    fn a_worker_that_fails_ends_the_others() {
        let hub = Hub::new(Arc::new(Silent), Options::default());
        let result = run_workers(&hub, "test", vec![1, 2, 3], |number, hub, worker| {
            assert_eq!(worker == Worker::First, number == 1);
            if number == 3 {
                return Err(io::Error::other("out of luck"));
            }
            while !hub.shutdown_handle().is_shutdown() {
                thread::yield_now();
            }
            Ok(())
        });
        assert_eq!(
            result.map_err(|error| error.to_string()),
            Err("out of luck".to_owned())
        );
    }
}
