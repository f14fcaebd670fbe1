//! A service written with `async`, on threads: each request waits for another thread, and those that
//! came after it are answered meanwhile.

use helenus_core::{ErrorResponse, Request, RequestBody, Response};
use helenus_server::{AsyncService, Options, PeerInfo};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

struct Patient;

impl AsyncService for Patient {
    /// How many requests the connection has sent.
    type Session = u32;

    fn open(&self, _peer: &PeerInfo) -> u32 {
        0
    }

    fn call(
        &self,
        session: &mut u32,
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        *session += 1;
        let number = *session;
        // What is needed of the request is taken out: the future outlives it.
        let answer = match request.parse() {
            Ok(RequestBody::Query(_)) => Ok(format!("request{number}").into()),
            Ok(_) => Err(ErrorResponse::invalid("Only QUERY is answered here")),
            Err(error) => Err(error.response()),
        };
        async move {
            match answer {
                Ok(keyspace) => {
                    sleep(Duration::from_millis(100)).await;
                    Response::SetKeyspace(keyspace)
                }
                // Ready at once: costs no task.
                Err(error) => Response::Error(error),
            }
        }
    }
}

#[derive(Default)]
struct Alarm {
    rung: bool,
    waker: Option<Waker>,
}

/// A future for a runtime without timers: a thread sleeps for it.
async fn sleep(duration: Duration) {
    let alarm = Arc::new(Mutex::new(Alarm::default()));
    let ringing = Arc::clone(&alarm);
    thread::spawn(move || {
        thread::sleep(duration);
        let mut alarm = ringing.lock().unwrap();
        alarm.rung = true;
        if let Some(waker) = alarm.waker.take() {
            waker.wake();
        }
    });
    poll_fn(|cx| {
        let mut alarm = alarm.lock().unwrap();
        if alarm.rung {
            return Poll::Ready(());
        }
        // Whoever polls last is woken: the first poll is the connection's, the next the spawner's.
        alarm.waker = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

fn main() -> std::io::Result<()> {
    let address = ([127, 0, 0, 1], 9042).into();
    helenus_std::Server::bind_async(address, Patient, Options::default())?.run()
}
