//! Asynchronous services, with a runtime that only keeps what it is given.

use super::*;
use crate::driver::Driver;
use crate::options::Options;
use crate::testing::{ERROR, RESULT, answers, connect, feed, output, query};
use helenus_core::{Pumped, RequestBody};
use helenus_tls::MaybeTls;
use std::future::{pending, poll_fn};

/// Keeps tasks; the test polls them.
#[derive(Default, Clone)]
struct Kept(Arc<Mutex<Vec<Task>>>);

impl Spawn for Kept {
    fn spawn(&self, task: Task) {
        self.0.lock().unwrap().push(task);
    }
}

impl Kept {
    /// Polls every task once, and gives how many there still are.
    fn run(&self) -> usize {
        let mut tasks = self.0.lock().unwrap();
        let cx = &mut Context::from_waker(Waker::noop());
        tasks.retain_mut(|task| task.as_mut().poll(cx).is_pending());
        tasks.len()
    }
}

struct Probe {
    /// One for each future that is alive.
    alive: Arc<()>,
}

impl AsyncService for Probe {
    type Session = ();

    fn open(&self, _: &PeerInfo) {}

    fn call(
        &self,
        (): &mut (),
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        let text = match request.parse() {
            Ok(RequestBody::Query(query)) => query.query.to_owned(),
            _ => String::new(),
        };
        let alive = Arc::clone(&self.alive);
        async move {
            let _alive = alive;
            match text.as_str() {
                "once" => wait_once().await,
                "ever" => pending().await,
                "panic" => panic!("as told to"),
                "panic later" => {
                    wait_once().await;
                    panic!("as told to, later");
                }
                _ => {}
            }
            Response::Void
        }
    }
}

async fn wait_once() {
    let mut waited = false;
    poll_fn(|_| {
        if std::mem::replace(&mut waited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

type Probed = MaybeTls<Driver<AsyncAdapter<Probe, Kept>>>;

fn start_probe() -> (Probed, Kept, Arc<()>) {
    let (kept, alive) = (Kept::default(), Arc::new(()));
    let probe = Probe {
        alive: Arc::clone(&alive),
    };
    let service = AsyncAdapter::new(probe, kept.clone());
    (
        connect(service, Options::default(), Instant::now()),
        kept,
        alive,
    )
}

#[test]
fn a_ready_future_is_answered_in_place() {
    let (mut driver, kept, alive) = start_probe();
    feed(
        &mut driver,
        Instant::now(),
        &[query(1, "x"), query(2, "x")].concat(),
    );
    assert_eq!(answers(&output(&mut driver)), [(1, RESULT), (2, RESULT)]);
    assert_eq!(kept.run(), 0);
    // The probe's and the test's own: nothing is left of the futures.
    assert_eq!(Arc::strong_count(&alive), 2);
}

#[test]
fn a_future_that_waits_is_spawned_and_answers_when_it_is_done() {
    let (mut driver, kept, _) = start_probe();
    feed(
        &mut driver,
        Instant::now(),
        &[query(1, "once"), query(2, "x")].concat(),
    );
    assert_eq!(answers(&output(&mut driver)), [(2, RESULT)]);
    assert_eq!(kept.run(), 0);
    driver.turn(Instant::now());
    assert_eq!(answers(&output(&mut driver)), [(1, RESULT)]);
}

#[test]
fn a_future_that_waits_is_dropped_when_its_connection_closes() {
    let (mut driver, kept, alive) = start_probe();
    feed(&mut driver, Instant::now(), &query(1, "ever"));
    assert_eq!((kept.run(), Arc::strong_count(&alive)), (1, 3));
    drop(driver);
    assert_eq!((kept.run(), Arc::strong_count(&alive)), (0, 1));
}

#[test]
fn a_panic_answers_server_error_whenever_it_comes() {
    let (mut driver, kept, _) = start_probe();
    feed(
        &mut driver,
        Instant::now(),
        &[query(1, "panic"), query(2, "panic later")].concat(),
    );
    assert_eq!(answers(&output(&mut driver)), [(1, ERROR)]);
    assert_eq!(kept.run(), 0);
    driver.turn(Instant::now());
    assert_eq!(answers(&output(&mut driver)), [(2, ERROR)]);
}
