//! Faults of values, types and rows.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use helenus_core::message::{Query, QueryParams, RowsHeader, ValueList};
use helenus_core::rows::RowsWriter;
use helenus_core::types::Value;
use helenus_core::wire::Reader;
use helenus_core::{
    ColumnSpec, Consistency, CqlType, DecodeErrorKind, Opcode, ProtocolVersion, RawValue,
    RequestBody, Response, ResultMetadata,
};

#[test]
fn named_values_keep_their_names() {
    let mut list = ValueList::named();
    list.push_named("b", RawValue::Bytes(b"2")).unwrap();
    list.push_named("A", RawValue::Null).unwrap();
    let params = QueryParams {
        values: list.as_values(),
        ..QueryParams::new(Consistency::ONE)
    };
    let query = RequestBody::Query(Query {
        query: "INSERT",
        params,
    });
    for version in ProtocolVersion::ALL {
        let mut body = BytesMut::new();
        query.encode(version, &mut body);
        let decoded = RequestBody::decode(Opcode::QUERY, version, &mut Reader::new(&body)).unwrap();
        let RequestBody::Query(decoded) = decoded else {
            panic!("unexpected {decoded:?}");
        };
        let values: Vec<_> = decoded.params.values.iter().collect();
        let expected = [
            (Some("b"), RawValue::Bytes(b"2")),
            (Some("A"), RawValue::Null),
        ];
        assert_eq!(values, expected, "{version}");
    }
}

/// A body of rows with these numbers of columns and rows, and nothing else.
fn rows_body(columns: i32, rows: i32) -> Bytes {
    let mut body = BytesMut::new();
    for number in [2, 4, columns, rows] {
        body.put_i32(number);
    }
    body.freeze()
}

#[test]
fn counts_are_bounded_by_the_bytes_left() {
    let decode = |body: &Bytes| Response::decode(Opcode::RESULT, ProtocolVersion::V4, body, 0);
    for (columns, rows) in [(1, i32::MAX), (i32::MAX, 1), (0, 1), (-1, 0), (1, -1)] {
        let error = decode(&rows_body(columns, rows)).unwrap_err();
        assert!(
            matches!(error.kind, DecodeErrorKind::InvalidCount(_)),
            "{columns} {rows}"
        );
    }
    let described = Bytes::from_static(b"\0\0\0\x02\0\0\0\x01\x7F\xFF\xFF\xFF\0\x01k\0\x01t");
    assert_eq!(
        decode(&described).unwrap_err().kind,
        DecodeErrorKind::CutString
    );
    let prepared = Bytes::from_static(b"\0\0\0\x04\0\x01i\0\0\0\0\0\0\0\x01\x7F\xFF\xFF\xFF");
    assert!(matches!(
        decode(&prepared).unwrap_err().kind,
        DecodeErrorKind::InvalidCount(_)
    ));

    let int = Arc::new(CqlType::Int);
    let text = Arc::new(CqlType::Text);
    let many = i32::MAX.to_be_bytes();
    for ty in [CqlType::List(int.clone()), CqlType::Set(int.clone())] {
        assert!(Value::decode(&ty, &many).is_err());
        assert!(Value::decode(&ty, &[0xFF; 4]).is_err(), "a negative count");
    }
    for element in [int, text] {
        let vector = CqlType::Vector(element, u32::MAX);
        assert!(Value::decode(&vector, &[1; 8]).is_err());
    }
}

#[test]
fn a_dimension_beyond_its_number_is_refused() {
    let class = |dimension: &str| {
        CqlType::parse_class(&format!(
            "org.apache.cassandra.db.marshal.VectorType(FloatType , {dimension})"
        ))
    };
    assert!(matches!(class("3"), Ok(CqlType::Vector(_, 3))));
    for dimension in [
        "0",
        "-1",
        "4294967296",
        "99999999999999999999",
        "",
        "x",
        "3.0",
    ] {
        assert!(class(dimension).is_err(), "{dimension}");
    }
    // The greatest there is: its length in bytes fits no number of 32 bits.
    let vast = class("4294967295").unwrap();
    assert_eq!(vast.fixed_size(), Some(4 * 4_294_967_295));
    assert!(Value::decode(&vast, &[0; 16]).is_err());
    let vaster = CqlType::Vector(
        Arc::new(CqlType::Vector(Arc::new(vast), u32::MAX)),
        u32::MAX,
    );
    assert_eq!(vaster.fixed_size(), None);
    assert!(Value::decode(&vaster, &[0; 16]).is_err());
}

#[test]
fn a_tuple_may_hold_nulls_and_end_early() {
    let tuple = CqlType::Tuple([CqlType::Int, CqlType::Text, CqlType::Int].into());
    let bytes = b"\xFF\xFF\xFF\xFF\0\0\0\x01x\xFF\xFF\xFF\xFF";
    let text = Some(Value::Text("x".to_owned()));
    assert_eq!(
        Value::decode(&tuple, bytes),
        Ok(Value::Tuple(vec![None, text.clone(), None]))
    );
    assert_eq!(
        Value::decode(&tuple, &bytes[..9]),
        Ok(Value::Tuple(vec![None, text]))
    );
    assert_eq!(
        Value::decode(&tuple, &bytes[..4]),
        Ok(Value::Tuple(vec![None]))
    );
    assert!(
        Value::decode(&tuple, &bytes[..8]).is_err(),
        "cut within a field"
    );
}

#[test]
fn a_number_of_no_bytes_is_neither_null_nor_zero() {
    for ty in [
        CqlType::Int,
        CqlType::BigInt,
        CqlType::Varint,
        CqlType::Decimal,
        CqlType::Float,
    ] {
        assert_eq!(Value::decode(&ty, &[]), Ok(Value::Empty), "{ty}");
    }
    for ty in [
        CqlType::SmallInt,
        CqlType::TinyInt,
        CqlType::Date,
        CqlType::Time,
        CqlType::Duration,
    ] {
        assert!(Value::decode(&ty, &[]).is_err(), "{ty}");
    }
}

#[test]
fn a_row_that_is_half_null_is_read_cell_by_cell() {
    // system.peers of a node that is joining: an address, and little else.
    let column = |name: &'static str, ty| ColumnSpec {
        keyspace: "system".into(),
        table: "peers".into(),
        name: name.into(),
        ty,
    };
    let metadata = ResultMetadata::new(vec![
        column("peer", CqlType::Inet),
        column("data_center", CqlType::Text),
        column("host_id", CqlType::Uuid),
        column("tokens", CqlType::Set(Arc::new(CqlType::Text))),
    ]);
    for version in ProtocolVersion::ALL {
        let mut out = BytesMut::new();
        let mut writer = RowsWriter::new(&mut out, &RowsHeader::new(&metadata), version);
        for cell in [Some(&[10, 0, 0, 1][..]), None, None, None] {
            writer.cell(cell);
        }
        writer.finish().unwrap();
        let decoded = Response::decode(Opcode::RESULT, version, &out.freeze(), 0).unwrap();
        let Response::Rows(rows) = &decoded else {
            panic!("unexpected {decoded:?}");
        };
        assert_eq!(rows.row_count, 1);
        let row = rows.iter().next().unwrap().unwrap();
        let cells: Vec<_> = (0..4).map(|index| row.cell(index).unwrap()).collect();
        assert_eq!(cells, [Some(&[10, 0, 0, 1][..]), None, None, None]);
        assert_eq!(row.cell(4), None);
    }
}
