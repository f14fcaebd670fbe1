//! Both ends under load and over time: backpressure, overload, heartbeats, and one end leaving.

use std::time::{Duration, Instant};

use helenus_core::connection::{CallError, ServerConfig};
use helenus_core::message::{Query, QueryParams};
use helenus_core::testing::{Cuts, Desk, Link, Pair, PairEvent, Path};
use helenus_core::{
    CallOptions, ClientConfig, ClientError, Consistency, ErrorCode, Request, RequestBody,
    Responder, Response,
};

const SELECT: RequestBody<'static> = RequestBody::Query(Query {
    query: "SELECT v FROM ks.t",
    params: QueryParams::new(Consistency::ONE),
});

fn keep(_: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
    desk.keep(responder.defer());
}

fn pair(client: ClientConfig, server: ServerConfig) -> Pair {
    let mut pair = Pair::new(client, server, Instant::now(), keep);
    pair.run();
    assert_eq!(pair.events(), [PairEvent::Ready]);
    pair
}

fn ask(pair: &mut Pair, count: usize) {
    for _ in 0..count {
        pair.send(&SELECT, &CallOptions::default()).unwrap();
    }
    pair.run();
}

/// Answers what the service kept; how much that was.
fn release(pair: &mut Pair) -> usize {
    let kept = pair.desk().take_kept();
    let count = kept.len();
    for reply in kept {
        reply.send(Response::Void);
    }
    pair.run();
    count
}

#[test]
fn a_server_that_takes_no_more_leaves_requests_waiting_and_none_is_lost() {
    let mut server = ServerConfig::default();
    server.limits.max_requests = 4;
    let mut pair = pair(ClientConfig::default(), server);
    for _ in 0..5 {
        ask(&mut pair, 4);
    }
    let mut answered = 0;
    loop {
        let released = release(&mut pair);
        assert!(released <= 4);
        let events = pair.events();
        assert!(
            events
                .iter()
                .all(|event| matches!(event, PairEvent::Answer(..)))
        );
        answered += events.len();
        if released == 0 {
            break;
        }
    }
    assert_eq!(answered, 20);
}

#[test]
fn a_client_that_asks_for_it_is_told_of_overload() {
    let mut client = ClientConfig::default();
    client.startup_options = vec![("THROW_ON_OVERLOAD".to_owned(), "1".to_owned())];
    let mut server = ServerConfig::default();
    server.limits.max_requests = 2;
    let mut pair = pair(client, server);
    ask(&mut pair, 5);
    let codes: Vec<_> = pair
        .events()
        .into_iter()
        .map(|event| match event {
            PairEvent::Answer(_, answer) => match answer.response() {
                Some(Response::Error(error)) => error.code,
                other => panic!("unexpected {other:?}"),
            },
            other => panic!("unexpected {other:?}"),
        })
        .collect();
    assert_eq!(codes, [ErrorCode::OVERLOADED; 3]);
    assert_eq!(release(&mut pair), 2);
    assert_eq!(pair.events().len(), 2);
}

#[test]
fn heartbeats_keep_an_idle_connection_on_a_server_that_closes_idle_ones() {
    let mut server = ServerConfig::default();
    server.idle_timeout = Some(Duration::from_secs(60));
    let mut living = pair(ClientConfig::default(), server.clone());
    living.advance(Duration::from_secs(3600));
    assert_eq!(living.events(), []);
    assert_eq!(living.client().stats().heartbeats, 120);
    let mut client = ClientConfig::default();
    client.heartbeat_interval = None;
    let mut silent = pair(client, server);
    silent.advance(Duration::from_secs(3600));
    assert_eq!(silent.events(), [PairEvent::Closed(ClientError::Ended)]);
}

#[test]
fn a_server_that_drains_answers_what_it_took_and_the_client_knows_what_is_lost() {
    let mut pair = pair(ClientConfig::default(), ServerConfig::default());
    ask(&mut pair, 2);
    pair.server().drain();
    let late = pair.send(&SELECT, &CallOptions::default()).unwrap();
    pair.run();
    assert_eq!(pair.events(), []);
    release(&mut pair);
    let events = pair.events();
    assert!(matches!(
        events[..2],
        [PairEvent::Answer(..), PairEvent::Answer(..)]
    ));
    let lost = CallError::Lost {
        sent: true,
        reason: ClientError::Ended,
    };
    let expected = [
        PairEvent::Failed(late, lost),
        PairEvent::Closed(ClientError::Ended),
    ];
    assert_eq!(events[2..], expected);
}

#[test]
fn a_client_that_closes_gets_its_answers_first() {
    let mut pair = pair(ClientConfig::default(), ServerConfig::default());
    ask(&mut pair, 3);
    pair.client().close();
    pair.run();
    assert!(!pair.client().is_finished());
    release(&mut pair);
    assert_eq!(pair.events().len(), 3);
    assert!(pair.client().is_finished() && pair.server().is_finished());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    fn scattered(request: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
        let delay = Duration::from_micros(desk.random(100_000) as u64);
        let stream = request.stream().0;
        desk.later(
            delay,
            responder.defer(),
            Response::SetKeyspace(stream.to_string().into()),
        );
    }
    let start = Instant::now();
    let run = |seed| {
        let cuts = Cuts::Random { seed, longest: 9 };
        let path = Path::default()
            .with_latency(Duration::from_millis(1))
            .with_cuts(cuts);
        let link = Link {
            to_server: path.clone(),
            to_client: path,
        };
        let (client, server) = (ClientConfig::default(), ServerConfig::default());
        let mut pair = Pair::new(client, server, start, scattered)
            .seeded(seed)
            .over(link);
        pair.run();
        for _ in 0..50 {
            pair.send(&SELECT, &CallOptions::default()).unwrap();
        }
        pair.run();
        (pair.events(), pair.now())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(1000));
}
