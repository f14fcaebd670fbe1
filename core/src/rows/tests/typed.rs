//! Rows read as Rust types, and written from them.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use helenus_allocations::count;

use super::*;
use crate::message::{BindError, Rows, RowsView};
use crate::types::{MaybeUnset, ValueError};

fn columns(columns: &[(&str, CqlType)]) -> ResultMetadata {
    let column = |(name, ty): &(&str, CqlType)| ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: (*name).to_owned().into(),
        ty: ty.clone(),
    };
    ResultMetadata::new(columns.iter().map(column).collect())
}

fn users() -> ResultMetadata {
    columns(&[
        ("id", CqlType::Int),
        ("name", CqlType::Text),
        ("id", CqlType::BigInt),
    ])
}

fn body(skip_metadata: bool, write: impl FnOnce(&mut RowsWriter<'_>)) -> Bytes {
    let metadata = users();
    let header = RowsHeader {
        skip_metadata,
        ..RowsHeader::new(&metadata)
    };
    let mut out = BytesMut::new();
    let mut writer = RowsWriter::new(&mut out, &header, ProtocolVersion::V5);
    write(&mut writer);
    writer.finish().unwrap();
    out.freeze()
}

fn two_users(writer: &mut RowsWriter<'_>) {
    writer.row(&(1, "one", 10_i64)).unwrap();
    writer.row(&(2, None::<&str>, 20_i64)).unwrap();
}

fn rows(body: &Bytes, known: Option<&Arc<ResultMetadata>>) -> Result<Rows, DecodeErrorKind> {
    let response = Response::decode_with(Opcode::RESULT, ProtocolVersion::V5, body, 0, known);
    match response.map_err(|error| error.kind)? {
        Response::Rows(rows) => Ok(rows),
        other => panic!("{other:?}"),
    }
}

fn view(body: &[u8]) -> RowsView<'_> {
    let view = RowsView::decode(ProtocolVersion::V5, body, 0).unwrap();
    view.expect("rows")
}

#[test]
fn columns_are_read_by_name_and_by_index() {
    let rows = rows(&body(false, two_users), None).unwrap();
    let row = rows.iter().next().unwrap().unwrap();
    assert_eq!(row.get::<i32>("id"), Ok(1), "the first of equal names");
    assert_eq!(row.get::<i64>(2), Ok(10));
    assert_eq!(row.get::<&str>("name"), Ok("one"));
    assert_eq!(row.read::<(i32, &str, i64)>(), Ok((1, "one", 10)));
    assert_eq!(row.columns(), users().columns());
    let error = row.get::<i32>("nom").unwrap_err();
    assert_eq!(error, RowError::NoColumn("nom".into()));
    assert_eq!(error.to_string(), "There is no column nom");
    assert_eq!(row.get::<i32>(3), Err(RowError::NoColumnAt(3)));
}

#[test]
fn errors_name_the_column_its_type_and_the_rust_type() {
    let rows = rows(&body(false, two_users), None).unwrap();
    let error = rows.typed::<(i32, &[u8], i64)>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Column name is of type text, which can't be read as &[u8]"
    );
    let RowError::Type(mismatch) = error else {
        panic!("{error:?}")
    };
    assert_eq!((&*mismatch.column, &mismatch.ty), ("name", &CqlType::Text));
    assert_eq!(
        rows.typed::<(i32,)>().unwrap_err(),
        RowError::ColumnCount {
            columns: 3,
            wanted: 1
        }
    );
    let mut users = rows.typed::<(i32, &str, i64)>().unwrap();
    assert_eq!(users.next(), Some(Ok((1, "one", 10))));
    let error = users.next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Column name of type text can't be read as &str: The value is null"
    );
    let RowError::Value(cell) = error else {
        panic!("{error:?}")
    };
    assert_eq!((&*cell.column, &cell.error), ("name", &ValueError::Null));
    assert_eq!(users.next(), None);
}

