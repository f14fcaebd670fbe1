//! Core alone: requests that are answered by one row, which is written straight into the output, or by the
//! ERROR that their flaw deserves. 32 requests come in one read, and their answers leave in one write.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus_core::message::{
    ColumnSpec, Extras, RequestBody, Response, ResultMetadata, RowsHeader,
};
use helenus_core::{
    CqlType, Event, Next, Outbox, RawValue, Request, RequestTicket, Responder, ServerConfig,
    ServerConnection,
};

use crate::Scenario;
use crate::client::{Framing, batch, execute, startup, text};

/// Requests in one read.
pub const PIPELINE: u64 = 32;

/// What is asked for, and how.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    version: u8,
    asked: Asked,
    columns: Columns,
    flaw: Flaw,
    framing: Framing,
    /// Bytes of the value in the row.
    value: usize,
}

/// The request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// QUERY of a SELECT.
    Query,
    /// EXECUTE of a prepared SELECT.
    Execute,
    /// BATCH of two prepared statements.
    Batch,
}

/// Whether answers describe their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Clients of prepared statements ask for them to be left out.
    Skipped,
    /// As for a client that doesn't.
    Described,
}

/// What is wrong with the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    Nothing,
    /// The last byte is missing, so that all the work of decoding is done before it shows.
    Cut,
}

impl Traffic {
    /// Good requests of this version, their answers' columns left out; in v5 all of a read in one segment.
    #[must_use]
    pub const fn new(version: u8, asked: Asked) -> Traffic {
        Traffic {
            version,
            asked,
            columns: Columns::Skipped,
            flaw: Flaw::Nothing,
            framing: Framing::plain(version),
            value: 24,
        }
    }

    /// Answers that describe their columns.
    #[must_use]
    pub const fn described(self) -> Traffic {
        let columns = Columns::Described;
        Traffic { columns, ..self }
    }

    /// Requests whose last byte is missing.
    #[must_use]
    pub const fn cut(self) -> Traffic {
        let flaw = Flaw::Cut;
        Traffic { flaw, ..self }
    }

    /// Each request in a segment of its own. (A second malformed one in a segment closes the connection.)
    #[must_use]
    pub const fn apart(self) -> Traffic {
        let framing = Framing::Apart;
        Traffic { framing, ..self }
    }

    /// Each request in several segments of at most so many bytes.
    #[must_use]
    pub const fn in_parts(self, part: usize) -> Traffic {
        let framing = Framing::Parts(part);
        Traffic { framing, ..self }
    }

    /// Requests and answers compressed with lz4, the value in the row of so many bytes.
    #[must_use]
    pub const fn lz4(self, value: usize) -> Traffic {
        let framing = Framing::lz4(self.version);
        Traffic {
            framing,
            value,
            ..self
        }
    }

    fn envelope(&self, stream: u16) -> Vec<u8> {
        let skip = self.columns == Columns::Skipped;
        let (key, version) = (u32::from(stream).to_be_bytes(), self.version);
        let value = vec![b'v'; self.value];
        let mut envelope = match self.asked {
            Asked::Query => text(version, 7, "SELECT k, v FROM bench.kv WHERE k = 1"),
            Asked::Execute if self.framing.is_compressed() => {
                execute(version, stream, &[0; 16], &[1; 16], skip, &[&key, &value])
            }
            Asked::Execute => execute(version, stream, &[0; 16], &[1; 16], skip, &[&key]),
            Asked::Batch => batch(version, stream, &[0; 16], &[&key, &value]),
        };
        if self.flaw == Flaw::Cut {
            envelope.pop();
            envelope[8] -= 1;
        }
        envelope
    }
}

struct Nowhere;

impl Outbox for Nowhere {
    fn deliver(&self, _: RequestTicket, _: Response, _: Option<Box<Extras>>) {}
}

/// A connection that is ready, and a read's worth of requests.
pub struct Pipeline {
    connection: ServerConnection,
    requests: Vec<u8>,
    input: BytesMut,
    row: Row,
    now: Instant,
    /// The bytes of the last answers.
    pub sent: u64,
}

/// What answers a good request.
struct Row {
    metadata: ResultMetadata,
    skip_metadata: bool,
    value: Vec<u8>,
}

