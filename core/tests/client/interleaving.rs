//! Whatever is sent, cancelled, timed out and answered in whatever order: each request ends once, with its
//! own answer, and no stream is used again before its reply or lost.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use helenus_core::connection::{CallError, SendRefused, ServerConfig};
use helenus_core::message::{Query, QueryParams};
use helenus_core::testing::{Cuts, Desk, Link, Pair, PairEvent, Path};
use helenus_core::{
    CallId, CallOptions, ClientConfig, Consistency, ErrorResponse, ProtocolVersion, Request,
    RequestBody, Responder, Response,
};
use proptest::prelude::*;

/// Answers with the statement's own text, in an order of its own.
fn echo(request: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
    let Ok(RequestBody::Query(query)) = request.parse() else {
        return responder.error(ErrorResponse::invalid("no query"));
    };
    let answer = Response::SetKeyspace(query.query.into());
    let delay = Duration::from_millis(desk.random(3000) as u64);
    match desk.random(4) {
        0 => responder.send(answer),
        1 => responder.error(ErrorResponse::invalid(query.query.to_owned())),
        2 => desk.later(delay, responder.defer(), answer),
        // Dropped after a while: answered SERVER_ERROR.
        _ => desk.keep(responder.defer()),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Send {
        timeout: u64,
    },
    Cancel {
        which: usize,
    },
    Wait {
        milliseconds: u64,
    },
    /// The server answers what it kept, the last one first.
    Release,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u64..2000).prop_map(|timeout| Step::Send { timeout }),
        2 => any::<usize>().prop_map(|which| Step::Cancel { which }),
        2 => (0_u64..1500).prop_map(|milliseconds| Step::Wait { milliseconds }),
        1 => Just(Step::Release),
    ]
}

/// What is known of the requests.
#[derive(Default)]
struct Ledger {
    open: HashMap<CallId, String>,
    order: Vec<CallId>,
    ended: usize,
}

impl Ledger {
    fn check(&mut self, events: Vec<PairEvent>) {
        for event in events {
            match event {
                PairEvent::Answer(call, answer) => {
                    let text = self.open.remove(&call).expect("each request ends once");
                    match answer.response() {
                        Some(Response::SetKeyspace(name)) => assert_eq!(**name, text),
                        Some(Response::Error(error)) if error.message.starts_with("q") => {
                            assert_eq!(error.message, text);
                        }
                        Some(Response::Error(_)) => {}
                        other => panic!("unexpected {other:?}"),
                    }
                    self.ended += 1;
                }
                PairEvent::Failed(call, CallError::TimedOut { .. }) => {
                    self.open.remove(&call).expect("each request ends once");
                    self.ended += 1;
                }
                PairEvent::Ready => {}
                other => panic!("unexpected {other:?}"),
            }
        }
    }
}

fn release(pair: &mut Pair) {
    let mut kept = pair.desk().take_kept();
    while kept.pop().is_some() {}
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn each_request_ends_once_with_its_own_answer(
        steps in prop::collection::vec(step(), 1..120),
        version in prop_oneof![Just(ProtocolVersion::V3), Just(ProtocolVersion::V4), Just(ProtocolVersion::V5)],
        seed in any::<u64>(),
        latency in 0_u64..300,
    ) {
        let mut config = ClientConfig::default();
        config.versions = vec![version];
        config.limits.max_in_flight = 20;
        let path = Path::default()
            .with_latency(Duration::from_millis(latency))
            .with_cuts(Cuts::Random { seed, longest: 40 });
        let link = Link { to_server: path.clone(), to_client: path };
        let mut pair = Pair::new(config, ServerConfig::default(), Instant::now(), echo)
            .seeded(seed)
            .over(link);
        pair.run();
        let mut ledger = Ledger::default();
        let mut sent = 0;
        for step in steps {
            match step {
                Step::Send { timeout } => {
                    let text = format!("q{sent}");
                    let params = QueryParams::new(Consistency::ONE);
                    let query = RequestBody::Query(Query { query: &text, params });
                    let options = CallOptions::default().with_timeout(Duration::from_millis(timeout));
                    match pair.send(&query, &options) {
                        Ok(call) => {
                            prop_assert!(ledger.open.insert(call, text).is_none());
                            ledger.order.push(call);
                            sent += 1;
                        }
                        Err(refused) => {
                            prop_assert_eq!(refused, SendRefused::TooManyInFlight);
                            prop_assert_eq!(pair.client().capacity(), 0);
                        }
                    }
                }
                Step::Cancel { which } => {
                    if let Some(call) = ledger.order.get(which % ledger.order.len().max(1)) {
                        let was_open = ledger.open.remove(call).is_some();
                        prop_assert_eq!(pair.client().cancel(*call), was_open);
                        ledger.ended += usize::from(was_open);
                    }
                }
                Step::Wait { milliseconds } => pair.advance(Duration::from_millis(milliseconds)),
                Step::Release => release(&mut pair),
            }
            ledger.check(pair.events());
            let (waiting, orphans) = (pair.client().in_flight(), pair.client().orphans());
            prop_assert_eq!(waiting, ledger.open.len());
            prop_assert!(waiting + orphans <= 20);
        }
        pair.run();
        release(&mut pair);
        pair.advance(Duration::from_secs(10));
        ledger.check(pair.events());
        prop_assert_eq!(ledger.ended, sent);
        prop_assert_eq!((pair.client().in_flight(), pair.client().orphans()), (0, 0));
        prop_assert_eq!(pair.client().capacity(), 20);
    }
}
