//! `token` and the functions of Cassandra's `MathFcts`.

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::ErrorResponse;

use super::number::{Number, TYPES};
use super::{Environment, Function, given};
use crate::storage::Token;

pub(super) fn candidates(name: &str, found: &mut Vec<Function>) {
    let run: super::Run = match name {
        "abs" => |function, arguments, _| {
            map(function, arguments, |number| match number {
                Number::Integer(integer) => Number::Integer(integer.wrapping_abs()),
                Number::Float(float) => Number::Float(float.abs()),
                Number::Varint(big) => Number::Varint(big.magnitude().clone().into()),
                Number::Decimal(unscaled, scale) => {
                    Number::Decimal(unscaled.magnitude().clone().into(), scale)
                }
            })
        },
        "exp" => |function, arguments, _| {
            map(function, arguments, |number| {
                Number::Float(number.float().exp())
            })
        },
        "log" => |function, arguments, _| {
            map(function, arguments, |number| {
                Number::Float(number.float().ln())
            })
        },
        "log10" => |function, arguments, _| {
            map(function, arguments, |number| {
                Number::Float(number.float().log10())
            })
        },
        "round" => |function, arguments, _| {
            map(function, arguments, |number| match number {
                Number::Float(float) => Number::Float((float + 0.5).floor()),
                other => other,
            })
        },
        _ => return,
    };
    for ty in TYPES {
        found.push(Function::new(name, vec![ty.clone()], ty, run));
    }
}

fn map(
    function: &Function,
    arguments: &[Option<Bytes>],
    change: impl Fn(Number) -> Number,
) -> Result<Option<Bytes>, ErrorResponse> {
    Ok(Number::decode(&function.argument(0), given(arguments, 0))
        .map(|number| change(number).encode(&function.returns)))
}

/// The token of a partition key's values.
pub(super) fn token(
    _: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let token = match arguments {
        [Some(key)] => Token::of(key),
        parts => {
            let mut key = BytesMut::new();
            for part in parts.iter().flatten() {
                key.put_u16(u16::try_from(part.len()).unwrap_or(u16::MAX));
                key.put_slice(part);
                key.put_u8(0);
            }
            Token::of(&key)
        }
    };
    Ok(Some(Bytes::copy_from_slice(&token.0.to_be_bytes())))
}
