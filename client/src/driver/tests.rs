//! A client's connection without a socket: joined to a server in memory, on a clock of the test's own.

use super::*;
use crate::auth::PlainText;
use crate::client::Client;
use crate::testing::{CountingWaker, Host, Pair, Service, client, connect_to, poll, said, text};
use helenus_core::connection::{ClientError, Retry};
use helenus_core::{Reply, Request, RequestBody, Responder};
use std::pin::pin;
use std::task::Context;
use std::time::Duration;

/// Says what a query's text says, at once or, if it begins with `keep`, when the test says so.
fn echo() -> Service {
    Box::new(
        |request: Request<'_>, responder: Responder<'_>, kept: &mut Vec<Reply>| {
            let Ok(RequestBody::Query(query)) = request.parse() else {
                return;
            };
            match query.query {
                "keep" => kept.push(responder.defer()),
                "drop" => drop(responder),
                text => responder.send(said(text)),
            }
        },
    )
}

fn echoing(change: impl FnOnce(&mut Config)) -> (Client, Pair) {
    client(&Host::new(echo), change)
}

/// What is in the way of a retry.
fn lost(outcome: Outcome) -> (bool, Retry) {
    match outcome.unwrap_err() {
        ref error @ Error::Lost { sent, .. } => (sent, error.may_retry()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_query_is_answered() {
    let (client, mut pair) = echoing(|_| {});
    assert_eq!(client.version(), ProtocolVersion::V5);
    assert_eq!(text(pair.finish(client.query("hello", ()))), "hello");
    let refused = pair.finish(client.query("drop", ())).unwrap_err();
    assert!(matches!(refused, Error::Server(_)), "{refused}");
}

#[test]
fn a_version_that_is_refused_is_stepped_down_from() {
    let mut host = Host::new(echo);
    host.newest = ProtocolVersion::V4;
    let (client, mut pair, tries) = connect_to(&host, Config::default());
    let client = client.unwrap();
    assert_eq!((client.version(), tries), (ProtocolVersion::V4, 2));
    assert_eq!(text(pair.finish(client.query("hello", ()))), "hello");
    let mut config = Config::default();
    config.connection.versions = vec![ProtocolVersion::V5];
    let (refused, _, tries) = connect_to(&host, config);
    assert_eq!(tries, 1);
    assert!(matches!(
        refused,
        Err(Error::Lost {
            reason: Lost::Connection(ClientError::VersionRefused { .. }),
            ..
        })
    ));
}

#[test]
fn a_server_that_asks_who_it_is_gets_the_credentials() {
    let mut host = Host::new(echo);
    host.config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".to_owned());
    let outcome = |user: Option<(&str, &str)>| {
        let plain = user.map(|(name, word)| PlainText::new(name, word));
        let config = Config {
            authenticator: plain.map(|user| Arc::new(user) as _),
            ..Config::default()
        };
        connect_to(&host, config).0
    };
    assert!(outcome(Some(("ada", "lovelace"))).is_ok());
    let refused = outcome(Some(("ada", "byron"))).unwrap_err();
    assert!(
        refused.to_string().contains("nobody of that name"),
        "{refused}"
    );
    assert!(matches!(
        outcome(None),
        Err(Error::Lost {
            reason: Lost::Authentication(_),
            ..
        })
    ));
}

#[test]
fn calls_that_are_made_together_leave_in_one_piece() {
    let (client, mut pair) = echoing(|_| {});
    let mut calls: Vec<_> = (0..100)
        .map(|_| Box::pin(client.query("hello", ())))
        .collect();
    for call in &mut calls {
        assert!(poll(call).is_pending());
    }
    let before = pair.writes;
    pair.run();
    assert_eq!(pair.writes - before, 1);
    for call in calls {
        let Poll::Ready(outcome) = poll(call) else {
            panic!("it waits");
        };
        assert_eq!(text(outcome), "hello");
    }
}

#[test]
fn a_call_wakes_the_parked_pump_and_its_answer_the_caller() {
    let (client, mut pair) = echoing(|_| {});
    let (pump, waker) = CountingWaker::pair();
    assert!(pair.driver().park(&waker));
    let (caller, waker) = CountingWaker::pair();
    let mut call = pin!(client.query("hello", ()));
    let mut cx = Context::from_waker(&waker);
    assert!(call.as_mut().poll(&mut cx).is_pending());
    assert_eq!((pump.get(), caller.get()), (1, 0));
    assert!(!pair.driver().park(Waker::noop()));
    pair.run();
    assert_eq!(caller.get(), 1);
    assert!(call.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn answers_out_of_order_reach_their_callers() {
    let (client, mut pair) = echoing(|_| {});
    let mut first = pin!(client.query("keep", ()));
    assert!(poll(first.as_mut()).is_pending());
    assert_eq!(text(pair.finish(client.query("second", ()))), "second");
    assert!(poll(first.as_mut()).is_pending());
    pair.kept.pop().unwrap().send(said("first"));
    assert_eq!(text(pair.finish(first)), "first");
}

#[test]
fn a_dropped_call_is_not_sent_or_orphans_its_stream_until_the_late_answer() {
    let (client, mut pair) = echoing(|_| {});
    {
        let mut unsent = pin!(client.query("keep", ()));
        assert!(poll(unsent.as_mut()).is_pending());
    }
    pair.run();
    assert_eq!(pair.kept.len(), 0);
    {
        let mut sent = pin!(client.query("keep", ()));
        assert!(poll(sent.as_mut()).is_pending());
        pair.run();
    }
    assert_eq!(pair.kept.len(), 1);
    pair.run();
    let connection = pair.driver().connection();
    assert_eq!((connection.in_flight(), connection.orphans()), (0, 1));
    assert_eq!(text(pair.finish(client.query("other", ()))), "other");
    pair.kept.pop().unwrap().send(said("late"));
    pair.run();
    assert_eq!(pair.driver().connection().orphans(), 0);
    assert_eq!(text(pair.finish(client.query("next", ()))), "next");
}

#[test]
fn a_full_connection_makes_calls_wait() {
    let (client, mut pair) = echoing(|config| config.connection.limits.max_in_flight = 2);
    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(client.query("keep", ()))).collect();
    let (count, waker) = CountingWaker::pair();
    let mut cx = Context::from_waker(&waker);
    for call in &mut calls {
        assert!(call.as_mut().poll(&mut cx).is_pending());
        pair.run();
    }
    assert_eq!(pair.kept.len(), 2);
    pair.kept.remove(0).send(said("done"));
    pair.run();
    // The first call's caller, and the third's, who has room now.
    assert_eq!(count.get(), 2);
    assert!(poll(calls.remove(0)).is_ready());
    assert!(poll(calls[1].as_mut()).is_pending());
    pair.run();
    assert_eq!(pair.kept.len(), 2);
    for reply in pair.kept.drain(..) {
        reply.send(said("done"));
    }
    for call in calls {
        assert_eq!(text(pair.finish(call)), "done");
    }
}

#[test]
fn a_call_times_out_wherever_it_waits() {
    let (client, mut pair) = echoing(|config| {
        config.connection.limits.max_in_flight = 1;
        config.connection.request_timeout = Some(Duration::from_secs(2));
    });
    let mut sent = pin!(client.query("keep", ()));
    let mut waiting = pin!(client.query("waits", ()));
    assert!(poll(sent.as_mut()).is_pending());
    assert!(poll(waiting.as_mut()).is_pending());
    pair.run();
    let deadline = pair.now + Duration::from_secs(2);
    assert_eq!(pair.driver().poll_timeout(), Some(deadline));
    pair.pass(Duration::from_secs(2));
    let timed_out = |outcome| match outcome {
        Poll::Ready(Err(Error::Call(CallError::TimedOut { sent }))) => sent,
        other => panic!("{other:?}"),
    };
    assert!(timed_out(poll(sent)));
    assert!(!timed_out(poll(waiting)));
}

#[test]
fn a_timeout_of_the_statement_goes_before_the_connections() {
    let (client, mut pair) = echoing(|_| {});
    let hasty = crate::Statement::new("keep")
        .with(|options| options.timeout = Some(Duration::from_millis(5)));
    let mut call = pin!(client.query(hasty, ()));
    assert!(poll(call.as_mut()).is_pending());
    pair.run();
    pair.pass(Duration::from_millis(5));
    assert!(matches!(
        poll(call),
        Poll::Ready(Err(Error::Call(CallError::TimedOut { sent: true })))
    ));
}

#[test]
fn a_lost_connection_fails_every_call_and_says_whether_it_may_be_made_again() {
    let (client, mut pair) = echoing(|_| {});
    let mut events = pair
        .finish(client.events(&[helenus_core::message::EventType::SchemaChange]))
        .unwrap();
    let mut sent = pin!(client.query("keep", ()));
    assert!(poll(sent.as_mut()).is_pending());
    pair.run();
    let mut unsent = pin!(client.query("hello", ()));
    assert!(poll(unsent.as_mut()).is_pending());
    // The server's side is closed.
    pair.feed(&[]);
    assert!(!pair.run());
    let ready = |outcome| match outcome {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it waits"),
    };
    assert_eq!(lost(ready(poll(sent))), (true, Retry::IfIdempotent));
    assert_eq!(lost(ready(poll(unsent))), (false, Retry::Always));
    assert!(!client.is_open());
    let later = ready(poll(client.query("later", ())));
    assert_eq!(lost(later), (false, Retry::Always));
    let end = poll(events.next());
    assert!(matches!(end, Poll::Ready(Some(Err(Error::Lost { .. })))));
    assert!(matches!(poll(events.next()), Poll::Ready(None)));
}

#[test]
fn a_broken_socket_is_told_with_its_error() {
    let (client, mut pair) = echoing(|_| {});
    let mut call = pin!(client.query("keep", ()));
    assert!(poll(call.as_mut()).is_pending());
    pair.run();
    let mut driver = pair.driver.take().unwrap();
    driver.broken(io::ErrorKind::ConnectionReset.into());
    drop(driver);
    let Poll::Ready(Err(error)) = poll(call) else {
        panic!("no error");
    };
    assert!(
        matches!(&error, Error::Lost { sent: true, reason: Lost::Socket(error) }
            if error.kind() == io::ErrorKind::ConnectionReset),
        "{error}"
    );
}

#[test]
fn the_last_client_to_go_closes_the_connection_when_all_is_answered() {
    let (client, mut pair) = echoing(|_| {});
    let other = client.clone();
    let mut call = Box::pin(async move { other.query("keep", ()).await });
    assert!(poll(call.as_mut()).is_pending());
    drop(client);
    assert!(pair.run());
    drop(call);
    // The call was cancelled; its late answer is nothing to wait for.
    assert!(!pair.run());
}

#[test]
fn an_idle_connection_has_no_deadline_but_its_heartbeat() {
    let (client, mut pair) = echoing(|_| {});
    assert_eq!(text(pair.finish(client.query("hello", ()))), "hello");
    pair.run();
    let heartbeat = pair.now + Duration::from_secs(30);
    assert_eq!(pair.driver().poll_timeout(), Some(heartbeat));
    assert!(pair.driver().park(Waker::noop()));
    pair.pass(Duration::from_secs(30));
    assert_eq!(pair.driver().connection().stats().heartbeats, 1);
    assert_eq!(text(pair.finish(client.query("alive", ()))), "alive");
}

#[test]
fn many_answers_in_one_read_are_handled_in_turns() {
    let (client, mut pair) = echoing(|config| config.budget = 10);
    let mut calls: Vec<_> = (0..25).map(|_| Box::pin(client.query("hi", ()))).collect();
    for call in &mut calls {
        assert!(poll(call).is_pending());
    }
    pair.run();
    assert!(calls.into_iter().all(|call| poll(call).is_ready()));
}

#[test]
fn what_the_version_cannot_say_is_refused_before_it_is_sent() {
    let (client, mut pair) =
        echoing(|config| config.connection.versions = vec![ProtocolVersion::V4]);
    let statement =
        crate::Statement::new("hello").with(|options| options.keyspace = Some("ks".to_owned()));
    let refused = pair.finish(client.query(statement, ())).unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    assert_eq!(refused.may_retry(), Retry::Never);
    assert_eq!(text(pair.finish(client.query("hello", ()))), "hello");
}
