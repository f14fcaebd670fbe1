//! Values: the bytes decode to the listed value, are valid, and the value encodes to the bytes.

use helenus_core::types::{Decimal, Duration, Value, Varint, validate};
use helenus_core::{CqlType, types::ValueError};
use serde_json::Value as Json;

use crate::types::cql_type;
use crate::vectors::{self, hex, int, string};

#[test]
fn values_decode_to_what_is_listed_and_encode_to_the_same_bytes() {
    let mut checked = 0;
    for line in vectors::lines("values.jsonl") {
        let ty = cql_type(line["type"].as_str().unwrap(), &line["udts"]);
        // A null has no bytes: nothing decodes it.
        if line["hex"].is_null() {
            assert!(line["value"].is_null());
            continue;
        }
        let bytes = hex(&line["hex"]);
        let built = value(&ty, &line["value"]).unwrap();
        assert_eq!(
            show(&Value::decode(&ty, &bytes).unwrap()),
            show(&built),
            "{}",
            line["id"]
        );
        let mut out = Vec::new();
        built.encode(&ty, &mut out).unwrap();
        assert_eq!(out, bytes, "{}", line["id"]);
        let valid = match line["agree"]
            .as_array()
            .unwrap()
            .contains(&"cassandra".into())
        {
            true => Ok(()),
            // Only the Go library writes nulls into maps; the server refuses them.
            false if matches!(ty, CqlType::Map(_)) => Err(ValueError::NullElement),
            false => Ok(()),
        };
        assert_eq!(validate(&ty, &bytes), valid, "{}", line["id"]);
        checked += 1;
    }
    assert_eq!(checked, 179);
}

/// As text, in which a NaN equals itself.
fn show(value: &Value) -> String {
    format!("{value:?}")
}

fn value(ty: &CqlType, json: &Json) -> Option<Value> {
    if json.is_null() {
        return None;
    }
    if json["empty"] == true {
        return Some(Value::Empty);
    }
    let long = || json.as_i64().unwrap();
    let array = || json.as_array().unwrap().iter();
    Some(match ty {
        CqlType::Frozen(inner) => return value(inner, json),
        CqlType::Ascii | CqlType::Text => Value::Text(string(json)),
        CqlType::BigInt => Value::BigInt(long()),
        CqlType::Blob => Value::Blob(hex(json)),
        CqlType::Boolean => Value::Boolean(json.as_bool().unwrap()),
        CqlType::Counter => Value::Counter(long()),
        CqlType::Decimal => Value::Decimal(Decimal {
            unscaled: varint(&json["unscaled"]),
            scale: int(&json["scale"]),
        }),
        CqlType::Double => Value::Double(float(json)),
        CqlType::Float => Value::Float(float(json) as f32),
        CqlType::Int => Value::Int(int(json)),
        CqlType::Timestamp => Value::Timestamp(long()),
        CqlType::Uuid => Value::Uuid(string(json).parse().unwrap()),
        CqlType::Timeuuid => Value::Timeuuid(string(json).parse().unwrap()),
        CqlType::Varint => Value::Varint(varint(json)),
        CqlType::Inet => Value::Inet(string(json).parse().unwrap()),
        CqlType::Date => Value::Date((long() + (1 << 31)) as u32),
        CqlType::Time => Value::Time(long()),
        CqlType::SmallInt => Value::SmallInt(int(json) as i16),
        CqlType::TinyInt => Value::TinyInt(int(json) as i8),
        CqlType::Duration => Value::Duration(Duration {
            months: int(&json["months"]),
            days: int(&json["days"]),
            nanoseconds: json["nanoseconds"].as_i64().unwrap(),
        }),
        CqlType::List(element) => Value::List(array().map(|json| value(element, json)).collect()),
        CqlType::Set(element) => {
            Value::Set(array().map(|json| value(element, json).unwrap()).collect())
        }
        CqlType::Map(entry) => {
            let pair = |json: &Json| {
                (
                    value(&entry.0, &json[0]).unwrap(),
                    value(&entry.1, &json[1]),
                )
            };
            Value::Map(array().map(pair).collect())
        }
        CqlType::Tuple(types) => Value::Tuple(
            array()
                .zip(types.iter())
                .map(|(json, ty)| value(ty, json))
                .collect(),
        ),
        CqlType::Udt(udt) => Value::Tuple(
            udt.fields
                .iter()
                .map(|(name, ty)| value(ty, &json[name.as_ref()]))
                .collect(),
        ),
        CqlType::Vector(element, _) => {
            Value::Vector(array().map(|json| value(element, json).unwrap()).collect())
        }
        CqlType::Custom(_) => Value::Custom(hex(json)),
        other => panic!("unknown type {other}"),
    })
}

pub(crate) fn float(json: &Json) -> f64 {
    match json.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        _ => json.as_f64().unwrap(),
    }
}

/// The fewest big-endian two's complement bytes of a decimal number.
pub(crate) fn varint(json: &Json) -> Varint {
    let text = string(json);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.as_str()),
    };
    let mut bytes = vec![0_u8];
    for digit in digits.bytes() {
        let mut carry = u32::from(digit - b'0');
        for byte in bytes.iter_mut().rev() {
            let product = u32::from(*byte) * 10 + carry;
            *byte = product as u8;
            carry = product >> 8;
        }
        if carry > 0 {
            bytes.insert(0, carry as u8);
        }
    }
    bytes.insert(0, 0);
    if negative {
        for byte in &mut bytes {
            *byte = !*byte;
        }
        for byte in bytes.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    let redundant = |pair: &&[u8]| matches!(pair, [0, 0..=0x7F] | [0xFF, 0x80..=0xFF]);
    let skip = bytes.windows(2).take_while(redundant).count();
    Varint::from_bytes(bytes.split_off(skip))
}

/// Probes say in words which bytes were bound to a column of which type.
#[test]
fn bytes_are_refused_just_where_the_server_refused_them_and_in_its_words() {
    let addr = serde_json::json!({"addr": [["street", "text"], ["zip", "int"]]});
    let (mut valid, mut refused) = (0, 0);
    for probe in vectors::lines("probes.jsonl") {
        let about = string(&probe["about"]);
        let Some(about) = about.strip_prefix("bytes ") else {
            continue;
        };
        let Some((bytes, rest)) = about.split_once(" for column type ") else {
            continue;
        };
        if probe["quirk"].is_string() || probe["group"] != "values" {
            continue;
        }
        let ty = cql_type(rest.split(", and what").next().unwrap(), &addr);
        let bytes = if bytes == "(none)" {
            vec![]
        } else {
            hex(&bytes.into())
        };
        let mut replies = probe["reply"].as_array().unwrap().iter();
        let error = replies.find(|reply| reply["opcode"] == "ERROR");
        match (validate(&ty, &bytes), error) {
            (Ok(()), None) => valid += 1,
            (Err(error), Some(reply)) => {
                assert_eq!(error.to_string(), reply["message"], "{}", probe["id"]);
                refused += 1;
            }
            (result, _) => panic!("{} {ty}: {result:?}", probe["id"]),
        }
    }
    assert_eq!((valid, refused), (83, 118));
}
