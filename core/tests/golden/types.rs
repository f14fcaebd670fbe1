//! The JSON form of types, in envelopes and in values.

use std::sync::Arc;

use helenus_core::{CqlType, UserType};
use serde_json::Value as Json;

use crate::vectors::string;

/// The type that a column specification describes.
pub(crate) fn column_type(json: &Json) -> CqlType {
    if let Some(name) = json.as_str() {
        return CqlType::from_native_name(name).unwrap();
    }
    let (kind, inner) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "list" => CqlType::List(Arc::new(column_type(inner))),
        "set" => CqlType::Set(Arc::new(column_type(inner))),
        "map" => CqlType::Map(Arc::new((column_type(&inner[0]), column_type(&inner[1])))),
        "tuple" => CqlType::Tuple(inner.as_array().unwrap().iter().map(column_type).collect()),
        "udt" => CqlType::Udt(Arc::new(UserType {
            keyspace: string(&inner["keyspace"]).into(),
            name: string(&inner["name"]).into(),
            fields: inner["fields"]
                .as_array()
                .unwrap()
                .iter()
                .map(|field| (string(&field[0]).into(), column_type(&field[1])))
                .collect(),
        })),
        "custom" => CqlType::parse_class(&string(inner)).unwrap(),
        other => panic!("unknown type {other}"),
    }
}

/// The type of this CQL text; `udts` has the fields of the user types that it names.
pub(crate) fn cql_type(text: &str, udts: &Json) -> CqlType {
    let mut left = text;
    let ty = parse(&mut left, udts);
    assert_eq!(left, "", "{text}");
    ty
}

fn parse(left: &mut &str, udts: &Json) -> CqlType {
    if let Some(quoted) = left.strip_prefix('\'') {
        let (class, rest) = quoted.split_once('\'').unwrap();
        *left = rest;
        return CqlType::Custom(class.into());
    }
    let end = left.find(['<', '>', ',']).unwrap_or(left.len());
    let (name, rest) = left.split_at(end);
    *left = rest;
    let parameters = |left: &mut &str| {
        let mut parameters = Vec::new();
        while let Some(rest) = left.strip_prefix(['<', ',']) {
            *left = rest.trim_start();
            parameters.push(parse(left, udts));
        }
        *left = left.strip_prefix('>').unwrap();
        parameters
    };
    let only = |left: &mut &str| Arc::new(parameters(left).pop().unwrap());
    match name {
        "list" => CqlType::List(only(left)),
        "set" => CqlType::Set(only(left)),
        "frozen" => CqlType::Frozen(only(left)),
        "map" => {
            let value_and_key = parameters(left);
            CqlType::Map(Arc::new((
                value_and_key[0].clone(),
                value_and_key[1].clone(),
            )))
        }
        "tuple" => CqlType::Tuple(parameters(left).into()),
        "vector" => {
            *left = left.strip_prefix('<').unwrap();
            let element = parse(left, udts);
            let (dimension, rest) = left.split_once('>').unwrap();
            *left = rest;
            let dimension = dimension.trim_start_matches([',', ' ']).parse().unwrap();
            CqlType::Vector(Arc::new(element), dimension)
        }
        name => CqlType::from_native_name(name).unwrap_or_else(|| user_type(name, udts)),
    }
}

fn user_type(name: &str, udts: &Json) -> CqlType {
    let fields = udts[name].as_array().unwrap();
    CqlType::Udt(Arc::new(UserType {
        keyspace: "ks".into(),
        name: name.into(),
        fields: fields
            .iter()
            .map(|field| {
                (
                    string(&field[0]).into(),
                    cql_type(field[1].as_str().unwrap(), udts),
                )
            })
            .collect(),
    }))
}
