//! Functions of collections. Answers to Cassandra's `CollectionFcts`.

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::{Environment, Function, given};
use crate::term::{Elements, Pairs, begin_count, put_element};
use crate::types::compare;

pub(super) fn candidates(name: &str, first: Option<&CqlType>, found: &mut Vec<Function>) {
    let Some(ty) = first else {
        return;
    };
    let mut add =
        |returns: CqlType, run| found.push(Function::new(name, vec![ty.clone()], returns, run));
    match (name, ty.strip_frozen()) {
        ("map_keys", CqlType::Map(types)) => add(CqlType::Set(types.0.clone().into()), keys),
        ("map_values", CqlType::Map(types)) => add(CqlType::List(types.1.clone().into()), values),
        ("collection_count", CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_)) => {
            add(CqlType::Int, |_, arguments, _| {
                Ok(given(arguments, 0).get(..4).map(Bytes::copy_from_slice))
            })
        }
        ("collection_min", CqlType::List(element) | CqlType::Set(element)) => {
            add(CqlType::clone(element), |function, arguments, _| {
                let elements = Elements::new(given(arguments, 0)).flatten();
                Ok(elements
                    .min_by(|a, b| compare(&function.returns, a, b))
                    .map(Bytes::copy_from_slice))
            });
        }
        ("collection_max", CqlType::List(element) | CqlType::Set(element)) => {
            add(CqlType::clone(element), |function, arguments, _| {
                let elements = Elements::new(given(arguments, 0)).flatten();
                Ok(elements
                    .max_by(|a, b| compare(&function.returns, a, b))
                    .map(Bytes::copy_from_slice))
            });
        }
        _ => {}
    }
}

fn keys(
    _: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let map = given(arguments, 0);
    let mut out = BytesMut::new();
    begin_count(&mut out, Pairs::new(map).count());
    Pairs::new(map).for_each(|(key, _)| put_element(&mut out, Some(key)));
    Ok(Some(out.freeze()))
}

fn values(
    _: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let map = given(arguments, 0);
    let mut out = BytesMut::new();
    begin_count(&mut out, Pairs::new(map).count());
    Pairs::new(map).for_each(|(_, value)| put_element(&mut out, value));
    Ok(Some(out.freeze()))
}
