//! One thread that runs the waiting futures of asynchronous services.

use helenus_server::{Spawn, Task};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Runs the waiting futures of an [`AsyncService`](helenus_server::AsyncService) on one thread,
/// started with the first of them. It has no reactor: what the futures wait for has its own.
#[derive(Debug, Clone, Default)]
pub struct ThreadSpawn {
    queue: Arc<OnceLock<Sender<Arc<Job>>>>,
}

impl Spawn for ThreadSpawn {
    fn spawn(&self, task: Task) {
        let queue = self.queue.get_or_init(|| {
            let (sender, receiver) = channel();
            let started = thread::Builder::new()
                .name("helenus-async".to_owned())
                .spawn(move || run(&receiver));
            if let Err(error) = started {
                // Each task is then dropped as it comes, which answers its request.
                tracing::error!(%error, "cannot start the thread for futures");
            }
            sender
        });
        let job = Arc::new(Job {
            task: Mutex::new(Some(task)),
            queue: queue.clone(),
        });
        job.wake();
    }
}

/// A task, and the queue it comes back to when it is woken.
struct Job {
    task: Mutex<Option<Task>>,
    queue: Sender<Arc<Job>>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

impl Wake for Job {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        let _ = queue.send(self);
    }
}

fn run(queue: &Receiver<Arc<Job>>) {
    while let Ok(job) = queue.recv() {
        let waker = Waker::from(Arc::clone(&job));
        let mut task = job.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(future) = task.as_mut()
            && let Poll::Ready(()) = future.as_mut().poll(&mut Context::from_waker(&waker))
        {
            *task = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn a_task_runs_again_whenever_it_is_woken() {
        let (done, ended) = channel();
        let mut left = 3;
        ThreadSpawn::default().spawn(Box::pin(async move {
            poll_fn(|cx| {
                left -= 1;
                cx.waker().wake_by_ref();
                if left == 0 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            done.send("ended").unwrap();
        }));
        assert_eq!(ended.recv(), Ok("ended"));
    }
}
