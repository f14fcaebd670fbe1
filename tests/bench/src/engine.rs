//! Core and engine: the embedded service behind a connection's driver, as a runtime pumps it, without the
//! socket. 32 EXECUTEs come in one read, and their answers leave in one write.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus::EmbeddedService;
use helenus_core::Pumped;
use helenus_server::{Driver, Hub, MaybeTls, Options};

use crate::Scenario;
use crate::client::{Framing, execute, startup, text};
use crate::core::PIPELINE;

/// Rows in the table.
const ROWS: u32 = 1000;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// EXECUTE of a SELECT of one row by its key.
    Read,
    /// EXECUTE of an INSERT of one row.
    Write,
    /// QUERY of a SELECT of one row by its key.
    Query,
    /// As [`Statement::Read`], with an id that nobody prepared.
    Unprepared,
    /// As [`Statement::Query`], with a syntax error at the end.
    SyntaxError,
}

impl Statement {
    /// Whether it is answered by an ERROR.
    const fn fails(self) -> bool {
        matches!(self, Statement::Unprepared | Statement::SyntaxError)
    }
}

/// A connection to an embedded engine with a filled table, and a read's worth of requests.
pub struct Embedded {
    driver: MaybeTls<Driver<EmbeddedService>>,
    version: u8,
    requests: Vec<u8>,
    answers: Vec<u8>,
}

impl Embedded {
    /// A connection of this version.
    #[must_use]
    pub fn new(version: u8, statement: Statement) -> Embedded {
        let address = ([127, 0, 0, 1], 9042).into();
        let hub = Hub::new(Arc::new(EmbeddedService::new(address)), Options::default());
        let driver = hub.connect(address, address, Instant::now());
        let mut embedded = Embedded {
            driver: driver.expect("the first connection"),
            version,
            requests: Vec::new(),
            answers: Vec::new(),
        };
        embedded.exchange(&startup(version, false));
        embedded.run(
            "CREATE KEYSPACE bench WITH replication = \
             {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        embedded.run("CREATE TABLE bench.kv (k int PRIMARY KEY, v text)");
        let insert = embedded.prepare("INSERT INTO bench.kv (k, v) VALUES (?, ?)");
        for first in (0..ROWS).step_by(PIPELINE as usize) {
            embedded.requests = embedded.pipeline(&insert, Statement::Write, first);
            embedded.turn();
        }
        let read = embedded.prepare("SELECT k, v FROM bench.kv WHERE k = ?");
        let ids = match statement {
            Statement::Write => insert,
            Statement::Unprepared => [vec![7; 16], read[1].clone()],
            _ => read,
        };
        embedded.requests = embedded.pipeline(&ids, statement, 0);
        embedded.turn();
        let envelope = embedded.first_answer();
        let answered = if statement.fails() { 0 } else { 8 };
        assert_eq!(
            envelope[4],
            answered,
            "{}",
            String::from_utf8_lossy(envelope)
        );
        // A Void has 4 bytes of body; a row with its columns left out has some more.
        let longer = embedded.answers.len() > 40 * PIPELINE as usize;
        assert_eq!(longer, statement != Statement::Write, "the rows are there");
        embedded
    }

    fn exchange(&mut self, bytes: &[u8]) {
        let now = Instant::now();
        let read = self.driver.read(now, |buffer: &mut BytesMut| {
            buffer.extend_from_slice(bytes);
            Poll::Ready(Ok::<_, Infallible>(bytes.len()))
        });
        assert!(read.is_ready());
        self.driver.turn(now);
        self.answers.clear();
        while let Some(mut transmit) = self.driver.poll_transmit() {
            self.answers.extend_from_slice(transmit.chunk());
            let length = transmit.chunk().len();
            transmit.advance(length);
        }
    }

    /// The body of the answer to one request that must succeed.
    fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        let bytes = Framing::plain(self.version).frame(&[request.to_vec()]);
        self.exchange(&bytes);
        while self.answers.is_empty() {
            // Schema changes are answered by mail.
            self.exchange(&[]);
        }
        let envelope = self.first_answer();
        assert_eq!(envelope[4], 8, "{}", String::from_utf8_lossy(envelope));
        envelope[9..].to_vec()
    }

    fn first_answer(&self) -> &[u8] {
        let envelope = self.answers.get(if self.version == 5 { 6.. } else { 0.. });
        envelope.expect("an answer")
    }

    fn run(&mut self, statement: &str) {
        let request = text(self.version, 7, statement);
        self.ask(&request);
    }

    /// The ids of a statement and its result metadata.
    fn prepare(&mut self, statement: &str) -> [Vec<u8>; 2] {
        let request = text(self.version, 9, statement);
        let body = self.ask(&request);
        assert_eq!(body[..6], [0, 0, 0, 4, 0, 16]);
        let metadata_id = match self.version {
            5 => body[24..40].to_vec(),
            _ => Vec::new(),
        };
        [body[6..22].to_vec(), metadata_id]
    }

    fn pipeline(&self, ids: &[Vec<u8>; 2], statement: Statement, first: u32) -> Vec<u8> {
        let [id, metadata_id] = ids;
        let envelopes = (0..PIPELINE as u16).map(|stream| {
            let number = (first + u32::from(stream)) % ROWS;
            let key = number.to_be_bytes();
            let execute =
                |values: &[&[u8]]| execute(self.version, stream, id, metadata_id, true, values);
            let query = |end: &str| {
                let select = format!("SELECT k, v FROM bench.kv WHERE k = {number}{end}");
                text(self.version, 7, &select)
            };
            match statement {
                Statement::Read | Statement::Unprepared => execute(&[&key]),
                Statement::Write => execute(&[&key, b"a value of 24 bytes' size"]),
                Statement::Query => query(""),
                Statement::SyntaxError => query(" ="),
            }
        });
        Framing::plain(self.version).frame(&envelopes.collect::<Vec<_>>())
    }
}

impl Scenario for Embedded {
    fn turn(&mut self) -> u64 {
        let requests = std::mem::take(&mut self.requests);
        self.exchange(&requests);
        self.requests = requests;
        PIPELINE
    }
}
