//! What the server needs of a runtime, and how smol gives it: one executor a core.

use crate::accept::serve;
use crate::listen::share;
use helenus_server::{Hub, Service, Spawn, Task, run_workers};
use smol::LocalExecutor;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

/// A runtime that speaks through smol's reactor: smol, or async-std.
pub trait Runtime: Spawn + Copy + Default {
    /// Has the task of `cx` polled again after others had their turn.
    fn yield_now(self, cx: &Context<'_>);

    /// Serves what `listener` accepts on `workers` threads, until the server is shut down.
    fn run<S: Service>(listener: TcpListener, hub: Arc<Hub<S>>, workers: usize) -> io::Result<()>;
}

/// How many tasks run between two looks at I/O while there are always more.
const TASKS_PER_LOOK: usize = 61;

thread_local! {
    static EXECUTOR: Rc<LocalExecutor<'static>> = Rc::new(LocalExecutor::new());
    /// Whether this thread is in [`run_core`].
    static DRIVEN: Cell<bool> = const { Cell::new(false) };
    /// Who yielded: woken after the next look at I/O.
    static YIELDED: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// smol: spawns on the executor of this thread where the server runs one, as under
/// [`ServerOn::run`](crate::ServerOn::run), and on smol's global one otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct SmolSpawn;

impl Spawn for SmolSpawn {
    fn spawn(&self, task: Task) {
        if DRIVEN.get() {
            EXECUTOR.with(|executor| executor.spawn(task).detach());
        } else {
            smol::spawn(task).detach();
        }
    }
}

impl Runtime for SmolSpawn {
    fn yield_now(self, cx: &Context<'_>) {
        if DRIVEN.get() {
            YIELDED.with_borrow_mut(|yielded| yielded.push(cx.waker().clone()));
        } else {
            cx.waker().wake_by_ref();
        }
    }

    fn run<S: Service>(listener: TcpListener, hub: Arc<Hub<S>>, workers: usize) -> io::Result<()> {
        let listeners = share(listener, workers, hub.options().backlog)?;
        run_workers(&hub, "helenus-smol", listeners, |listener, hub, worker| {
            run_core(serve(listener, hub, SmolSpawn, worker))
        })
    }
}

/// Runs `main`, and what is spawned beside it, on this thread.
pub(crate) fn run_core<T: 'static>(main: impl Future<Output = T> + 'static) -> T {
    let executor = EXECUTOR.with(Rc::clone);
    DRIVEN.set(true);
    let main = executor.spawn(main);
    let result = smol::block_on(smol::future::or(main, drive(&executor)));
    DRIVEN.set(false);
    result
}

/// Runs the executor's tasks for ever.
///
/// An executor's own loop looks at I/O once in 200 tasks, and a task that wakes itself is back in
/// the queue before those whose bytes arrive meanwhile. Here one that yields waits for the next
/// look at I/O, and that look comes once all that are ready had their turn.
async fn drive<T>(executor: &LocalExecutor<'static>) -> T {
    loop {
        let mut ran = 0;
        while ran < TASKS_PER_LOOK && executor.try_tick() {
            ran += 1;
        }
        if ran < TASKS_PER_LOOK && YIELDED.with_borrow(Vec::is_empty) {
            // Nothing is ready: this waits for I/O.
            executor.tick().await;
            continue;
        }
        smol::future::yield_now().await;
        for waker in YIELDED.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    /// Yields once.
    async fn yields() {
        let mut yielded = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            SmolSpawn.yield_now(cx);
            Poll::Pending
        })
        .await;
    }

    #[test]
    fn who_yields_comes_after_all_that_are_ready() {
        let order = run_core(async {
            let order = Rc::new(RefCell::new(Vec::new()));
            for name in ["second", "third"] {
                let order = Rc::clone(&order);
                let task = async move { order.borrow_mut().push(name) };
                EXECUTOR.with(|executor| executor.spawn(task).detach());
            }
            order.borrow_mut().push("first");
            yields().await;
            order.borrow_mut().push("fourth");
            order.take()
        });
        assert_eq!(order, ["first", "second", "third", "fourth"]);
        assert!(YIELDED.with_borrow(Vec::is_empty));
    }
}
