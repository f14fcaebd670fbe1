//! The pool, with replies that are kept for it.

use super::*;
use crate::driver::Driver;
use crate::options::Options;
use crate::service::{PeerInfo, Service};
use crate::testing::{ERROR, RESULT, answers, connect, feed, output, query};
use helenus_core::{Pumped, Request, Responder};
use helenus_tls::MaybeTls;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Defers everything.
#[derive(Default)]
struct Deferring {
    replies: Arc<Mutex<Vec<Reply>>>,
}

impl Service for Deferring {
    type Session = ();

    fn open(&self, _: &PeerInfo) {}

    fn call(&self, _: Instant, (): &mut (), _: Request<'_>, responder: Responder<'_>) {
        self.replies.lock().unwrap().push(responder.defer());
    }
}

/// A connection with `count` requests in flight, and their replies.
fn replies(count: i16) -> (MaybeTls<Driver<Deferring>>, Vec<Reply>) {
    let service = Deferring::default();
    let kept = Arc::clone(&service.replies);
    let mut driver = connect(service, Options::default(), Instant::now());
    let requests: Vec<u8> = (0..count).flat_map(|stream| query(stream, "x")).collect();
    feed(&mut driver, Instant::now(), &requests);
    let replies = std::mem::take(&mut *kept.lock().unwrap());
    assert_eq!(replies.len(), usize::try_from(count).unwrap());
    (driver, replies)
}

/// The answers that have come once there are `count`.
fn answered(driver: &mut MaybeTls<Driver<Deferring>>, count: usize) -> Vec<(i16, u8)> {
    let mut bytes = Vec::new();
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        driver.turn(Instant::now());
        bytes.extend(output(driver));
        let answers = answers(&bytes);
        if answers.len() >= count {
            return answers;
        }
        assert!(Instant::now() < until, "only {answers:?} came");
        thread::sleep(Duration::from_millis(1));
    }
}

fn pool(threads: usize, queue: usize, timeout: u64, replacements: usize) -> Offload {
    let timeout = Duration::from_millis(timeout);
    Offload::new(OffloadOptions {
        threads,
        queue,
        timeout,
        replacements,
        wait: None,
    })
}

/// A job that says when it began, and ends when it is told to.
fn held(began: &Sender<()>) -> (impl FnOnce() -> Response + use<>, Sender<()>) {
    let (end, ended): (_, Receiver<()>) = channel();
    let began = began.clone();
    let job = move || {
        began.send(()).unwrap();
        let _ = ended.recv();
        Response::Void
    };
    (job, end)
}

#[test]
fn jobs_are_answered_and_a_panic_takes_no_thread_away() {
    let (mut driver, replies) = replies(4);
    let pool = pool(1, 16, 10_000, 0);
    for (number, reply) in replies.into_iter().enumerate() {
        pool.submit(reply, move || {
            assert_ne!(number, 1, "as told to");
            Response::Void
        });
    }
    assert_eq!(
        answered(&mut driver, 4),
        [(0, RESULT), (1, ERROR), (2, RESULT), (3, RESULT)]
    );
}

#[test]
fn a_full_queue_answers_overloaded_at_once() {
    let (mut driver, replies) = replies(3);
    let pool = pool(1, 1, 10_000, 0);
    let (began, begun) = channel();
    let mut replies = replies.into_iter();
    let (job, end) = held(&began);
    pool.submit(replies.next().unwrap(), job);
    begun.recv().unwrap();
    pool.submit(replies.next().unwrap(), || Response::Void);
    pool.submit(replies.next().unwrap(), || Response::Void);
    assert_eq!(answered(&mut driver, 1), [(2, ERROR)]);
    drop(end);
    assert_eq!(answered(&mut driver, 2), [(0, RESULT), (1, RESULT)]);
}

