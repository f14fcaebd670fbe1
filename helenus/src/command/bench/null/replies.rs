//! The canned replies of a version: envelopes whose stream is filled in when they are sent.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use helenus_core::message::{Prepared, RowsHeader, Supported};
use helenus_core::{
    ColumnSpec, CqlType, Direction, ErrorResponse, Flags, Header, Opcode, ProtocolVersion,
    Response, ResultMetadata, RowsWriter, StreamId,
};

/// What a row of the null server holds.
const VALUE: [u8; 100] = [b'v'; 100];

/// Rows of its page, and what each of their ten cells holds.
const PAGE_ROWS: u32 = 5000;
const NUMBERS: [&str; 4] = ["n1", "n2", "n3", "n4"];
const TEXTS: [&str; 4] = ["t1", "t2", "t3", "t4"];
const TEXT: [u8; 10] = [b't'; 10];

/// The ids that PREPARE answers with: their first byte says what EXECUTE answers.
const ROW: &[u8; 16] = b"row of one value";
const PAGE: &[u8; 16] = b"one page of rows";
const WRITE: &[u8; 16] = b"void of a change";

/// A reply: an opcode and a body.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// The opcode.
    pub(super) opcode: Opcode,
    /// The whole envelope, on stream 0.
    envelope: Bytes,
}

impl Reply {
    fn new(version: ProtocolVersion, opcode: Opcode, body: &[u8]) -> Self {
        let header = Header {
            version: version.as_u8(),
            direction: Direction::Response,
            flags: Flags::NONE,
            stream: StreamId(0),
            opcode,
            length: body.len() as u32,
        };
        let mut envelope = BytesMut::from(&header.encode()[..]);
        envelope.extend_from_slice(body);
        Self {
            opcode,
            envelope: envelope.freeze(),
        }
    }

    fn of(version: ProtocolVersion, response: &Response) -> Self {
        let mut body = BytesMut::new();
        response.encode(version, &mut body);
        Self::new(version, response.opcode(), &body)
    }

    /// The whole envelope, on stream 0.
    pub(super) fn envelope(&self) -> &[u8] {
        &self.envelope
    }

    /// The body alone.
    pub(super) fn body(&self) -> &[u8] {
        self.envelope.get(Header::SIZE..).unwrap_or_default()
    }
}

/// The replies of a version.
#[derive(Debug, Clone)]
pub(super) struct Replies {
    supported: Reply,
    ready: Reply,
    void: Reply,
    row: Reply,
    page: Reply,
    prepared: [Reply; 4],
    unprepared: Reply,
}

impl Replies {
    /// Those of this version.
    pub(super) fn new(version: ProtocolVersion) -> Self {
        let of = |response| Reply::of(version, &response);
        let (key, value) = (column("k", CqlType::Int), column("v", CqlType::Text));
        let value_only = metadata(vec![value.clone()], b"columns of a row");
        let page = page_columns();
        let page_metadata = metadata(page.clone(), b"columns of rows!");
        let key_only = metadata(vec![key.clone()], b"");
        let prepared = [
            (ROW, key_only.clone(), Some(Arc::clone(&value_only))),
            (
                PAGE,
                metadata(page[..1].to_vec(), b""),
                Some(Arc::clone(&page_metadata)),
            ),
            (WRITE, metadata(vec![key, value], b""), None),
            (WRITE, metadata(page, b""), None),
        ];
        Self {
            supported: of(Response::Supported(Supported {
                options: vec![
                    ("CQL_VERSION".to_owned(), vec!["3.4.7".to_owned()]),
                    ("COMPRESSION".to_owned(), Vec::new()),
                ],
            })),
            ready: of(Response::Ready),
            void: of(Response::Void),
            row: rows(version, &value_only, 1, |writer| writer.cell(Some(&VALUE))),
            page: rows(version, &page_metadata, PAGE_ROWS, |writer| {
                let row = writer.row_count() as i32;
                writer.cell(Some(&0_i32.to_be_bytes()));
                writer.cell(Some(&row.to_be_bytes()));
                NUMBERS
                    .iter()
                    .for_each(|_| writer.cell(Some(&i64::from(row).to_be_bytes())));
                TEXTS.iter().for_each(|_| writer.cell(Some(&TEXT)));
            }),
            prepared: prepared.map(|(id, variables, result)| {
                of(Response::Prepared(Box::new(Prepared {
                    id: Bytes::from_static(id),
                    variables,
                    pk_indexes: vec![0],
                    result,
                })))
            }),
            unprepared: of(Response::Error(ErrorResponse::unprepared(b""))),
        }
    }

