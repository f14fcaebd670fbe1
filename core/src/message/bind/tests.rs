use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::message::{ResultMetadata, ValueList};
use crate::types::{CqlType, MaybeUnset};
use crate::wire::RawValue;

fn variables(columns: &[(&str, CqlType)]) -> ResultMetadata {
    let column = |(name, ty): &(&str, CqlType)| ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: (*name).to_owned().into(),
        ty: ty.clone(),
    };
    ResultMetadata::new(columns.iter().map(column).collect())
}

fn two() -> ResultMetadata {
    variables(&[("a", CqlType::Int), ("b", CqlType::Text)])
}

/// A value and its name.
type NamedValue = (Option<String>, Option<Vec<u8>>);

fn bound(
    values: &dyn BindValues,
    variables: Option<&ResultMetadata>,
) -> Result<Vec<NamedValue>, BindError> {
    let mut list = ValueList::new();
    list.bind(values, variables)?;
    let own = |(name, value): (Option<&str>, RawValue<'_>)| {
        (name.map(str::to_owned), value.bytes().map(<[u8]>::to_vec))
    };
    Ok(list.as_values().iter().map(own).collect())
}

#[test]
fn values_by_name_come_in_the_order_of_the_variables() {
    let in_order = bound(&(7, "x"), Some(&two()));
    let named: [(&str, &dyn ToCql); 2] = [("b", &"x"), ("a", &7)];
    assert_eq!(bound(&Named(&named), Some(&two())), in_order);
    // A variable that occurs twice has one value.
    let twice = variables(&[("a", CqlType::Int), ("a", CqlType::Int)]);
    let map = HashMap::from([("a", 7)]);
    assert_eq!(bound(&map, Some(&twice)), bound(&(7, 7), None));
    let map = BTreeMap::from([("a".to_owned(), 7)]);
    assert_eq!(bound(&map, Some(&twice)), bound(&[7, 7], None));
}

#[test]
fn values_keep_their_names_where_the_variables_are_not_known() {
    let named = Named(&[("b", 1_i64), ("a", 2)]);
    let expected = [("b", 1_i64), ("a", 2)]
        .map(|(name, value)| (Some(name.to_owned()), Some(value.to_be_bytes().to_vec())));
    assert_eq!(bound(&named, None).unwrap(), expected);
    // And again, from their serialized form.
    let mut list = ValueList::new();
    list.bind(&named, None).unwrap();
    assert_eq!(bound(&list.as_values(), None).unwrap(), expected);
}

#[test]
fn names_and_variables_match_one_to_one() {
    let missing = Named(&[("a", 1)]);
    assert_eq!(
        bound(&missing, Some(&two())),
        Err(BindError::Missing("b".into()))
    );
    let named: [(&str, &dyn ToCql); 3] = [("b", &"x"), ("a", &7), ("c", &0)];
    let error = bound(&Named(&named), Some(&two())).unwrap_err();
    assert_eq!(error, BindError::UnknownName("c".into()));
    assert_eq!(error.to_string(), "There is no variable c");
}

#[test]
fn there_are_as_many_values_as_variables() {
    for (values, count) in [
        (&(7,) as &dyn BindValues, 1),
        (&(7, "x", 1), 3),
        (&[7_i32][..].to_vec(), 1),
        (&(), 0),
    ] {
        let expected = BindError::Count {
            values: count,
            variables: 2,
        };
        assert_eq!(bound(&values, Some(&two())), Err(expected));
    }
    assert_eq!(bound(&(), Some(&variables(&[]))), Ok(vec![]));
    let many = vec![0_i8; 65_536];
    assert_eq!(bound(&many, None), Err(BindError::TooMany));
    assert_eq!(
        bound(&many[1..].to_vec(), None).map(|all| all.len()),
        Ok(65_535)
    );
}

#[test]
fn a_value_of_another_type_says_which_and_leaves_the_list_empty() {
    let mut list = ValueList::new();
    list.bind(&(1, 2), None).unwrap();
    let error = list.bind(&(7, 8_i64), Some(&two())).unwrap_err();
    assert!(list.as_values().is_empty());
    assert_eq!(
        error.to_string(),
        "b is of type text and can't be written from i64: The value is not of type text"
    );
    let BindError::Value(value) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (value.index, value.error.clone()),
        (1, ValueError::Mismatch(CqlType::Text))
    );
    assert_eq!(value.variable, Some(("b".into(), CqlType::Text)));
}

#[test]
fn nulls_and_unset_values_are_told_apart() {
    let mut list = ValueList::new();
    let unset = MaybeUnset::<i32>::Unset;
    list.bind(&(None::<i32>, unset, MaybeUnset::Value("")), None)
        .unwrap();
    let values = list.as_values().iter().map(|(_, value)| value);
    assert!(values.eq([RawValue::Null, RawValue::Unset, RawValue::Bytes(b"")]));
}

#[test]
fn values_with_and_without_names_do_not_mix() {
    struct Mixed;
    impl BindValues for Mixed {
        fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
            binder.push(&1)?;
            binder.push_named("a", &2)
        }
    }
    assert_eq!(bound(&Mixed, None), Err(BindError::Unnamed));
    assert!(
        bound(
            &Mixed,
            Some(&variables(&[("x", CqlType::Int), ("y", CqlType::Int)]))
        )
        .is_ok()
    );
}
