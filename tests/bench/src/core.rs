//! Core alone: EXECUTE of a prepared read, answered by one row that is written straight into the output. 32
//! requests come in one read, and their answers leave in one write.

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
use crate::client::{execute, framed, startup};

/// Requests in one read.
pub const PIPELINE: u64 = 32;

/// Whether answers describe their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Clients of prepared statements ask for them to be left out.
    Skipped,
    /// As for a client that doesn't.
    Described,
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
    metadata: ResultMetadata,
    now: Instant,
    /// The bytes of the last answers.
    pub sent: u64,
}

impl Pipeline {
    /// A connection of this version, after its handshake.
    #[must_use]
    pub fn new(version: u8, columns: Columns) -> Pipeline {
        let now = Instant::now();
        let config = Arc::new(ServerConfig::default());
        let mut pipeline = Pipeline {
            connection: ServerConnection::new(config, Arc::new(Nowhere), now),
            requests: requests(version, columns),
            input: BytesMut::with_capacity(64 << 10),
            metadata: ResultMetadata::new(vec![
                column("k", CqlType::Int),
                column("v", CqlType::Text),
            ]),
            now,
            sent: 0,
        };
        pipeline.input.extend_from_slice(&startup(version));
        pipeline.pump();
        assert!(pipeline.connection.is_ready());
        pipeline
    }

    fn pump(&mut self) -> u64 {
        let mut handled = 0;
        while let Next::Event(event) = self.connection.next(self.now, &mut self.input) {
            match event {
                Event::Request(request, responder) => answer(&self.metadata, &request, responder),
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

fn answer(metadata: &ResultMetadata, request: &Request<'_>, responder: Responder<'_>) {
    let execute = match request.parse() {
        Ok(RequestBody::Execute(execute)) => execute,
        Ok(other) => panic!("{other:?}"),
        Err(error) => return responder.reject(&error),
    };
    let key = match execute.params.values.iter().next() {
        Some((_, RawValue::Bytes(key))) => key,
        other => panic!("{other:?}"),
    };
    let header = RowsHeader {
        skip_metadata: execute.params.skip_metadata(),
        ..RowsHeader::new(metadata)
    };
    responder.rows(&header, |rows| {
        rows.cell(Some(key));
        rows.cell(Some(b"a value of 24 bytes' size"));
        Ok(())
    });
}

fn column(name: &str, ty: CqlType) -> ColumnSpec {
    ColumnSpec {
        keyspace: "bench".into(),
        table: "kv".into(),
        name: name.into(),
        ty,
    }
}

fn requests(version: u8, columns: Columns) -> Vec<u8> {
    let skip = columns == Columns::Skipped;
    let envelopes = (0..PIPELINE as u16).map(|stream| {
        let key = u32::from(stream).to_be_bytes();
        execute(version, stream, &[0; 16], &[1; 16], skip, &[&key])
    });
    framed(version, &envelopes.collect::<Vec<_>>().concat())
}