#[test]
fn a_job_that_does_not_end_is_answered_for_and_its_thread_replaced_up_to_the_cap() {
    let (mut driver, replies) = replies(5);
    let pool = pool(1, 16, 50, 1);
    let (began, begun) = channel();
    let mut replies = replies.into_iter();
    let (stuck, end_first) = held(&began);
    pool.submit(replies.next().unwrap(), stuck);
    begun.recv().unwrap();
    pool.submit(replies.next().unwrap(), || Response::Void);
    assert_eq!(answered(&mut driver, 2), [(0, ERROR), (1, RESULT)]);
    // The second stuck thread is over the cap: what follows waits for it.
    let (stuck, end_second) = held(&began);
    pool.submit(replies.next().unwrap(), stuck);
    begun.recv().unwrap();
    pool.submit(replies.next().unwrap(), || Response::Void);
    assert_eq!(answered(&mut driver, 1), [(2, ERROR)]);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(answered(&mut driver, 0), []);
    drop(end_second);
    assert_eq!(answered(&mut driver, 1), [(3, RESULT)]);
    drop(end_first);
    pool.submit(replies.next().unwrap(), || Response::Void);
    assert_eq!(answered(&mut driver, 1), [(4, RESULT)]);
}

#[test]
fn threads_end_with_the_last_handle() {
    let pool = pool(2, 16, 10_000, 0);
    let (mut driver, replies) = replies(2);
    let inner = Arc::downgrade(&pool.owner.pool);
    for reply in replies {
        pool.submit(reply, || Response::Void);
    }
    answered(&mut driver, 2);
    drop(pool);
    let until = Instant::now() + Duration::from_secs(10);
    while inner.upgrade().is_some() {
        assert!(Instant::now() < until, "a thread goes on");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_job_that_waits_too_long_is_answered_overloaded_and_never_begun() {
    let ((mut driver, mut replies), offload) = (replies(2), pool(1, 9, 60_000, 0));
    offload.reconfigure(OffloadOptions {
        threads: 1,
        wait: Some(Duration::from_millis(30)),
        ..OffloadOptions::default()
    });
    let (began, begun) = channel();
    let (job, end) = held(&began);
    let second = replies.pop().unwrap();
    offload.submit(replies.pop().unwrap(), job);
    begun.recv().unwrap();
    let (job, _end) = held(&began);
    offload.submit(second, job);
    assert_eq!(answered(&mut driver, 1), [(1, ERROR)]);
    end.send(()).unwrap();
    assert_eq!(answered(&mut driver, 1), [(0, RESULT)]);
    assert!(begun.try_recv().is_err());
    assert_eq!(offload.load().expired, 1);
}

#[test]
fn a_job_has_its_time_anew_for_each_piece_that_it_renews_its_lease_for() {
    let (mut driver, replies) = replies(2);
    let pool = pool(1, 16, 400, 1);
    let mut replies = replies.into_iter();
    let never = || ErrorResponse::server_error("it took too long");
    let job = |lease: &JobLease| {
        let mut renewed = Vec::new();
        for _ in 0..8 {
            thread::sleep(Duration::from_millis(100));
            renewed.push(lease.renew());
        }
        assert_eq!(renewed, [true; 8]);
        |reply: Reply| reply.send(Response::Void)
    };
    pool.submit_leased(replies.next().unwrap(), job, never);
    assert_eq!(answered(&mut driver, 1), [(0, RESULT)]);
    assert_eq!(pool.load().timed_out, 0);
    let (given_up, is_given_up) = channel();
    let job = move |lease: &JobLease| {
        while lease.renew() {
            thread::sleep(Duration::from_millis(600));
        }
        given_up.send(()).unwrap();
        |reply: Reply| reply.send(Response::Void)
    };
    let (asked, timed_out) = channel();
    let late = move || {
        asked.send(()).unwrap();
        ErrorResponse::server_error("it took too long")
    };
    pool.submit_leased(replies.next().unwrap(), job, late);
    assert_eq!(answered(&mut driver, 1), [(1, ERROR)]);
    timed_out.recv().unwrap();
    is_given_up.recv().unwrap();
    assert_eq!(pool.load().timed_out, 1);
}
