//! A proxy without sockets: a pair whose server passes every request on through the client of another pair,
//! between versions and compressions.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use helenus_core::compression::Compression;
use helenus_core::connection::{ClientConfig, Request, Responder, ServerConfig};
use helenus_core::forward::{self, Message};
use helenus_core::message::{Query, QueryParams, RequestBody, Undecoded};
use helenus_core::testing::{Cuts, Desk, Link, Pair, PairEvent, PairService, Path};
use helenus_core::{
    CallOptions, Consistency, ErrorCode, Extras, Flags, Opcode, ProtocolVersion, Response,
};
use proptest::prelude::*;

/// A request as the server behind the proxy got it, and its own answer.
type Seen = (Opcode, Flags, Vec<u8>);

fn client(version: ProtocolVersion, compression: Option<Compression>) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.versions = vec![version];
    config.compressions = compression.into_iter().collect();
    config
}

fn pair(
    version: ProtocolVersion,
    compression: Option<Compression>,
    cuts: Cuts,
    service: impl PairService + 'static,
) -> Pair {
    let path = Path::default().with_cuts(cuts);
    let link = Link {
        to_server: path.clone(),
        to_client: path,
    };
    let config = client(version, compression);
    Pair::new(config, ServerConfig::default(), Instant::now(), service).over(link)
}

/// Passes requests on to the pair behind it, and answers back.
struct Proxy {
    behind: Pair,
    /// Whether answers are put off, and so travel through the mailbox.
    defers: bool,
}

impl PairService for Proxy {
    fn call(&mut self, request: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
        let (front, back) = (request.version(), self.behind.client().version());
        let message = Message {
            opcode: request.opcode(),
            flags: request.header().flags,
            body: Cow::Borrowed(request.body()),
        };
        let message = match forward::request(message, front, back, None) {
            Ok(message) => message,
            Err(error) => return responder.error(error.response()),
        };
        let now = self.behind.now();
        let call = self
            .behind
            .client()
            .forward(
                now,
                message.opcode,
                message.flags,
                &message.body,
                &CallOptions::default(),
            )
            .expect("a free stream");
        self.behind.run();
        for event in self.behind.events() {
            let PairEvent::Answer(answered, answer) = event else {
                continue;
            };
            assert_eq!(answered, call);
            let message = Message {
                opcode: answer.header.opcode,
                flags: answer.header.flags,
                body: Cow::Borrowed(&answer.body[..]),
            };
            let message = forward::response(message, back, front).expect("a good answer");
            if self.defers {
                let undecoded = Undecoded {
                    opcode: message.opcode,
                    flags: message.flags,
                    body: Bytes::copy_from_slice(&message.body),
                };
                desk.later(
                    Default::default(),
                    responder.defer(),
                    Response::Undecoded(undecoded),
                );
            } else {
                responder.forward(message.opcode, message.flags, &message.body);
            }
            return;
        }
        panic!("no answer");
    }
}

struct Setting {
    front: (ProtocolVersion, Option<Compression>),
    back: (ProtocolVersion, Option<Compression>),
    cuts: Cuts,
    defers: bool,
}

/// A client before a proxy before a server that answers everything with `answer`, and what that server sees.
fn proxied(setting: &Setting, answer: Undecoded) -> (Pair, Rc<RefCell<Vec<Seen>>>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let service = move |request: Request<'_>, responder: Responder<'_>, _: &mut Desk| {
        log.borrow_mut().push((
            request.opcode(),
            request.header().flags.without(Flags::COMPRESSION),
            request.body().to_vec(),
        ));
        responder.forward(answer.opcode, answer.flags, &answer.body);
    };
    let mut behind = pair(setting.back.0, setting.back.1, setting.cuts, service);
    behind.run();
    assert!(behind.client().is_ready());
    let proxy = Proxy {
        behind,
        defers: setting.defers,
    };
    let mut front = pair(setting.front.0, setting.front.1, setting.cuts, proxy);
    front.run();
    assert!(front.client().is_ready());
    front.events();
    (front, seen)
}

fn answers(pair: &mut Pair) -> Vec<(Opcode, Flags, Bytes)> {
    let events = pair.events().into_iter();
    events
        .filter_map(|event| match event {
            PairEvent::Answer(_, answer) => Some((
                answer.header.opcode,
                answer.header.flags.without(Flags::COMPRESSION),
                answer.body,
            )),
            _ => None,
        })
        .collect()
}

fn versions() -> impl Strategy<Value = ProtocolVersion> {
    prop::sample::select(&ProtocolVersion::ALL[..])
}

fn end() -> impl Strategy<Value = (ProtocolVersion, Option<Compression>)> {
    let compressions = [None, Some(Compression::Lz4), Some(Compression::Snappy)];
    (versions(), prop::sample::select(compressions.to_vec())).prop_map(|(version, compression)| {
        // v5 has no snappy.
        let has_it = version < ProtocolVersion::V5 || compression != Some(Compression::Snappy);
        (version, compression.filter(|_| has_it))
    })
}

