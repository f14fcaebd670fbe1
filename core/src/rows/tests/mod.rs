mod typed;

use bytes::{Bytes, BytesMut};

use super::*;
use crate::codes::{Opcode, ProtocolVersion};
use crate::message::{ColumnSpec, Response, ResultMetadata};
use crate::types::CqlType;
use crate::wire::{DecodeErrorKind, Reader};

fn metadata() -> ResultMetadata {
    let column = |name: &'static str, ty| ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: name.into(),
        ty,
    };
    ResultMetadata::new(vec![
        column("k", CqlType::Int),
        column("v", CqlType::Duration),
    ])
}

fn written(version: ProtocolVersion, write: impl FnOnce(&mut RowsWriter<'_>)) -> Bytes {
    let metadata = metadata();
    let mut out = BytesMut::new();
    let mut writer = RowsWriter::new(&mut out, &RowsHeader::new(&metadata), version);
    write(&mut writer);
    writer.finish().unwrap();
    out.freeze()
}

#[test]
fn cells_written_in_place_and_by_value_are_the_same() {
    for version in ProtocolVersion::ALL {
        let by_value = written(version, |writer| {
            writer.cell(Some(&[0, 0, 0, 1]));
            writer.cell(None);
        });
        let in_place = written(version, |writer| {
            writer.cell_with(|out| out.extend_from_slice(&[0, 0, 0, 1]));
            writer.cell(None);
        });
        assert_eq!(by_value, in_place);
        let Response::Rows(rows) = Response::decode(Opcode::RESULT, version, &by_value, 0).unwrap()
        else {
            panic!("not rows")
        };
        assert_eq!(rows.metadata.columns(), metadata().columns());
        let row = rows.iter().next().unwrap().unwrap();
        assert_eq!((row.len(), row.cell(0)), (2, Some(Some(&[0, 0, 0, 1][..]))));
        assert_eq!((row.cell(1), row.cell(2)), (Some(None), None));
    }
}

#[test]
fn rows_and_bytes_are_counted_while_they_are_written() {
    let metadata = metadata();
    let mut out = BytesMut::new();
    let header = RowsHeader::new(&metadata);
    let mut writer = RowsWriter::new(&mut out, &header, ProtocolVersion::V5);
    assert_eq!((writer.row_count(), writer.content_len()), (0, 0));
    writer.cell(Some(b"abc"));
    writer.cell(None);
    writer.cell(None);
    assert_eq!((writer.row_count(), writer.content_len()), (1, 15));
    assert_eq!(
        writer.finish(),
        Err(IncompleteRow {
            cells: 1,
            columns: 2
        })
    );
}

#[test]
fn a_cut_row_is_the_last_item() {
    let content = [0, 0, 0, 1, 7, 0, 0, 0, 2, 7];
    let mut rows = RowIter::new(&content, 5, 1);
    assert_eq!(rows.next().unwrap().unwrap().cell(0), Some(Some(&[7][..])));
    let error = rows.next().unwrap().unwrap_err();
    assert_eq!((error.kind, error.offset), (DecodeErrorKind::CutBytes, 9));
    assert!(rows.next().is_none());
}

#[test]
fn more_rows_than_the_bytes_can_hold_are_refused_at_once() {
    // Two billion rows of no columns, and of one.
    for columns in [0, 1] {
        let mut body = vec![
            0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, columns, 0x7F, 0xFF, 0xFF, 0xFF,
        ];
        body.extend_from_slice(&[0xFF; 8]);
        let result = Response::decode(Opcode::RESULT, ProtocolVersion::V4, &body.into(), 0);
        let error = result.unwrap_err();
        assert_eq!(
            (error.kind, error.offset),
            (DecodeErrorKind::InvalidCount(i32::MAX), 12)
        );
    }
}

#[test]
fn a_stale_metadata_id_brings_the_description_back_from_v5_on() {
    let metadata = metadata().with_id(Bytes::from_static(b"new"));
    let header = RowsHeader {
        skip_metadata: true,
        metadata_changed: true,
        ..RowsHeader::new(&metadata)
    };
    for (version, flags) in [(ProtocolVersion::V4, 5), (ProtocolVersion::V5, 9)] {
        let mut out = BytesMut::new();
        RowsWriter::new(&mut out, &header, version)
            .finish()
            .unwrap();
        let mut reader = Reader::new(&out);
        assert_eq!(
            (reader.int(), reader.int(), reader.int()),
            (Ok(2), Ok(flags), Ok(2))
        );
    }
}