impl Pipeline {
    /// A connection after its handshake.
    #[must_use]
    pub fn new(traffic: Traffic) -> Pipeline {
        let now = Instant::now();
        let config = Arc::new(ServerConfig::default());
        let envelopes: Vec<_> = (0..PIPELINE as u16)
            .map(|stream| traffic.envelope(stream))
            .collect();
        let columns = vec![column("k", CqlType::Int), column("v", CqlType::Text)];
        let mut pipeline = Pipeline {
            connection: ServerConnection::new(config, Arc::new(Nowhere), now),
            requests: traffic.framing.frame(&envelopes),
            input: BytesMut::with_capacity(64 << 10),
            row: Row {
                metadata: ResultMetadata::new(columns),
                skip_metadata: traffic.columns == Columns::Skipped,
                value: vec![b'v'; traffic.value],
            },
            now,
            sent: 0,
        };
        let lz4 = traffic.framing.is_compressed();
        pipeline
            .input
            .extend_from_slice(&startup(traffic.version, lz4));
        pipeline.pump();
        assert!(pipeline.connection.is_ready());
        pipeline.turn();
        let errors = pipeline.connection.stats().errors > 0;
        assert_eq!(errors, traffic.flaw != Flaw::Nothing);
        pipeline
    }

    fn pump(&mut self) -> u64 {
        let mut handled = 0;
        while let Next::Event(event) = self.connection.next(self.now, &mut self.input) {
            match event {
                Event::Request(request, responder) => answer(&self.row, &request, responder),
                other => panic!("{other:?}"),
            }
            handled += 1;
        }
        self.sent = 0;
        while let Some(mut transmit) = self.connection.poll_transmit() {
            let length = transmit.chunk().len();
            transmit.advance(length);
            self.sent += length as u64;
        }
        handled
    }
}

impl Scenario for Pipeline {
    fn turn(&mut self) -> u64 {
        self.input.extend_from_slice(&self.requests);
        let handled = self.pump();
        assert_eq!(handled, PIPELINE);
        handled
    }
}

fn answer(row: &Row, request: &Request<'_>, responder: Responder<'_>) {
    let body = match request.parse() {
        Ok(body) => body,
        Err(error) => return responder.reject(&error),
    };
    let (key, skip_metadata) = match &body {
        RequestBody::Execute(execute) => match execute.params.values.iter().next() {
            Some((_, RawValue::Bytes(key))) => (key, execute.params.skip_metadata()),
            other => panic!("{other:?}"),
        },
        _ => (&[0, 0, 0, 1][..], row.skip_metadata),
    };
    let header = RowsHeader {
        skip_metadata,
        ..RowsHeader::new(&row.metadata)
    };
    responder.rows(&header, |rows| {
        rows.cell(Some(key));
        rows.cell(Some(&row.value));
        Ok(())
    });
}

pub(crate) fn column(name: &'static str, ty: CqlType) -> ColumnSpec<'static> {
    ColumnSpec {
        keyspace: "bench".into(),
        table: "kv".into(),
        name: name.into(),
        ty,
    }
}

/// Connections that come, say something, are answered and go.
pub struct Storm {
    config: Arc<ServerConfig>,
    outbox: Arc<Nowhere>,
    now: Instant,
    says: &'static [u8],
    input: BytesMut,
}

impl Storm {
    /// Connections that say this.
    #[must_use]
    pub fn new(says: &'static [u8]) -> Storm {
        Storm {
            config: Arc::new(ServerConfig::default()),
            outbox: Arc::new(Nowhere),
            now: Instant::now(),
            says,
            input: BytesMut::with_capacity(4 << 10),
        }
    }
}

impl Scenario for Storm {
    fn turn(&mut self) -> u64 {
        let (config, outbox) = (Arc::clone(&self.config), Arc::clone(&self.outbox));
        let mut connection = ServerConnection::new(config, outbox, self.now);
        self.input.extend_from_slice(self.says);
        while let Next::Event(event) = connection.next(self.now, &mut self.input) {
            assert!(matches!(event, Event::Closed(_)));
        }
        let mut sent = 0;
        while let Some(mut transmit) = connection.poll_transmit() {
            let length = transmit.remaining();
            transmit.advance(length);
            sent += length;
        }
        assert!(sent > 9, "an answer");
        self.input.clear();
        1
    }
}