fn cuts() -> impl Strategy<Value = Cuts> {
    prop_oneof![
        Just(Cuts::Whole),
        Just(Cuts::BYTES),
        any::<u64>().prop_map(|seed| Cuts::Random { seed, longest: 60 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Between equal versions nothing is decoded: any body, opcode and flags come out as they went in.
    #[test]
    fn equal_versions_pass_everything_on_whatever_the_compressions(
        front in end(),
        back in end(),
        cuts in cuts(),
        defers in any::<bool>(),
        opcode in prop::sample::select(vec![Opcode::QUERY, Opcode::EXECUTE, Opcode::BATCH, Opcode::PREPARE]),
        flags in any::<u8>(),
        body in prop::collection::vec(any::<u8>(), 0..400),
        answer_opcode in prop::sample::select(vec![Opcode::RESULT, Opcode::ERROR, Opcode::SUPPORTED]),
        answer_flags in any::<u8>(),
        answer in prop::collection::vec(0_u8..4, 0..400),
    ) {
        let has_snappy = front.0 < ProtocolVersion::V5 || back.1 != Some(Compression::Snappy);
        let back = (front.0, back.1.filter(|_| has_snappy));
        let own = Flags::COMPRESSION.with(Flags::USE_BETA);
        let answer = Undecoded {
            opcode: answer_opcode,
            flags: Flags(answer_flags).without(own),
            body: answer.into(),
        };
        let setting = Setting { front, back, cuts, defers };
        let (mut pair, seen) = proxied(&setting, answer.clone());
        // No payload in v3.
        let flags = match front.0 {
            ProtocolVersion::V3 => Flags(flags).without(own).without(Flags::CUSTOM_PAYLOAD),
            _ => Flags(flags).without(own),
        };
        let now = pair.now();
        pair.client().forward(now, opcode, flags, &body, &CallOptions::default()).unwrap();
        pair.run();
        prop_assert_eq!(&*seen.borrow(), &[(opcode, flags, body)]);
        prop_assert_eq!(answers(&mut pair), [(answer.opcode, answer.flags, answer.body)]);
    }

    /// Between different versions a query and its rows keep their meaning.
    #[test]
    fn other_versions_keep_the_meaning(
        front in end(),
        back in end(),
        cuts in cuts(),
        defers in any::<bool>(),
        text in "[a-z ]{0,300}",
        page_size in prop::option::of(1..5000_i32),
        warned in any::<bool>(),
    ) {
        let mut body = bytes::BytesMut::new();
        let extras = Extras {
            warnings: if warned { vec!["careful".to_owned()] } else { Vec::new() },
            ..Extras::default()
        };
        let flags = extras.encode(back.0, &mut body);
        Response::SetKeyspace(text.as_str().into()).encode(back.0, &mut body);
        let answer = Undecoded { opcode: Opcode::RESULT, flags, body: body.freeze() };
        let (mut pair, seen) = proxied(&Setting { front, back, cuts, defers }, answer);
        let query = |text| {
            let params = QueryParams { page_size, ..QueryParams::new(Consistency::ONE) };
            RequestBody::Query(Query { query: text, params })
        };
        pair.send(&query(&text), &CallOptions::default()).unwrap();
        pair.run();
        let mut wanted = bytes::BytesMut::new();
        query(&text).encode(back.0, &mut wanted);
        prop_assert_eq!(&*seen.borrow(), &[(Opcode::QUERY, Flags::NONE, wanted.to_vec())]);
        let events = pair.events();
        let [PairEvent::Answer(_, answer)] = &events[..] else { panic!("{events:?}") };
        let (response, got) = answer.decoded.clone().unwrap();
        prop_assert_eq!(response, Response::SetKeyspace(text.as_str().into()));
        let arrives = warned && front.0 >= ProtocolVersion::V4 && back.0 >= ProtocolVersion::V4;
        prop_assert_eq!(got.warnings.len(), usize::from(arrives));
    }
}

#[test]
fn a_body_of_several_segments_passes_through_v4_and_back() {
    let long = "x".repeat(300_000);
    let mut body = bytes::BytesMut::new();
    Response::SetKeyspace("k".into()).encode(ProtocolVersion::V4, &mut body);
    body.extend_from_slice(long.as_bytes());
    let answer = Undecoded {
        opcode: Opcode::RESULT,
        flags: Flags::NONE,
        body: body.freeze(),
    };
    for defers in [false, true] {
        let setting = Setting {
            front: (ProtocolVersion::V5, Some(Compression::Lz4)),
            back: (ProtocolVersion::V4, Some(Compression::Snappy)),
            cuts: Cuts::Every(1460),
            defers,
        };
        let (mut pair, seen) = proxied(&setting, answer.clone());
        let query = RequestBody::Query(Query {
            query: &long,
            params: QueryParams::new(Consistency::ONE),
        });
        pair.send(&query, &CallOptions::default()).unwrap();
        pair.run();
        let mut wanted = bytes::BytesMut::new();
        query.encode(ProtocolVersion::V4, &mut wanted);
        assert_eq!(seen.borrow()[0].2, wanted);
        assert_eq!(answers(&mut pair)[0].2, answer.body);
    }
}

#[test]
fn what_the_server_behind_cannot_say_is_refused_on_its_stream_and_nothing_else_is_lost() {
    let answer = Undecoded {
        opcode: Opcode::RESULT,
        flags: Flags::NONE,
        body: b"\0\0\0\x01"[..].into(),
    };
    let setting = Setting {
        front: (ProtocolVersion::V5, None),
        back: (ProtocolVersion::V4, None),
        cuts: Cuts::Whole,
        defers: false,
    };
    let (mut pair, seen) = proxied(&setting, answer);
    for keyspace in [Some("k"), None] {
        let params = QueryParams {
            keyspace,
            ..QueryParams::new(Consistency::ONE)
        };
        let query = RequestBody::Query(Query { query: "q", params });
        pair.send(&query, &CallOptions::default()).unwrap();
    }
    pair.run();
    assert_eq!(seen.borrow().len(), 1);
    let mut codes = Vec::new();
    for event in pair.events() {
        if let PairEvent::Answer(_, answer) = event {
            codes.push(match answer.response() {
                Some(Response::Error(error)) => Some(error.code),
                _ => None,
            });
        }
    }
    assert_eq!(codes, [Some(ErrorCode::INVALID), None]);
}
