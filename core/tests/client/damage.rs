//! Both ends joined by a network that breaks: cut anywhere, damaged anywhere.

use std::time::{Duration, Instant};

use helenus_core::compression::Compression;
use helenus_core::connection::{CallError, ServerConfig};
use helenus_core::message::{Query, QueryParams, ValueList};
use helenus_core::testing::{Cuts, Link, Pair, PairEvent, Path};
use helenus_core::{CallOptions, ClientError, Consistency, ProtocolVersion, RawValue, RequestBody};

use crate::joined::{config, service};

#[test]
fn a_link_that_is_cut_anywhere_ends_both_sides() {
    let run = |link: Link| {
        let config = config(ProtocolVersion::V5, None);
        let mut pair =
            Pair::new(config, ServerConfig::default(), Instant::now(), service).over(link);
        pair.run();
        let params = QueryParams::new(Consistency::ONE);
        let query = RequestBody::Query(Query {
            query: "SELECT",
            params,
        });
        let sent = pair.send(&query, &CallOptions::default());
        pair.run();
        (sent.ok(), pair)
    };
    let (_, mut whole) = run(Link::default());
    let (to_server, to_client) = (whole.sent_by_client(), whole.sent_by_server());
    assert_eq!(whole.events().len(), 2);
    let cut = |at| Path::default().cut_at(at).with_cuts(Cuts::BYTES);
    let links = (0..to_server)
        .map(|at| Link {
            to_server: cut(at),
            to_client: Path::default(),
        })
        .chain((0..to_client).map(|at| Link {
            to_server: Path::default(),
            to_client: cut(at),
        }));
    for link in links {
        let (call, mut pair) = run(link.clone());
        let events = pair.events();
        assert_eq!(
            events.last(),
            Some(&PairEvent::Closed(ClientError::Ended)),
            "{link:?}"
        );
        if let Some(call) = call {
            let of_call = events.iter().filter(|event| match event {
                PairEvent::Answer(id, _) => *id == call,
                PairEvent::Failed(id, CallError::Lost { .. }) => *id == call,
                _ => false,
            });
            assert_eq!(of_call.count(), 1, "{link:?}");
        }
        assert!(
            pair.client().is_finished() && pair.server().is_finished(),
            "{link:?}"
        );
    }
}

#[test]
fn a_damaged_byte_is_never_taken_for_a_good_one_in_v5() {
    let run = |link: Link| {
        let mut config = config(ProtocolVersion::V5, Some(Compression::Lz4));
        config.ask_options = false;
        let mut pair =
            Pair::new(config, ServerConfig::default(), Instant::now(), service).over(link);
        pair.run();
        let handshake = (pair.sent_by_client(), pair.sent_by_server());
        let mut values = ValueList::new();
        values.push(RawValue::Bytes(&[7; 300])).unwrap();
        let params = QueryParams {
            values: values.as_values(),
            ..QueryParams::new(Consistency::ONE)
        };
        let query = RequestBody::Query(Query {
            query: "SELECT",
            params,
        });
        pair.send(&query, &CallOptions::default()).unwrap();
        pair.run();
        (handshake, pair)
    };
    let ((to_server, to_client), mut whole) = run(Link::default());
    let good = whole.events();
    let damaged = |at| Path::default().corrupt(at, 0x41);
    for at in to_server..whole.sent_by_client() {
        let (_, mut pair) = run(Link {
            to_server: damaged(at),
            to_client: Path::default(),
        });
        assert!(pair.server_error().is_some(), "to the server, byte {at}");
        assert!(!pair.events().contains(&good[1]));
    }
    for at in to_client..whole.sent_by_server() {
        let (_, mut pair) = run(Link {
            to_server: Path::default(),
            to_client: damaged(at),
        });
        let events = pair.events();
        // A damaged header may announce a longer payload only if its checksum says so too: none is waited for.
        assert!(
            matches!(events.last(), Some(PairEvent::Closed(ClientError::Peer(_)))),
            "byte {at}"
        );
    }
}

#[test]
fn a_damaged_byte_before_v5_may_do_harm_but_every_request_ends_once() {
    let run = |version, compression, link: &Link| {
        let config = config(version, compression);
        let start = Instant::now();
        let mut pair =
            Pair::new(config, ServerConfig::default(), start, service).over(link.clone());
        pair.run();
        let mut values = ValueList::new();
        values.push(RawValue::Bytes(&[7; 300])).unwrap();
        let params = QueryParams {
            values: values.as_values(),
            ..QueryParams::new(Consistency::ONE)
        };
        let query = RequestBody::Query(Query {
            query: "SELECT",
            params,
        });
        let options = CallOptions::default();
        let sent: Vec<_> = (0..2)
            .filter_map(|_| pair.send(&query, &options).ok())
            .collect();
        pair.advance(Duration::from_secs(120));
        let events = pair.events();
        for call in sent {
            let ends = events.iter().filter(|event| match event {
                PairEvent::Answer(id, _) | PairEvent::Failed(id, _) => *id == call,
                _ => false,
            });
            assert_eq!(
                ends.count(),
                1,
                "{version} {compression:?} {link:?}: {events:?}"
            );
        }
        assert_eq!(pair.client().in_flight(), 0);
        pair
    };
    for version in [ProtocolVersion::V3, ProtocolVersion::V4] {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
            let whole = run(version, compression, &Link::default());
            for at in 0..whole.sent_by_client() {
                let to_server = Path::default().corrupt(at, 0x81);
                run(
                    version,
                    compression,
                    &Link {
                        to_server,
                        ..Link::default()
                    },
                );
            }
            for at in 0..whole.sent_by_server() {
                let to_client = Path::default().corrupt(at, 0x81);
                run(
                    version,
                    compression,
                    &Link {
                        to_client,
                        ..Link::default()
                    },
                );
            }
        }
    }
}
