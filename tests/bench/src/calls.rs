//! Core's other end: a client's requests, answered by one row that is read where it lies. 32 of them leave in
//! one write, and their answers come in one read.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus_core::message::{
    Execute, QueryFlags, QueryParams, ResultMetadata, RowsHeader, ValueList,
};
use helenus_core::{
    CallOptions, ClientConfig, ClientConnection, ClientEvent, ClientNext, Consistency, CqlType,
    ProtocolVersion, RawValue, RequestBody, RowsWriter,
};

use crate::Scenario;
use crate::client::{Framing, envelope};
use crate::core::{PIPELINE, column};

/// A connection that is ready, and a read's worth of answers.
pub struct Calls {
    connection: ClientConnection,
    metadata: Arc<ResultMetadata>,
    values: ValueList,
    answers: Vec<u8>,
    input: BytesMut,
    now: Instant,
}

impl Calls {
    /// A connection of this version after its handshake.
    #[must_use]
    pub fn new(version: ProtocolVersion) -> Calls {
        let columns = vec![column("k", CqlType::Int), column("v", CqlType::Text)];
        let metadata = Arc::new(ResultMetadata::new(columns));
        let mut body = BytesMut::new();
        let header = RowsHeader {
            skip_metadata: true,
            ..RowsHeader::new(&metadata)
        };
        let mut writer = RowsWriter::new(&mut body, &header, version);
        writer.cell(Some(&[0, 0, 0, 1]));
        writer.cell(Some(&[b'v'; 24]));
        writer.finish().expect("a whole row");
        let response = version.as_u8() | 0x80;
        let answers: Vec<_> = (1..=PIPELINE as u16)
            .map(|stream| envelope(response, stream, 8, &body))
            .collect();
        let mut values = ValueList::new();
        values
            .push(RawValue::Bytes(&[0, 0, 0, 1]))
            .expect("one value");
        let mut config = ClientConfig::default();
        config.versions = vec![version];
        config.ask_options = false;
        let now = Instant::now();
        let mut calls = Calls {
            connection: ClientConnection::new(Arc::new(config), now),
            metadata,
            values,
            answers: Framing::plain(version.as_u8()).frame(&answers),
            input: BytesMut::with_capacity(64 << 10),
            now,
        };
        calls
            .input
            .extend_from_slice(&envelope(response, 0, 2, &[]));
        while let ClientNext::Event(event) = calls.connection.next(now, &mut calls.input) {
            assert!(matches!(event, ClientEvent::Ready));
        }
        calls
    }

    fn send(&mut self) {
        let params = QueryParams {
            flags: QueryFlags::SKIP_METADATA,
            values: self.values.as_values(),
            ..QueryParams::new(Consistency::LOCAL_QUORUM)
        };
        let request = RequestBody::Execute(Execute {
            id: &[7; 16],
            result_metadata_id: Some(&[8; 16]),
            params,
        });
        let options = CallOptions::default().with_result_metadata(&self.metadata);
        for _ in 0..PIPELINE {
            let sent = self.connection.send(self.now, &request, &options);
            sent.expect("room for it");
        }
        while let Some(mut transmit) = self.connection.poll_transmit() {
            transmit.advance(transmit.remaining());
        }
    }
}

impl Scenario for Calls {
    fn turn(&mut self) -> u64 {
        self.send();
        self.input.extend_from_slice(&self.answers);
        let mut handled = 0;
        while let ClientNext::Event(event) = self.connection.next(self.now, &mut self.input) {
            let ClientEvent::Answer(_, answer) = event else {
                panic!("{event:?}");
            };
            let metadata = answer.metadata().expect("the request's");
            let rows = answer.rows().expect("well formed").expect("rows");
            let mut read = rows
                .typed::<(i32, &str)>(metadata.columns())
                .expect("its types");
            let row = read.next().and_then(Result::ok);
            assert!(matches!(row, Some((1, text)) if text.len() == 24));
            handled += 1;
        }
        assert_eq!(handled, PIPELINE);
        handled
    }
}
