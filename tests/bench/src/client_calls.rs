//! Calls of a client, from the method to its outcome: the caller's side, the driver's and core's, over a
//! server that only puts stream ids into answers it has ready.

use std::cell::RefCell;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};
use helenus_client::{Attempt, Client, Config, Driver, MaybeTls, Prepared, connect};
use helenus_core::message::{Prepared as PreparedAnswer, Rows};
use helenus_core::{
    ColumnSpec, CqlType, Opcode, ProtocolVersion, Pumped, Response, ResultMetadata, Turn,
};

use crate::Scenario;
use crate::client::envelope;

/// Calls that are made together.
const PIPELINE: usize = 32;

/// Where the stream stands in an envelope.
const STREAM: std::ops::Range<usize> = 2..4;

/// What a statement is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// A row, its columns described as v4 does each time.
    Row,
    /// Void.
    Void,
}

/// A client that executes a prepared statement in v4.
pub struct ClientCalls {
    client: Client,
    statement: Prepared,
    answered: Answered,
    wire: Wire,
}

/// The driver, and the server that it thinks it talks to.
struct Wire {
    driver: MaybeTls<Driver>,
    now: Instant,
    sent: Vec<u8>,
    answers: Vec<u8>,
    /// The answer to each call.
    answer: Vec<u8>,
}

impl ClientCalls {
    /// A client that has prepared its statement.
    #[must_use]
    pub fn new(answered: Answered) -> ClientCalls {
        let response = match answered {
            Answered::Row => Response::Rows(row()),
            Answered::Void => Response::Void,
        };
        let now = Instant::now();
        let mut config = Config::default();
        config.connection.versions = vec![ProtocolVersion::V4];
        config.connection.ask_options = false;
        let driver = RefCell::new(None);
        let (client, mut wire) = {
            let mut connecting = pin!(connect(config, |attempt: Attempt| {
                let (connecting, begun) = attempt.begin(([127, 0, 0, 1], 9042).into(), now);
                *driver.borrow_mut() = Some(begun);
                ready(Ok(connecting))
            }));
            assert!(poll(connecting.as_mut()).is_pending());
            let driver = driver.borrow_mut().take().expect("an attempt");
            let mut wire = Wire {
                driver,
                now,
                sent: Vec::new(),
                answers: Vec::new(),
                answer: answer(&response),
            };
            wire.exchange(&answer(&Response::Ready));
            let Poll::Ready(client) = poll(connecting) else {
                panic!("it waits for more than READY");
            };
            (client.expect("a handshake"), wire)
        };
        let statement = {
            let mut preparing = pin!(client.prepare("SELECT k, v FROM bench.kv WHERE k = ?"));
            assert!(poll(preparing.as_mut()).is_pending());
            let prepared = PreparedAnswer {
                id: Bytes::from_static(&[7; 16]),
                variables: columns(&["k"]),
                pk_indexes: vec![0],
                result: Some(columns(&["k", "v"])),
            };
            wire.exchange(&answer(&Response::Prepared(Box::new(prepared))));
            let Poll::Ready(statement) = poll(preparing) else {
                panic!("it waits for more than an answer");
            };
            statement.expect("a statement")
        };
        ClientCalls {
            client,
            statement,
            answered,
            wire,
        }
    }
}

impl Scenario for ClientCalls {
    fn turn(&mut self) -> u64 {
        let mut calls: [_; PIPELINE] = std::array::from_fn(|key| {
            Box::pin(self.client.execute(&self.statement, (key as i32,)))
        });
        for call in &mut calls {
            assert!(poll(call.as_mut()).is_pending());
        }
        let answer = std::mem::take(&mut self.wire.answer);
        self.wire.exchange(&answer);
        self.wire.answer = answer;
        for call in &mut calls {
            let Poll::Ready(Ok(result)) = poll(call.as_mut()) else {
                panic!("it isn't answered");
            };
            if self.answered == Answered::Row {
                let rows = result.typed::<(i32, i32)>().expect("two columns");
                assert!(rows.eq([Ok((1, 1))]));
            }
        }
        PIPELINE as u64
    }
}

impl Wire {
    /// Sends what there is to send, and answers each envelope with `answer`.
    fn exchange(&mut self, answer: &[u8]) {
        self.driver.turn(self.now);
        self.sent.clear();
        while let Some(mut transmit) = self.driver.poll_transmit() {
            self.sent.extend_from_slice(transmit.chunk());
            let length = transmit.remaining();
            transmit.advance(length);
        }
        self.answers.clear();
        let mut rest = &self.sent[..];
        while let Some((header, behind)) = rest.split_at_checked(9) {
            let start = self.answers.len();
            self.answers.extend_from_slice(answer);
            self.answers[start..][STREAM].copy_from_slice(&header[STREAM]);
            let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
            rest = behind.get(length as usize..).unwrap_or_default();
        }
        let (now, answers) = (self.now, &self.answers);
        let read = self.driver.read(now, |buffer: &mut BytesMut| {
            buffer.extend_from_slice(answers);
            Poll::Ready(Ok::<_, std::convert::Infallible>(answers.len()))
        });
        assert!(read.is_ready());
        while self.driver.turn(now) == Turn::Yield {}
    }
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// An answer on stream 0.
fn answer(response: &Response) -> Vec<u8> {
    let mut body = BytesMut::new();
    response.encode(ProtocolVersion::V4, &mut body);
    let Opcode(opcode) = response.opcode();
    envelope(0x84, 0, opcode, &body)
}

fn columns(names: &[&str]) -> Arc<ResultMetadata> {
    let column = |name: &&str| ColumnSpec {
        keyspace: "bench".into(),
        table: "kv".into(),
        name: (*name).to_owned().into(),
        ty: CqlType::Int,
    };
    Arc::new(ResultMetadata::new(names.iter().map(column).collect()))
}

fn row() -> Rows {
    Rows {
        metadata: columns(&["k", "v"]),
        paging_state: None,
        skip_metadata: false,
        metadata_changed: false,
        row_count: 1,
        content: Bytes::from_static(&[0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1]),
    }
}