    /// The reply to a request. Of the body, one byte decides for EXECUTE, and for PREPARE the statement's kind.
    pub(super) fn answer(&self, opcode: Opcode, body: &[u8]) -> &Reply {
        match opcode {
            // A statement's id stands behind its length of two bytes.
            Opcode::EXECUTE => match body.get(2) {
                Some(b'r') => &self.row,
                Some(b'v') => &self.void,
                Some(b'o') => &self.page,
                _ => &self.unprepared,
            },
            Opcode::OPTIONS => &self.supported,
            Opcode::STARTUP | Opcode::REGISTER => &self.ready,
            Opcode::PREPARE => self.prepare(body),
            _ => &self.void,
        }
    }

    fn prepare(&self, body: &[u8]) -> &Reply {
        let [row, page, write, write_page] = &self.prepared;
        // Behind the text's length of four bytes.
        let text = body.get(4..).unwrap_or_default();
        let variables = text.iter().filter(|byte| **byte == b'?').count();
        match (text.starts_with(b"SELECT *"), variables) {
            (true, _) => page,
            (false, 0 | 1) => row,
            (false, 2) => write,
            (false, _) => write_page,
        }
    }
}

fn column(name: &'static str, ty: CqlType) -> ColumnSpec<'static> {
    ColumnSpec {
        keyspace: "bench".into(),
        table: "bench".into(),
        name: name.into(),
        ty,
    }
}

fn page_columns() -> Vec<ColumnSpec<'static>> {
    let keys = ["p", "c"].map(|name| column(name, CqlType::Int));
    let numbers = NUMBERS.map(|name| column(name, CqlType::BigInt));
    let texts = TEXTS.map(|name| column(name, CqlType::Text));
    keys.into_iter().chain(numbers).chain(texts).collect()
}

fn metadata(columns: Vec<ColumnSpec<'static>>, id: &'static [u8]) -> Arc<ResultMetadata> {
    Arc::new(ResultMetadata::new(columns).with_id(Bytes::from_static(id)))
}

/// RESULT with so many rows, undescribed.
fn rows(
    version: ProtocolVersion,
    metadata: &ResultMetadata,
    count: u32,
    row: impl Fn(&mut RowsWriter<'_>),
) -> Reply {
    let mut header = RowsHeader::new(metadata);
    header.skip_metadata = true;
    let mut body = BytesMut::new();
    let mut writer = RowsWriter::new(&mut body, &header, version);
    (0..count).for_each(|_| row(&mut writer));
    // Each row is whole.
    let _ = writer.finish();
    Reply::new(version, Opcode::RESULT, &body)
}

#[cfg(test)]
mod tests {
    use helenus_core::wire::Reader;

    use super::*;

    fn decode(reply: &Reply, version: ProtocolVersion) -> Response {
        let body = Bytes::copy_from_slice(reply.body());
        let at = Reader::new(&body).position();
        Response::decode(reply.opcode, version, &body, at).unwrap()
    }

    #[test]
    fn what_prepare_answers_decides_what_execute_answers() {
        for version in [
            ProtocolVersion::V3,
            ProtocolVersion::V4,
            ProtocolVersion::V5,
        ] {
            let replies = Replies::new(version);
            let execute = |text: &[u8]| {
                let statement = [&[0, 0, 0, 9][..], text].concat();
                let prepared = decode(replies.answer(Opcode::PREPARE, &statement), version);
                let Response::Prepared(prepared) = prepared else {
                    panic!("{prepared:?} is no answer to PREPARE");
                };
                let body = [&[0, 16][..], &prepared.id].concat();
                decode(replies.answer(Opcode::EXECUTE, &body), version)
            };
            assert_eq!(
                execute(b"INSERT INTO t (k, v) VALUES (?, ?)"),
                Response::Void
            );
            for (text, count) in [
                (&b"SELECT v FROM t"[..], 1),
                (b"SELECT * FROM t", PAGE_ROWS),
            ] {
                let Response::Rows(rows) = execute(text) else {
                    panic!("no rows");
                };
                assert_eq!(rows.row_count, count);
            }
            let unknown = decode(replies.answer(Opcode::EXECUTE, b"\0\x01?"), version);
            assert!(matches!(unknown, Response::Error(_)), "{unknown:?}");
        }
    }
}