#[test]
fn a_value_that_cannot_be_read_spoils_its_own_row_alone() {
    let body = body(false, |writer| {
        writer.cell(Some(&[0; 3]));
        writer.cell(None);
        writer.cell(None);
        two_users(writer);
    });
    let rows = rows(&body, None).unwrap();
    type User<'a> = (i32, Option<&'a str>, Option<i64>);
    let users: Vec<_> = rows.typed::<User<'_>>().unwrap().collect();
    assert!(matches!(&users[0], Err(RowError::Value(_))));
    assert_eq!(users[1], Ok((1, Some("one"), Some(10))));
    assert_eq!(users[2], Ok((2, None, Some(20))));
    assert_eq!(users.len(), 3);
}

#[test]
fn rows_cut_anywhere_end_with_an_error() {
    let rows = rows(&body(false, two_users), None).unwrap();
    for cut in 0..rows.content.len() {
        let rows = Rows {
            content: rows.content.slice(..cut),
            ..rows.clone()
        };
        let users: Vec<_> = rows.typed::<(i32, Option<&str>, i64)>().unwrap().collect();
        let (last, whole) = users.split_last().unwrap();
        assert!(matches!(last, Err(RowError::Decode(_))), "cut at {cut}");
        assert!(whole.iter().all(Result::is_ok) && whole.len() < 2);
    }
}

/// Reads what it likes of a row, and nothing of the rest.
struct Name<'a>(Option<&'a str>);

impl<'a> FromRow<'a> for Name<'a> {
    fn check(columns: &[ColumnSpec<'_>]) -> Result<(), RowError> {
        check_column::<&str>(columns, "name")
    }

    fn from_row(row: &mut RowReader<'a>) -> Result<Self, RowError> {
        assert_eq!(row.read::<i32>().is_ok(), row.get::<i32>(0).is_ok());
        Ok(Self(row.get("name")?))
    }
}

#[test]
fn what_a_type_leaves_of_a_row_is_skipped() {
    let rows = rows(&body(false, two_users), None).unwrap();
    let names = rows.typed::<Name<'_>>().unwrap();
    let names: Vec<_> = names.map(|name| name.unwrap().0).collect();
    assert_eq!(names, [Some("one"), None]);
}

#[test]
fn rows_without_metadata_have_what_the_caller_knows() {
    let body = body(true, two_users);
    let undescribed = rows(&body, None).unwrap();
    let row = undescribed.iter().next().unwrap().unwrap();
    assert_eq!(row.cell(1), Some(Some(&b"one"[..])));
    assert_eq!(row.get::<i32>(0), Err(RowError::Undescribed));
    assert_eq!(row.read::<(i32,)>(), Err(RowError::Undescribed));
    let error = undescribed.typed::<(i32, &str, i64)>().unwrap_err();
    assert_eq!(error, RowError::Undescribed);

    let known = Arc::new(users());
    let described = rows(&body, Some(&known)).unwrap();
    assert!(Arc::ptr_eq(&described.metadata, &known));
    let first = described.iter().next().unwrap().unwrap();
    assert_eq!(first.get::<&str>("name"), Ok("one"));
    // Of other columns they are not.
    let other = Arc::new(columns(&[("id", CqlType::Int)]));
    assert_eq!(
        rows(&body, Some(&other)).unwrap_err(),
        DecodeErrorKind::InvalidCount(3)
    );
}

#[test]
fn rows_that_say_their_columns_are_not_taken_for_others() {
    let known = Arc::new(columns(&[("id", CqlType::Int)]));
    let described = rows(&body(false, two_users), Some(&known)).unwrap();
    assert_eq!(described.metadata.columns(), users().columns());
}

#[test]
fn a_view_is_what_is_owned_without_a_copy_or_an_allocation() {
    for skip_metadata in [false, true] {
        let known = Arc::new(users());
        let body = body(skip_metadata, two_users);
        let owned = rows(&body, Some(&known)).unwrap();
        let described = view(&body).columns.to_vec().unwrap();
        let columns = match skip_metadata {
            true => known.columns(),
            false => &described,
        };
        let before = count();
        let view = view(&body);
        type User<'a> = (i32, Option<&'a str>, i64);
        let users = view.typed::<User<'_>>(columns).unwrap();
        assert_eq!(
            users.filter_map(Result::ok).map(|user| user.2).sum::<i64>(),
            30
        );
        let cells = view.iter().flat_map(|row| row.unwrap().cells());
        assert_eq!(cells.flatten().map(<[u8]>::len).sum::<usize>(), 27);
        assert_eq!(count() - before, 0);
        assert_eq!((view.row_count, view.content), (2, &owned.content[..]));
        assert_eq!(view.columns.are_described(), !skip_metadata);
        let lent = view.columns.to_vec().unwrap();
        assert_eq!(lent, if skip_metadata { &[] } else { known.columns() });
        assert_eq!(
            view.typed::<(i32,)>(&[]).unwrap_err(),
            RowError::Undescribed
        );
        let other = known.columns().get(..1).unwrap();
        assert_eq!(
            view.typed::<(i32,)>(other).unwrap_err(),
            RowError::ColumnCount {
                columns: 3,
                wanted: 1
            }
        );
    }
    let void = [0, 0, 0, 1];
    assert!(
        RowsView::decode(ProtocolVersion::V5, &void, 0)
            .unwrap()
            .is_none()
    );
}

#[test]
fn known_metadata_costs_no_allocation() {
    let known = Arc::new(users());
    let body = body(true, two_users);
    // The body is shared from here on, as a connection's is.
    let _shared = body.clone();
    let before = count();
    let rows = rows(&body, Some(&known)).unwrap();
    let sum: i32 = rows
        .iter()
        .map(|row| row.unwrap().get::<i32>("id").unwrap())
        .sum();
    assert_eq!((sum, count() - before), (3, 0));
}

#[test]
fn a_row_that_does_not_fit_leaves_the_output_as_it_was() {
    let body = body(false, |writer| {
        two_users(writer);
        let before = (writer.row_count(), writer.content_len());
        for values in [
            &(1, "x") as &dyn crate::message::BindValues,
            &(1, "x", 2_i32),
            &(1, "x", MaybeUnset::<i64>::Unset),
        ] {
            assert!(writer.row(&values).is_err());
            assert_eq!((writer.row_count(), writer.content_len()), before);
        }
        let error = writer.row(&(1, 2, 3_i64)).unwrap_err();
        assert!(matches!(error, BindError::Value(value) if value.index == 1));
        // What is left of a row that was begun.
        writer.cell(Some(&[0, 0, 0, 3]));
        writer.row(&("three", 30_i64)).unwrap();
        assert_eq!(writer.row_count(), 3);
    });
    let rows = rows(&body, None).unwrap();
    let last = rows.iter().last().unwrap().unwrap();
    assert_eq!(last.read::<(i32, &str, i64)>(), Ok((3, "three", 30)));
}

#[test]
fn any_description_is_lent_as_it_is_owned() {
    let long = "n".repeat(300);
    let list = CqlType::List(Arc::new(CqlType::Text));
    let of = |keyspace: &str, name: &str, ty: &CqlType| ColumnSpec {
        keyspace: keyspace.to_owned().into(),
        table: "t".into(),
        name: name.to_owned().into(),
        ty: ty.clone(),
    };
    let descriptions = [
        vec![],
        vec![of("ks", "", &CqlType::Int), of("ks", "é", &CqlType::Text)],
        vec![
            of("ks", "a", &CqlType::Int),
            of("other", "b", &CqlType::Uuid),
        ],
        vec![of("ks", "a", &CqlType::Int), of("ks", &long, &CqlType::Int)],
        vec![of("ks", "a", &list), of("other", "b", &CqlType::Blob)],
    ];
    for columns in descriptions {
        let metadata = ResultMetadata::new(columns);
        let mut body = BytesMut::new();
        RowsWriter::new(&mut body, &RowsHeader::new(&metadata), ProtocolVersion::V5)
            .finish()
            .unwrap();
        let view = view(&body);
        assert_eq!(view.columns.to_vec().unwrap(), metadata.columns());
        assert_eq!(view.columns.metadata(None).unwrap(), metadata);
    }
}

#[test]
fn a_name_that_isnt_utf8_is_an_error_where_it_begins() {
    let body = body(false, two_users);
    let at = body.windows(4).position(|name| name == b"name").unwrap();
    for wrong in [b"n\xC3me", b"nam\xC3"] {
        let mut body = body.to_vec();
        body[at..at + 4].copy_from_slice(wrong);
        let error = view(&body).columns.to_vec().unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::InvalidUtf8);
        assert_eq!(error.offset as usize, at);
    }
}
